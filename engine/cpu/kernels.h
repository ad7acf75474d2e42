// The arithmetic of the cpu backend, compiled once for each vector target and chosen at run time.
// Row independence: every sum of a row runs over its own inputs in ascending order (matrix
// products, values) or in an order fixed by its length (norms, scores), whatever the number of
// rows, the packing or the number of threads.
#pragma once

#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/cpu/barrier.h"
#include "engine/cpu/host_backend.h"

namespace specbench::engine {

inline constexpr int kBlock = 32;  ///< outputs of a weight block
inline constexpr int kTile =
    12;  ///< rows multiplied together: 12 x 32 sums fill the registers of AVX-512

/// float array aligned to 64 bytes and, where it is large, backed by huge pages if the system has
/// them.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t n);
  AlignedFloats(AlignedFloats&&) = default;
  AlignedFloats& operator=(AlignedFloats&&) = default;
  AlignedFloats(const AlignedFloats&) = delete;  // the aligned pointer belongs to its own storage
  AlignedFloats& operator=(const AlignedFloats&) = delete;
  float* data() { return data_; }
  const float* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::vector<float> storage_;
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A weight matrix as the kernels stream it: [block of 32 outputs][input][32], zeros behind the
/// last output.
struct PackedMatrix {
  int n_out = 0;
  int n_in = 0;
  AlignedFloats data;

  int n_blocks() const { return (n_out + kBlock - 1) / kBlock; }
  const float* block(int b) const {
    return data.data() + static_cast<std::ptrdiff_t>(b) * n_in * kBlock;
  }
};

/// Stacks matrices of equal width: outputs in the order given.
PackedMatrix pack_stacked(std::span<const Matrix* const> parts);
/// Blocks of 16 gate outputs and the 16 up outputs that belong to them; n_out counts both, padded
/// to whole blocks.
PackedMatrix pack_gate_up(const Matrix& gate, const Matrix& up);

struct PackedLayer {
  PackedMatrix query_key_value, attention_out, gate_up, down;
  const float* attention_norm = nullptr;  ///< width
  const float* ffn_norm = nullptr;        ///< width
};

/// Activations of n rows as the kernels read them: tiles of kTile rows, inside a tile [input][row].
/// The last tile is narrower.
struct PackedRows {
  float* data = nullptr;
  int n_rows = 0;
  int n_in = 0;

  int tile_rows(int tile) const {
    return n_rows - tile * kTile < kTile ? n_rows - tile * kTile : kTile;
  }
  float* tile(int t) const { return data + static_cast<std::ptrdiff_t>(t) * kTile * n_in; }
  int n_tiles() const { return (n_rows + kTile - 1) / kTile; }
};

/// One call of forward or logits, shared by the threads that carry it out.
struct Job {
  const ModelConfig* config = nullptr;
  std::span<const Row> rows;
  Barrier* barrier = nullptr;  ///< of the threads that carry it out
  int first = 0, last = 0;     ///< layers
  const PackedLayer* layers = nullptr;
  const Matrix* embedding = nullptr;  ///< vocab_size x width
  const RopeTables* rope = nullptr;
  KvStore* store = nullptr;
  const KvLengths* lengths = nullptr;
  int (*n_visible)(int pos, int n_held) = nullptr;  ///< see BackendOptions
  float* hidden = nullptr;                          ///< [slot][width]
  float* packed = nullptr;           ///< room for rows x max(width, heads x head_dim)
  float* query_key_value = nullptr;  ///< [row][stride]
  int query_key_value_stride = 0;
  float* gated = nullptr;           ///< room for rows x ffn_width, packed
  float* thread_scratch = nullptr;  ///< n_threads x thread_scratch_size
  std::size_t thread_scratch_size = 0;
  const PackedMatrix* head = nullptr;
  const float* final_norm = nullptr;
  float* logits = nullptr;  ///< [row][vocab_size]
};

/// Floats of private room a thread needs for sequences of up to max_length tokens.
std::size_t thread_scratch_floats(const ModelConfig& config, int max_length);

/// The share of one thread; all n_threads threads call it together (they wait for each other at the
/// job's barrier).
void layers_thread(const Job& job, int thread, int n_threads);
void head_thread(const Job& job, int thread, int n_threads);

/// Name of the vector target in use, for instance "AVX3".
const char* vector_target();

}  // namespace specbench::engine
