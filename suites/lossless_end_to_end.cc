#include "suites/lossless_end_to_end.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/coins.h"
#include "engine/error.h"
#include "stats/binomial.h"
#include "stats/kolmogorov.h"
#include "stats/pearson.h"
#include "suites/budget.h"

namespace specbench::suites {

using engine::Purpose;

namespace {

constexpr int kTokensPerRequest = 96;
constexpr int kDefaultBatch = 64;
constexpr std::size_t kRequestsPerWave = 2048;
constexpr double kForcedWanted = 60'000;  // tokens whose laws are recomputed, at least

std::uint64_t hash_law(const engine::Law& law) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&](double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  };
  mix(static_cast<double>(law.point));
  if (!law.is_point())
    for (int id = 0; id < law.n_ids; ++id) mix(law.weights[id]);
  mix(law.total);
  return hash;
}

bool has_class_laws(const engine::Verifier& verifier) {
  return verifier.name == std::string_view("token");
}

}  // namespace

EndToEnd::EndToEnd(const Context& context, const engine::Verifier& verifier, std::int64_t n_wanted)
    : context_(context),
      verifier_(verifier),
      n_wanted_(n_wanted),
      keep_every_(std::clamp(static_cast<double>(n_wanted) / kForcedWanted, 1.0, 16.0)),
      row_(context.model.config.vocab_size),
      streams_(kClasses, std::vector<Stream>(kOrders)) {}

bool EndToEnd::is_cancelled() { return n_emitted - n_requests >= n_wanted_ || *context_.stop; }

// Chosen by a coin of its own, so that the choice lines up with no prompt and no lane.
bool EndToEnd::is_kept(std::uint32_t request) const {
  return engine::uniform({context_.options.seed, request, 0, 0, Purpose::kVerification, 1}) *
             keep_every_ <
         1.0;
}

void EndToEnd::prefill(const engine::Prefill& prefill) {
  Tally::prefill(prefill);
  const engine::Round first = round_of(prefill);
  note_token(first, 0);
  replay_round(first, verifier_, context_.options.seed, replay_);
  if (!is_kept(prefill.request) || prefill.stop != engine::StopReason::kNone) return;
  const Prompt& prompt = context_.prompts[prefill.request % context_.prompts.size()];
  kept_.push_back({prefill.request, prompt.ids, {hash_law(*prefill.law)}, false});
  kept_.back().tokens.push_back(prefill.token);
}

EndToEnd::Kept* EndToEnd::find_kept(std::uint32_t request) {
  const auto at = std::find_if(kept_.rbegin(), kept_.rend(),
                               [&](const Kept& k) { return k.request == request; });
  return at == kept_.rend() ? nullptr : &*at;
}

void EndToEnd::keep(const engine::Round& round) {
  if (!is_kept(round.request)) return;
  Kept* kept = find_kept(round.request);
  if (kept == nullptr) return;
  for (std::size_t i = 0; i < round.emitted.size(); ++i) {
    kept->tokens.push_back(round.emitted[i]);
    kept->law_hashes.push_back(hash_law(round.proposal.target_laws[i]));
  }
  kept->is_whole = round.stop != engine::StopReason::kNone;
}

void EndToEnd::round(const engine::Round& round) {
  Tally::round(round);
  for (std::size_t i = 0; i < round.emitted.size(); ++i) note_token(round, i);
  replay_round(round, verifier_, context_.options.seed, replay_);
  keep(round);
  context_.progress->show("lossless: real generations", static_cast<double>(n_emitted),
                          static_cast<double>(n_wanted_));
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
  const bool is_judged = i < round.proposal.drafted.size();
  row_.load(round.proposal.target_laws[i], is_judged ? &round.proposal.draft_laws[i] : nullptr);
  const auto pos = static_cast<std::uint32_t>(round.first_pos) + static_cast<std::uint32_t>(i);
  const auto coins =
      engine::coin_words({context_.options.seed, round.request, 0, pos, Purpose::kVerification, 0});
  const auto all =
      row_.pit(round.emitted[i], OutcomeLaw::kTarget, engine::uniform_of_word(coins[0]));
  note_pits(OutcomeClass::kAll, all);
  if (round.index < 0) return;
  if (positions_.size() <= i) positions_.resize(i + 1);
  if (!std::isnan(all[0])) positions_[i].add(all[0]);
  if (!has_class_laws(verifier_)) return;
  if (!is_judged) return note_pits(OutcomeClass::kBonus, all);
  const bool is_accepted = static_cast<int>(i) < round.n_accepted;
  note_pits(is_accepted ? OutcomeClass::kAccepted : OutcomeClass::kRejected,
            row_.pit(round.emitted[i], is_accepted ? OutcomeLaw::kAccepted : OutcomeLaw::kResidual,
                     engine::uniform_of_word(coins[1])));
  note_bit(round.proposal.drafted[i], i, is_accepted);
}

