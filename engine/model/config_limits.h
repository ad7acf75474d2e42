// Bounds on the numbers of a model, for both readers of them (config.h, gguf_config.h): far above
// any model published, low enough that a product of two fits in 64 bits with room to spare.
#pragma once

#include <cstddef>
#include <cstdint>

namespace specbench::engine {

inline constexpr int kMaxVocab = 1 << 22;
inline constexpr int kMaxWidth = 1 << 16;
inline constexpr int kMaxLayers = 1 << 10;
inline constexpr int kMaxHeads = 1 << 10;
inline constexpr int kMaxHeadDim = 1 << 10;
inline constexpr int kMaxFfnWidth = 1 << 20;
inline constexpr int kMaxPositions = 1 << 24;
inline constexpr std::size_t kMaxEos = 1000;

/// From 1 to `most`. `Field`: JsonView or GgufField; throws as its accessors do.
template <typename Field>
int positive(const Field& field, int most) {
  return static_cast<int>(field.as_integer_in(std::int64_t{1}, std::int64_t{most}));
}

template <typename Field>
double read_norm_eps(const Field& field) {
  const double eps = field.as_number();
  if (!(eps > 0.0 && eps <= 1.0)) field.fail("expected a number above 0, at most 1");
  return eps;
}

}  // namespace specbench::engine
