#include "engine/cpu/cpu_backend.h"

#include <omp.h>

#include <algorithm>
#include <utility>

namespace specbench::engine {

CpuBackend::CpuBackend(const Model& model, const BackendOptions& options)
    : HostBackend(model, fitting_options(model, options)),
      rope_(model.config, options_.max_length, options_.n_threads),
      sizes_(step_floats(model, options_)),
      packed_(sizes_.packed),
      query_key_value_(sizes_.query_key_value),
      gated_(sizes_.gated),
      split_(sizes_.split),
      thread_scratch_(sizes_.thread_scratch) {
  for (const LayerWeights& weights : model.weights.layers) layers_.push_back(pack(weights));
  head_ = pack({model.config.tied_head ? &model.weights.embedding : &model.weights.head});
}

PackedMatrix CpuBackend::pack(const std::vector<const Matrix*>& stack) const {
  PackedMatrix packed = pack_stacked(stack, options_.n_threads);
  for (const Matrix* part : stack) release_pages(*part);
  return packed;
}

PackedLayer CpuBackend::pack(const LayerWeights& weights) const {
  PackedLayer layer;
  layer.weights = &weights;
  int first = 0;
  for (const auto& stack : query_key_value_stacks(weights)) {
    layer.query_key_value.push_back({pack(stack), first});
    first += layer.query_key_value.back().matrix.n_out;
  }
  layer.attention_out = pack({&weights.attention_out});
  layer.gate_up = pack_gate_up(weights.gate, weights.up, options_.n_threads);
  release_pages(weights.gate);
  release_pages(weights.up);
  layer.down = pack({&weights.down});
  return layer;
}

void CpuBackend::find_runs(std::span<const Row> rows) {
  // A planted n_visible may show neighbours different parts of the cache.
  const int longest = options_.n_visible == nullptr ? longest_run(model_.config) : 1;
  runs_.clear();
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const Row& row = rows[static_cast<std::size_t>(i)];
    const Row* const before = i == 0 ? nullptr : &rows[static_cast<std::size_t>(i - 1)];
    if (before != nullptr && before->lane == row.lane && before->pos + 1 == row.pos &&
        runs_.back().n < longest)
      ++runs_.back().n;
    else
      runs_.push_back({i, 1});
  }
}

Job CpuBackend::job_for(std::span<const Row> rows) {
  Job job;
  job.config = &model_.config;
  job.rows = rows;
  job.runs = runs_;
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
  job.query_key_value_stride = sizes_.query_key_value_stride;
  job.gated = gated_.data();
  job.split = split_.data();
  job.thread_scratch = thread_scratch_.data();
  job.scratch = scratch_sizes(model_.config, options_.n_slots);
  job.head = &head_;
  job.final_norm = model_.weights.final_norm.data();
  return job;
}

void CpuBackend::run_layers(std::span<const Row> rows, int first, int last) {
  find_runs(rows);
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
