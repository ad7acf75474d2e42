// The arithmetic of the cpu backend, compiled once for each vector target and chosen at run time.
// Row independence: every sum of a row runs over its own inputs in ascending order (matrix
// products, values) or in an order fixed by its length (norms, scores), whatever the number of
// rows, the packing or the number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/cpu/aligned.h"
#include "engine/cpu/barrier.h"
#include "engine/cpu/host_backend.h"
#include "engine/cpu/packed_matrix.h"

namespace specbench::engine {

/// Rows multiplied together: 12 x 32 sums fill the registers of AVX-512.
inline constexpr int kTile = 12;
/// For up to so many rows each thread norms its own copy.
inline constexpr int kFewRows = 4;
/// Inputs of a block that are decoded at once for several tiles of rows: 16 KB, half the first
/// cache.
inline constexpr int kChunkInputs = 128;
/// Cache entries that a row attends to at once; their results are then put together in ascending
/// order. 256 of 64 floats each, keys and values, take 128 KB.
inline constexpr int kSpan = 256;

/// Most queries whose spans are shared out among threads.
inline constexpr int kSplitQueries = 256;

/// Part of a stack of matrices over the same inputs: those of one type.
struct PackedPart {
  PackedMatrix matrix;
  int first = 0;  ///< its first output in the stack
};

struct PackedLayer {
  std::vector<PackedPart> query_key_value;
  PackedMatrix attention_out, gate_up, down;
  const LayerWeights* weights = nullptr;  ///< norms and biases
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

/// Consecutive rows of a step that belong to one lane: they attend together.
struct RowRun {
  int first = 0;
  int n = 0;
};

/// Floats of private room a thread needs, each a multiple of 16.
struct ScratchSizes {
  std::size_t norm = 0;       ///< a few packed rows
  std::size_t chunk = 0;      ///< kChunkInputs x 32 weights
  std::size_t sums = 0;       ///< [row][32]
  std::size_t attention = 0;  ///< see attend-inl.h
  std::size_t total() const { return norm + chunk + sums + attention; }
};
struct ThreadRoom {
  float* norm;
  float* chunk;
  float* sums;
  float* attention;
};
ScratchSizes scratch_sizes(const ModelConfig& config, int n_slots);

/// Most rows of a RowRun.
int longest_run(const ModelConfig& config);

/// One call of forward or logits, shared by the threads that carry it out.
struct Job {
  const ModelConfig* config = nullptr;
  std::span<const Row> rows;
  std::span<const RowRun> runs;
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
  float* split = nullptr;           ///< see StepFloats
  float* thread_scratch = nullptr;  ///< n_threads x scratch.total()
  ScratchSizes scratch;
  const PackedMatrix* head = nullptr;
  const float* final_norm = nullptr;
  float* logits = nullptr;  ///< [row][vocab_size]
};

/// The share of one thread; all n_threads threads call it together (they wait for each other at the
/// job's barrier).
void layers_thread(const Job& job, int thread, int n_threads);
void head_thread(const Job& job, int thread, int n_threads);

/// Name of the vector target in use, for instance "AVX3".
const char* vector_target();

}  // namespace specbench::engine
