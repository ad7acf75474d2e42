// The rotation of published kinds of config.json against transformers' (ci/oracles/rope_golden.py).
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/model/config.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

TEST(RopeGolden, EqualsTransformers) {
  const auto cases = nlohmann::json::parse(testing::slurp(
      std::filesystem::path(SPECBENCH_SOURCE_DIR) / "engine/model/golden/rope.json"));
  ASSERT_EQ(cases.size(), 13U);
  for (const auto& c : cases) {
    SCOPED_TRACE(c["config"].dump());
    const ModelConfig config = parse_config(c["config"].dump(), "config.json");
    EXPECT_NEAR(config.rope_magnitude, c["magnitude"].get<double>(), 1e-7);
    const auto expected = c["frequencies"].get<std::vector<double>>();
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(config.head_dim / 2));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double frequency =
          config.rope_frequencies.empty()
              ? std::pow(config.rope_theta, -2.0 * static_cast<double>(i) / config.head_dim)
              : config.rope_frequencies[i];
      // transformers computes in float32: a power (a few units in the last place), then the blend
      // of two of them.
      EXPECT_NEAR(frequency / expected[i], 1.0, 1e-6) << i;
    }
  }
}

}  // namespace
}  // namespace specbench::engine
