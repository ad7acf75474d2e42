#include "suites/lossless_narrow.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "stats/binomial.h"
#include "stats/pearson.h"
#include "stats/power.h"
#include "suites/budget.h"
#include "suites/narrow_seen.h"

namespace specbench::suites {

namespace {

// Correlation of two rows of a step.
constexpr double kRowsTau = 0.05;
// Below this mean a (1 - a) the bits are too skewed for the correlation test to say anything.
constexpr double kMinBitVariance = 0.02;
constexpr double kEffectAlpha = 1e-6;

/// A result, and what its statistic says of an effect: `chi_squared` with df, or how often the
/// impossible came.
struct Judged {
  stats::TestResult result;
  double chi_squared = 0.0;
  int df = 0;
  std::int64_t n_forbidden = 0;
};

/// Share of the commonest label of the rows, or of the columns where that is larger.
double commonest_share(const stats::CountTable& table) {
  std::vector<std::int64_t> rows(table.n_rows), cols(table.n_cols);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    for (std::size_t col = 0; col < table.n_cols; ++col) {
      rows[row] += table.at(row, col);
      cols[col] += table.at(row, col);
    }
  }
  const auto total = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  const std::int64_t most = std::max(*std::max_element(rows.begin(), rows.end()),
                                     *std::max_element(cols.begin(), cols.end()));
  return total > 0 ? static_cast<double>(most) / static_cast<double>(total) : 1.0;
}

class Tests {
 public:
  Tests(const NarrowCase& narrow, std::int64_t n_rounds) : narrow_(narrow), n_rounds_(n_rounds) {}

  std::vector<Judged> judged;

  // A class that cannot happen, or an id that its law excludes, fails without statistics. A class
  // too rare to move the emitted law by tau needs no more than that.
  void counts(const std::string& what, std::span<const std::int64_t> observed, const Probs& law,
              double share) {
    const stats::Contract terms = terms_of(what, what + " has its own law", share);
    const std::int64_t n = std::accumulate(observed.begin(), observed.end(), std::int64_t{0});
    if (is_forbidden(terms, observed, law, n) || law.empty() || share < kNarrowTau) return;
    if (n == 0) {  // a class that should make up `share` of the rounds never came
      add(stats::binomial_test(terms, 0, n_rounds_, share), 0.0, 0,
          static_cast<std::int64_t>(share * static_cast<double>(n_rounds_)));
      return;
    }
    const auto n_possible = std::count_if(law.begin(), law.end(), [](double p) { return p > 0.0; });
    if (n_possible < 2) return;  // certain: anything else was forbidden above
    // Two outcomes, or one beside rarities too rare for pools of their own: exact, on the
    // likeliest.
    const int pools =
        static_cast<int>(stats::pool_bins(law, n, stats::min_expected_count(kTestAlpha)).n_pools());
    if (n_possible > 2 && pools >= 2) {
      const stats::TestResult result = stats::pearson_test(terms, observed, law);
      add(result, result.statistic, pools - 1, 0);
      return;
    }
    const auto at =
        static_cast<std::size_t>(std::max_element(law.begin(), law.end()) - law.begin());
    const double excess = static_cast<double>(observed[at]) - static_cast<double>(n) * law[at];
    add(stats::binomial_test(terms, observed[at], n, law[at]),
        excess * excess / (static_cast<double>(n) * law[at] * (1.0 - law[at])), 1, 0);
  }

  void bits(const std::string& what, const stats::AcceptBits& bits) {
    const double share = static_cast<double>(bits.n()) / static_cast<double>(n_rounds_);
    if (bits.n() == 0) return;
    if ((share < kNarrowTau || !(bits.variance() > 0.0)) && bits.n_impossible() == 0)
      return;  // too rare to matter, or certain
    add(stats::z_test(terms_of(what, what + " has the rule's probability", share), bits),
        bits.z() * bits.z(), 1, bits.n_impossible());
  }

  void rows(const stats::RowCorrelation& rows) {
    add(stats::row_correlation_test(
            contract("narrow." + narrow_.name + ".rows", "rows accept independently", kRowsTau),
            rows),
        rows.z() * rows.z(), 1, rows.n_impossible());
  }

