#include "suites/lossless_narrow.h"

#include <algorithm>
#include <numeric>

#include "engine/coins.h"
#include "engine/parallel.h"
#include "stats/binomial.h"
#include "stats/pearson.h"
#include "stats/power.h"
#include "stats/z_test.h"
#include "suites/budget.h"

namespace specbench::suites {

namespace {

using Counts = std::vector<std::int64_t>;

/// A law with its storage.
struct OwnedLaw {
  explicit OwnedLaw(const Probs& probs)
      : weights(static_cast<std::size_t>(engine::padded_size(static_cast<int>(probs.size())))),
        sums(static_cast<std::size_t>(engine::n_chunks(static_cast<int>(probs.size())))) {
    std::copy(probs.begin(), probs.end(), weights.begin());
    law = {weights.data(), sums.data(), 0.0, static_cast<int>(probs.size()), -1};
    law.total = engine::sum_chunks(weights.data(), law.n_ids, sums.data());
  }
  OwnedLaw(OwnedLaw&&) = default;
  std::vector<double> weights, sums;
  engine::Law law;
};

/// What the rounds of a case showed. Entry [i] belongs to position i.
struct Seen {
  Seen(std::size_t g, std::size_t n)
      : reached(g, Counts(n)),
        accepted(g, Counts(n)),
        rejected(g, Counts(n)),
        bonus(n),
        length(g + 1),
        bits(g),
        pairs(n * n) {}
  std::vector<Counts> reached, accepted, rejected;  ///< [i][id]
  Counts bonus;
  Counts length;                        ///< [n accepted]
  std::vector<stats::AcceptBits> bits;  ///< [i]
  Counts pairs;                         ///< [token 0 accepted][token 1]

  void merge(const Seen& other) {
    const auto add = [](Counts& to, const Counts& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    for (std::size_t i = 0; i < reached.size(); ++i) {
      add(reached[i], other.reached[i]);
      add(accepted[i], other.accepted[i]);
      add(rejected[i], other.rejected[i]);
      bits[i].merge(other.bits[i]);
    }
    add(bonus, other.bonus);
    add(length, other.length);
    add(pairs, other.pairs);
  }
};

/// Plays rounds [begin, end) of a case.
class Player {
 public:
  Player(const NarrowCase& narrow, std::uint64_t seed, const engine::Steps& steps)
      : seed_(seed), steps_(steps) {
    for (const Probs& probs : narrow.targets) owned_.emplace_back(probs);
    for (const Probs& probs : narrow.drafts) owned_.emplace_back(probs);
    const std::size_t n_targets = narrow.targets.size();
    for (std::size_t i = 0; i < owned_.size(); ++i)
      (i < n_targets ? targets_ : drafts_).push_back(owned_[i].law);
    residual_weights_.resize(owned_.front().weights.size());
    residual_sums_.resize(owned_.front().sums.size());
    drafted_.resize(drafts_.size());
  }

  void play(std::int64_t begin, std::int64_t end, Seen& seen) {
    const engine::AcceptRule rule = steps_.accept != nullptr ? steps_.accept : engine::accept_token;
    for (std::int64_t r = begin; r < end; ++r) {
      // Every round is a request of its own at its own position: fresh coins.
      const auto request = static_cast<std::uint32_t>(r);
      const int first_pos = static_cast<int>(r >> 32) * 64 + 1;
      const auto first = static_cast<std::uint32_t>(first_pos);
      for (std::size_t i = 0; i < drafts_.size(); ++i)
        drafted_[i] = engine::draw(
            drafts_[i],
            engine::uniform({seed_, request, first, first + static_cast<std::uint32_t>(i),
                             engine::Purpose::kDraft, 0}));
      const auto coins =
          steps_.coins({seed_, request, first_pos, static_cast<int>(drafts_.size()), 0});
      note(rule({drafted_, drafts_, targets_}, coins,
                {residual_weights_.data(), residual_sums_.data()}),
           seen);
    }
  }

