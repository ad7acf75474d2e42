#include "stats/e_process.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "stats/golden/golden.h"
#include "stats/power.h"
#include "stats/test_support.h"

namespace specbench::stats {
namespace {

using testing::relative_error;
using testing::Uniform;
using Counts = std::vector<std::int64_t>;

Contract contract(double alpha = 1e-3, double tau = 0.05) {
  return Contract("e-process", "equal bins", alpha, tau, 0.01);
}

TEST(EProcess, ClosedFormAndProductMatchFiftyDigits) {
  for (const auto& row : golden::kDirichlet) {
    SCOPED_TRACE(::testing::Message() << row.bins << " bins, prior " << row.a);
    Counts counts;
    EProcess process(static_cast<std::size_t>(row.bins), row.a);
    for (int j = 0; j < row.bins; ++j) {
      counts.push_back(row.square * j * j % row.modulus);
      for (std::int64_t i = 0; i < counts.back(); ++i) process.add(static_cast<std::size_t>(j));
    }
    EXPECT_EQ(process.n(), row.n);
    EXPECT_LE(relative_error(dirichlet_log_e(counts, row.a), row.log_e), 1e-12);
    EXPECT_LE(relative_error(process.log_e(), row.log_e), 1e-12);
  }
}

TEST(EProcess, BetsByHand) {
  // Two bins, a = 1/2: 2 (1/2) / 1 = 1, then 2 (3/2) / 2 = 3/2, then 2 (1/2) / 3 = 1/3.
  EProcess process(2, 0.5);
  process.add(0);
  EXPECT_DOUBLE_EQ(process.log_e(), 0.0);
  process.add(0);
  EXPECT_DOUBLE_EQ(process.log_e(), std::log(1.5));
  process.add_pit(1.0);
  EXPECT_NEAR(process.log_e(), std::log(0.5), 1e-15);
  EXPECT_DOUBLE_EQ(process.max_log_e(), std::log(1.5));
  EXPECT_EQ(process.state().counts, (Counts{2, 1}));
  EXPECT_THROW(process.add(2), std::invalid_argument);
  EXPECT_THROW(process.add_pit(1.5), std::invalid_argument);
  EXPECT_THROW(EProcess(1, 1.0), std::invalid_argument);
  EXPECT_THROW(EProcess(8, 0.0), std::invalid_argument);
}

TEST(EProcess, ExpectedValueIsOneByEnumeration) {
  // E is a martingale: its mean over all 3^6 sequences of equal bins is 1.
  double mean = 0.0;
  for (int code = 0; code < 729; ++code) {
    EProcess process(3, 0.7);
    int rest = code;
    for (int i = 0; i < 6; ++i, rest /= 3) process.add(static_cast<std::size_t>(rest % 3));
    mean += std::exp(process.log_e()) / 729;
  }
  EXPECT_NEAR(mean, 1.0, 1e-13);
}

TEST(EProcess, NightsAreOneRun) {
  Uniform random(4);
  EProcess whole;
  EProcessState saved = EProcess().state();
  for (int night = 0; night < 5; ++night) {
    EProcess process(saved);
    for (int i = 0; i < 2000; ++i) {
      const double u = random.next() * random.next();
      whole.add_pit(u);
      process.add_pit(u);
    }
    saved = process.state();
  }
  EXPECT_EQ(saved.counts, whole.state().counts);
  EXPECT_EQ(saved.log_e, whole.log_e());
  EXPECT_EQ(saved.max_log_e, whole.max_log_e());
  EXPECT_EQ(saved.n, 10'000);
}

TEST(EProcess, RefusesAStateThatIsNone) {
  Uniform random(4);
  EProcess process(8, 2.0);
  for (int i = 0; i < 1000; ++i) process.add_pit(random.next());
  const EProcessState good = process.state();
  EXPECT_NO_THROW(EProcess{good});
  const auto refuses = [&](const std::function<void(EProcessState&)>& spoil) {
    EProcessState state = good;
    spoil(state);
    EXPECT_THROW(EProcess{state}, std::invalid_argument);
  };
  refuses([](EProcessState& s) { s.log_e += 1e-4; });
  refuses([](EProcessState& s) { s.log_e = std::nan(""); });
  refuses([](EProcessState& s) { s.max_log_e = -0.1; });
  refuses([](EProcessState& s) { s.max_log_e = std::nan(""); });
  refuses([](EProcessState& s) { s.max_log_e = 1e9; });
  refuses([](EProcessState& s) { s.n += 1; });
  refuses([](EProcessState& s) { s.counts[0] = -s.counts[0]; });
  refuses([](EProcessState& s) { std::swap(s.counts[0], s.counts[1]), ++s.counts[0]; });
  refuses([](EProcessState& s) { s.counts.clear(); });
  refuses([](EProcessState& s) { s.prior_per_bin = 0.0; });
}

TEST(EProcess, OnceRejectedStaysRejected) {
  EProcess process;
  for (int i = 0; i < 100; ++i) process.add(5);
  const TestResult early = e_process_test(contract(), process);
  EXPECT_EQ(early.verdict, Verdict::kFail);
  EXPECT_NEAR(early.p_value, std::exp(-process.max_log_e()), 1e-15 * early.p_value);
  for (int i = 0; i < 100'000; ++i) process.add(static_cast<std::size_t>(i % 64));
  EXPECT_LT(process.log_e(), 0.0);
  EXPECT_EQ(e_process_test(contract(), process).verdict, Verdict::kFail);
  EXPECT_EQ(e_process_test(contract(), EProcess()).verdict, Verdict::kInconclusive);
}

TEST(EProcess, NoncentralityOfACriticalValueInvertsTheLevel) {
  for (double critical : {20.0, 90.0, 140.0, 400.0}) {
    const double alpha = chi_squared_sf(critical, 63);
    if (alpha > 0.99) {
      EXPECT_EQ(noncentrality_at_critical(63, critical, 0.01), 0.0);
    } else {
      EXPECT_LE(relative_error(noncentrality_at_critical(63, critical, 0.01),
                               chi_squared_noncentrality(63, alpha, 0.01)),
                1e-9);
    }
  }
  EXPECT_THROW(noncentrality_at_critical(0, 1.0, 0.01), std::invalid_argument);
  EXPECT_THROW(noncentrality_at_critical(1, -1.0, 0.01), std::invalid_argument);
  EXPECT_EQ(sample_count(0.2), 1);
  EXPECT_EQ(sample_count(2.1), 3);
  EXPECT_EQ(sample_count(1e19), kNoSampleSuffices);
  EXPECT_NEAR(normal_detectable_shift(0.05, 0.2), 1.959963985 + 0.841621234, 1e-8);
}

TEST(EProcess, PowerGrowsWithN) {
  double last = 1.1;
  for (std::int64_t n = 1000; n < 100'000'000; n *= 3) {
    const double drift = e_process_min_detectable(1e-6, 0.01, 64, 8.0, n);
    EXPECT_LT(drift, last);
    last = drift;
  }
  EXPECT_EQ(e_process_min_detectable(1e-6, 0.01, 64, 8.0, 1), 1.0);
  EXPECT_THROW(e_process_min_detectable(1e-6, 0.01, 64, 8.0, 0), std::invalid_argument);
}

TEST(EProcessStatistical, VilleHoldsAndTheDriftIsCaughtAtTheRequiredSize) {
  const double tau = 0.08;
  const Contract strict = contract(1e-3, tau);
  const std::int64_t n = e_process_test(strict, EProcess()).required_n;
  ASSERT_LT(n, 30'000);
  int n_false = 0, n_tenth = 0, n_caught = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Uniform random(seed);
    EProcess fair(8, 1.0);
    for (int i = 0; i < 3000; ++i) fair.add_pit(random.next());
    n_false += e_process_test(strict, fair).p_value < 1e-3;
    n_tenth += e_process_test(strict, fair).p_value < 0.1;
    if (seed >= 200) continue;
    // The hardest direction: even bins up by 2 tau, odd ones down.
    EProcess drifted;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto pair = static_cast<std::size_t>(random.next() * 32);
      drifted.add(2 * pair + (random.bit(0.5 + tau) ? 0 : 1));
    }
    n_caught += e_process_test(strict, drifted).verdict == Verdict::kFail;
  }
  EXPECT_LE(n_false, 13);   // 2 expected at most; P(X >= 14) < 1e-6
  EXPECT_LE(n_tenth, 268);  // 200 expected at most; P(X >= 269) < 1e-6
  EXPECT_GE(n_caught, 190);
}

}  // namespace
}  // namespace specbench::stats