  // The tokens beside the commonest bound what a dependence could move. (The test is given the
  // margins, so that looking at them first changes nothing.)
  void next(const stats::CountTable& table) {
    const int n_ids = static_cast<int>(table.n_rows);
    if (1.0 - commonest_share(table) < 2.0 * kNarrowTau) return;
    const stats::TestResult result = stats::independence_test(
        terms_of("next[last,first]", "a round's first token does not depend on the last one before",
                 0.5),
        table);
    add(result, result.statistic, (n_ids - 1) * (n_ids - 1), 0);
  }

 private:
  stats::Contract terms_of(const std::string& what, std::string hypothesis, double share) const {
    return contract("narrow." + narrow_.name + "." + what, std::move(hypothesis), kNarrowTau,
                    share);
  }

  bool is_forbidden(const stats::Contract& terms, std::span<const std::int64_t> observed,
                    const Probs& law, std::int64_t n) {
    std::int64_t n_forbidden = 0;
    std::size_t first = observed.size();
    for (std::size_t id = 0; id < observed.size(); ++id) {
      if (observed[id] == 0 || (!law.empty() && law[id] > 0.0)) continue;
      n_forbidden += observed[id];
      first = std::min(first, id);
    }
    if (n_forbidden == 0) return false;
    add(stats::fail_forbidden(terms, count_of(n),
                              "Outcome " + std::to_string(first) + " came " +
                                  std::to_string(observed[first]) +
                                  " times; its probability is zero."),
        0.0, 0, n_forbidden);
    return true;
  }

  void add(stats::TestResult result, double chi_squared, int df, std::int64_t n_forbidden) {
    judged.push_back({std::move(result), chi_squared, df, n_forbidden});
  }