 private:
  void note(const engine::Acceptance& acceptance, Seen& seen) const {
    const auto n = static_cast<std::size_t>(acceptance.n_accepted);
    const auto final_token = static_cast<std::size_t>(acceptance.final_token);
    ++seen.length[n];
    for (std::size_t i = 0; i <= n && i < drafts_.size(); ++i) {
      const auto id = static_cast<std::size_t>(drafted_[i]);
      const double q = drafts_[i].prob(drafted_[i]);
      seen.bits[i].add(i < n, std::min(1.0, targets_[i].prob(drafted_[i]) / q));
      ++(i < n ? seen.accepted : seen.rejected)[i][i < n ? id : final_token];
      ++seen.reached[i][i < n ? id : final_token];
    }
    if (n == drafts_.size()) ++seen.bonus[final_token];
    if (n >= 1) {
      const std::size_t second = n >= 2 ? static_cast<std::size_t>(drafted_[1]) : final_token;
      ++seen.pairs[static_cast<std::size_t>(drafted_[0]) * seen.bonus.size() + second];
    }
  }

  std::uint64_t seed_;
  const engine::Steps& steps_;
  std::vector<OwnedLaw> owned_;
  std::vector<engine::Law> targets_, drafts_;
  std::vector<double> residual_weights_, residual_sums_;
  std::vector<engine::TokenId> drafted_;
};

/// The laws a case must show.
struct Expected {
  explicit Expected(const NarrowCase& narrow) {
    for (std::size_t i = 0; i < narrow.drafts.size(); ++i) {
      const Probs& p = narrow.targets[i];
      const Probs& q = narrow.drafts[i];
      Probs common(p.size()), rest(p.size());
      for (std::size_t y = 0; y < p.size(); ++y) {
        common[y] = std::min(p[y], q[y]);
        rest[y] = std::max(0.0, p[y] - q[y]);
      }
      acceptance.push_back(std::accumulate(common.begin(), common.end(), 0.0));
      accepted.push_back(acceptance[i] > 0.0 ? normalised(std::move(common)) : Probs{});
      rejected.push_back(acceptance[i] < 1.0 - 1e-12 ? normalised(std::move(rest)) : Probs{});
      reach.push_back(i == 0 ? 1.0 : reach[i - 1] * acceptance[i - 1]);
    }
    const std::size_t g = acceptance.size();
    all_accepted = reach[g - 1] * acceptance[g - 1];
    for (std::size_t n = 0; n < g; ++n) length.push_back(reach[n] * (1.0 - acceptance[n]));
    length.push_back(all_accepted);
    length = normalised(std::move(length));
  }
  std::vector<double> acceptance;         ///< [i] sum min(p, q)
  std::vector<double> reach;              ///< [i] probability that position i is judged
  std::vector<Probs> accepted, rejected;  ///< [i]; empty where it cannot happen
  Probs length;
  double all_accepted = 0.0;
};

class Tests {
 public:
  Tests(const NarrowCase& narrow, std::int64_t n_rounds, std::vector<stats::TestResult>& results)
      : narrow_(narrow), n_rounds_(n_rounds), results_(results) {}

