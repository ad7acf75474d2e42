#include "suites/controls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "engine/coins.h"
#include "engine/decode.h"
#include "stats/binomial.h"
#include "stats/pearson.h"
#include "stats/z_test.h"
#include "suites/budget.h"
#include "suites/confirm.h"
#include "suites/narrow_cases.h"
#include "suites/narrow_play.h"

namespace specbench::suites {

using engine::Law;
using engine::TokenId;
using results::CheckStatus;

namespace {

constexpr std::uint32_t kControlGroup = 0x20000;
constexpr int kSteps = 500;  // of four rows, a seed
constexpr int kIds = 16;
constexpr int kDrafted = 3;

/// One position of every row, target and draft alike everywhere: what is emitted is iid.
struct Pair {
  Pair(const Probs& target_probs, const Probs& draft_probs) : room(2, kIds) {
    std::copy(target_probs.begin(), target_probs.end(), room.weights(0));
    std::copy(draft_probs.begin(), draft_probs.end(), room.weights(1));
    target = whole(0);
    draft = whole(1);
  }
  Law whole(int i) {
    return {room.weights(i), room.chunk_sums(i),
            engine::sum_chunks(room.weights(i), kIds, room.chunk_sums(i)), kIds, -1};
  }
  Probs target_probs() const {
    Probs probs;
    for (TokenId id = 0; id < kIds; ++id) probs.push_back(target.prob(id));
    return probs;
  }
  engine::LawBuffer room;
  Law target, draft;
};

/// What a control emitted and accepted, over all its seeds.
struct Seen {
  std::vector<std::int64_t> emitted = std::vector<std::int64_t>(kIds);
  stats::AcceptBits bits;  ///< each with the probability its own rule gives it

