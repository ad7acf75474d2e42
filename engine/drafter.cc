#include "engine/drafter.h"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/coins.h"
#include "engine/error.h"
#include "engine/parallel.h"
#include "engine/steps.h"

namespace specbench::engine {

DraftSampler::DraftSampler(int n_lanes, int draft_tokens, int n_ids, DraftDraw mode,
                           std::vector<TokenId> eos, int n_threads, const Steps& steps)
    : draft_tokens_(draft_tokens),
      n_ids_(n_ids),
      mode_(mode),
      eos_(std::move(eos)),
      n_threads_(n_threads),
      steps_(steps),
      laws_(n_lanes * draft_tokens, n_ids),
      spares_(steps.draft == take_draft ? 0 : n_lanes * draft_tokens, n_ids),
      logits_(static_cast<std::size_t>(n_lanes) * static_cast<std::size_t>(n_ids)) {}

bool DraftSampler::wants_more(const LaneDraft& lane) const {
  if (static_cast<int>(lane.drafted.size()) >= lane.n_wanted) return false;
  return lane.drafted.empty() ||
         std::find(eos_.begin(), eos_.end(), lane.drafted.back()) == eos_.end();
}

void DraftSampler::draw_one(LaneDraft& lane, float* logits) {
  const int i = static_cast<int>(lane.drafted.size());
  const int at = lane.lane * draft_tokens_ + i;
  const auto first_pos = static_cast<std::uint32_t>(lane.newest_pos + 1);
  RowPast past = lane.past;
  past.drafted = lane.drafted;
  // A greedy draft takes the likeliest id of the row its request would sample from.
  SamplingParams greedy;
  if (mode_ == DraftDraw::kArgmax) {
    greedy = *lane.sampling;
    greedy.temperature = 0.0;
  }
  Law law = steps_.law(logits, n_ids_, mode_ == DraftDraw::kArgmax ? greedy : *lane.sampling, past,
                       {i, i, true}, laws_.room(at));
  const LawRoom spare = steps_.draft == take_draft ? LawRoom{} : spares_.room(at);
  const TokenId id = steps_.draft(law, spare, mode_,
                                  {lane.seed, lane.request, first_pos,
                                   first_pos + static_cast<std::uint32_t>(i), Purpose::kDraft, 0});
  lane.drafted.push_back(id);
  lane.laws.push_back(law);
}

void DraftSampler::draw_next(std::span<LaneDraft* const> lanes, float* logits) {
  parallel_for(static_cast<int>(lanes.size()), n_threads_, [&](int i) {
    draw_one(*lanes[static_cast<std::size_t>(i)], logits + static_cast<std::ptrdiff_t>(i) * n_ids_);
  });
}

namespace {

/// Draws from the first n_layers layers, norm and head, one token a step. What the layers leave in
/// the cache and in the slots is the target's own.
class LayerDrafter : public Drafter {
 public:
  explicit LayerDrafter(int n_layers) : n_layers_(n_layers) {}
  int reused_layers() const override { return n_layers_; }

  void propose(Backend& backend, DraftSampler& sampler, std::span<LaneDraft> lanes) override {
    for (;;) {
      active_.clear();
      rows_.clear();
      for (LaneDraft& lane : lanes) {
        if (!sampler.wants_more(lane)) continue;
        const int i = static_cast<int>(lane.drafted.size());
        active_.push_back(&lane);
        rows_.push_back({lane.lane, lane.newest_pos + i, i == 0 ? lane.newest : lane.drafted.back(),
                         lane.first_slot + i});
      }
      if (rows_.empty()) return;
      backend.forward(rows_, 0, n_layers_);
      backend.logits(rows_, sampler.logits());
      sampler.draw_next(active_, sampler.logits());
    }
  }

 private:
  int n_layers_;
  std::vector<LaneDraft*> active_;
  std::vector<Row> rows_;
};

/// The whole model, then forgets what it computed: verification must arrive at the same laws by its
/// own path.
class OracleDrafter final : public LayerDrafter {
 public:
  using LayerDrafter::LayerDrafter;
  int reused_layers() const override { return 0; }

  void propose(Backend& backend, DraftSampler& sampler, std::span<LaneDraft> lanes) override {
    LayerDrafter::propose(backend, sampler, lanes);
    for (const LaneDraft& lane : lanes) backend.trim(lane.lane, lane.newest_pos);
  }
};

class NullDrafter final : public Drafter {
 public:
  int reused_layers() const override { return 0; }
  void propose(Backend&, DraftSampler&, std::span<LaneDraft>) override {}
};

/// Every token with the same probability, by logits of zero through the same sampler.
class UniformDrafter final : public Drafter {
 public:
  explicit UniformDrafter(const ModelConfig& c)
      : n_tokens_(c.n_tokens > 0 ? c.n_tokens : c.vocab_size),
        logits_(static_cast<std::size_t>(c.vocab_size), -std::numeric_limits<float>::infinity()) {}
  int reused_layers() const override { return 0; }

  void propose(Backend&, DraftSampler& sampler, std::span<LaneDraft> lanes) override {
    for (LaneDraft& lane : lanes) {
      LaneDraft* const one[] = {&lane};
      while (sampler.wants_more(lane)) {
        std::fill_n(logits_.begin(), n_tokens_, 0.0F);  // processors change them
        sampler.draw_next(one, logits_.data());
      }
    }
  }

 private:
  int n_tokens_;  ///< the ids behind have no token
  std::vector<float> logits_;
};

}  // namespace

std::unique_ptr<Drafter> make_drafter(std::string_view name, int draft_layers,
                                      const ModelConfig& config) {
  if (name == "null") return std::make_unique<NullDrafter>();
  if (name == "oracle") return std::make_unique<OracleDrafter>(config.n_layers);
  if (name == "uniform") return std::make_unique<UniformDrafter>(config);
  if (name != "layer-skip")
    throw InputError("--drafter is '" + std::string(name) +
                     "'; this build has layer-skip, null, oracle and uniform.");
  if (draft_layers < 1 || draft_layers > config.n_layers)
    throw InputError("--draft-layers is " + std::to_string(draft_layers) + "; the model has " +
                     std::to_string(config.n_layers) + " layers, so it must be 1 to " +
                     std::to_string(config.n_layers) + ".");
  return std::make_unique<LayerDrafter>(draft_layers);
}

}  // namespace specbench::engine
