// The table by category on typed-in times whose answers are known.
#include "suites/latency_categories.h"

#include <gtest/gtest.h>

#include <cmath>

#include "suites/latency_test_support.h"

namespace specbench::suites {
namespace {

/// Four prompts. Decoding 10 tokens takes 10,000 ns autoregressively; speculatively 5,000 in cases
/// 0 and 2, 10,000 in case 1, 20,000 in case 3.
LatencyInput four_prompts() {
  LatencyInput input;
  input.series.arm_names = {"autoregressive", "speculative", "speculative-twin"};
  input.series.phase_names = phase_names();
  input.series.blocks_done = kWholeBlocks;
  input.n_sequences = {1, 1, 1, 1};
  const std::int64_t drafted_ns[] = {5000, 10'000, 5000, 20'000};
  for (int block = 0; block < kWholeBlocks; ++block)
    for (int c = 0; c < 4; ++c) {
      input.series.samples.push_back(
          sample_of(kAutoregressive, c, block, {0, 1, 0, 10'000, 0, 0}, 11));
      input.series.samples.push_back(
          sample_of(kSpeculative, c, block, {0, 1, 0, drafted_ns[c], 0, 0}, 11));
    }
  input.categories = {"prose", "code", "prose", "code"};
  input.rounds = {{5, 5}, {10, 0}, {5, 6}, {8, 2}};
  return input;
}

double number(const results::NamedTable& table, std::size_t row, std::size_t column) {
  return std::get<double>(table.rows[row][column]);
}

TEST(LatencyCategories, EachHasItsOwnFigures) {
  const LatencyInput input = four_prompts();
  const auto table =
      category_table({input.series, input.n_sequences, 1}, input.categories, input.rounds);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(table->rows[0][0]), "prose");
  EXPECT_EQ(std::get<std::int64_t>(table->rows[0][1]), 2);
  EXPECT_NEAR(number(*table, 0, 2), 2.0, 1e-12);
  EXPECT_NEAR(number(*table, 0, 3), 2.0, 1e-12);  // both prompts agree: no spread
  EXPECT_NEAR(number(*table, 0, 5), 2.1, 1e-12);  // 1 + 11 / 10
  EXPECT_NEAR(number(*table, 1, 2), 20.0 / 30.0, 1e-12);
  EXPECT_LT(number(*table, 1, 3), 0.6);  // one is as fast, one half as fast
  EXPECT_GT(number(*table, 1, 4), 0.9);
  EXPECT_NEAR(number(*table, 1, 5), 1.0 + 2.0 / 18.0, 1e-12);
}

TEST(LatencyCategories, OnePromptHasNoInterval) {
  LatencyInput input = four_prompts();
  input.categories = {"prose", "code", "prose", "mail"};
  const auto table =
      category_table({input.series, input.n_sequences, 1}, input.categories, input.rounds);
  ASSERT_EQ(table->rows.size(), 3U);
  EXPECT_NEAR(number(*table, 2, 2), 0.5, 1e-12);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table->rows[2][3]));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table->rows[2][4]));
}

TEST(LatencyCategories, AreLeftOutWhereThereIsOneOrNone) {
  LatencyInput input = four_prompts();
  const Measured measured{input.series, input.n_sequences, 1};
  EXPECT_FALSE(category_table(measured, {}, input.rounds));
  input.categories.assign(4, "prose");
  EXPECT_FALSE(category_table(measured, input.categories, input.rounds));
}

TEST(LatencyCategories, WithoutTokensThereIsNoSpeedUp) {
  LatencyInput input = four_prompts();
  for (harness::Sample& sample : input.series.samples)
    if (sample.case_index % 2 == 1) sample.n_tokens = 1;
  input.rounds[1] = input.rounds[3] = {};
  const auto table =
      category_table({input.series, input.n_sequences, 1}, input.categories, input.rounds);
  EXPECT_NEAR(number(*table, 0, 2), 2.0, 1e-12);
  for (const std::size_t column : {2, 3, 4, 5})
    EXPECT_TRUE(std::holds_alternative<std::monostate>(table->rows[1][column])) << column;
}

results::Record record_of(double speedup) {
  results::Record record;
  record.tables.push_back(
      {"categories",
       {"category", "prompts", "speedup", "lower", "upper", "acceptance_length"},
       {{std::string("a"), std::int64_t{2}, speedup, 1.0, 9.0, 2.5},
        {std::string("b"), std::int64_t{1}, {}, {}, {}, 1.0}}});
  return record;
}

TEST(LatencyCategories, ProcessesAreMergedByTheirMedian) {
  std::vector<results::Record> records;
  for (const double speedup : {1.5, 1.2, 1.4, 1.3, 1.1, 1.6}) records.push_back(record_of(speedup));
  results::Record merged = records.front();
  merge_categories(records, merged);
  const auto& rows = results::find_table(merged, "categories")->rows;
  EXPECT_NEAR(std::get<double>(rows[0][2]), std::exp(0.5 * (std::log(1.3) + std::log(1.4))), 1e-12);
  EXPECT_NEAR(std::get<double>(rows[0][3]), 1.1, 1e-12);  // six: the extremes cover .969
  EXPECT_NEAR(std::get<double>(rows[0][4]), 1.6, 1e-12);
  EXPECT_EQ(std::get<double>(rows[0][5]), 2.5);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(rows[1][2]));
  records.resize(3);
  merged = records.front();
  merge_categories(records, merged);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(
      results::find_table(merged, "categories")->rows[0][3]));
}

}  // namespace
}  // namespace specbench::suites
