// tokenizer.json, checked and taken apart. What cannot be reproduced token for token is refused by
// name.
#pragma once

#include <string>
#include <string_view>

#include "engine/model/tokenizer_spec.h"

namespace specbench::engine {

/// Throws InputError naming `file`, field and value. The post-processor, which says whether BOS
/// goes first, is bos.h's; truncation and padding, which are the caller's, are ignored.
TokenizerSpec parse_tokenizer(std::string_view json, const std::string& file);

}  // namespace specbench::engine
