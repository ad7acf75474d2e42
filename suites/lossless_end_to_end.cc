#include "suites/lossless_end_to_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/coins.h"
#include "stats/binomial.h"
#include "stats/kolmogorov.h"
#include "stats/pearson.h"
#include "suites/budget.h"
#include "suites/identity.h"

namespace specbench::suites {

using engine::Purpose;
using results::CheckStatus;

namespace {

constexpr double kForcedWanted = 60'000;  // tokens whose laws are recomputed, at least
constexpr std::uint32_t kScoreEvery = 4;  // logarithms over the vocabulary are dear
constexpr double kScoreTau = 0.07;        // mean log-score, in standard deviations of one token
constexpr int kIdentityEvery = 31;        // no divisor of a usual batch: lanes take turns

/// P_i of the block rule: min(1, P_{i-1} p/q) over the drafted tokens before position i.
double block_share(const engine::Proposal& proposal, std::size_t i) {
  double share = 1.0;
  for (std::size_t j = 0; j < i; ++j) {
    const engine::TokenId id = proposal.drafted[j];
    share =
        std::min(1.0, share * proposal.target_laws[j].prob(id) / proposal.draft_laws[j].prob(id));
  }
  return share;
}

double keep_every(const Generation& generation) {
  return std::clamp(static_cast<double>(generation.n_tokens) / kForcedWanted, 1.0, 16.0);
}

}  // namespace

EndToEnd::EndToEnd(const Context& context, const Generation& generation, const Faults& faults)
    : forced(context, generation, keep_every(generation)),
      context_(context),
      generation_(generation),
      faults_(faults),
      row_(context.model.config.vocab_size),
      streams_(kClasses, std::vector<Stream>(kOrders)),
      residual_weights_(
          static_cast<std::size_t>(engine::padded_size(context.model.config.vocab_size))),
      residual_sums_(static_cast<std::size_t>(engine::n_chunks(context.model.config.vocab_size))) {
  if (!generation.looks_at_coins || generation.sampling.is_greedy()) return;
  const std::uint64_t seed = generation.seed;
  ledger_.emplace(*generation.verifier, [seed](std::uint32_t) { return seed; });
  independence_.emplace(*generation.verifier, seed, row_.n_ids(), generation.max_tokens);
}

bool EndToEnd::has_class_laws() const { return generation_.verifier->name == "token"; }
bool EndToEnd::judges_by_ratio() const {
  return has_class_laws() || generation_.verifier->name == "block";
}

bool EndToEnd::is_cancelled() {
  return n_emitted - n_requests >= generation_.n_tokens || *context_.stop;
}

void EndToEnd::prefill(const engine::Prefill& prefill) {
  Tally::prefill(prefill);
  const engine::Round first = round_of(prefill);
  note_token(first, 0);
  replay_round(first, *generation_.verifier, generation_.seed, replay_, faults_.oracle);
  if (ledger_) ledger_->note(prefill);
  forced.prefill(prefill);
}

void EndToEnd::round(const engine::Round& round) {
  Tally::round(round);
  for (std::size_t i = 0; i < round.emitted.size(); ++i) note_token(round, i);
  replay_round(round, *generation_.verifier, generation_.seed, replay_, faults_.oracle);
  // The block rule accepts the whole draft with probability P_n.
  if (judges_by_ratio() && !has_class_laws() && round.n_drafted() > 0)
    all_bits_.add(round.n_verdict == round.n_drafted(),
                  block_share(round.proposal, round.proposal.drafted.size()));
  if (ledger_) ledger_->note(round);
  if (independence_) independence_->note_round(round);
  if (judges_by_ratio() && n_rounds % kIdentityEvery == 0) note_identity(round);
  forced.round(round);
  context_.progress->show("lossless: " + generation_.name, static_cast<double>(n_emitted),
                          static_cast<double>(generation_.n_tokens));
}

// The order p/q needs a draft: without one it says nothing.
void EndToEnd::note_pits(OutcomeClass outcome, const std::array<double, kOrders>& pits) {
  const std::size_t n_orders = row_.has_draft() ? kOrders : kOrders - 1;
  for (std::size_t order = 0; order < n_orders; ++order) {
    Stream& stream = streams_[static_cast<std::size_t>(outcome)][order];
    if (std::isnan(pits[order]))
      ++stream.n_impossible;
    else
      stream.pit.add(pits[order]);
  }
}

// One emitted token: held against the target's law, and, under the token rule, against the law of
// its class. The first token of a request (round -1) belongs to no class.
void EndToEnd::note_token(const engine::Round& round, std::size_t i) {
  if (round.proposal.target_laws[i].is_point()) return;  // a greedy request draws nothing
  const bool is_judged = i < round.proposal.drafted.size();
  row_.load(round.proposal.target_laws[i], is_judged ? &round.proposal.draft_laws[i] : nullptr);
  const auto pos = static_cast<std::uint32_t>(round.first_pos) + static_cast<std::uint32_t>(i);
  const auto coins =
      engine::coin_words({generation_.seed, round.request, 0, pos, Purpose::kVerification, 0});
  const auto all =
      row_.pit(round.emitted[i], OutcomeLaw::kTarget, engine::uniform_of_word(coins[0]));
  note_pits(OutcomeClass::kAll, all);
  if (generation_.evidence != nullptr && !std::isnan(all[0]))
    generation_.evidence->add_pit(
        all[static_cast<std::size_t>(row_.has_draft() ? Order::kRatio : Order::kTarget)]);
  if (independence_) independence_->note_token(round, i, row_);
  if (pos % kScoreEvery == 0) note_score(round.emitted[i]);
  if (round.index < 0) return;
  if (positions_.size() <= i) positions_.resize(i + 1);
  if (!std::isnan(all[0])) positions_[i].add(all[0]);
  const bool is_accepted = static_cast<int>(i) < round.n_accepted;
  if (is_judged) note_bit(round, i, is_accepted);
  if (!is_judged && judges_by_ratio()) return note_pits(OutcomeClass::kBonus, all);
  if (!has_class_laws()) return;
  note_pits(is_accepted ? OutcomeClass::kAccepted : OutcomeClass::kRejected,
            row_.pit(round.emitted[i], is_accepted ? OutcomeLaw::kAccepted : OutcomeLaw::kResidual,
                     engine::uniform_of_word(coins[1])));
}

// Token rule: min(1, p/q) of the drafted token, and sum min(p, q) of the row. One-hot rule: p of
// the drafted token. The others judge by no probability of one position.
void EndToEnd::note_bit(const engine::Round& round, std::size_t i, bool is_accepted) {
  if (bits_.size() <= i) bits_.resize(i + 1);
  const engine::TokenId drafted = round.proposal.drafted[i];
  double a = row_.target(drafted);
  if (has_class_laws()) {
    a = std::min(1.0, row_.target(drafted) / row_.draft(drafted));
    rate_bits_.add(is_accepted, row_.overlap());
  } else if (generation_.verifier->name != "one-hot") {
    return;
  }
  bits_[i].add(is_accepted, a);
  all_bits_.add(is_accepted, a);
}

void EndToEnd::note_score(engine::TokenId token) {
  if (!(row_.target(token) > 0.0)) return;
  double moments[3] = {};
  for (engine::TokenId id = 0; id < row_.n_ids(); ++id) {
    const double target = row_.target(id);
    if (!(target > 0.0)) continue;
    const double score = -engine::minus_log_fixed(target);
    moments[0] += target * score;
    moments[1] += target * score * score;
    moments[2] += target * score * score * score;
  }
  scores_.add(-engine::minus_log_fixed(row_.target(token)), moments);
}

// q a + (1 - A) r = p for every id of the first row, a and r found from the rule itself.
void EndToEnd::note_identity(const engine::Round& round) {
  if (round.n_drafted() == 0) return;
  // Every prefix that was reached takes its turn.
  const int n_reached = std::min(round.n_verdict + 1, round.n_drafted());
  const auto at = static_cast<std::size_t>(n_identities_ % n_reached);
  if (round.proposal.target_laws[at].is_point()) return;
  const engine::AcceptRule rule =
      faults_.steps.accept != nullptr ? faults_.steps.accept : generation_.verifier->accept;
  const double error = identity_error(generation_.verifier->name, rule,
                                      round.proposal.target_laws[at], round.proposal.draft_laws[at],
                                      {residual_weights_.data(), residual_sums_.data()});
  ++n_identities_;
  worst_identity_ = std::max(worst_identity_, error);
}

stats::Contract EndToEnd::contract_of(const std::string& id, const std::string& what, double tau,
                                      double share) const {
  return contract(generation_.name + "." + id, what, tau * generation_.tau_factor, share);
}

void EndToEnd::test_stream(std::size_t c, std::size_t o,
                           std::vector<stats::TestResult>& tests) const {
  const Stream& stream = streams_[c][o];
  const std::string id = std::string(kClassNames[c]) + "." + kOrderNames[o];
  const std::string law =
      std::string(kClassNames[c]) + " tokens have their own law, in order of " + kOrderNames[o];
  if (stream.n_impossible > 0)
    tests.push_back(stats::fail_forbidden(
        contract_of(id + ".support", law, kDistanceTau, 1.0), count_of(stream.n_impossible),
        std::to_string(stream.n_impossible) + " tokens came though their law excludes them."));
  // A class too rare to move the emitted law by tau needs no more than that.
  const double share = static_cast<double>(stream.pit.n()) / static_cast<double>(n_emitted);
  if (share < kDistanceTau * generation_.tau_factor) return;
  tests.push_back(
      stats::ks_uniform_test(contract_of(id + ".ks", law, kDistanceTau, share), stream.pit));
  tests.push_back(stats::pearson_uniform_test(contract_of(id + ".chi2", law, kBinsTau, share),
                                              stream.pit.bin_counts()));
}

void EndToEnd::test_bits(const std::string& id, const std::string& what,
                         const stats::AcceptBits& bits,
                         std::vector<stats::TestResult>& tests) const {
  const double share = static_cast<double>(bits.n()) / static_cast<double>(n_emitted);
  const bool is_certain = !(bits.variance() > 0.0) && bits.n_impossible() == 0;
  if (is_certain || (share < kRateTau * generation_.tau_factor && bits.n_impossible() == 0)) return;
  tests.push_back(stats::z_test(contract_of(id, what, kRateTau, share), bits));
}

std::vector<stats::TestResult> EndToEnd::tests() const {
  std::vector<stats::TestResult> tests;
  if (n_emitted == 0) return tests;
  for (std::size_t c = 0; c < kClasses; ++c)
    for (std::size_t o = 0; o < kOrders; ++o) test_stream(c, o, tests);
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const double share = static_cast<double>(positions_[i].n()) / static_cast<double>(n_emitted);
    if (share < kDistanceTau * generation_.tau_factor) continue;
    tests.push_back(stats::ks_uniform_test(
        contract_of("position[" + std::to_string(i) + "].ks",
                    "token " + std::to_string(i) + " of a round has the target's law", kDistanceTau,
                    share),
        positions_[i]));
  }
  test_bits("accept-bit", "a drafted token stands with the rule's probability", all_bits_, tests);
  test_bits("acceptance-rate", "acceptance follows sum min(p, q) of the rows", rate_bits_, tests);
  for (std::size_t i = 0; i < bits_.size(); ++i)
    test_bits("accept-bit[" + std::to_string(i) + "]", "the same at position " + std::to_string(i),
              bits_[i], tests);
  if (scores_.n() >= stats::kMinScores && scores_.variance() >= stats::kMinScoreVariance)
    tests.push_back(stats::log_score_test(
        contract_of("log-score", "tokens are as likely as their laws say, on average", kScoreTau,
                    1.0),
        scores_));
  if (independence_)
    for (stats::TestResult& test : independence_->results()) tests.push_back(std::move(test));
  return tests;
}

