#include "suites/replay_check.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "suites/replay.h"

namespace specbench::suites {

namespace {

using engine::Law;
using engine::TokenId;

constexpr int kIds = 4;
constexpr int kFirstPos = 10;
using Weights = std::array<double, kIds>;

// Sums are 1. Residuals of a and b: max(0, kA - kB) = (0, 0, .1, .3).
constexpr Weights kA = {.1, .2, .3, .4};
constexpr Weights kB = {.4, .3, .2, .1};
constexpr Weights kFlat = {.25, .25, .25, .25};
constexpr Weights kFront = {.45, .35, .1, .1};
constexpr Weights kFirst = {.7, .1, .1, .1};
constexpr Weights kAlmostTwo = {1e-15, 1e-15, 1.0, 1e-15};
constexpr Weights kPointZero = {1, 0, 0, 0};
constexpr Weights kPointOne = {0, 1, 0, 0};

struct TypedRound {
  const char* name;
  const char* verifier;
  std::uint64_t seed;
  std::array<Weights, 2> draft;
  std::array<Weights, 3> target;
  std::array<TokenId, 2> drafted;
  int n_accepted;
  TokenId final_token;
};

// Two drafts each, request 0, position 10 on. Coins of a seed, to three digits: d draft, a accept,
// r residual, b bonus, t target.
//  seed 1:   d .635 .766  a .679 .531  r .321 .450  t .023 .194
//  seed 2:   d .462 .520  a .797 .425  b .363
//  seed 3:   d .850 .414  a .189 .448  b .189  t .108 .279 .332
//  seed 12:  d .360 .604  a .114 .669  r .379 .691
//  seed 515: d .551 .829  a .154 .376  r .138 .792
constexpr TypedRound kRounds[] = {
    // .679 x .3 >= .2; of (0, 0, .1, .3) the coin .321 takes id 3 (the target's own law: id 2).
    {"token, first refused", "token", 1, {kB, kA}, {kA, kFlat, kFirst}, {1, 3}, 0, 3},
    // .189 x .2 < .3 and .448 x .3 < .25.
    {"token, bonus", "token", 3, {kB, kA}, {kA, kFlat, kFirst}, {2, 2}, 2, 0},
    // .114 x .4 < .1, .669 x .4 >= .25; of (.15, .05, 0, 0) the coin .691 takes id 0.
    {"token, second refused", "token", 12, {kB, kA}, {kA, kFlat, kFirst}, {0, 3}, 1, 0},
    // The same coins by block: P_2 = .25 x .625 <= .669, E_1 = 0; at tau = 0 the coin is .379.
    {"block, none stands", "block", 12, {kB, kA}, {kA, kFlat, kFirst}, {0, 3}, 0, 3},
    // P_2 = .667 x .833 = .556 > .425, though .797 alone would refuse the first.
    {"block, all stand", "block", 2, {kB, kA}, {kA, kFlat, kFirst}, {1, 2}, 2, 0},
    // P_2 = .167 <= .376; E_1 = .2 + .033, h_1 = .412 > .154; of (.2, .033, 0, 0) the coin .792
    // takes id 0, where the token rule's (.35, .15, 0, 0) gives id 1.
    {"block, one stands", "block", 515, {kB, kA}, {kA, kFront, kFirst}, {1, 3}, 1, 0},
    {"token, the same coins", "token", 515, {kB, kA}, {kA, kFront, kFirst}, {1, 3}, 1, 1},
    // The target's draws: .023 takes 0, .194 takes 0, not 1.
    {"one-hot, one stands",
     "one-hot",
     1,
     {kPointZero, kPointOne},
     {kA, kFlat, kFirst},
     {0, 1},
     1,
     0},
    {"one-hot, all stand", "one-hot", 3, {kPointOne, kPointOne}, {kA, kFlat, kFirst}, {1, 1}, 2, 0},
    // Noise of 34 nats would be needed for any other id.
    {"coupled",
     "coupled",
     1,
     {kAlmostTwo, kAlmostTwo},
     {kAlmostTwo, kAlmostTwo, kAlmostTwo},
     {2, 2},
     2,
     2},
};

Law law_of(const Weights& weights) { return {weights.data(), nullptr, 1.0, kIds, -1}; }

// What the replay says of the round with this outcome, as if an engine had reported it.
ReplayCounts replay_typed(const TypedRound& typed, int n_accepted, TokenId final_token,
                          OracleFault fault) {
  const std::array<Law, 2> draft = {law_of(typed.draft[0]), law_of(typed.draft[1])};
  const std::array<Law, 3> target = {law_of(typed.target[0]), law_of(typed.target[1]),
                                     law_of(typed.target[2])};
  std::vector<TokenId> emitted(typed.drafted.begin(), typed.drafted.begin() + n_accepted);
  emitted.push_back(final_token);
  engine::Round round;
  round.first_pos = kFirstPos;
  round.proposal = {typed.drafted, draft, target};
  round.n_verdict = round.n_accepted = n_accepted;
  round.emitted = emitted;
  ReplayCounts counts;
  replay_round(round, engine::find_verifier(typed.verifier, {}), typed.seed, counts, fault);
  return counts;
}

// Empty, or what is wrong.
std::string fault_of(const TypedRound& typed, OracleFault fault) {
  const ReplayCounts right = replay_typed(typed, typed.n_accepted, typed.final_token, fault);
  if (right.n_draft_mismatches + right.n_round_mismatches != 0)
    return fmt::format("{}: the replay is wrong. {}", typed.name, right.first_mismatch);
  const auto misses = [&](int n_accepted, TokenId final_token) {
    return replay_typed(typed, n_accepted, final_token, fault).n_round_mismatches != 1;
  };
  if (misses(typed.n_accepted, (typed.final_token + 1) % kIds))
    return fmt::format("{}: the replay lets a wrong final id pass.", typed.name);
  if (misses(typed.n_accepted == 0 ? 1 : typed.n_accepted - 1, typed.final_token))
    return fmt::format("{}: the replay lets a wrong count of accepted drafts pass.", typed.name);
  return "";
}

}  // namespace

results::Check check_oracle(OracleFault fault) {
  for (const TypedRound& typed : kRounds)
    if (std::string what = fault_of(typed, fault); !what.empty())
      return {"replay.oracle", results::CheckStatus::kFailed, std::move(what)};
  return {"replay.oracle", results::CheckStatus::kPassed,
          fmt::format("The replay agrees with {} rounds typed by hand, and with none that was "
                      "changed.",
                      std::size(kRounds))};
}

}  // namespace specbench::suites
