// The state suite itself: which verdict its checks lead to, and that it hears the user.
#include "suites/kv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "engine/error.h"
#include "suites/fault_test_support.h"

namespace specbench::suites {
namespace {

using testing::Bench;
using testing::embedded_options;

results::Record kv(Bench& bench, const engine::Steps& steps = {}) {
  results::Record record = start_record(bench.context);
  run_kv(bench.context, record, steps);
  return record;
}

/// Checks whose id holds the word.
int count_of(const results::Record& record, const std::string& word, results::CheckStatus status) {
  int n = 0;
  for (const results::Check& check : record.checks)
    n += check.id.find(word) != std::string::npos && check.status == status ? 1 : 0;
  return n;
}

TEST(KvSlow, EveryPlaceOfEosIsMet) {
  Bench bench(embedded_options("kv"));
  const results::Record record = kv(bench);
  EXPECT_EQ(record.exit_code, kPassed) << record.verdict;
  EXPECT_EQ(record.verdict.rfind("PASSED", 0), 0U) << record.verdict;
  EXPECT_EQ(count_of(record, "kv.eos/", results::CheckStatus::kPassed), 12);
  EXPECT_EQ(count_of(record, "kv.eos-ragged/", results::CheckStatus::kPassed), 12);
  for (const results::Check& check : record.checks) {
    if (!check.id.starts_with("kv.eos/g8")) continue;
    EXPECT_NE(check.detail.find("at 9 of 9 places"), std::string::npos) << check.detail;
  }
}

// Prompts that all go on alike, with a single token over and over, leave no place for EOS.
TEST(KvSlow, CasesThatWereNotMetAreNoPass) {
  Bench bench(embedded_options("kv"));
  engine::Matrix& embedding = bench.context.shared_model->weights.embedding;
  const auto n_values =
      static_cast<std::size_t>(embedding.n_rows) * static_cast<std::size_t>(embedding.n_cols);
  embedding = engine::make_matrix(embedding.n_rows, embedding.n_cols,
                                  std::vector<float>(n_values));  // logits of 0: id 0 for ever
  const results::Record record = kv(bench);
  EXPECT_EQ(record.exit_code, kInconclusive) << record.verdict;
  EXPECT_EQ(record.verdict.rfind("INCONCLUSIVE", 0), 0U) << record.verdict;
  EXPECT_EQ(count_of(record, "kv.eos/", results::CheckStatus::kInconclusive), 12);
}

// Told to stop before it begins and in the middle of a decode: fewer checks, none of them failed.
TEST(Kv, InterruptionFailsNothing) {
  Bench bench(embedded_options("kv"));
  bench.stop = true;
  const results::Record before = kv(bench);
  EXPECT_EQ(before.exit_code, kInconclusive) << before.verdict;
  EXPECT_EQ(before.verdict.rfind("INCONCLUSIVE: stopped after 0", 0), 0U) << before.verdict;
  bench.stop = false;
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    bench.stop = true;
  });
  const results::Record during = kv(bench);
  user.join();
  EXPECT_EQ(during.exit_code, kInconclusive) << during.verdict;
  EXPECT_EQ(during.verdict.rfind("INCONCLUSIVE: stopped after", 0), 0U) << during.verdict;
  EXPECT_EQ(count_of(during, "kv.", results::CheckStatus::kFailed), 0) << during.verdict;
  EXPECT_EQ(count_of(during, "kv.sampled", results::CheckStatus::kPassed), 0) << "ran to its end";
}

TEST(Kv, OptionsItCannotUseAreRefusedFirst) {
  Options options = embedded_options("kv");
  options.verifier = "typical";
  Bench bad_verifier(options);
  EXPECT_THROW(kv(bad_verifier), engine::InputError);
  options = embedded_options("kv");
  options.draft_layers = 13;
  Bench too_deep(options);
  EXPECT_THROW(kv(too_deep), engine::InputError);
}

}  // namespace
}  // namespace specbench::suites