results::NamedTable EndToEnd::pit_table() const {
  results::NamedTable table = empty_pit_table();
  for (std::size_t c = 0; c < kClasses; ++c)
    for (std::size_t o = 0; o < kOrders; ++o)
      add_pit_bins(kOrderNames[o], kClassNames[c], streams_[c][o].pit, table);
  return table;
}

/// A comparison token by token, and what one event of it can do to the emitted law.
struct EndToEnd::ReplayPart {
  const char* id;
  const char* what;
  std::int64_t k, n;
  double per_token;  ///< events a token can suffer
  std::string first;
  bool can_tie = true;  ///< two ways of adding may place an edge a rounding apart
};

std::vector<EndToEnd::ReplayPart> EndToEnd::replay_parts() const {
  const double tokens = static_cast<double>(std::max<std::int64_t>(1, replay_.n_tokens));
  return {
      {"replay.draft", "drafted ids equal a redraw from their reported law",
       replay_.n_draft_mismatches, replay_.n_drafted,
       static_cast<double>(replay_.n_drafted) / tokens, replay_.first_mismatch},
      {"replay.decision", "decisions and final ids equal the replay's", replay_.n_round_mismatches,
       replay_.n_rounds, static_cast<double>(replay_.n_rounds) / tokens, replay_.first_mismatch},
      {"replay.law", "target laws equal a teacher-forced pass bit for bit", forced.n_mismatches(),
       forced.n_laws(), 1.0, forced.first_mismatch(), false}};
}