  const NarrowCase& narrow_;
  std::int64_t n_rounds_;
};

std::string label(bool is_by_row, std::size_t i) {
  return (is_by_row ? ".row[" : "[") + std::to_string(i) + "]";
}

std::span<const std::int64_t> line(const Seen::Counts& counts, std::size_t i, std::size_t n_ids) {
  return std::span(counts).subspan(i * n_ids, n_ids);
}

void test_token_classes(const NarrowCase& narrow, const Classes& classes, const Seen& seen,
                        Tests& tests) {
  Probs length;
  double reach = classes.is_by_row ? 1.0 / static_cast<double>(kRows) : 1.0;
  for (std::size_t slot = 0; slot < classes.n_slots; ++slot) {
    const NarrowRow& row = narrow.rows[classes.is_by_row ? slot : 0];
    const std::size_t at = classes.is_by_row ? 0 : slot;
    const PairLaws laws(row.targets[at], row.drafts[at]);
    const auto accepted = line(seen.accepted, slot, classes.n_ids);
    const auto rejected = line(seen.rejected, slot, classes.n_ids);
    Seen::Counts reached(accepted.begin(), accepted.end());
    for (std::size_t id = 0; id < reached.size(); ++id) reached[id] += rejected[id];
    const std::string where = label(classes.is_by_row, slot);
    tests.counts("reached" + where, reached, row.targets[at], reach);
    tests.counts("accepted" + where, accepted, laws.accepted, reach * laws.acceptance);
    tests.counts("rejected" + where, rejected, laws.rejected, reach * (1.0 - laws.acceptance));
    if (classes.is_by_row) continue;
    length.push_back(reach * (1.0 - laws.acceptance));
    reach *= laws.acceptance;
  }
  if (classes.is_by_row) return;  // the bonus comes from the law that `reached` has tested
  tests.counts("bonus", line(seen.bonus, 0, classes.n_ids), narrow.rows[0].targets[classes.g],
               reach);
  length.push_back(reach);
  tests.counts("length", seen.length, normalised(std::move(length)), 1.0);
}

Probs product(const Probs& first, const Probs& second) {
  Probs pairs;
  for (const double a : first)
    for (const double b : second) pairs.push_back(a * b);
  return pairs;
}

void test_emitted(const NarrowCase& narrow, const Classes& classes, const Seen& seen,
                  std::int64_t n_rounds, Tests& tests) {
  for (std::size_t group = 0; group < classes.n_groups; ++group) {
    const NarrowRow& row = narrow.rows[classes.is_by_row ? group : 0];
    const Probs& law = row.targets[classes.is_by_row ? 0 : group];
    const std::string where = classes.n_groups == 1 ? "" : label(classes.is_by_row, group);
    tests.counts("all" + where, line(seen.emitted, group, classes.n_ids), law,
                 1.0 / static_cast<double>(classes.n_groups));
    if (classes.rule != Rule::kBlock) continue;
    const auto bonus = line(seen.bonus, group, classes.n_ids);
    const auto n = std::accumulate(bonus.begin(), bonus.end(), std::int64_t{0});
    tests.counts("bonus" + where, bonus, law,
                 static_cast<double>(n) / static_cast<double>(n_rounds));
  }
}

std::vector<Judged> judge(const NarrowCase& narrow, std::string_view verifier_name,
                          std::int64_t n_rounds, std::uint64_t seed, const engine::Steps& steps,
                          int n_threads) {
  const engine::Verifier& verifier = engine::find_verifier(verifier_name, {});
  const Classes classes(narrow, rule_of(verifier));
  n_rounds = whole_rounds(n_rounds);
  const Seen seen = play_narrow_case(narrow, verifier, n_rounds, seed, steps, n_threads);
  Tests tests(narrow, n_rounds);
  if (classes.rule == Rule::kToken)
    test_token_classes(narrow, classes, seen, tests);
  else
    test_emitted(narrow, classes, seen, n_rounds, tests);
  for (std::size_t slot = 0; slot < classes.n_slots; ++slot)
    tests.bits("accept-bit" + label(classes.is_by_row, slot), seen.bits[slot]);
  if (NarrowLaws(narrow, verifier).least_bit_variance() >= kMinBitVariance) tests.rows(seen.rows);
  if (!classes.has_pairs) return std::move(tests.judged);
  const NarrowRow& row = narrow.rows[0];
  if (const PairLaws laws(row.targets[0], row.drafts[0]);
      classes.rule == Rule::kToken && classes.g >= 2 && !laws.accepted.empty())
    tests.counts("pair[0,1]", seen.first_pairs, product(laws.accepted, row.targets[1]),
                 laws.acceptance);
  // Two tokens a pair, at least one token a round.
  tests.counts("pairs", seen.pairs, product(row.targets[0], row.targets[0]), 0.5);
  tests.next(seen.next);
  return std::move(tests.judged);
}

NarrowEffect effect_of(const Judged& judged, std::int64_t n_rounds) {
  const auto rounds = static_cast<double>(n_rounds);
  if (judged.n_forbidden > 0) {
    const double rate = std::min(1.0, static_cast<double>(judged.n_forbidden) / rounds);
    return {judged.result.id, rate, stats::sample_count(std::log(1.0 / kBeta) / rate)};
  }
  const double excess = judged.chi_squared - judged.df;
  const double effect = excess / rounds;
  // Within six spreads of the central law it may be noise.
  if (excess < 6.0 * std::sqrt(2.0 * judged.df))
    return {judged.result.id, effect, stats::kNoSampleSuffices};
  const double needed = stats::chi_squared_noncentrality(judged.df, kEffectAlpha, kBeta);
  return {judged.result.id, effect, stats::sample_count(needed / effect)};
}

}  // namespace

std::int64_t narrow_rounds() {
  // 10 % above the need of the widest law, so that a class short of its expected count still meets
  // its contract.
  static const std::int64_t rounds =
      stats::pearson_required_n(63, kTestAlpha, kBeta, kNarrowTau) * 11 / 10;
  return rounds;
}

std::vector<stats::TestResult> test_narrow_case(const NarrowCase& narrow, std::string_view verifier,
                                                std::int64_t n_rounds, std::uint64_t seed,
                                                const engine::Steps& steps, int n_threads) {
  std::vector<stats::TestResult> results;
  for (Judged& judged : judge(narrow, verifier, n_rounds, seed, steps, n_threads))
    results.push_back(std::move(judged.result));
  return results;
}

std::vector<NarrowEffect> narrow_effects(const NarrowCase& narrow, std::string_view verifier,
                                         std::int64_t n_rounds, std::uint64_t seed,
                                         const engine::Steps& steps, int n_threads) {
  std::vector<NarrowEffect> effects;
  for (const Judged& judged : judge(narrow, verifier, n_rounds, seed, steps, n_threads))
    effects.push_back(effect_of(judged, whole_rounds(n_rounds)));
  return effects;
}

}  // namespace specbench::suites
