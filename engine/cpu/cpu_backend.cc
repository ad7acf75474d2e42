#include "engine/cpu/cpu_backend.h"

#include <omp.h>

#include <algorithm>
#include <utility>

namespace specbench::engine {

CpuBackend::CpuBackend(const Model& model, const BackendOptions& options)
    : HostBackend(model, fitting_options(model, options)),
      weights_(options_.pool ? options_.pool->packed(model, options_.n_threads)
                             : std::make_shared<const PackedWeights>(model, options_.n_threads)),
      rope_(model.config, options_.max_length, options_.n_threads),
      sizes_(step_floats(model, options_)),
      packed_(sizes_.packed),
      query_key_value_(sizes_.query_key_value),
      gated_(sizes_.gated),
      split_(sizes_.split),
      thread_scratch_(sizes_.thread_scratch) {
  options_.pool.reset();  // what it gave is held; the pool may go
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
  job.layers = weights_->layers.data();
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
  job.head = &weights_->head;
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