results::Check EndToEnd::check_of(const ReplayPart& part) const {
  // A coin on an edge that two ways of adding place a rounding apart is no fault; it counts into
  // the certified bound all the same.
  const bool are_ties = part.k > 0 && part.can_tie && replay_.are_all_ties();
  const std::string first =
      part.k == 0 ? "" : (are_ties ? " All are rounding ties. First: " : " First: ") + part.first;
  return {generation_.name + "." + part.id,
          part.k == 0 || are_ties ? CheckStatus::kPassed : CheckStatus::kFailed,
          fmt::format("{}: {} mismatches in {}.{}", part.what, part.k, part.n, first)};
}

std::vector<results::Check> EndToEnd::checks() const {
  std::vector<results::Check> checks;
  for (const ReplayPart& part : replay_parts()) {
    if (part.n > 0)
      checks.push_back(check_of(part));
    else if (std::string_view(part.id) == "replay.law" && n_emitted > 0 && !*context_.stop)
      checks.push_back({generation_.name + "." + part.id, CheckStatus::kInconclusive,
                        "no sequence was kept to be made again; raise --samples."});
  }
  if (ledger_)
    for (results::Check& check : ledger_->checks()) checks.push_back(std::move(check));
  if (n_identities_ > 0)
    checks.push_back(
        {generation_.name + ".identity",
         worst_identity_ <= kMaxIdentityError ? CheckStatus::kPassed : CheckStatus::kFailed,
         fmt::format("q a + (1 - A) r = p by the rule itself on {} real rows: L1 at most {:.1e}, "
                     "{:.0e} allowed.",
                     n_identities_, worst_identity_, kMaxIdentityError)});
  return checks;
}

std::optional<double> EndToEnd::certified_tv() const {
  // Each part gets its share of the run's error; the sum bounds the drift of one emitted token.
  double total = 0.0;
  for (const ReplayPart& part : replay_parts()) {
    const bool drafted_nothing = part.n == 0 && std::string_view(part.id) == "replay.draft";
    if (drafted_nothing) continue;
    if (part.n == 0) return std::nullopt;
    total += part.per_token * stats::clopper_pearson_upper(part.k, part.n, kFamilyAlpha / 3);
  }
  return std::min(1.0, total);
}

}  // namespace specbench::suites