void EndToEnd::note_bit(engine::TokenId drafted, std::size_t i, bool is_accepted) {
  if (bits_.size() <= i) bits_.resize(i + 1);
  const double a = std::min(1.0, row_.target(drafted) / row_.draft(drafted));
  bits_[i].add(is_accepted, a);
  all_bits_.add(is_accepted, a);
  rate_bits_.add(is_accepted, row_.overlap());
}

void EndToEnd::check_kept_sequences(engine::Backend& backend) {
  const int n_ids = context_.model.config.vocab_size;
  engine::LawBuffer buffer(1, n_ids);
  std::vector<float> logits;
  std::vector<engine::Row> rows;
  for (const Kept& kept : kept_) {
    if (!kept.is_whole) continue;
    // All rows of the sequence in one packed pass: the same numbers, by a path that knows no
    // rounds.
    rows.clear();
    for (int pos = 0; pos + 1 < static_cast<int>(kept.tokens.size()); ++pos)
      rows.push_back({0, pos, kept.tokens[static_cast<std::size_t>(pos)], pos});
    backend.reset(0, kept.request);
    backend.forward(rows, 0, context_.model.config.n_layers);
    const std::size_t first = rows.size() - kept.law_hashes.size();
    logits.resize(kept.law_hashes.size() * static_cast<std::size_t>(n_ids));
    backend.logits(std::span(rows).subspan(first), logits.data());
    for (std::size_t i = 0; i < kept.law_hashes.size(); ++i) {
      const engine::Law law =
          engine::make_law(logits.data() + i * static_cast<std::size_t>(n_ids), n_ids,
                           context_.options.sampling, buffer.weights(0), buffer.chunk_sums(0));
      ++n_forced_;
      n_forced_mismatches_ += hash_law(law) == kept.law_hashes[i] ? 0 : 1;
    }
  }
  kept_.clear();
}

void EndToEnd::test_stream(std::size_t c, std::size_t o, double n_all,
                           std::vector<stats::TestResult>& tests) const {
  const Stream& stream = streams_[c][o];
  const std::string id = std::string("real.") + kClassNames[c] + "." + kOrderNames[o];
  const std::string law =
      std::string(kClassNames[c]) + " tokens have their own law, in order of " + kOrderNames[o];
  if (stream.n_impossible > 0) {
    tests.push_back(stats::fail_forbidden(
        contract(id + ".support", law, kDistanceTau), count_of(stream.n_impossible),
        std::to_string(stream.n_impossible) + " tokens came though their law excludes them."));
  }
  // A class too rare to move the emitted law by tau needs no more than that.
  const double share = static_cast<double>(stream.pit.n()) / n_all;
  if (share < kDistanceTau) return;
  tests.push_back(
      stats::ks_uniform_test(contract(id + ".ks", law, kDistanceTau, share), stream.pit));
  tests.push_back(stats::pearson_uniform_test(contract(id + ".chi2", law, kBinsTau, share),
                                              stream.pit.bin_counts()));
}

std::vector<stats::TestResult> EndToEnd::results() const {
  std::vector<stats::TestResult> tests;
  const double n_all = static_cast<double>(n_emitted);
  for (std::size_t c = 0; c < kClasses; ++c)
    for (std::size_t o = 0; o < kOrders; ++o) test_stream(c, o, n_all, tests);
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const double share = static_cast<double>(positions_[i].n()) / n_all;
    if (share < kDistanceTau) continue;
    tests.push_back(stats::ks_uniform_test(
        contract("real.position[" + std::to_string(i) + "].ks",
                 "token " + std::to_string(i) + " of a round has the target's law", kDistanceTau,
                 share),
        positions_[i]));
  }
  const auto bits = [&](const std::string& id, const std::string& what,
                        const stats::AcceptBits& accept_bits) {
    const double share = static_cast<double>(accept_bits.n()) / n_all;
    const bool is_certain = !(accept_bits.variance() > 0.0) && accept_bits.n_impossible() == 0;
    if (is_certain || (share < kRateTau && accept_bits.n_impossible() == 0)) return;
    tests.push_back(stats::z_test(contract("real." + id, what, kRateTau, share), accept_bits));
  };
  bits("accept-bit", "a drafted token stands with probability min(1, p/q)", all_bits_);
  bits("acceptance-rate", "acceptance follows sum min(p, q) of the rows", rate_bits_);
  for (std::size_t i = 0; i < bits_.size(); ++i)
    bits("accept-bit[" + std::to_string(i) + "]", "the same at position " + std::to_string(i),
         bits_[i]);
  return tests;
}

