#include "suites/lossless_wide.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "stats/binomial.h"
#include "stats/collisions.h"
#include "stats/kolmogorov.h"
#include "stats/pearson.h"
#include "stats/power.h"
#include "suites/budget.h"
#include "suites/wide_seen.h"

namespace specbench::suites {

namespace {

constexpr std::size_t kWideBins = 16;
constexpr double kTailTau = 1e-3;  // rate of the tail: doubled, or gone
constexpr double kCollisionTau = 0.6;

class WideTests {
 public:
  WideTests(std::string prefix, const WideCounts& counts)
      : prefix_(std::move(prefix)), counts_(counts) {}
  std::vector<stats::TestResult> results;

  /// share: of the emitted tokens.
  void kind(Kind kind, double share) {
    const auto& stream = counts_.streams[static_cast<std::size_t>(kind)];
    const std::string name = std::string(kKindNames[static_cast<std::size_t>(kind)]) + ".";
    if (stream.n_forbidden > 0)
      results.push_back(stats::fail_forbidden(
          terms(name + "support", kDistanceTau, share), count_of(counts_.n_tokens),
          "Id " + std::to_string(stream.forbidden) + " and others came " +
              std::to_string(stream.n_forbidden) + " times; their probability is zero."));
    for (std::size_t o = 0; o < kOrders; ++o) {
      const stats::PitAccumulator& pits = stream.pits[o];
      const std::string in_order = name + kOrderNames[o];
      if (pits.n() == 0) {
        if (kind != Kind::kBonus || static_cast<Order>(o) != Order::kRatio)
          results.push_back(stats::binomial_test(terms(in_order + ".ks", kDistanceTau, share), 0,
                                                 counts_.n_tokens, share));
        continue;
      }
      results.push_back(stats::ks_uniform_test(terms(in_order + ".ks", kDistanceTau, share), pits));
      if (static_cast<Order>(o) != Order::kId)
        results.push_back(stats::pearson_uniform_test(terms(in_order + ".bins", kBinsTau, share),
                                                      coarse(pits.bin_counts())));
    }
  }

  void tail(const WideLaws& wide) {
    double mass = 0.0;
    for (engine::TokenId id = 0; id < wide.n_ids(); ++id) {
      const Standing& at = wide.standing(OutcomeLaw::kTarget, id);
      const double behind = at.below[static_cast<std::size_t>(Order::kTarget)] + at.mass;
      if (behind <= kTailMass) mass = std::max(mass, behind);
    }
    results.push_back(stats::binomial_test(terms("all.tail", kTailTau, 1.0), counts_.n_tail,
                                           counts_.n_tokens, mass));
  }

  // Batches are independent, so the rates of their clusters add up.
  void collisions(const WideLaws& wide) {
    if (counts_.n_batches == 0) return;
    stats::CollisionLaw law = stats::collision_law(wide.target_probs(), kCollisionBatch);
    const auto n_batches = static_cast<double>(counts_.n_batches);
    law.mean *= n_batches;
    double variance = 0.0;
    for (std::size_t x = 0; x < law.clusters.size(); ++x) {
      law.clusters[x] *= n_batches;
      const double n_pairs = static_cast<double>(x) * (static_cast<double>(x) - 1.0) / 2.0;
      variance += n_pairs * n_pairs * law.clusters[x];
    }
    const stats::Contract contract = terms("all.collisions", kCollisionTau, 1.0);
    stats::Evidence evidence;
    evidence.statistic_name = "coinciding pairs";
    evidence.drift_kind = stats::kDriftCollisionRate;
    evidence.n = counts_.n_batches * static_cast<std::int64_t>(kCollisionBatch);
    evidence.statistic = static_cast<double>(counts_.n_collisions);
    evidence.p_value = stats::collision_two_sided_p(law, counts_.n_collisions);
    // As of a count whose spread grows with its mean; (1 + d) bounds the growth for d <= tau.
    const double shift = stats::normal_detectable_shift(contract.alpha(), contract.beta());
    const double relative = shift * std::sqrt(variance * (1.0 + contract.tau())) / law.mean;
    evidence.min_detectable = relative;
    evidence.required_n = stats::sample_count(static_cast<double>(evidence.n) *
                                              std::pow(relative / contract.tau(), 2.0));
    results.push_back(stats::decide(contract, evidence));
  }

  void bits(const stats::AcceptBits& bits) {
    results.push_back(stats::z_test(terms("accept-bit", kRateTau, 1.0), bits));
  }

 private:
  stats::Contract terms(const std::string& what, double tau, double share) const {
    return contract(prefix_ + what, what + " has its own law", tau, share);
  }
  static std::vector<std::int64_t> coarse(const std::vector<std::int64_t>& fine) {
    std::vector<std::int64_t> bins(kWideBins);
    for (std::size_t i = 0; i < fine.size(); ++i) bins[i * kWideBins / fine.size()] += fine[i];
    return bins;
  }

  std::string prefix_;
  const WideCounts& counts_;
};

// sum min(p, q), the same for every offset.
double overlap_of(const WideLogits& logits) {
  const int n_ids = logits.n_ids();
  engine::LawBuffer buffer(2, n_ids);
  const auto made = [&](const float* row, int room) {
    return engine::make_law(row, n_ids, {}, buffer.weights(room), buffer.chunk_sums(room));
  };
  const engine::Law target = made(logits.target(), 0);
  const engine::Law draft = made(logits.draft(), 1);
  RowProbs row(n_ids);
  row.load(target, &draft);
  return row.overlap();
}

// Shares of the emitted tokens, each draft accepted with the same probability.
void test_kinds(double acceptance, int g, WideTests& tests) {
  const double all_accepted = std::pow(acceptance, g);
  const double judged = (1.0 - all_accepted) / (1.0 - acceptance);
  const double emitted = judged + all_accepted;
  tests.kind(Kind::kAccepted, judged * acceptance / emitted);
  tests.kind(Kind::kRejected, (1.0 - all_accepted) / emitted);
  tests.kind(Kind::kBonus, all_accepted / emitted);
}

}  // namespace

std::vector<stats::TestResult> test_wide_case(int n_ids, std::string_view verifier_name,
                                              std::int64_t n_tokens, std::uint64_t seed,
                                              const engine::Steps& steps, int n_threads) {
  const engine::Verifier& verifier = engine::find_verifier(verifier_name, {});
  const WideLaws wide(n_ids);
  const WideSeen seen = play_fixed_laws(wide, verifier, n_tokens, seed, steps, n_threads);
  WideTests tests("wide.V" + std::to_string(n_ids) + ".", seen.counts);
  tests.kind(Kind::kAll, 1.0);
  if (verifier.accept == engine::accept_token) {
    test_kinds(wide.acceptance, kWideDrafted, tests);
    tests.bits(seen.bits);
  }
  tests.tail(wide);
  tests.collisions(wide);
  return std::move(tests.results);
}

std::vector<stats::TestResult> test_varying_laws(int n_ids, std::int64_t n_tokens,
                                                 std::uint64_t seed, const engine::Steps& steps,
                                                 int n_threads) {
  const WideLogits logits(n_ids);
  const WideSeen seen = play_varying_laws(logits, n_tokens, seed, steps, n_threads);
  WideTests tests("wide.V" + std::to_string(n_ids) + ".varying.", seen.counts);
  tests.kind(Kind::kAll, 1.0);
  test_kinds(overlap_of(logits), kVaryingDrafted, tests);
  return std::move(tests.results);
}

}  // namespace specbench::suites
