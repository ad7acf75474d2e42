// The keys tokenizer.ggml.* of a GGUF file: the lists a tokenizer is made of.
#pragma once

#include "engine/model/gguf.h"
#include "engine/model/tokenizer_gguf.h"

namespace specbench::engine {

/// Throws InputError naming file, key and value; also where a key that the kind of vocabulary needs
/// is missing, lists that belong together differ in length, or a "llama" file asks for changes to a
/// text that are not reproduced here.
GgufVocabulary load_gguf_vocabulary(const GgufFile& file);

}  // namespace specbench::engine
