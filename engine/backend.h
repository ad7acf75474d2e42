// The seam between decoding and arithmetic. A backend runs layers over packed rows and keeps hidden
// states and the key/value cache; it knows nothing of drafts, sampling or stops. Chosen once, by
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/kv_lengths.h"
#include "engine/model/model.h"
#include "engine/types.h"

namespace specbench::engine {

/// One token of one sequence in a step. Rows of a lane come in ascending, consecutive positions.
struct Row {
  int lane = 0;
  int pos = 0;  ///< absolute; also the cache slot it will fill
  TokenId token = 0;
  int slot = 0;  ///< row of the hidden-state buffer that carries it from one call to the next
};

/// What the arithmetic did, counted where it is done.
struct Work {
  std::int64_t token_layers = 0;  ///< rows x layers
  std::int64_t head_rows = 0;
  std::int64_t steps = 0;  ///< calls of forward
};

/// How keys and values are kept: as computed, or rounded to the nearest float16.
enum class KvType { kF32, kF16 };

class WeightPool;  // engine/weight_pool.h

struct BackendOptions {
  int n_lanes = 1;
  int max_length = 0;  ///< longest sequence, at most the model's max_positions; 0: that
  int n_slots = 512;   ///< rows of the hidden-state buffer, and most rows of a step
  int n_threads = 1;
  bool poison = false;  ///< fill dead cache slots with NaN, so that reading one shows
  KvType kv_type = KvType::kF32;
  std::size_t memory_limit_bytes = 0;  ///< what the machine can give; 0: unknown, not checked
  std::shared_ptr<WeightPool> pool{};  ///< shared with other backends; null: weights of its own
  /// Cache entries a row at `pos` attends to, of `n_held`; a seam for planted faults. Null: those
  /// up to and including itself.
  int (*n_visible)(int pos, int n_held) = nullptr;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;
  virtual const ModelConfig& config() const = 0;
  virtual const BackendOptions& options() const = 0;

  /// Runs layers [first, last) over the rows: each row's state is read from its slot (from the
  /// token's embedding where first == 0), its key and value enter the cache of each layer, and its
  /// new state is left in its slot. A row sees the cache up to and including itself. The result of
  /// a row does not depend on the other rows, bit for bit.
  virtual void forward(std::span<const Row> rows, int first, int last) = 0;

  /// Final norm and head on the states in the rows' slots: rows.size() x vocab_size floats, -inf
  /// for ids that belong to no token.
  virtual void logits(std::span<const Row> rows, float* out) = 0;

  virtual const KvLengths& kv() const = 0;
  virtual void reset(int lane, std::uint32_t owner) = 0;  ///< empties a lane for a request
  virtual void trim(int lane, int length) = 0;            ///< see KvLengths::trim

  /// Copies one cache entry: n_kv_heads * head_dim floats each. For checks.
  virtual void read_kv(int lane, int layer, int pos, std::span<float> key,
                       std::span<float> value) const = 0;

  const Work& work() const { return work_; }
  void clear_work() { work_ = {}; }

 protected:
  Work work_;
};

/// Makes the named backend ("cpu", "reference"). The model must outlive it. Throws InputError on an
/// unknown name, impossible options, or where "cpu" needs more than memory_limit_bytes.
std::unique_ptr<Backend> make_backend(std::string_view name, const Model& model,
                                      const BackendOptions& options);

/// Bytes the cpu backend would hold: weights, cache, activations. Throws InputError on impossible
/// options.
std::size_t backend_bytes(const Model& model, const BackendOptions& options);

/// Bytes of weights that one step of the cpu backend reads, in the types they are stored in.
struct WeightBytes {
  std::int64_t layers = 0;  ///< all of them
  std::int64_t head = 0;    ///< with the final norm
};
WeightBytes weight_bytes(const Model& model);

}  // namespace specbench::engine
