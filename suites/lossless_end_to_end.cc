#include "suites/lossless_end_to_end.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/coins.h"
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
constexpr std::int64_t kForcedWanted = 60'000;  // tokens whose laws are recomputed, at least

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
      keep_every_(
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(n_wanted / kForcedWanted, 1, 16))),
      row_(context.model.config.vocab_size),
      streams_(kClasses, std::vector<Stream>(kOrders)) {}

bool EndToEnd::is_cancelled() { return n_emitted - n_requests >= n_wanted_ || *context_.stop; }

void EndToEnd::prefill(const engine::Prefill& prefill) {
  Tally::prefill(prefill);
  if (prefill.request % keep_every_ != 0 || prefill.stop != engine::StopReason::kNone) return;
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
  if (round.request % keep_every_ != 0) return;
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
  if (context_.progress != nullptr)
    context_.progress->show("lossless: real generations", static_cast<double>(n_emitted),
                            static_cast<double>(n_wanted_));
}

void EndToEnd::note_pit(OutcomeClass outcome, std::size_t order, double u) {
  Stream& stream = streams_[static_cast<std::size_t>(outcome)][order];
  if (std::isnan(u))
    ++stream.n_impossible;
  else
    stream.pit.add(u);
}

// One emitted token: held against the target's law, and, under the token rule, against the law of
// its class.
void EndToEnd::note_token(const engine::Round& round, std::size_t i) {
  const bool is_judged = i < round.proposal.drafted.size();
  const bool is_accepted = static_cast<int>(i) < round.n_accepted;
  row_.load(round.proposal.target_laws[i], is_judged ? &round.proposal.draft_laws[i] : nullptr);
  const engine::TokenId token = round.emitted[i];
  const auto pos = static_cast<std::uint32_t>(round.first_pos) + static_cast<std::uint32_t>(i);
  const auto coins =
      engine::coin_words({context_.options.seed, round.request, 0, pos, Purpose::kVerification, 0});
  const double coin = engine::uniform_of_word(coins[0]);
  const auto all = row_.pit(token, OutcomeLaw::kTarget, coin);
  const std::size_t n_orders = is_judged ? kOrders : kOrders - 1;  // p/q needs a draft
  for (std::size_t order = 0; order < n_orders; ++order)
    note_pit(OutcomeClass::kAll, order, all[order]);
  if (positions_.size() <= i) positions_.resize(i + 1);
  if (!std::isnan(all[0])) positions_[i].add(all[0]);
  if (!has_class_laws(verifier_)) return;
  if (!is_judged) {
    for (std::size_t order = 0; order < n_orders; ++order)
      note_pit(OutcomeClass::kBonus, order, all[order]);
    return;
  }
  const double own_coin = engine::uniform_of_word(coins[1]);
  const auto own =
      row_.pit(token, is_accepted ? OutcomeLaw::kAccepted : OutcomeLaw::kResidual, own_coin);
  for (std::size_t order = 0; order < kOrders; ++order)
    note_pit(is_accepted ? OutcomeClass::kAccepted : OutcomeClass::kRejected, order, own[order]);
  if (bits_.size() <= i) bits_.resize(i + 1);
  const engine::TokenId drafted = round.proposal.drafted[i];
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

std::vector<stats::TestResult> EndToEnd::results(int draft_tokens) const {
  std::vector<stats::TestResult> tests;
  const double n_all = static_cast<double>(streams_[0][0].pit.n() + streams_[0][0].n_impossible);
  for (std::size_t c = 0; c < kClasses; ++c) {
    for (std::size_t o = 0; o < kOrders; ++o) {
      const Stream& stream = streams_[c][o];
      if (stream.pit.n() + stream.n_impossible == 0) continue;
      const std::string id = std::string("real.") + kClassNames[c] + "." + kOrderNames[o];
      const std::string law =
          std::string(kClassNames[c]) + " tokens have their own law, in order of " + kOrderNames[o];
      const double share = static_cast<double>(stream.pit.n()) / n_all;
      if (stream.n_impossible > 0) {
        tests.push_back(stats::fail_forbidden(
            contract(id, law, kDistanceTau), count_of(stream.n_impossible),
            std::to_string(stream.n_impossible) + " tokens came though their law excludes them."));
        continue;
      }
      tests.push_back(
          stats::ks_uniform_test(contract(id + ".ks", law, kDistanceTau, share), stream.pit));
      tests.push_back(stats::pearson_uniform_test(contract(id + ".chi2", law, kBinsTau, share),
                                                  stream.pit.bin_counts()));
    }
  }
  for (std::size_t i = 0; i < positions_.size() && static_cast<int>(i) <= draft_tokens; ++i) {
    if (positions_[i].n() == 0) continue;
    const double share = static_cast<double>(positions_[i].n()) / n_all;
    tests.push_back(stats::ks_uniform_test(
        contract("real.position[" + std::to_string(i) + "].ks",
                 "token " + std::to_string(i) + " of a round has the target's law", kDistanceTau,
                 share),
        positions_[i]));
  }
  const auto bits = [&](const std::string& id, const std::string& what,
                        const stats::AcceptBits& accept_bits) {
    if (accept_bits.n() == 0 ||
        (!(accept_bits.variance() > 0.0) && accept_bits.n_impossible() == 0))
      return;
    tests.push_back(stats::z_test(
        contract("real." + id, what, kRateTau, static_cast<double>(accept_bits.n()) / n_all),
        accept_bits));
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
             std::to_string(part.n) + "." + (is_equal ? "" : " First: " + replay_.first_mismatch)});
  }
  if (is_whole) certified_tv_ = std::min(1.0, total);
}

void test_end_to_end(const Context& context, std::int64_t n_samples, const engine::Steps& steps,
                     results::Record& record, std::vector<stats::TestResult>& tests) {
  engine::DecodeOptions options = decode_options(context);
  options.steps = steps;
  const int max_tokens =
      context.options.max_tokens > 0 ? context.options.max_tokens : kTokensPerRequest;
  const int batch = context.options.batch > 0 ? context.options.batch : kDefaultBatch;
  const int length = longest_sequence(context, max_tokens);
  const auto backend = open_backend(context, batch, length, options.draft_tokens);
  const auto forcing = open_backend(context, 1, length, length);
  const auto drafter = open_drafter(context);
  EndToEnd rounds(context, *options.verifier, n_samples);
  std::vector<engine::Completion> returned;
  for (std::uint32_t next = 0; !rounds.is_cancelled();) {
    std::vector<engine::Request> wave;
    for (std::size_t i = 0; i < kRequestsPerWave; ++i, ++next)
      wave.push_back({next, context.prompts[next % context.prompts.size()].ids, max_tokens});
    for (engine::Completion& completion :
         engine::decode_speculative(*backend, *drafter, wave, options, rounds))
      returned.push_back(std::move(completion));
    rounds.check_kept_sequences(*forcing);
  }
  for (const stats::TestResult& result : rounds.results(options.draft_tokens))
    tests.push_back(result);
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
