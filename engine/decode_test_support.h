// For tests of decoding: one call that runs a whole decoding and keeps its event log.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/decode.h"
#include "engine/engine_test_support.h"

namespace specbench::engine::testing {

/// A Round that outlives its call.
struct KeptRound {
  std::uint32_t request = 0;
  int lane = 0, index = 0, first_pos = 0;
  std::vector<TokenId> drafted, emitted;
  std::vector<double> draft_probs;   ///< of each drafted id
  std::vector<double> target_probs;  ///< of each emitted id
  int n_verdict = 0, n_accepted = 0, n_reused_rows = 0;
  Source source = Source::kBonus;
  bool is_cut = false, residual_was_empty = false;
  StopReason stop = StopReason::kNone;
  std::vector<int> kv_before, kv_after;
};

struct KeptPrefill {
  std::uint32_t request = 0;
  int n_prompt = 0;
  TokenId token = -1;
  double prob = 0.0;
  StopReason stop = StopReason::kNone;
};

class Recorder final : public Observer {
 public:
  void phase(Phase phase) override { phases.push_back(phase); }
  void prefill(const Prefill& p) override {
    prefills.push_back({p.request, p.n_prompt, p.token, p.law->prob(p.token), p.stop});
  }
  void round(const Round& r) override {
    KeptRound kept{r.request,
                   r.lane,
                   r.index,
                   r.first_pos,
                   {},
                   {},
                   {},
                   {},
                   r.n_verdict,
                   r.n_accepted,
                   r.n_reused_rows,
                   r.source,
                   r.is_cut,
                   r.residual_was_empty,
                   r.stop,
                   {},
                   {}};
    kept.drafted.assign(r.proposal.drafted.begin(), r.proposal.drafted.end());
    kept.emitted.assign(r.emitted.begin(), r.emitted.end());
    for (std::size_t i = 0; i < kept.drafted.size(); ++i)
      kept.draft_probs.push_back(r.proposal.draft_laws[i].prob(kept.drafted[i]));
    for (std::size_t i = 0; i < kept.emitted.size(); ++i)
      kept.target_probs.push_back(r.proposal.target_laws[i].prob(kept.emitted[i]));
    kept.kv_before.assign(r.kv_before.begin(), r.kv_before.end());
    kept.kv_after.assign(r.kv_after.begin(), r.kv_after.end());
    rounds.push_back(std::move(kept));
    if (cancel_after > 0 && static_cast<int>(rounds.size()) >= cancel_after) cancelled = true;
  }
  bool is_cancelled() override { return cancelled; }

  std::vector<KeptRound> rounds;
  std::vector<KeptPrefill> prefills;
  std::vector<Phase> phases;
  int cancel_after = 0;
  bool cancelled = false;
};

/// How to decode; an empty drafter means autoregressive.
struct Plan {
  std::string drafter;
  int draft_layers = 3;
  int draft_tokens = 4;
  std::string verifier = "token";
  double temperature = 1.0;
  std::uint64_t seed = 1;
  bool stop_at_eos = true;
  int n_lanes = 1;
  int n_threads = 1;
  int n_slots = 512;
  std::string backend = "cpu";
  Steps steps;
  int cancel_after = 0;
};

struct Decoded {
  std::vector<Completion> completions;
  Recorder log;
  Work work;
  std::unique_ptr<Backend> backend;  ///< with its cache as decoding left it

  std::vector<std::vector<TokenId>> tokens() const {
    std::vector<std::vector<TokenId>> all;
    for (const Completion& c : completions) all.push_back(c.tokens);
    return all;
  }
};

inline Decoded run(const Model& model, const std::vector<Request>& requests, const Plan& s) {
  Decoded result;
  result.backend =
      make_backend(s.backend, model, backend_options(s.n_lanes, s.n_threads, s.n_slots));
  result.log.cancel_after = s.cancel_after;
  DecodeOptions options;
  options.sampling.temperature = s.temperature;
  options.verifier = &find_verifier(s.verifier, options.sampling);
  options.draft_tokens = s.drafter.empty() ? 0 : s.draft_tokens;
  options.seed = s.seed;
  options.stop_at_eos = s.stop_at_eos;
  options.steps = s.steps;
  if (s.drafter.empty()) {
    result.completions = decode_autoregressive(*result.backend, requests, options, result.log);
  } else {
    const auto drafter = make_drafter(s.drafter, s.draft_layers, model.config);
    result.completions =
        decode_speculative(*result.backend, *drafter, requests, options, result.log);
  }
  result.work = result.backend->work();
  return result;
}

inline Plan plain(Plan s) {
  s.drafter.clear();
  s.steps = {};
  return s;
}

/// Prompts of 1 to 9 tokens, each request with its own id and length.
inline std::vector<Request> some_requests(int n, const ModelConfig& c, int max_tokens) {
  std::vector<Request> requests;
  for (int i = 0; i < n; ++i)
    requests.push_back({static_cast<std::uint32_t>(100 + i),
                        random_tokens(1 + i * 5 % 9, c, static_cast<std::uint64_t>(900 + i)),
                        max_tokens + i % 3});
  return requests;
}

}  // namespace specbench::engine::testing
