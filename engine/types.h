// The few types that every part of the engine shares.
#pragma once

#include <cstdint>

namespace specbench::engine {

using TokenId = std::int32_t;

inline constexpr int kMaxDraft = 63;            ///< largest number of drafted tokens in a round
inline constexpr int kMaxRows = kMaxDraft + 1;  ///< rows of one sequence in one verification

}  // namespace specbench::engine