  // A class that cannot happen, or an id that its law excludes, fails without statistics. A class
  // too rare to move the emitted law by tau needs no more than that.
  void counts(const std::string& what, const Counts& observed, const Probs& law, double share) {
    const std::int64_t n = std::accumulate(observed.begin(), observed.end(), std::int64_t{0});
    const stats::Contract terms = contract("narrow." + narrow_.name + "." + what,
                                           what + " has its own law", kNarrowTau, share);
    for (std::size_t id = 0; id < observed.size(); ++id) {
      if (observed[id] == 0 || (!law.empty() && law[id] > 0.0)) continue;
      results_.push_back(stats::fail_forbidden(terms, count_of(n),
                                               "Outcome " + std::to_string(id) + " came " +
                                                   std::to_string(observed[id]) +
                                                   " times; its probability is zero."));
      return;
    }
    if (law.empty() || share < kNarrowTau) return;
    if (n == 0) {
      results_.push_back(stats::fail_forbidden(
          terms, count_of(n),
          "A class that should make up " + std::to_string(share) + " of the rounds never came."));
      return;
    }
    const auto n_possible = std::count_if(law.begin(), law.end(), [](double p) { return p > 0.0; });
    if (n_possible < 2) return;  // certain: anything else was forbidden above
    // Two outcomes, or one beside rarities too rare for pools of their own: exact, on the
    // likeliest.
    const auto pools = stats::pool_bins(law, n, stats::min_expected_count(kTestAlpha)).n_pools();
    if (n_possible == 2 || pools < 2) {
      const auto likeliest =
          static_cast<std::size_t>(std::max_element(law.begin(), law.end()) - law.begin());
      results_.push_back(stats::binomial_test(terms, observed[likeliest], n, law[likeliest]));
    } else {
      results_.push_back(stats::pearson_test(terms, observed, law));
    }
  }

  void bits(const std::string& what, const stats::AcceptBits& bits) {
    const double share = static_cast<double>(bits.n()) / static_cast<double>(n_rounds_);
    if (share < kNarrowTau || !(bits.variance() > 0.0))
      return;  // too rare to matter, or certain: that is covered by the forbidden outcomes
    results_.push_back(
        stats::z_test(contract("narrow." + narrow_.name + "." + what,
                               what + " has probability min(1, p/q)", kNarrowTau, share),
                      bits));
  }

 private:
  const NarrowCase& narrow_;
  std::int64_t n_rounds_;
  std::vector<stats::TestResult>& results_;
};

}  // namespace

std::int64_t narrow_rounds() {
  // 10 % above the need of the widest law, so that a class short of its expected count still meets
  // its contract.
  static const std::int64_t rounds =
      stats::pearson_required_n(63, kTestAlpha, kBeta, kNarrowTau) * 11 / 10;
  return rounds;
}

std::vector<stats::TestResult> test_narrow_case(const NarrowCase& narrow, std::int64_t n_rounds,
                                                std::uint64_t seed, const engine::Steps& steps,
                                                int n_threads) {
  const std::size_t g = narrow.drafts.size();
  const std::size_t n_ids = narrow.targets.front().size();
  std::vector<Seen> parts(static_cast<std::size_t>(n_threads), Seen(g, n_ids));
  engine::parallel_for(n_threads, n_threads, [&](int t) {
    Player(narrow, seed, steps)
        .play(n_rounds * t / n_threads, n_rounds * (t + 1) / n_threads,
              parts[static_cast<std::size_t>(t)]);
  });
  Seen& seen = parts.front();
  for (std::size_t t = 1; t < parts.size(); ++t) seen.merge(parts[t]);

  const Expected expected(narrow);
  std::vector<stats::TestResult> results;
  Tests tests(narrow, n_rounds, results);
  for (std::size_t i = 0; i < g; ++i) {
    const std::string at = "[" + std::to_string(i) + "]";
    tests.counts("reached" + at, seen.reached[i], narrow.targets[i], expected.reach[i]);
    tests.counts("accepted" + at, seen.accepted[i], expected.accepted[i],
                 expected.reach[i] * expected.acceptance[i]);
    tests.counts("rejected" + at, seen.rejected[i], expected.rejected[i], expected.length[i]);
    tests.bits("accept-bit" + at, seen.bits[i]);
  }
  tests.counts("bonus", seen.bonus, narrow.targets[g], expected.all_accepted);
  tests.counts("length", seen.length, expected.length, 1.0);
  if (g >= 2 && n_ids <= 8 && !expected.accepted[0].empty()) {
    Probs pairs;
    for (const double a : expected.accepted[0])
      for (const double b : narrow.targets[1]) pairs.push_back(a * b);
    tests.counts("pair[0,1]", seen.pairs, pairs, expected.acceptance[0]);
  }
  return results;
}

}  // namespace specbench::suites
