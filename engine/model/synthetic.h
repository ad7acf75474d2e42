// Models made up on the spot: the shapes of well-known ones with seeded random weights. They cost
// what a real model of that shape and type costs, need no download, and their drafts are right as
// often as one likes. What they say means nothing.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/model/model.h"

namespace specbench::engine {

/// "synthetic:<shape>[-<type>][:seed=N][:later=X]": shape llama-1b, llama-7b or tiny; type as
/// weight_type.h has it in small letters, "q4" for q4_0, bf16 where none is given; seed 1 where
/// none is given. X, 0 to 1, scales what the layers behind the first quarter add to the state: at 0
/// a draft from the first quarter is always right, at 1 (the default) as often as chance has it.
///
/// The same source gives the same weights, whatever the number of threads. Layers change the state,
/// logits spread by about 2. Quantised blocks are made as they are, without rounding anything. The
/// tokenizer has a token for each byte, ids 0 to 255; any other id reads "<id>". The last two ids
/// are BOS and EOS. The hash is of the source, which stands for every byte.
///
/// Throws InputError, one sentence that names what is supported; or before anything is taken, where
/// the weights need more than memory_limit_bytes (0: not known, not checked).
Model make_synthetic(std::string_view source, std::size_t memory_limit_bytes = 0);

}  // namespace specbench::engine
