#include "suites/independence.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "engine/coins.h"
#include "suites/budget.h"
#include "suites/pit_by_id.h"
#include "suites/replay.h"

namespace specbench::suites {

using engine::Purpose;
using engine::TokenId;

namespace {

constexpr std::size_t kGroup = 8;  // rows compared with each other
constexpr double kCoincidenceCells = 64;
constexpr int kMaxLags = 8;
constexpr int kCoinLags = 2;  // of accept coins, in rounds
// Indices 0 and 1 are lossless_end_to_end.cc's.
constexpr std::uint32_t kTokenIndex = 2, kDraftIndex = 3, kRefusedIndex = 4;

}  // namespace

Independence::Independence(const engine::Verifier& verifier, std::uint64_t seed, int n_ids,
                           int max_tokens)
    : is_token_rule_(verifier.name == std::string_view("token")),
      is_one_hot_(verifier.name == std::string_view("one-hot")),
      seed_(seed),
      n_lags_(std::clamp(max_tokens / 4, 1, kMaxLags)),
      row_(n_ids) {}

Independence::Lane& Independence::lane_of(const engine::Round& round) {
  const auto at = static_cast<std::size_t>(round.lane);
  while (lanes_.size() <= at)
    lanes_.push_back({0, {}, stats::LaggedProducts(n_lags_), stats::LaggedProducts(kCoinLags)});
  Lane& lane = lanes_[at];
  if (round.index < 0 || lane.request != round.request) {
    lane.request = round.request;
    lane.last.reset();
    lane.tokens.begin_sequence();
    lane.accept_coins.begin_sequence();
  }
  return lane;
}

void Independence::note_token(const engine::Round& round, std::size_t i, const RowProbs& row) {
  Lane& lane = lane_of(round);
  if (i == 0) last_coin_.reset();
  if (round.proposal.target_laws[i].is_point()) return;  // nothing random to be independent of
  const auto pos = static_cast<std::uint32_t>(round.first_pos) + static_cast<std::uint32_t>(i);
  const auto coins =
      engine::coin_words({seed_, round.request, 0, pos, Purpose::kVerification, kTokenIndex});
  Member member;
  member.token = pit_by_id(round.emitted[i], engine::uniform_of_word(coins[0]), 1.0,
                           [&](TokenId id) { return row.target(id); });
  ++n_tokens_;
  lane.tokens.add(member.token);
  if (lane.last) neighbours_.add(*lane.last, member.token);
  lane.last = member.token;

  const bool is_judged = round.index >= 0 && i < round.proposal.drafted.size();
  if (is_judged && (is_token_rule_ || is_one_hot_)) {
    ++n_judged_;
    const TokenId drafted = round.proposal.drafted[i];
    const double p = row.target(drafted);
    const double a = is_one_hot_ ? p : std::min(1.0, p / row.draft(drafted));
    const double w = engine::uniform_of_word(coins[1]);
    const bool is_accepted = static_cast<int>(i) < round.n_accepted;
    member.accept = unit(is_accepted ? w * a : a + w * (1.0 - a));
    if (is_token_rule_) note_draft(round, i, row, a);
  }
  if (i == 0 && round.index >= 0) first_ = member;
  if (positions_.size() <= pos) positions_.resize(pos + 1);
  positions_[pos].push_back(member);
  if (positions_[pos].size() == kGroup) end_group(positions_[pos], at_position_);
}

// A drafted token that was judged: whether it was reached depends on what came before alone, so its
// transform and its accept coin are uniform and independent. Given that it stood (refused), the
// coin is uniform below (above) a.
void Independence::note_draft(const engine::Round& round, std::size_t i, const RowProbs& row,
                              double a) {
  const auto pos = static_cast<std::uint32_t>(round.first_pos) + static_cast<std::uint32_t>(i);
  const double w =
      engine::uniform({seed_, round.request, 0, pos, Purpose::kVerification, kDraftIndex});
  const double coin = unit(round.coins->accept[i]);
  draft_accept_.add(
      pit_by_id(round.proposal.drafted[i], w, 1.0, [&](TokenId id) { return row.draft(id); }),
      coin);
  if (i == 0) lane_of(round).accept_coins.add(coin);
  if (last_coin_) accept_accept_.add(*last_coin_, coin);
  last_coin_.reset();
  const bool is_accepted = static_cast<int>(i) < round.n_accepted;
  // Pairs that share no coin: tokens 0 and 1, 2 and 3, ..
  if (is_accepted && i % 2 == 0 && a > 0.0) last_coin_ = unit(coin / a);
  if (!is_accepted && !round.residual_was_empty) note_refused(round, i, row, a);
}

// Given a refusal, the refused token has the law max(0, q - p), the one in its place max(0, p - q).
void Independence::note_refused(const engine::Round& round, std::size_t i, const RowProbs& row,
                                double a) {
  const TokenId refused = round.proposal.drafted[i];
  const TokenId token = round.emitted[i];
  const auto residual = [&](TokenId id) { return std::max(0.0, row.target(id) - row.draft(id)); };
  const auto excess = [&](TokenId id) { return std::max(0.0, row.draft(id) - row.target(id)); };
  const double total = sum_ids(row.n_ids(), residual);
  if (!(residual(token) > 0.0) || !(excess(refused) > 0.0)) return;  // impossible: seen elsewhere
  const auto pos = static_cast<std::uint32_t>(round.first_pos) + static_cast<std::uint32_t>(i);
  const auto coins =
      engine::coin_words({seed_, round.request, 0, pos, Purpose::kVerification, kRefusedIndex});
  const double out = pit_by_id(token, engine::uniform_of_word(coins[0]), total, residual);
  const double in = pit_by_id(refused, engine::uniform_of_word(coins[1]), total, excess);
  accept_residual_.add(unit((round.coins->accept[i] - a) / (1.0 - a)), out);
  draft_residual_.add(in, out);
}

// Rows are compared in groups: many small ones have a normal tail sooner than few large ones.
void Independence::end_group(std::vector<Member>& group, Groups& groups) {
  for (const Member& member : group) {
    groups.tokens.add_uniform(member.token);
    if (member.accept) groups.accepts.add_uniform(*member.accept);
  }
  groups.tokens.end_step();
  groups.accepts.end_step();
  group.clear();
}

void Independence::end_step() {
  const auto cell = [](const Member& m) {
    return std::min(kCoincidenceCells - 1, std::floor(m.token * kCoincidenceCells));
  };
  for (std::size_t i = 0; i < step_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      coincidences_.add(cell(step_[i]) == cell(step_[j]), 1.0 / kCoincidenceCells);
  end_group(step_, in_step_);
}

// The rounds of one step come in order of lanes.
void Independence::note_round(const engine::Round& round) {
  if (round.lane <= last_lane_ || step_.size() == kGroup) end_step();
  last_lane_ = round.lane;
  if (!first_) return;
  ++n_first_;
  step_.push_back(*first_);
  first_.reset();
}

void Independence::note(const engine::Prefill& prefill) {
  row_.load(*prefill.law, nullptr);
  note_token(round_of(prefill), 0, row_);
}

void Independence::note(const engine::Round& round) {
  for (std::size_t i = 0; i < round.emitted.size(); ++i) {
    const bool is_judged = i < round.proposal.drafted.size();
    row_.load(round.proposal.target_laws[i], is_judged ? &round.proposal.draft_laws[i] : nullptr);
    note_token(round, i, row_);
  }
  note_round(round);
}

double Independence::share_of(std::int64_t n) const {
  return static_cast<double>(n) / static_cast<double>(std::max<std::int64_t>(1, n_tokens_));
}

std::vector<stats::TestResult> Independence::test_roles() const {
  std::vector<stats::TestResult> tests;
  const auto test = [&](const char* id, const char* what, const stats::PairTable& pairs) {
    const double share = share_of(pairs.n());
    if (share < kPairTau) return;
    tests.push_back(stats::pair_uniform_test(
        contract(std::string("independence.") + id, what, kPairTau, share), pairs));
  };
  test("accept-residual", "a token at a rejection owes nothing to the coin that refused",
       accept_residual_);
  test("draft-residual", "a token at a rejection owes nothing to the draft's coin",
       draft_residual_);
  test("draft-accept", "the accept coin owes nothing to the draft's coin", draft_accept_);
  test("accept-accept", "accept coins of a round owe nothing to each other", accept_accept_);
  return tests;
}

std::vector<stats::TestResult> Independence::test_texts() const {
  std::vector<stats::TestResult> tests;
  stats::LaggedProducts tokens(n_lags_), coins(kCoinLags);
  for (const Lane& lane : lanes_) {
    tokens.merge(lane.tokens);
    coins.merge(lane.accept_coins);
  }
  if (neighbours_.n() > 0)
    tests.push_back(stats::pair_independence_test(
        contract("independence.neighbours", "neighbouring tokens share no coin", kPairTau),
        neighbours_));
  if (tokens.n_pairs(1) > 0) {
    tests.push_back(stats::serial_correlation_test(
        contract("independence.lags", "tokens of a text share no coins", kSerialTau), tokens));
    tests.push_back(stats::runs_test(
        contract("independence.runs", "runs of large and small are as long as chance has them",
                 kSerialTau),
        tokens));
  }
  if (coins.n_pairs(1) > 0)
    tests.push_back(stats::serial_correlation_test(
        contract("independence.rounds", "accept coins of consecutive rounds are not related",
                 kSerialTau, share_of(coins.n())),
        coins));
  return tests;
}

std::vector<stats::TestResult> Independence::test_rows() const {
  std::vector<stats::TestResult> tests;
  const auto test = [&](const char* id, const char* what, const stats::RowCorrelation& rows,
                        double share) {
    if (rows.n_steps() > 0)
      tests.push_back(stats::row_correlation_test(
          contract(std::string("independence.") + id, what, kRowTau, share), rows));
  };
  const double share = share_of(n_first_);
  test("rows.accept", "rows of a step accept independently", in_step_.accepts, share);
  test("rows.token", "rows of a step draw independently", in_step_.tokens, share);
  test("position.accept", "requests accept independently at one position", at_position_.accepts,
       share_of(n_judged_));
  test("position.token", "requests draw independently at one position", at_position_.tokens, 1.0);
  if (coincidences_.n() > 0)
    tests.push_back(
        stats::z_test(contract("independence.rows.coincidence",
                               "rows of a step coincide as chance has it", kCoincidenceTau, share),
                      coincidences_));
  return tests;
}

std::vector<stats::TestResult> Independence::results() const {
  std::vector<stats::TestResult> tests = test_roles();
  for (auto& group : {test_texts(), test_rows()})
    tests.insert(tests.end(), group.begin(), group.end());
  return tests;
}

}  // namespace specbench::suites