  void merge(const Seen& other) {
    for (std::size_t id = 0; id < emitted.size(); ++id) emitted[id] += other.emitted[id];
    bits.merge(other.bits);
  }
};

/// Probability that a rule accepts a drafted id.
using AcceptanceOf = double (*)(const Pair&, TokenId);

double by_ratio(const Pair& pair, TokenId id) {
  return std::min(1.0, pair.target.prob(id) / pair.draft.prob(id));
}
double by_target(const Pair& pair, TokenId id) { return pair.target.prob(id); }
double by_nothing(const Pair&, TokenId) { return 0.0; }

engine::Acceptance accept_never(const engine::Proposal& proposal, const engine::RoundCoins& coins,
                                const engine::LawRoom&) {
  return {0, engine::draw(proposal.target_laws[0], coins.residual[0]), engine::Source::kResidual,
          false};
}

TokenId plain_draw(const Law& law, const engine::RoundCoins& coins) {
  return engine::draw(law, coins.bonus);
}

/// A rule under the production player.
Seen play(const Pair& pair, const engine::Verifier& verifier, AcceptanceOf acceptance_of,
          std::uint64_t seed, engine::AcceptRule instead) {
  engine::Steps steps;
  steps.accept = instead;
  Player player(0, kDrafted, kIds, seed, verifier, steps);
  const std::vector<Law> targets(kDrafted + 1, pair.target);
  // One-hot drafts may be anything that does not see the coins: here the third id, always.
  const bool is_one_hot = verifier.draft_draw == engine::DraftDraw::kArgmax;
  const std::vector<Law> drafts(kDrafted,
                                is_one_hot ? Law{nullptr, nullptr, 1.0, kIds, 2} : pair.draft);
  Seen seen;
  for (int step = 0; step < kSteps; ++step)
    player.step(
        [&](std::size_t, int) {
          return RoundLaws{targets, drafts};
        },
        [&](const PlayedRound& round) {
          for (std::size_t i = 0; i <= round.n_accepted(); ++i) {
            ++seen.emitted[static_cast<std::size_t>(round.token(i))];
            if (i < round.n_drafted())
              seen.bits.add(i < round.n_accepted(), acceptance_of(pair, round.draft.drafted[i]));
          }
        });
  return seen;
}

/// Two candidates of one node, the second drawn from what the first left of the draft; recursive
/// rejection with p <- norm(max(0, p - q)).
Seen play_siblings(const Pair& pair, std::uint64_t seed) {
  engine::LawBuffer room(3, kIds);
  Seen seen;
  for (std::uint32_t round = 0; round < 4 * kSteps; ++round) {
    const auto coin = [&](engine::Purpose purpose, std::uint32_t candidate) {
      return engine::uniform({seed, round, 1, 1, purpose, candidate});
    };
    Law target = pair.target;
    Law draft = pair.draft;
    TokenId emitted = -1;
    for (std::uint32_t candidate = 0; candidate < 2 && emitted < 0; ++candidate) {
      const TokenId id = engine::draw(draft, coin(engine::Purpose::kDraft, candidate));
      const double a = std::min(1.0, target.prob(id) / draft.prob(id));
      const bool is_accepted =
          coin(engine::Purpose::kAccept, candidate) * draft.prob(id) < target.prob(id);
      seen.bits.add(is_accepted, a);
      if (is_accepted) emitted = id;
      target = engine::residual_law(target, draft, room.room(static_cast<int>(candidate)));
      std::copy(pair.draft.weights, pair.draft.weights + kIds, room.weights(2));
      room.weights(2)[id] = 0.0;
      draft = {room.weights(2), room.chunk_sums(2),
               engine::sum_chunks(room.weights(2), kIds, room.chunk_sums(2)), kIds, -1};
    }
    if (emitted < 0) emitted = engine::draw(target, coin(engine::Purpose::kResidual, 0));
    ++seen.emitted[static_cast<std::size_t>(emitted)];
  }
  return seen;
}

/// Rows of logits full of equal values, cut by top-k in the middle of a tie.
Pair tied_pair() {
  engine::SamplingParams params;
  params.top_k = 6;
  engine::LawBuffer room(2, kIds);
  float target[kIds], draft[kIds];
  for (int id = 0; id < kIds; ++id) {
    target[id] = static_cast<float>(id % 4);
    draft[id] = static_cast<float>((id + 1) % 3);
  }
  const Law p = engine::make_law(target, kIds, params, room.weights(0), room.chunk_sums(0));
  params.top_k = 9;
  const Law q = engine::make_law(draft, kIds, params, room.weights(1), room.chunk_sums(1));
  return {{p.weights, p.weights + kIds}, {q.weights, q.weights + kIds}};
}

struct Control {
  const char* id;
  const char* what;
  std::function<Seen(std::uint64_t seed)> play;
  const Pair* pair;
};

results::Check check_control(const Context& context, const Control& control, std::uint32_t group) {
  const Probs target = control.pair->target_probs();
  const auto terms = [&](const char* what, double tau) {
    return contract(std::string("control.") + control.id + "." + what,
                    "tokens have the target's law", tau);
  };
  Seen all;
  int n_failed = 0;
  for (int i = 0; i < kControlSeeds && !*context.stop; ++i) {
    const Seen seen = control.play(stage_seed(context.options.seed, kControlGroup + group, i));
    n_failed += stats::pearson_test(terms("tokens", 0.2), seen.emitted, target).verdict ==
                stats::Verdict::kFail;
    all.merge(seen);
  }
  if (*context.stop)
    return {std::string("control.") + control.id, CheckStatus::kSkipped, "Interrupted."};
  const stats::TestResult tokens =
      stats::pearson_test(terms("tokens", kNarrowTau), all.emitted, target);
  const double rate = all.bits.expected() / static_cast<double>(all.bits.n());
  const double accepted =
      static_cast<double>(all.bits.n_accepted()) / static_cast<double>(all.bits.n());
  const bool has_own_rate =
      all.bits.n_impossible() == 0 && stats::z_two_sided_p(all.bits.z()) > kTestAlpha;
  const bool is_alive = n_failed <= 1 && tokens.verdict == stats::Verdict::kPass && has_own_rate;
  return {
      std::string("control.") + control.id, is_alive ? CheckStatus::kPassed : CheckStatus::kFailed,
      fmt::format("{}: failed {} of {} seeds; all {} tokens together p = {:.2g}; accepted {:.4f} "
                  "of its drafts, its rule says {:.4f} (z = {:.1f}).",
                  control.what, n_failed, kControlSeeds, tokens.n, tokens.p_value, accepted, rate,
                  all.bits.z())};
}

}  // namespace

std::vector<results::Check> check_controls(const Context& context, engine::AcceptRule instead) {
  Probs target(kIds), draft(kIds);
  for (std::size_t id = 0; id < kIds; ++id) {
    target[id] = std::exp(-0.2 * static_cast<double>(id * 7 % kIds));
    draft[id] = std::exp(-0.15 * static_cast<double>(id * 5 % kIds));
  }
  const Pair pair(normalised(target), normalised(draft));
  const Pair tied = tied_pair();
  const engine::Verifier& token = engine::find_verifier("token", {});
  const engine::Verifier& one_hot = engine::find_verifier("one-hot", {});
  const engine::Verifier match{"sampler-match", engine::DraftDraw::kCoin, engine::accept_one_hot,
                               plain_draw};
  const engine::Verifier never{"never", engine::DraftDraw::kCoin, accept_never, plain_draw};
  const Control controls[] = {
      {"sampler-match", "accept iff the target's own draw is the drafted token",
       [&](std::uint64_t seed) { return play(pair, match, by_target, seed, instead); }, &pair},
      {"one-hot", "one-hot rule, a draft that never changes",
       [&](std::uint64_t seed) { return play(pair, one_hot, by_target, seed, instead); }, &pair},
      {"never-accept", "no draft is accepted",
       [&](std::uint64_t seed) { return play(pair, never, by_nothing, seed, instead); }, &pair},
      {"siblings", "two candidates without replacement, recursive rejection",
       [&](std::uint64_t seed) { return play_siblings(pair, seed); }, &pair},
      {"ties", "laws with true ties at every edge",
       [&](std::uint64_t seed) { return play(tied, token, by_ratio, seed, instead); }, &tied}};
  std::vector<results::Check> checks;
  for (const Control& control : controls)
    checks.push_back(check_control(context, control, static_cast<std::uint32_t>(checks.size())));
  return checks;
}

}  // namespace specbench::suites
