#include "suites/tally.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace specbench::suites {

using results::Check;
using results::CheckStatus;

namespace {

void grow(std::vector<std::int64_t>& counts, std::size_t n) {
  if (counts.size() < n) counts.resize(n);
}

}  // namespace

double ratio(std::int64_t a, std::int64_t b) {
  return b != 0 ? static_cast<double>(a) / static_cast<double>(b)
                : std::numeric_limits<double>::quiet_NaN();
}

std::string first_difference(const engine::Completion& baseline, const engine::Completion& other) {
  const auto& left = baseline.tokens;
  const auto& right = other.tokens;
  const auto at = static_cast<std::size_t>(
      std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first - left.begin());
  if (at == left.size() && at == right.size()) return "";
  const auto id = [&](const std::vector<engine::TokenId>& tokens) {
    return at < tokens.size() ? std::to_string(tokens[at]) : std::string("the end");
  };
  return "Request " + std::to_string(baseline.request) + ": emitted token " + std::to_string(at) +
         " is " + id(left) + " autoregressively and " + id(right) + " speculatively.";
}

double overlap(const engine::Law& target, const engine::Law& draft) {
  if (draft.is_point()) return target.prob(draft.point);
  if (target.is_point()) return draft.prob(target.point);
  double sum = 0.0;
  for (int id = 0; id < target.n_ids; ++id)
    sum += std::min(target.weights[id] / target.total, draft.weights[id] / draft.total);
  return sum;
}

void Tally::prefill(const engine::Prefill& prefill) {
  ++n_requests;
  ++n_emitted;
  note_tokens(prefill.request, {&prefill.token, 1}, prefill.stop != engine::StopReason::kNone);
}

void Tally::round(const engine::Round& round) {
  const auto drafted = static_cast<std::size_t>(round.n_drafted());
  const auto accepted = static_cast<std::size_t>(round.n_accepted);
  ++n_rounds;
  n_drafted += round.n_drafted();
  n_accepted += round.n_accepted;
  n_emitted += static_cast<std::int64_t>(round.emitted.size());
  if (drafted > 0) n_covered += static_cast<std::int64_t>(round.emitted.size());
  n_cut += round.is_cut ? 1 : 0;
  n_residual_empty += round.residual_was_empty ? 1 : 0;
  // A stop behind accepted tokens hides what the rule said of the later ones: they are not judged.
  const bool was_refused = accepted < drafted && !round.is_cut;
  n_rejections += was_refused ? 1 : 0;
  const std::size_t judged = accepted + (was_refused ? 1 : 0);
  grow(n_judged, judged);
  grow(n_stood, std::max(judged, accepted));
  for (std::size_t i = 0; i < judged; ++i) ++n_judged[i];
  for (std::size_t i = 0; i < accepted; ++i) ++n_stood[i];
  if (histogram.size() <= drafted) histogram.resize(drafted + 1);
  grow(histogram[drafted], drafted + 1);
  ++histogram[drafted][accepted];
  if (wants_overlap) {
    for (std::size_t i = 0; i < judged; ++i)
      sum_overlap += overlap(round.proposal.target_laws[i], round.proposal.draft_laws[i]);
    n_overlap_rows += static_cast<std::int64_t>(judged);
  }
  note_tokens(round.request, round.emitted, round.stop != engine::StopReason::kNone);
}

void Tally::note_tokens(std::uint32_t request, std::span<const engine::TokenId> tokens,
                        bool is_last) {
  auto at =
      std::find_if(tails_.begin(), tails_.end(), [&](const auto& t) { return t.first == request; });
  if (at == tails_.end()) at = tails_.insert(tails_.end(), {request, Tail{}});
  Tail& tail = at->second;
  for (const engine::TokenId token : tokens) {
    tail.tokens.push_back(token);
    if (tail.tokens.size() < 4) continue;
    std::uint64_t hash = 0;
    for (std::size_t i = tail.tokens.size() - 4; i < tail.tokens.size(); ++i)
      hash = (hash ^ static_cast<std::uint64_t>(tail.tokens[i])) * 0x9e3779b97f4a7c15ULL;
    ++n_4grams;
    if (std::find(tail.seen.begin(), tail.seen.end(), hash) != tail.seen.end())
      ++n_repeated_4grams;
    else
      tail.seen.push_back(hash);
  }
  if (is_last) tails_.erase(at);
}

double Tally::acceptance_length() const { return 1.0 + ratio(n_accepted, n_rounds); }
double Tally::draft_acceptance_rate() const { return ratio(n_accepted, n_drafted); }
double Tally::acceptance_probability() const {
  return ratio(n_accepted, n_accepted + n_rejections);
}

