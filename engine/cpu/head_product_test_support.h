// For tests and benchmarks: norm and head of n rows by head_thread, that is, the product of one
// matrix with any number of rows on any number of threads.
#pragma once

#include <omp.h>

#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/engine_test_support.h"

namespace specbench::engine::testing {

/// All that head_thread needs beside the matrix.
class HeadJob {
 public:
  HeadJob(int n_out, int n_in, int most_rows) : most_rows_(most_rows) {
    Numbers numbers(static_cast<std::uint64_t>(n_out * 1000 + n_in));
    config_.width = n_in;
    config_.vocab_size = n_out;
    config_.n_heads = config_.n_kv_heads = 1;
    config_.head_dim = 2;
    config_.norm_eps = 1e-5;
    gain_ = random_vector(n_in, 1.0, 0.2, numbers);
    hidden_ = random_vector(n_in * most_rows, 0.0, 1.0, numbers);
    packed_ = AlignedFloats(hidden_.size());
  }

  /// Rows of slots first_slot on; out: [row][n_out].
  void run(const PackedMatrix& head, int n_rows, int n_threads, int first_slot, float* out) {
    rows_.clear();
    for (int i = 0; i < n_rows; ++i) rows_.push_back({0, i, 0, first_slot + i});
    Job job;
    job.scratch = scratch_sizes(config_, most_rows_);
    const auto n_scratch = job.scratch.total() * static_cast<std::size_t>(n_threads);
    if (scratch_.size() < n_scratch) scratch_ = AlignedFloats(n_scratch);
    job.barrier = &barrier_;
    job.config = &config_;
    job.rows = rows_;
    job.hidden = hidden_.data();
    job.packed = packed_.data();
    job.thread_scratch = scratch_.data();
    job.head = &head;
    job.final_norm = gain_.data();
    job.logits = out;
#pragma omp parallel num_threads(n_threads)
    head_thread(job, omp_get_thread_num(), omp_get_num_threads());
  }

  const ModelConfig& config() const { return config_; }
  const std::vector<float>& gain() const { return gain_; }
  const std::vector<float>& hidden() const { return hidden_; }

 private:
  int most_rows_;
  ModelConfig config_;
  std::vector<float> gain_, hidden_;
  std::vector<Row> rows_;
  AlignedFloats packed_, scratch_;
  Barrier barrier_;
};

class HeadProduct : public HeadJob {
 public:
  HeadProduct(const Matrix& matrix, int most_rows)
      : HeadJob(matrix.n_rows, matrix.n_cols, most_rows),
        head_(matrix),
        room_(packed_bytes(matrix.type, matrix.n_rows, matrix.n_cols)) {
    const Matrix* const parts[] = {&head_};
    packed_head_ = pack_stacked(parts, 2, room_);
  }

  std::vector<float> run(int n_rows, int n_threads = 1, int first_slot = 0) {
    std::vector<float> out(static_cast<std::size_t>(n_rows * head_.n_rows));
    HeadJob::run(packed_head_, n_rows, n_threads, first_slot, out.data());
    return out;
  }
  const Matrix& head() const { return head_; }

 private:
  Matrix head_;
  PackedRoom room_;
  PackedMatrix packed_head_;
};

}  // namespace specbench::engine::testing
