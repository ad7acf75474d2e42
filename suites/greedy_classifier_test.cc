#include "suites/greedy_classifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace specbench::suites {
namespace {

using stats::Contract;
using stats::Verdict;

TEST(GreedyClassifier, UlpsByHand) {
  EXPECT_EQ(ulp_at(ComputeType::kF32, 1.0), 0x1p-23);
  EXPECT_EQ(ulp_at(ComputeType::kF32, -1.99), 0x1p-23);
  EXPECT_EQ(ulp_at(ComputeType::kF16, 20.0), 0x1p-6);
  EXPECT_EQ(ulp_at(ComputeType::kBf16, 20.0), 0.125);
  EXPECT_EQ(ulp_at(ComputeType::kF16, 1e-6), 0x1p-24);
  EXPECT_EQ(ulp_at(ComputeType::kF32, 0.0), static_cast<double>(std::nextafter(0.0F, 1.0F)));
  EXPECT_THROW(ulp_at(ComputeType::kF32, INFINITY), std::invalid_argument);
}

// Logits around 20, where bfloat16 steps by 1/8; token 1 is the baseline's.
FirstMismatch mismatch(const std::vector<float>& logits, engine::TokenId emitted) {
  FirstMismatch first;
  first.logits = logits;
  first.baseline_token = 1;
  first.emitted_token = emitted;
  first.type = ComputeType::kBf16;
  first.calibrated_ulps = 2.0;
  first.is_gone_with_fixed_rows = true;
  return first;
}

const std::vector<float> kRow = {3.0F, 20.25F, 20.0F, 19.75F, -1.0F};

TEST(GreedyClassifier, TrueTie) {
  const MismatchFinding finding = classify_mismatch(mismatch(kRow, 2));
  EXPECT_EQ(finding.kind, MismatchKind::kTie);
  EXPECT_EQ(finding.gap, 0.25);
  EXPECT_EQ(finding.gap_ulps, 2.0);
  EXPECT_EQ(finding.reason,
            "token 2 lies 0.25 (2 ULPs of bfloat16) below the largest logit, within c = 2 ULPs, "
            "and it is gone in float32 or with a fixed number of rows");
}

TEST(GreedyClassifier, ExactTieNeedsNoUlps) {
  FirstMismatch first = mismatch(kRow, 2);
  const std::vector<float> equal = {3.0F, 20.25F, 20.25F};
  first.logits = equal;
  first.calibrated_ulps = 0.0;
  EXPECT_EQ(classify_mismatch(first).kind, MismatchKind::kTie);
}

TEST(GreedyClassifier, BigGapIsABugWhateverFixedRowsSay) {
  for (const std::optional<bool> gone : {std::optional<bool>(), {true}, {false}}) {
    FirstMismatch first = mismatch(kRow, 3);
    first.is_gone_with_fixed_rows = gone;
    const MismatchFinding finding = classify_mismatch(first);
    EXPECT_EQ(finding.kind, MismatchKind::kBug);
    EXPECT_EQ(finding.gap_ulps, 4.0);
    EXPECT_NE(finding.reason.find("0.5 (4 ULPs of bfloat16)"), std::string::npos);
  }
  // The same gap in float32 is 262,144 ULPs.
  FirstMismatch narrow = mismatch(kRow, 3);
  narrow.type = ComputeType::kF32;
  EXPECT_EQ(classify_mismatch(narrow).gap_ulps, 262'144.0);
  // A masked token.
  const std::vector<float> masked = {3.0F, 20.25F, -INFINITY};
  FirstMismatch impossible = mismatch(masked, 2);
  EXPECT_EQ(classify_mismatch(impossible).kind, MismatchKind::kBug);
}

TEST(GreedyClassifier, SmallGapThatStaysIsABugAndUntriedIsUndecided) {
  FirstMismatch first = mismatch(kRow, 2);
  first.is_gone_with_fixed_rows = false;
  EXPECT_EQ(classify_mismatch(first).kind, MismatchKind::kBug);
  first.is_gone_with_fixed_rows.reset();
  EXPECT_EQ(classify_mismatch(first).kind, MismatchKind::kUndecided);
  EXPECT_NE(classify_mismatch(first).reason.find("not tried"), std::string::npos);
}

TEST(GreedyClassifier, ARowThatDidNotChooseTheBaselineTokenDecidesNothing) {
  FirstMismatch first = mismatch(kRow, 2);
  first.baseline_token = 0;
  const MismatchFinding finding = classify_mismatch(first);
  EXPECT_EQ(finding.kind, MismatchKind::kUndecided);
  EXPECT_NE(finding.reason.find("not the row"), std::string::npos);
}

TEST(GreedyClassifier, RefusesBadRows) {
  const std::vector<float> broken = {1.0F, 2.0F, std::nanf("")};
  EXPECT_THROW(classify_mismatch(mismatch(broken, 0)), std::invalid_argument);
  EXPECT_THROW(classify_mismatch(mismatch({}, 0)), std::invalid_argument);
  EXPECT_THROW(classify_mismatch(mismatch(kRow, 1)), std::invalid_argument);
  EXPECT_THROW(classify_mismatch(mismatch(kRow, 5)), std::invalid_argument);
  EXPECT_THROW(classify_mismatch(mismatch(kRow, -1)), std::invalid_argument);
  FirstMismatch first = mismatch(kRow, 2);
  first.calibrated_ulps = -1.0;
  EXPECT_THROW(classify_mismatch(first), std::invalid_argument);
}

TEST(Calibration, TwiceTheQuantileInUlpsOfTheTop) {
  // Ten logits, the largest 20: differences of 0, 1/8, .. 9/8 are 0 .. 9 ULPs.
  std::vector<float> one, many;
  for (int i = 0; i < 10; ++i) {
    one.push_back(i == 9 ? 20.0F : static_cast<float>(i));
    many.push_back(one.back() + 0.125F * static_cast<float>(i));
  }
  one.push_back(-INFINITY);
  many.push_back(-INFINITY);
  const RowPair pair{one, many};
  const UlpCalibration half = calibrate_ulps({&pair, 1}, ComputeType::kBf16, 0.5);
  EXPECT_EQ(half.n_logits, 10);
  EXPECT_EQ(half.largest, 9.0);
  EXPECT_EQ(half.ulps, 8.0);  // the fifth of ten is 4
  EXPECT_EQ(calibrate_ulps({&pair, 1}, ComputeType::kBf16, 0.9).ulps, 16.0);
  EXPECT_THROW(calibrate_ulps({&pair, 1}, ComputeType::kBf16), std::invalid_argument);
  EXPECT_THROW(calibrate_ulps({}, ComputeType::kBf16, 0.5), std::invalid_argument);
  many[3] = INFINITY;
  EXPECT_THROW(calibrate_ulps({&pair, 1}, ComputeType::kBf16, 0.5), std::invalid_argument);
  const RowPair uneven{one, std::span<const float>(many).first(3)};
  EXPECT_THROW(calibrate_ulps({&uneven, 1}, ComputeType::kBf16, 0.5), std::invalid_argument);
}

GroupContracts contracts() {
  const auto of = [](const char* id) {
    return Contract(id, "mismatches are ties", 1e-3, 0.02, 0.01);
  };
  return {of("after rejection"), of("block edge"), of("bonus"), of("rate")};
}

PositionTotals totals() {
  PositionTotals all;
  all.n = 100'000;
  all.n_after_rejection = 30'000;
  all.n_at_block_edge = 40'000;
  all.n_at_bonus = 10'000;
  all.n_histogram = 50'000;
  all.n_near_ties = 100;
  return all;
}

// n mismatches of which so many are after a rejection, at an edge, at the bonus position.
std::vector<ClassifiedMismatch> ties(int n, int n_rejection, int n_edge, int n_bonus) {
  std::vector<ClassifiedMismatch> all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    ClassifiedMismatch& one = all[static_cast<std::size_t>(i)];
    one.kind = MismatchKind::kTie;
    one.flags = {i < n_rejection, i < n_edge, n - 1 - i < n_bonus};
  }
  return all;
}

TEST(MismatchGroup, SpreadTiesPass) {
  const GroupFinding finding = test_mismatches(contracts(), ties(100, 31, 38, 11), totals());
  EXPECT_EQ(finding.n_ties, 100);
  EXPECT_EQ(finding.n_bugs + finding.n_undecided, 0);
  for (const stats::TestResult* result :
       {&finding.after_rejection, &finding.at_block_edge, &finding.at_bonus, &finding.rate}) {
    EXPECT_EQ(result->verdict, Verdict::kPass) << result->id << ": " << result->reason;
    EXPECT_LT(result->min_detectable, 0.02);
  }
}

TEST(MismatchGroup, ClustersAreFlaggedEachByItsOwnTest) {
  const GroupFinding rejection = test_mismatches(contracts(), ties(100, 60, 38, 11), totals());
  EXPECT_EQ(rejection.after_rejection.verdict, Verdict::kFail);
  EXPECT_LT(rejection.after_rejection.p_value, 1e-8);
  EXPECT_EQ(rejection.at_block_edge.verdict, Verdict::kPass);
  EXPECT_EQ(rejection.at_bonus.verdict, Verdict::kPass);
  const GroupFinding edge = test_mismatches(contracts(), ties(100, 31, 90, 11), totals());
  EXPECT_EQ(edge.at_block_edge.verdict, Verdict::kFail);
  EXPECT_EQ(edge.after_rejection.verdict, Verdict::kPass);
  const GroupFinding bonus = test_mismatches(contracts(), ties(100, 31, 38, 40), totals());
  EXPECT_EQ(bonus.at_bonus.verdict, Verdict::kFail);
}

TEST(MismatchGroup, MoreMismatchesThanNearTiesFail) {
  // Near-ties .2 %, so at most 200 are expected and up to .29 % is allowed for at 1 - 5e-4.
  EXPECT_EQ(test_mismatches(contracts(), ties(250, 75, 100, 25), totals()).rate.verdict,
            Verdict::kPass);
  EXPECT_EQ(test_mismatches(contracts(), ties(400, 120, 160, 40), totals()).rate.verdict,
            Verdict::kFail);
  // None at all is fine: most near-ties do not flip.
  EXPECT_EQ(test_mismatches(contracts(), {}, totals()).rate.verdict, Verdict::kPass);
  EXPECT_EQ(test_mismatches(contracts(), {}, totals()).at_bonus.verdict, Verdict::kInconclusive);
}

TEST(MismatchGroup, CountsKindsAndNeedsPower) {
  PositionTotals few = totals();
  few.n = 50;
  few.n_after_rejection = few.n_at_block_edge = few.n_at_bonus = 20;
  std::vector<ClassifiedMismatch> mixed = ties(3, 1, 1, 1);
  mixed[0].kind = MismatchKind::kBug;
  mixed[1].kind = MismatchKind::kUndecided;
  const GroupFinding finding = test_mismatches(contracts(), mixed, few);
  EXPECT_EQ(finding.n_bugs, 1);
  EXPECT_EQ(finding.n_undecided, 1);
  EXPECT_EQ(finding.after_rejection.verdict, Verdict::kInconclusive);
}

TEST(MismatchGroup, RefusesTotalsThatDoNotAddUp) {
  const auto refuses = [](PositionTotals bad) {
    EXPECT_THROW(test_mismatches(contracts(), ties(10, 3, 4, 1), bad), std::invalid_argument);
  };
  PositionTotals bad = totals();
  bad.n = 5;
  refuses(bad);
  bad = totals();
  bad.n_at_bonus = 100'001;
  refuses(bad);
  bad = totals();
  bad.n_after_rejection = 2;  // three mismatches there
  refuses(bad);
  bad = totals();
  bad.n_near_ties = 50'001;
  refuses(bad);
  bad = totals();
  bad.n_histogram = 0;
  refuses(bad);
}

}  // namespace
}  // namespace specbench::suites