std::vector<double> Tally::conditional_acceptance() const {
  std::vector<double> shares(n_judged.size());
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = ratio(n_stood[i], n_judged[i]);
  return shares;
}

std::vector<double> Tally::joint_acceptance() const {
  std::vector<double> shares(n_stood.size());
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = ratio(n_stood[i], n_rounds);
  return shares;
}

std::vector<Check> check_identities(const Tally& t, std::span<const engine::Completion> returned,
                                    int draft_tokens) {
  std::vector<Check> checks;
  const auto equal = [&](const char* id, const char* what, std::int64_t left, std::int64_t right) {
    checks.push_back(
        {std::string("identity.") + id, left == right ? CheckStatus::kPassed : CheckStatus::kFailed,
         std::string(what) + ": " + std::to_string(left) + " and " + std::to_string(right) + "."});
  };
  std::int64_t rounds = 0, accepted = 0, drafted = 0, joint = 0, n_returned = 0;
  for (std::size_t l = 0; l < t.histogram.size(); ++l) {
    for (std::size_t j = 0; j < t.histogram[l].size(); ++j) {
      rounds += t.histogram[l][j];
      accepted += static_cast<std::int64_t>(j) * t.histogram[l][j];
      drafted += static_cast<std::int64_t>(l) * t.histogram[l][j];
    }
  }
  for (const std::int64_t n : t.n_stood) joint += n;
  for (const engine::Completion& completion : returned)
    n_returned += static_cast<std::int64_t>(completion.tokens.size());
  equal("rounds", "rounds = sum of the histogram", t.n_rounds, rounds);
  equal("accepted", "accepted = sum of j x histogram", t.n_accepted, accepted);
  equal("drafted", "drafted = sum of l x histogram", t.n_drafted, drafted);
  equal("acceptance_length",
        "accepted = sum of the joint counts (acceptance_length = 1 + sum joint)", t.n_accepted,
        joint);
  equal("emitted", "emitted = requests + sum(accepted + 1) - cut", t.n_emitted,
        t.n_requests + t.n_accepted + t.n_rounds - t.n_cut);
  equal("returned", "emitted = tokens returned", t.n_emitted, n_returned);
  const bool is_bounded = t.n_accepted <= t.n_rounds * draft_tokens;
  checks.push_back({"identity.bound", is_bounded ? CheckStatus::kPassed : CheckStatus::kFailed,
                    "acceptance_length is at most g + 1: " + std::to_string(t.acceptance_length()) +
                        " and " + std::to_string(draft_tokens + 1) + "."});
  return checks;
}

void report_acceptance(const Tally& t, results::Record& record) {
  const auto metric = [&](const char* name, double value, const char* note) {
    record.metrics.push_back(
        {name, std::isfinite(value) ? std::optional(value) : std::nullopt, "1", {}, {}, {}, note});
  };
  metric("acceptance_length", t.acceptance_length(), "1 + accepted / rounds");
  metric("draft_acceptance_rate", t.draft_acceptance_rate(), "accepted / drafted");
  metric("acceptance_probability", t.acceptance_probability(),
         "accepted / (accepted + rejections)");
  if (t.wants_overlap)
    metric("expected_acceptance",
           t.n_overlap_rows > 0 ? t.sum_overlap / static_cast<double>(t.n_overlap_rows)
                                : std::numeric_limits<double>::quiet_NaN(),
           "mean of sum min(target, draft)");
  metric("coverage", ratio(t.n_covered, t.n_emitted), "share of tokens from rounds with a draft");
  metric("repeated_4grams", ratio(t.n_repeated_4grams, t.n_4grams),
         ratio(t.n_repeated_4grams, t.n_4grams) > 0.6
             ? "DEGENERATE text: acceptance on loops means nothing"
             : "");
  results::NamedTable table{
      "acceptance_by_position", {"position", "judged", "accepted", "conditional", "joint"}, {}};
  const auto conditional = t.conditional_acceptance();
  const auto joint = t.joint_acceptance();
  for (std::size_t i = 0; i < conditional.size(); ++i)
    table.rows.push_back(
        {static_cast<std::int64_t>(i + 1), t.n_judged[i], t.n_stood[i], conditional[i], joint[i]});
  record.tables.push_back(std::move(table));
  const auto counter = [&](const char* name, std::int64_t n) {
    record.counters.emplace_back(name, n);
  };
  counter("requests", t.n_requests);
  counter("rounds", t.n_rounds);
  counter("drafted", t.n_drafted);
  counter("accepted", t.n_accepted);
  counter("rejections", t.n_rejections);
  counter("emitted", t.n_emitted);
  counter("cut", t.n_cut);
  counter("residual_empty", t.n_residual_empty);
}

}  // namespace specbench::suites
