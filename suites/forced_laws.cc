#include "suites/forced_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/coins.h"

namespace specbench::suites {

namespace {

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

}  // namespace

ForcedLaws::ForcedLaws(const Context& context, const Generation& generation, double keep_every)
    : context_(context), generation_(generation), keep_every_(keep_every) {}

// By a coin, so that the choice lines up with no prompt and no lane.
bool ForcedLaws::is_kept(std::uint32_t request) const {
  return engine::uniform({generation_.seed, request, 0, 0, engine::Purpose::kVerification, 1}) *
             keep_every_ <
         1.0;
}

void ForcedLaws::prefill(const engine::Prefill& prefill) {
  if (!is_kept(prefill.request) || prefill.stop != engine::StopReason::kNone) return;
  const Prompt& prompt = context_.prompts[prefill.request % context_.prompts.size()];
  kept_.push_back({prefill.request, prompt.ids.size(), prompt.ids, {hash_law(*prefill.law)}});
  kept_.back().tokens.push_back(prefill.token);
}

void ForcedLaws::round(const engine::Round& round) {
  if (!is_kept(round.request)) return;
  const auto kept = std::find_if(kept_.rbegin(), kept_.rend(),
                                 [&](const Kept& k) { return k.request == round.request; });
  if (kept == kept_.rend()) return;
  for (std::size_t i = 0; i < round.emitted.size(); ++i) {
    kept->tokens.push_back(round.emitted[i]);
    kept->law_hashes.push_back(hash_law(round.proposal.target_laws[i]));
  }
}

void ForcedLaws::check(engine::Backend& backend) {
  for (const Kept& kept : kept_) check_sequence(kept, backend);
  kept_.clear();
}

void ForcedLaws::check_sequence(const Kept& kept, engine::Backend& backend) {
  const engine::ModelConfig& c = context_.model.config;
  std::vector<engine::Row> rows;
  for (int pos = 0; pos + 1 < static_cast<int>(kept.tokens.size()); ++pos)
    rows.push_back({0, pos, kept.tokens[static_cast<std::size_t>(pos)], pos});
  backend.reset(0, kept.request);
  backend.forward(rows, 0, c.n_layers);
  const std::size_t first = rows.size() - kept.law_hashes.size();
  logits_.resize(kept.law_hashes.size() * static_cast<std::size_t>(c.vocab_size));
  backend.logits(std::span(rows).subspan(first), logits_.data());
  const engine::Request request = request_of(context_, generation_, kept.request);
  const engine::SamplingParams& sampling =
      request.sampling ? *request.sampling : generation_.sampling;
  const std::span<const engine::TokenId> tokens = kept.tokens;
  engine::LawBuffer buffer(1, c.vocab_size);
  for (std::size_t i = 0; i < kept.law_hashes.size(); ++i) {
    const engine::RowPast past{
        tokens.first(kept.n_prompt), tokens.subspan(kept.n_prompt, i), {}, c.eos};
    const engine::Law law =
        engine::law_of_row(logits_.data() + i * static_cast<std::size_t>(c.vocab_size),
                           c.vocab_size, sampling, past, {}, buffer.room(0));
    ++n_laws_;
    if (hash_law(law) == kept.law_hashes[i]) continue;
    if (n_mismatches_++ == 0)
      first_mismatch_ = fmt::format("request {}, position {}", kept.request, kept.n_prompt + i);
  }
}

}  // namespace specbench::suites
