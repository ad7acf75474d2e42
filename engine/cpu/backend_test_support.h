// For tests of the host backends: logits of whole texts, and how far two arrays are apart.
#pragma once

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/engine_test_support.h"

namespace specbench::engine::testing {

/// Logits of a text in steps of n_rows.
inline std::vector<float> logits_in_steps(Backend& backend, const std::vector<TokenId>& tokens,
                                          int n_rows) {
  const auto vocab = static_cast<std::size_t>(backend.config().vocab_size);
  std::vector<float> out(tokens.size() * vocab);
  backend.reset(0, 0);
  for (int pos = 0; pos < static_cast<int>(tokens.size()); pos += n_rows) {
    const int end = std::min(pos + n_rows, static_cast<int>(tokens.size()));
    const auto rows = rows_of(0, pos, {tokens.begin() + pos, tokens.begin() + end}, 0);
    backend.forward(rows, 0, backend.config().n_layers);
    backend.logits(rows, out.data() + static_cast<std::size_t>(pos) * vocab);
  }
  return out;
}

/// Largest difference between two arrays over the root mean square of the second.
inline double relative_difference(const std::vector<float>& got, const std::vector<float>& want) {
  double largest = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    largest =
        std::max(largest, std::fabs(static_cast<double>(got[i]) - static_cast<double>(want[i])));
    squares += static_cast<double>(want[i]) * static_cast<double>(want[i]);
    if (std::isnan(got[i])) return HUGE_VAL;
  }
  return largest / std::sqrt(squares / static_cast<double>(want.size()));
}

/// Calls body(is_default) once for every vector target this machine has. Bits may differ between
/// them (fused or not, the softmax sum's columns); a run uses one, by default the first.
template <typename Body>
void on_every_target(const Body& body) {
  const auto targets = hwy::SupportedAndGeneratedTargets();
  for (const std::int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    body(target == targets.front());
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace specbench::engine::testing
