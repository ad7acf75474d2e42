#include "results/baseline.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace specbench::results {
namespace {

Record latency() {
  Record record;
  record.suite = "latency";
  record.options = {{"draft_tokens", std::int64_t{2}}};
  record.environment = {{"cpu_model", std::string("X")}, {"vector_target", std::string("AVX2")}};
  record.model = {{"hash", std::string("1")}};
  record.metrics = {{"speedup", 1.3, "ratio", {}, {}, {}, ""},
                    {"acceptance_length", 2.3, "1", {}, {}, {}, ""},
                    {"draft_ms", 0.3, "ms", {}, {}, {}, ""}};
  record.counters = {{"accepted", 353}};
  record.samples.resize(1);
  record.wall_s = 3.0;
  return record;
}

Record lossless() {
  Record record = latency();
  record.suite = "lossless";
  record.metrics = {{"acceptance_length", 2.4, "1", {}, {}, {}, ""},
                    {"certified_tv", 1e-3, "1", {}, {}, {}, ""}};
  record.counters = {{"accepted", 99}};
  TestRow row;
  row.id = "real.all";
  row.p_value = 0.3;
  row.min_detectable = 0.02;
  record.tests = {row};
  return record;
}

TEST(Baseline, HoldsCountersAcceptanceAndLawsAndNoTime) {
  const Record both[] = {latency(), lossless()};
  const Record baseline = to_baseline(both);
  EXPECT_EQ(baseline.suite, "baseline");
  EXPECT_EQ(baseline.counters, latency().counters);
  EXPECT_EQ(*find_metric(baseline, "acceptance_length")->value, 2.3);
  EXPECT_EQ(*find_metric(baseline, "certified_tv")->value, 1e-3);
  ASSERT_EQ(baseline.tests.size(), 1U);
  EXPECT_FALSE(baseline.tests[0].p_value);
  EXPECT_EQ(*baseline.tests[0].min_detectable, 0.02);
  EXPECT_EQ(find_metric(baseline, "speedup"), nullptr);
  EXPECT_EQ(find_metric(baseline, "draft_ms"), nullptr);
  EXPECT_TRUE(baseline.samples.empty());
  EXPECT_FALSE(baseline.wall_s);
  EXPECT_EQ(baseline.environment.size(), 1U);
}

TEST(Baseline, RefusesWhatMakesNone) {
  Record failed = latency(), other_model = lossless(), other_suite = latency();
  failed.exit_code = 1;
  other_model.model = {{"hash", std::string("2")}};
  other_suite.suite = "kv";
  const std::vector<std::vector<Record>> cases{
      {}, {failed}, {latency(), other_model}, {other_suite}, {latency(), latency()}};
  for (const auto& records : cases) EXPECT_THROW(to_baseline(records), std::invalid_argument);
}

}  // namespace
}  // namespace specbench::results
