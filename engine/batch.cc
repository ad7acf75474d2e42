#include "engine/batch.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/error.h"
#include "engine/parallel.h"
#include "engine/stop_texts.h"

namespace specbench::engine {

namespace {
std::string place(const Round& round) {
  return "Round " + std::to_string(round.index) + " of request " + std::to_string(round.request) +
         ", lane " + std::to_string(round.lane);
}

// By the chunks, whose sums a draw walks.
double sum_of_probs(const Law& law) {
  if (law.is_point()) return 1.0;
  double sum = 0.0;
  for (int c = 0; c < n_chunks(law.n_ids); ++c) sum += law.chunk_sums[c] / law.total;
  return sum;
}

// An emitted token must be one its law allows, and the law a law. `where()` is asked in a failure
// alone: no sentence is made inside the loop.
template <typename Where>
void check_token(const Where& where, const Law& law, TokenId id, int pos) {
  const auto at = [&] { return " at position " + std::to_string(pos); };
  if (const double sum = sum_of_probs(law); !(std::fabs(sum - 1.0) <= 1e-9))
    throw StateViolation(where() + ": the target's law" + at() + " sums to " + std::to_string(sum) +
                         ".");
  if (id < 0 || id >= law.n_ids || !(law.prob(id) > 0.0))
    throw StateViolation(where() + ": token " + std::to_string(id) + at() +
                         " was emitted though the target gives it probability zero.");
}

// Rows of a lane in a verification. Asked before anything is allocated for them.
int checked_rows_per_lane(const BackendOptions& backend, int draft_tokens) {
  if (draft_tokens < 0 || draft_tokens > kMaxDraft)
    throw InputError("--draft-tokens is " + std::to_string(draft_tokens) + "; it must be 0 to " +
                     std::to_string(kMaxDraft) + ".");
  if (backend.n_lanes * (draft_tokens + 1) > backend.n_slots)
    throw InputError("A verification of " + std::to_string(backend.n_lanes) + " sequences with " +
                     std::to_string(draft_tokens + 1) + " rows each exceeds the step of " +
                     std::to_string(backend.n_slots) + " rows; lower --batch or --draft-tokens.");
  return draft_tokens + 1;
}
}  // namespace

Batch::Batch(Backend& backend, std::span<const Request> requests, const DecodeOptions& options,
             Observer& observer)
    : backend_(backend),
      requests_(requests),
      options_(options),
      observer_(observer),
      accept_rule_(options.steps.accept != nullptr ? options.steps.accept
                                                   : options.verifier->accept),
      eos_(options.stop_at_eos ? backend.config().eos : std::vector<TokenId>{}),
      rows_per_lane_(checked_rows_per_lane(backend.options(), options.draft_tokens)),
      lanes_(static_cast<std::size_t>(backend.options().n_lanes)),
      logits_(lanes_.size() * static_cast<std::size_t>(rows_per_lane_) *
              static_cast<std::size_t>(backend.config().vocab_size)),
      target_laws_(backend.options().n_lanes * rows_per_lane_, backend.config().vocab_size),
      residuals_(backend.options().n_lanes, backend.config().vocab_size),
      sampler_(backend.options().n_lanes, options.draft_tokens, backend.config().vocab_size,
               options.verifier->draft_draw, eos_, backend.options().n_threads, options.steps),
      completions_(requests.size()) {
  for (const Request& request : requests) check_request(request);
  drafts_.reserve(lanes_.size());
  for (std::size_t i = 0; i < requests.size(); ++i) completions_[i].request = requests[i].id;
}

void Batch::check_request(const Request& request) const {
  const auto need = [&](bool is_right, const std::string& sentence) {
    if (!is_right) throw InputError("Request " + std::to_string(request.id) + ": " + sentence);
  };
  need(!request.prompt.empty(),
       "the prompt is empty and the model has no BOS token; give at least one token.");
  need(request.max_tokens >= 1,
       "--max-tokens is " + std::to_string(request.max_tokens) + "; it must be at least 1.");
  const auto length = static_cast<std::int64_t>(request.prompt.size()) + request.max_tokens;
  need(length <= backend_.options().max_length,
       std::to_string(request.prompt.size()) + " prompt tokens and " +
           std::to_string(request.max_tokens) + " more exceed the " +
           std::to_string(backend_.options().max_length) +
           " positions there are; shorten the prompt or --max-tokens.");
  const SamplingParams& sampling = request.sampling ? *request.sampling : options_.sampling;
  const ModelConfig& config = backend_.config();
  const int n_ids = config.n_tokens > 0 ? config.n_tokens : config.vocab_size;
  try {
    validate(sampling);
    validate_ids(sampling, n_ids, eos_);
  } catch (const InputError& error) {
    need(!request.sampling, error.what());  // its own: which request is part of the answer
    throw;
  }
  need(options_.verifier->name != "greedy" || sampling.is_greedy(),
       "its temperature is above 0, but the run decodes greedily; give the run a temperature above "
       "0 and --verifier token.");
  for (const TokenId id : request.prompt)
    need(id >= 0 && id < n_ids, "prompt token " + std::to_string(id) +
                                    " is outside the vocabulary of " + std::to_string(n_ids) + ".");
}

bool Batch::admit() {
  while (!observer_.is_cancelled()) {
    if (admit_waiting()) continue;  // a request may end with its first token
    return std::any_of(lanes_.begin(), lanes_.end(),
                       [](const Lane& lane) { return lane.request != nullptr; });
  }
  return false;
}

bool Batch::admit_waiting() {
  std::vector<int> new_lanes;
  for (int i = 0; i < static_cast<int>(lanes_.size()) && n_admitted_ < requests_.size(); ++i) {
    Lane& lane = lanes_[static_cast<std::size_t>(i)];
    if (lane.request != nullptr) continue;
    lane.request = &requests_[n_admitted_];
    lane.n_request = n_admitted_++;
    lane.tokens.reserve(lane.request->prompt.size() +
                        static_cast<std::size_t>(lane.request->max_tokens));
    lane.tokens = lane.request->prompt;
    lane.n_rounds = 0;
    lane.n_refused = 0;
    lane.sampling = lane.request->sampling ? &*lane.request->sampling : &options_.sampling;
    lane.seed = lane.request->seed.value_or(options_.seed);
    if (options_.steps.reset != nullptr)
      options_.steps.reset(backend_, i, lane.request->id);
    else
      backend_.reset(i, lane.request->id);
    new_lanes.push_back(i);
  }
  if (new_lanes.empty()) return false;
  prefill(new_lanes);
  return true;
}

void Batch::prefill(std::span<const int> new_lanes) {
  observer_.phase(Phase::kPrefill);
  const auto n_slots = static_cast<std::size_t>(backend_.options().n_slots);
  std::vector<Row> rows, last_rows;
  const auto flush = [&] {
    backend_.forward(rows, 0, backend_.config().n_layers);
    backend_.logits(last_rows, logits_.data());
    for (std::size_t i = 0; i < last_rows.size(); ++i)
      first_token(last_rows[i].lane,
                  logits_.data() + i * static_cast<std::size_t>(backend_.config().vocab_size));
    rows.clear();
    last_rows.clear();
  };
  for (const int i : new_lanes) {
    const std::vector<TokenId>& prompt = lanes_[static_cast<std::size_t>(i)].request->prompt;
    for (int pos = 0; pos < static_cast<int>(prompt.size()); ++pos) {
      rows.push_back(
          {i, pos, prompt[static_cast<std::size_t>(pos)], static_cast<int>(rows.size())});
      if (pos + 1 == static_cast<int>(prompt.size())) last_rows.push_back(rows.back());
      if (rows.size() == n_slots) flush();
    }
  }
  flush();
}

RowPast Batch::past_of(const Lane& lane) const {
  const std::span<const TokenId> tokens = lane.tokens;
  const std::size_t n_prompt = lane.request->prompt.size();
  return {tokens.first(n_prompt), tokens.subspan(n_prompt), {}, eos_};
}

void Batch::first_token(int i, float* logits) {
  Lane& lane = lanes_[static_cast<std::size_t>(i)];
  const int n_prompt = static_cast<int>(lane.tokens.size());
  const int at = i * rows_per_lane_;
  const Law law = options_.steps.law(logits, backend_.config().vocab_size, *lane.sampling,
                                     past_of(lane), {}, target_laws_.room(at));
  const TokenId token = options_.verifier->plain(law, options_.steps.coins(lane.key(i, 0)));
  check_token([&] { return "The prefill of request " + std::to_string(lane.request->id); }, law,
              token, n_prompt);
  lane.tokens.push_back(token);
  backend_.kv().check(i, lane.request->id, n_prompt, 0, -1);
  const StopReason stop = stop_of_round(lane, true);
  observer_.prefill({lane.request->id, i, n_prompt, token, &law, stop});
  if (stop != StopReason::kNone) finish(lane, stop);
}

std::span<LaneDraft> Batch::begin_round(int draft_tokens) {
  std::size_t n = 0;
  for (int i = 0; i < static_cast<int>(lanes_.size()); ++i) {
    Lane& lane = lanes_[static_cast<std::size_t>(i)];
    if (lane.request == nullptr) continue;
    if (drafts_.size() == n) drafts_.emplace_back();
    LaneDraft& draft = drafts_[n++];
    draft.lane = i;
    draft.request = lane.request->id;
    draft.newest_pos = static_cast<int>(lane.tokens.size()) - 1;
    draft.newest = lane.tokens.back();
    draft.first_slot = i * rows_per_lane_;
    // max_tokens never falls inside a block: the last token of the room is a plain step's.
    draft.n_wanted =
        options_.steps.n_wanted(draft_tokens, lane.request->max_tokens - lane.n_emitted());
    draft.n_refused = lane.n_refused;
    draft.seed = lane.seed;
    draft.sampling = lane.sampling;
    draft.past = past_of(lane);
    draft.drafted.clear();
    draft.laws.clear();
    const auto lengths = backend_.kv().of(i);
    lane.kv_before.assign(lengths.begin(), lengths.end());
  }
  drafts_.resize(n);
  return drafts_;
}

void Batch::verify(int reused_layers) {
  reused_layers_ = reused_layers;
  rows_.clear();
  places_.clear();
  shallow_.clear();
  for (const LaneDraft& draft : drafts_) {
    const int n = static_cast<int>(draft.drafted.size());
    for (int i = 0; i <= n; ++i) {
      rows_.push_back({draft.lane, draft.newest_pos + i,
                       i == 0 ? draft.newest : draft.drafted[static_cast<std::size_t>(i - 1)],
                       draft.first_slot + i});
      places_.push_back({&draft, i});
    }
    if (reused_layers > 0) shallow_.push_back(rows_.back());
  }
  if (options_.steps.rows != nullptr) {
    options_.steps.rows(shallow_, true, drafts_);
    options_.steps.rows(rows_, false, drafts_);
  }
  backend_.forward(shallow_, 0, reused_layers);
  backend_.forward(rows_, reused_layers, backend_.config().n_layers);
  backend_.logits(rows_, logits_.data());
  if (options_.steps.logits != nullptr)
    options_.steps.logits(logits_.data(), rows_, backend_.config().vocab_size);
  make_target_laws();
}

void Batch::make_target_laws() {
  for (const LaneDraft& draft : drafts_)
    lane_of(draft).target_laws.resize(draft.drafted.size() + 1);
  const int n_ids = backend_.config().vocab_size;
  parallel_for(static_cast<int>(places_.size()), backend_.options().n_threads, [&](int i) {
    const auto& [draft, at] = places_[static_cast<std::size_t>(i)];
    RowPast past = draft->past;
    past.drafted = std::span(draft->drafted).first(static_cast<std::size_t>(at));
    lane_of(*draft).target_laws[static_cast<std::size_t>(at)] = options_.steps.law(
        logits_.data() + static_cast<std::ptrdiff_t>(i) * n_ids, n_ids, *draft->sampling, past,
        {at, static_cast<int>(draft->drafted.size()), false},
        target_laws_.room(draft->first_slot + at));
  });
}

void Batch::accept() {
  if (options_.steps.judged != nullptr) options_.steps.judged(drafts_);
  parallel_for(static_cast<int>(drafts_.size()), backend_.options().n_threads, [&](int i) {
    const LaneDraft& draft = drafts_[static_cast<std::size_t>(i)];
    Lane& lane = lane_of(draft);
    lane.coins = options_.steps.coins(lane.key(draft.lane, static_cast<int>(draft.drafted.size())));
    lane.acceptance = accept_rule_({draft.drafted, draft.laws, lane.target_laws}, lane.coins,
                                   residuals_.room(draft.lane));
  });
}

void Batch::sample() {
  for (const LaneDraft& draft : drafts_) {
    Lane& lane = lane_of(draft);
    lane.coins = options_.steps.coins(lane.key(draft.lane, 0));
    lane.acceptance = {0, options_.verifier->plain(lane.target_laws.front(), lane.coins),
                       Source::kBonus, false};
  }
}

void Batch::commit() {
  for (LaneDraft& draft : drafts_) commit_lane(draft);
}

void Batch::commit_lane(LaneDraft& draft) {
  Lane& lane = lane_of(draft);
  const std::size_t n_before = lane.tokens.size();
  Round round;
  round.request = draft.request;
  round.lane = draft.lane;
  round.index = lane.n_rounds++;
  round.first_pos = static_cast<int>(n_before);
  round.proposal = {draft.drafted, draft.laws, lane.target_laws};
  round.coins = &lane.coins;
  round.n_verdict = lane.acceptance.n_accepted;
  round.source = lane.acceptance.source;
  round.residual_was_empty = lane.acceptance.residual_was_empty;
  while (round.n_accepted < round.n_verdict && round.stop == StopReason::kNone) {
    lane.tokens.push_back(draft.drafted[static_cast<std::size_t>(round.n_accepted++)]);
    round.stop = stop_of_round(lane, false);
  }
  round.is_cut = round.stop != StopReason::kNone;
  if (!round.is_cut) {
    lane.tokens.push_back(lane.acceptance.final_token);
    round.stop = stop_of_round(lane, true);
  }
  if (options_.steps.emitted != nullptr) options_.steps.emitted(lane.tokens, round);
  lane.n_refused = round.n_drafted() - round.n_verdict;
  round.emitted = std::span(lane.tokens).subspan(n_before);
  round.n_reused_rows = reused_layers_ > 0 ? round.n_drafted() : 0;
  trim(round, options_.steps.kept_entries({static_cast<int>(lane.tokens.size()),
                                           draft.newest_pos + round.n_drafted() + 1,
                                           round.n_drafted(), round.n_verdict, round.is_cut}));
  round.kv_before = lane.kv_before;
  round.kv_after = backend_.kv().of(draft.lane);
  if (options_.steps.report != nullptr) options_.steps.report(round);
  check_round(lane, round);
  observer_.round(round);
  if (round.stop != StopReason::kNone) finish(lane, round.stop);
}

void Batch::trim(const Round& round, int length) {
  try {
    backend_.trim(round.lane, length);
  } catch (const StateViolation& violation) {
    throw StateViolation(place(round) + ": " + violation.what());
  }
}

// An EOS ends the text where it stands.
void Batch::check_stops(const Round& round) const {
  for (std::size_t i = 0; i < round.emitted.size(); ++i) {
    const bool is_eos = std::find(eos_.begin(), eos_.end(), round.emitted[i]) != eos_.end();
    if (is_eos && (i + 1 < round.emitted.size() || round.stop != StopReason::kEos))
      throw StateViolation(place(round) + ": the text went on behind EOS at position " +
                           std::to_string(round.first_pos + static_cast<int>(i)) + ".");
  }
}

void Batch::check_round(const Lane& lane, const Round& round) const {
  const int n_committed = static_cast<int>(lane.tokens.size());
  backend_.kv().check(round.lane, round.request, n_committed - 1, round.first_pos - 1, round.index);
  check_stops(round);
  const int expected = round.n_accepted + (round.is_cut ? 0 : 1);
  if (static_cast<int>(round.emitted.size()) != expected)
    throw StateViolation(place(round) + ": emitted " + std::to_string(round.emitted.size()) +
                         " tokens, accepted " + std::to_string(round.n_accepted) + "; " +
                         std::to_string(expected) + " were due.");
  if (lane.n_emitted() > lane.request->max_tokens)
    throw StateViolation(place(round) + ": " + std::to_string(lane.n_emitted()) +
                         " tokens emitted, " + std::to_string(lane.request->max_tokens) +
                         " allowed.");
  for (std::size_t i = 0; i < round.emitted.size(); ++i)
    check_token([&] { return place(round); }, round.proposal.target_laws[i], round.emitted[i],
                round.first_pos + static_cast<int>(i));
}

std::vector<Completion> Batch::take_completions() {
  for (Lane& lane : lanes_)
    if (lane.request != nullptr) finish(lane, StopReason::kNone);
  return std::move(completions_);
}

StopReason Batch::stop_after(const Lane& lane) const {
  if (std::find(eos_.begin(), eos_.end(), lane.tokens.back()) != eos_.end())
    return StopReason::kEos;
  if (!options_.stop_texts.empty() && lane.n_emitted() >= lane.sampling->min_tokens &&
      completes_stop(past_of(lane).emitted, options_.stop_texts, *options_.tokenizer))
    return StopReason::kStopText;
  return lane.n_emitted() >= lane.request->max_tokens ? StopReason::kMaxTokens : StopReason::kNone;
}

StopReason Batch::stop_of_round(const Lane& lane, bool is_last) const {
  const StopReason due = stop_after(lane);
  return options_.steps.stop != nullptr ? options_.steps.stop(due, is_last) : due;
}

void Batch::finish(Lane& lane, StopReason reason) {
  Completion& completion = completions_[lane.n_request];
  completion.tokens.assign(
      lane.tokens.begin() + static_cast<std::ptrdiff_t>(lane.request->prompt.size()),
      lane.tokens.end());
  completion.stop = reason;
  lane.request = nullptr;
}

}  // namespace specbench::engine
