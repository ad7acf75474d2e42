#include "engine/drafter.h"

#include <algorithm>
#include <string>

#include "engine/coins.h"
#include "engine/error.h"
#include "engine/parallel.h"

namespace specbench::engine {

DraftSampler::DraftSampler(int n_lanes, int draft_tokens, int n_ids, SamplingParams sampling,
                           DraftDraw mode, std::uint64_t seed, std::vector<TokenId> eos,
                           int n_threads)
    : draft_tokens_(draft_tokens),
      n_ids_(n_ids),
      sampling_(sampling),
      mode_(mode),
      seed_(seed),
      eos_(std::move(eos)),
      n_threads_(n_threads),
      laws_(n_lanes * draft_tokens, n_ids),
      logits_(static_cast<std::size_t>(n_lanes) * static_cast<std::size_t>(n_ids)) {}

bool DraftSampler::wants_more(const LaneDraft& lane) const {
  if (static_cast<int>(lane.drafted.size()) >= lane.n_wanted) return false;
  return lane.drafted.empty() ||
         std::find(eos_.begin(), eos_.end(), lane.drafted.back()) == eos_.end();
}

void DraftSampler::draw_one(LaneDraft& lane, const float* logits) {
  const int i = static_cast<int>(lane.drafted.size());
  const auto first_pos = static_cast<std::uint32_t>(lane.newest_pos + 1);
  const auto pos = first_pos + static_cast<std::uint32_t>(i);
  Law law{nullptr, nullptr, 1.0, n_ids_, -1};
  if (mode_ == DraftDraw::kArgmax) {
    law.point = argmax(logits, n_ids_);
  } else {
    const int at = lane.lane * draft_tokens_ + i;
    law = make_law(logits, n_ids_, sampling_, laws_.weights(at), laws_.chunk_sums(at));
  }
  TokenId id = law.point;
  if (mode_ == DraftDraw::kCoin)
    id = draw(law, uniform({seed_, lane.request, first_pos, pos, Purpose::kDraft, 0}));
  if (mode_ == DraftDraw::kCoupled) id = coupled_draw(law, seed_, lane.request, pos);
  lane.drafted.push_back(id);
  lane.laws.push_back(law);
}

void DraftSampler::draw_next(std::span<LaneDraft* const> lanes, const float* logits) {
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

/// Every id with the same probability, by logits of zero through the same sampler.
class UniformDrafter final : public Drafter {
 public:
  explicit UniformDrafter(int n_ids) : logits_(static_cast<std::size_t>(n_ids)) {}
  int reused_layers() const override { return 0; }

  void propose(Backend&, DraftSampler& sampler, std::span<LaneDraft> lanes) override {
    for (LaneDraft& lane : lanes) {
      LaneDraft* const one[] = {&lane};
      while (sampler.wants_more(lane)) sampler.draw_next(one, logits_.data());
    }
  }

 private:
  std::vector<float> logits_;
};

}  // namespace

std::unique_ptr<Drafter> make_drafter(std::string_view name, int draft_layers,
                                      const ModelConfig& config) {
  if (name == "null") return std::make_unique<NullDrafter>();
  if (name == "oracle") return std::make_unique<OracleDrafter>(config.n_layers);
  if (name == "uniform") return std::make_unique<UniformDrafter>(config.vocab_size);
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
