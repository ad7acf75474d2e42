// Fisher's exact test of a 2 x 2 table: is a rate the same in two groups, however few the events?
// No normal approximation in the p-value. Large tables: tables.h is as good and faster.
#pragma once

#include <cstdint>

#include "stats/contract.h"

namespace specbench::stats {

// Events and trials of two groups.
struct TwoRates {
  std::int64_t k_first = 0;
  std::int64_t n_first = 0;
  std::int64_t k_second = 0;
  std::int64_t n_second = 0;
};

inline constexpr const char* kDriftRateDifference = "difference of rates";

// Two-sided p: the probability, given both margins, of all tables at most as probable as the
// observed one (as SciPy's fisher_exact; ties are taken within 1e-9, which can only enlarge p).
// 1 where a margin is empty. Never 0. Throws std::invalid_argument for negative counts or more
// events than trials. Costs O(sqrt(trials)).
double fisher_exact_p(const TwoRates& rates);

// Smallest difference of rates caught with probability >= 1 - beta given the observed total of
// events: power summed exactly over the non-central hypergeometric law of each odds ratio, whose
// rates are those with that odds ratio and the observed total (Cornfield's equation). The
// approximation is that the drifted groups would have had the same total. The larger of both
// directions; 1 where no odds ratio suffices.
double fisher_min_detectable(const TwoRates& rates, double alpha, double beta);

// Tests that both groups have one rate. statistic: the observed difference of rates; n: trials of
// both groups. required_n keeps the shares of groups and events, by fisher_min_detectable up to
// 1e7 trials and by the normal formula above. An empty margin is INCONCLUSIVE. Throws like
// fisher_exact_p, and if there are no trials.
TestResult fisher_exact_test(const Contract& contract, const TwoRates& rates);

}  // namespace specbench::stats
