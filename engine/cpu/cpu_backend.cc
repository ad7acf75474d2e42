#include "engine/cpu/cpu_backend.h"

#include <omp.h>

#include <algorithm>

namespace specbench::engine {

std::size_t thread_scratch_floats(const ModelConfig& config, int max_length) {
  // Attention needs one head and the scores of a sequence; the private norm needs up to kTile
  // packed rows.
  const int attention = config.head_dim + (max_length + 4 * KvStore::kBlock);
  const int floats = std::max(attention, config.width * kTile);
  return static_cast<std::size_t>((floats + 15) / 16 * 16);
}

CpuBackend::CpuBackend(const Model& model, BackendOptions options)
    : HostBackend(model, options),
      rope_(model.config, options_.max_length),
      thread_scratch_size_(thread_scratch_floats(model.config, options_.max_length)) {
  for (const LayerWeights& w : model.weights.layers) {
    PackedLayer layer;
    const Matrix* const query_key_value[] = {&w.query, &w.key, &w.value};
    const Matrix* const attention_out[] = {&w.attention_out};
    const Matrix* const down[] = {&w.down};
    layer.query_key_value = pack_stacked(query_key_value);
    layer.attention_out = pack_stacked(attention_out);
    layer.gate_up = pack_gate_up(w.gate, w.up);
    layer.down = pack_stacked(down);
    layer.attention_norm = w.attention_norm.data();
    layer.ffn_norm = w.ffn_norm.data();
    layers_.push_back(std::move(layer));
  }
  const Matrix* const head[] = {model.config.tied_head ? &model.weights.embedding
                                                       : &model.weights.head};
  head_ = pack_stacked(head);

  const ModelConfig& c = model.config;
  const auto n_slots = static_cast<std::size_t>(options_.n_slots);
  packed_ =
      AlignedFloats(n_slots * static_cast<std::size_t>(std::max(c.width, c.n_heads * c.head_dim)));
  query_key_value_ =
      AlignedFloats(n_slots * static_cast<std::size_t>(layers_.front().query_key_value.n_blocks()) *
                    static_cast<std::size_t>(kBlock));
  gated_ = AlignedFloats(n_slots * static_cast<std::size_t>(c.ffn_width));
  thread_scratch_ =
      AlignedFloats(thread_scratch_size_ * static_cast<std::size_t>(options_.n_threads));
}

Job CpuBackend::job_for(std::span<const Row> rows) {
  Job job;
  job.config = &model_.config;
  job.rows = rows;
  job.barrier = &barrier_;
  job.layers = layers_.data();
  job.embedding = &model_.weights.embedding;
  job.rope = &rope_;
  job.store = &store_;
  job.lengths = &lengths_;
  job.n_visible = options_.n_visible;
  job.hidden = hidden_.data();
  job.packed = packed_.data();
  job.query_key_value = query_key_value_.data();
  job.query_key_value_stride = layers_.front().query_key_value.n_blocks() * kBlock;
  job.gated = gated_.data();
  job.thread_scratch = thread_scratch_.data();
  job.thread_scratch_size = thread_scratch_size_;
  job.head = &head_;
  job.final_norm = model_.weights.final_norm.data();
  return job;
}

void CpuBackend::run_layers(std::span<const Row> rows, int first, int last) {
  Job job = job_for(rows);
  job.first = first;
  job.last = last;
#pragma omp parallel num_threads(options_.n_threads)
  layers_thread(job, omp_get_thread_num(), omp_get_num_threads());
}

void CpuBackend::run_head(std::span<const Row> rows, float* out) {
  Job job = job_for(rows);
  job.logits = out;
#pragma omp parallel num_threads(options_.n_threads)
  head_thread(job, omp_get_thread_num(), omp_get_num_threads());
}

}  // namespace specbench::engine
