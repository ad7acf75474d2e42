#include "ci/rehearsal.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "ci/gate_test_support.h"

namespace specbench::ci {
namespace {

using testing::latency_record;
using testing::Script;

struct Gates {
  std::vector<results::Record> baseline, candidate;
  void add(const Script& before, const Script& after) {
    baseline.push_back(latency_record(before));
    candidate.push_back(latency_record(after));
  }
  RehearsalInput input() const {
    RehearsalInput all;
    for (const auto& record : baseline) all.baseline.push_back(&record);
    for (const auto& record : candidate) all.candidate.push_back(&record);
    return all;
  }
};

// Twenty gates of ten pairs; the candidate's cost is off by `slowdown`, pairs spread by `noise`.
Gates twenty(double slowdown, double noise) {
  Gates gates;
  for (std::uint64_t i = 0; i < 20; ++i)
    gates.add({.seed = 2 * i + 1, .noise = noise},
              {.seed = 2 * i + 2, .noise = noise, .slowdown = slowdown});
  return gates;
}

TEST(Rehearsal, EqualBuildsAreNeverCalledSlower) {
  const Gates gates = twenty(0.0, 0.015);
  const Rehearsal played = rehearse(gates.input(), Policy{}, 500, 1);
  EXPECT_EQ(played.n_pairs, 200);
  EXPECT_EQ(played.n_gates, 500);
  EXPECT_EQ(played.count(Outcome::kFail), 0);
  EXPECT_GE(played.count(Outcome::kPass), 480);
}

TEST(Rehearsal, ASlowerBuildIsCaughtAndDoubtTakesLooks) {
  const Rehearsal clear = rehearse(twenty(0.08, 0.010).input(), Policy{}, 300, 1);
  EXPECT_GE(clear.ended[0][static_cast<std::size_t>(Outcome::kFail)], 285);
  // 3.5 % lies between the thresholds: nothing is certain at ten pairs of this spread.
  const Rehearsal doubt = rehearse(twenty(0.035, 0.015).input(), Policy{}, 300, 1);
  EXPECT_LT(doubt.ended[0][static_cast<std::size_t>(Outcome::kFail)], 100);
  std::int64_t n_later = 0;
  for (const auto n : doubt.ended[2]) n_later += n;
  EXPECT_GT(n_later, 100);
  std::int64_t n_all = 0;
  for (const auto& look : doubt.ended)
    for (const auto n : look) n_all += n;
  EXPECT_EQ(n_all, 300);
}

TEST(Rehearsal, TheSameSeedPlaysTheSameGates) {
  const Gates gates = twenty(0.03, 0.02);
  const auto once = rehearse(gates.input(), Policy{}, 50, 7).ended;
  EXPECT_EQ(once, rehearse(gates.input(), Policy{}, 50, 7).ended);
  EXPECT_NE(once, rehearse(gates.input(), Policy{}, 50, 8).ended);
}

TEST(Rehearsal, RecordHoldsSharesWithIntervals) {
  const Gates gates = twenty(0.0, 0.01);
  const Rehearsal played = rehearse(gates.input(), Policy{}, 1000, 1);
  const results::Record record = rehearsal_record(played, gates.input(), Policy{});
  EXPECT_EQ(record.suite, "rehearsal");
  EXPECT_EQ(record.exit_code, 0);
  const results::Metric* fail = results::find_metric(record, "share.fail");
  ASSERT_NE(fail, nullptr);
  EXPECT_EQ(fail->value, 0.0);
  EXPECT_NEAR(fail->upper.value(), 0.003682, 1e-6);  // 0 of 1,000: 1 - .025^(1/1000)
  const results::Metric* spread = results::find_metric(record, "spread.cost");
  ASSERT_NE(spread, nullptr);
  EXPECT_NEAR(spread->value.value(), 0.01 * std::sqrt(2.0), 0.002);  // two sides' noise
}

TEST(Rehearsal, WhatCannotBePlayedIsNamed) {
  Gates gates = twenty(0.0, 0.01);
  RehearsalInput input = gates.input();
  input.candidate.pop_back();
  EXPECT_THROW(rehearse(input, Policy{}, 10, 1), std::invalid_argument);
  EXPECT_THROW(rehearse({}, Policy{}, 10, 1), std::invalid_argument);
  EXPECT_THROW(rehearse(gates.input(), Policy{}, 0, 1), std::invalid_argument);
  Policy e2e;
  e2e.figures = {"speedup"};
  results::Record& other = gates.candidate[0];
  other.environment[0].second = std::string("B");  // another machine: nothing can be judged
  const Rehearsal voided = rehearse(gates.input(), e2e, 5, 1);
  EXPECT_EQ(voided.count(Outcome::kVoid), 5);
  EXPECT_NE(voided.first_sentence[static_cast<std::size_t>(Outcome::kVoid)].find("machines differ"),
            std::string::npos);
  gates.candidate[3].tables.clear();
  EXPECT_THROW(rehearse(gates.input(), Policy{}, 10, 1), std::invalid_argument);
  gates = twenty(0.0, 0.01);
  gates.baseline[3].suite = "lossless";
  EXPECT_THROW(rehearse(gates.input(), Policy{}, 10, 1), std::invalid_argument);
}

}  // namespace
}  // namespace specbench::ci
