// The bins of the transforms that a record keeps, on real text: flat where decoding is sound, not
// where it is not.
#include "suites/lossless_end_to_end.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "suites/fault_test_support.h"

namespace specbench::suites {
namespace {

/// The table of 4,000 draws of the main generation.
results::NamedTable table_with(const Faults& faults, std::int64_t& n_emitted,
                               std::int64_t& n_requests) {
  testing::Bench bench(testing::embedded_options("lossless"));
  Generation generation = main_generation(bench.context, 4000, 7);
  generation.verifier = &engine::find_verifier("token", generation.sampling);
  generation.batch = 16;
  engine::DecodeOptions options = decode_options(bench.context);
  options.seed = generation.seed;
  options.steps = faults.steps;
  EndToEnd rounds(bench.context, generation, faults);
  const auto backend =
      open_backend(bench.context, generation.batch,
                   longest_sequence(bench.context, generation.max_tokens), options.draft_tokens);
  const auto drafter = open_drafter(bench.context);
  std::vector<engine::Request> requests;
  for (std::uint32_t id = 0; id < 400; ++id)
    requests.push_back(request_of(bench.context, generation, id));
  (void)engine::decode_speculative(*backend, *drafter, requests, options, rounds);
  n_emitted = rounds.n_emitted;
  n_requests = rounds.n_requests;
  return rounds.pit_table();
}

/// Pearson's statistic of one stream over its 64 bins, and how many transforms it holds.
std::pair<double, std::int64_t> judge(const results::NamedTable& table, const std::string& order,
                                      const std::string& outcome_class) {
  double statistic = 0;
  std::int64_t n = 0;
  for (const auto& row : table.rows) {
    if (std::get<std::string>(row[0]) != order || std::get<std::string>(row[1]) != outcome_class)
      continue;
    const auto count = std::get<std::int64_t>(row[3]);
    const double expected = std::get<double>(row[4]);
    const double off = static_cast<double>(count) - expected;
    statistic += off * off / expected;
    n += count;
  }
  return {statistic, n};
}

// 63 degrees of freedom: above 150 with a probability of 1e-8.
constexpr double kTooMuch = 150;

TEST(EndToEndPitTable, IsFlatForASoundDecoder) {
  std::int64_t n_emitted = 0, n_requests = 0;
  const results::NamedTable table = table_with({}, n_emitted, n_requests);
  ASSERT_GE(n_emitted, 4000);
  EXPECT_EQ(judge(table, "id", "all").second, n_emitted);
  std::int64_t n_classes = 0;  // a request's first token belongs to none
  for (const char* outcome_class : {"accepted", "rejected", "bonus"})
    n_classes += judge(table, "p", outcome_class).second;
  EXPECT_EQ(n_classes, n_emitted - n_requests);
  EXPECT_EQ(judge(table, "p/q", "bonus").second, 0);  // no draft to order by
  for (const char* outcome_class : kClassNames)
    for (const char* order : kOrderNames)
      EXPECT_LT(judge(table, order, outcome_class).first, kTooMuch)
          << outcome_class << " " << order;
  EXPECT_LE(table.rows.size(), 64U * 11);  // the bonus has two orders
}

TEST(EndToEndPitTable, ShowsAFaultInItsClass) {
  std::int64_t n_emitted = 0, n_requests = 0;
  const results::NamedTable table = table_with(testing::planted("R1"), n_emitted, n_requests);
  EXPECT_GT(judge(table, "p/q", "rejected").first, kTooMuch);
}

}  // namespace
}  // namespace specbench::suites