void EndToEnd::certify(results::Record& record) {
  // Shares of the run's error budget for the three bounds; their sum bounds the drift of one
  // emitted token.
  struct Part {
    const char* id;
    const char* what;
    std::int64_t k, n;
    double per_token;  // events a token can suffer
  };
  const double tokens = static_cast<double>(std::max<std::int64_t>(1, replay_.n_tokens));
  const Part parts[] = {
      {"replay.draft", "drafted ids equal a redraw from their reported law",
       replay_.n_draft_mismatches, replay_.n_drafted,
       static_cast<double>(replay_.n_drafted) / tokens},
      {"replay.decision", "decisions and final ids equal the replay's", replay_.n_round_mismatches,
       replay_.n_rounds, static_cast<double>(replay_.n_rounds) / tokens},
      {"replay.law", "target laws equal a teacher-forced pass bit for bit", n_forced_mismatches_,
       n_forced_, 1.0}};
  double total = 0.0;
  bool is_whole = true;
  for (const Part& part : parts) {
    if (part.n == 0 && std::string_view(part.id) == "replay.draft" && replay_.n_drafted == 0)
      continue;  // nothing was drafted
    if (part.n == 0) {
      is_whole = false;
      continue;
    }
    total += part.per_token * stats::clopper_pearson_upper(part.k, part.n, kFamilyAlpha / 3);
    const bool is_equal = part.k == 0;
    record.checks.push_back(
        {part.id, is_equal ? results::CheckStatus::kPassed : results::CheckStatus::kFailed,
         std::string(part.what) + ": " + std::to_string(part.k) + " mismatches in " +
             std::to_string(part.n) + "." +
             (is_equal || std::string_view(part.id) == "replay.law"
                  ? ""
                  : " First: " + replay_.first_mismatch)});
  }
  if (is_whole) certified_tv_ = std::min(1.0, total);
}

namespace {

/// Decodes waves of requests over the prompts until enough tokens were seen, or none come any more.
std::vector<engine::Completion> decode_waves(const Context& context,
                                             const engine::DecodeOptions& options, int batch,
                                             int max_tokens, EndToEnd& rounds) {
  const int length = longest_sequence(context, max_tokens);
  const auto backend = open_backend(context, batch, length, options.draft_tokens);
  const auto forcing = open_backend(context, 1, length, length);
  const auto drafter = open_drafter(context);
  std::vector<engine::Completion> returned;
  const bool is_greedy = options.sampling.is_greedy();
  const std::size_t wave_size = is_greedy ? context.prompts.size() : kRequestsPerWave;
  std::int64_t n_before = -1;
  std::uint32_t next = 0;
  while (!rounds.is_cancelled() && rounds.n_rounds > n_before && !(is_greedy && next > 0)) {
    n_before = rounds.n_rounds;
    std::vector<engine::Request> wave;
    for (std::size_t i = 0; i < wave_size; ++i, ++next)
      wave.push_back({next, context.prompts[next % context.prompts.size()].ids, max_tokens});
    for (engine::Completion& completion :
         engine::decode_speculative(*backend, *drafter, wave, options, rounds))
      returned.push_back(std::move(completion));
    rounds.check_kept_sequences(*forcing);
  }
  return returned;
}

}  // namespace

int end_to_end_tokens(const Context& context) {
  const Options& o = context.options;
  const int max_tokens = o.max_tokens > 0 ? o.max_tokens : kTokensPerRequest;
  if (max_tokens < 2)
    throw engine::InputError(
        "--max-tokens is 1; the lossless suite needs at least 2, since the first token belongs to "
        "the prefill.");
  const int longest = longest_sequence(context, max_tokens);
  if (longest > context.model.config.max_positions)
    throw engine::InputError("A prompt with " + std::to_string(max_tokens) + " tokens more has " +
                             std::to_string(longest) + " positions; " + context.model.name +
                             " has " + std::to_string(context.model.config.max_positions) +
                             ", so lower --max-tokens.");
  return max_tokens;
}

void test_end_to_end(const Context& context, std::int64_t n_samples, const engine::Steps& steps,
                     results::Record& record, std::vector<stats::TestResult>& tests) {
  engine::DecodeOptions options = decode_options(context);
  options.steps = steps;
  const Options& o = context.options;
  const int max_tokens = end_to_end_tokens(context);
  const int batch = o.batch > 0 ? o.batch : kDefaultBatch;
  record.options.emplace_back("batch", std::int64_t{batch});
  record.options.emplace_back("max_tokens", std::int64_t{max_tokens});
  // Greedy texts do not vary: one wave, each prompt once, is all there is to see.
  if (o.sampling.is_greedy())
    n_samples = static_cast<std::int64_t>(context.prompts.size()) * max_tokens;
  EndToEnd rounds(context, *options.verifier, n_samples);
  const auto returned = decode_waves(context, options, batch, max_tokens, rounds);
  if (!o.sampling.is_greedy())  // a point mass needs no statistics
    for (const stats::TestResult& result : rounds.results()) tests.push_back(result);
  rounds.certify(record);
  for (results::Check& check : check_identities(rounds, returned, options.draft_tokens))
    record.checks.push_back(std::move(check));
  report_acceptance(rounds, record);
  record.metrics.push_back({"certified_tv",
                            rounds.certified_tv(),
                            "1",
                            {},
                            {},
                            1 - kFamilyAlpha,
                            rounds.certified_tv() ? "upper bound on the drift of one token"
                                                  : "no sequence could be recomputed"});
}

}  // namespace specbench::suites
