#include "engine/model/tensors.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "engine/error.h"
#include "engine/model/finite.h"
#include "engine/model/input_file.h"
#include "engine/parallel.h"

namespace specbench::engine {

namespace {

// What was checked is hashed from the level-2 cache, not from memory a second time.
constexpr std::size_t kChunkBytes = std::size_t{128} << 10;

/// Of a row of n values. Throws InputError where they do not fill whole blocks.
void check_blocks(const StoredTensor& tensor, int n) {
  const BlockShape block = block_shape(tensor.type);
  if (n % block.n_values == 0) return;
  const std::string type = weight_type_name(tensor.type);
  throw InputError(tensor.file + ": tensor " + quote(tensor.name) + " has rows of " +
                   std::to_string(n) + " values of type " + type + ", which stores blocks of " +
                   std::to_string(block.n_values) +
                   "; convert the model to a type whose blocks divide its rows.");
}

struct Inspection {
  std::uint64_t hash = 0;  ///< XXH3, 64 bits, of the tensor's bytes
  std::optional<BadValue> bad;
};

Inspection inspect_tensor(const StoredTensor& tensor) {
  const BlockShape block = block_shape(tensor.type);
  const auto block_bytes = static_cast<std::size_t>(block.n_bytes);
  const std::size_t chunk_bytes = kChunkBytes / block_bytes * block_bytes;
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  Inspection found;
  for (std::size_t begin = 0; begin < tensor.n_bytes; begin += chunk_bytes) {
    const std::span chunk(tensor.data.get() + begin, std::min(chunk_bytes, tensor.n_bytes - begin));
    if (const auto bad = first_not_finite(tensor.type, chunk)) {
      const std::size_t n_before = begin / block_bytes * static_cast<std::size_t>(block.n_values);
      found.bad = {n_before + bad->index, bad->is_nan};
      return found;
    }
    XXH3_64bits_update(state.get(), chunk.data(), chunk.size());
  }
  found.hash = XXH3_64bits_digest(state.get());
  // They come again when they are packed; until then they would double what packing takes.
  if (tensor.is_mapped) release_mapped({tensor.data.get(), tensor.n_bytes});
  return found;
}

[[noreturn]] void refuse_bad_value(const StoredTensor& tensor, const BadValue& bad) {
  const bool is_block = block_shape(tensor.type).n_values > 1;
  throw InputError(tensor.file + ": tensor " + quote(tensor.name) + " holds " +
                   (bad.is_nan ? "NaN" : "infinity") + " at index " + std::to_string(bad.index) +
                   (is_block ? ", where a block begins" : "") +
                   "; every weight must be finite, so fetch or convert the model again.");
}

/// One line of what Model::weights_hash is the XXH3 of.
std::string line_of(const StoredTensor& tensor, std::uint64_t hash) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return tensor.name + " " + weight_type_name(tensor.type) + " " + shape_text(tensor.shape) + " " +
         digits.data() + "\n";
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMostExtents = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(shape.size(), kMostExtents); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() > kMostExtents ? ", ...]" : "]");
}

int n_reading_threads() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 16);
}

TensorSet::TensorSet(std::string source, std::string wants)
    : source_(std::move(source)), wants_(std::move(wants)) {}

void TensorSet::add(StoredTensor tensor) {
  const auto [place, is_new] = tensors_.try_emplace(tensor.name, tensor);
  if (is_new) return;
  throw InputError(tensor.file + ": tensor " + quote(tensor.name) +
                   (place->second.file == tensor.file ? " is stored twice"
                                                      : " also lies in " + place->second.file) +
                   "; one of them must go.");
}

bool TensorSet::has(std::string_view name) const {
  return tensors_.contains(name) && !taken_.contains(name);
}

const StoredTensor* TensorSet::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

StoredTensor TensorSet::take(const std::string& name, const std::vector<std::int64_t>& shape) {
  assert(!taken_.contains(name));
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr)
    throw InputError(source_ + ": tensor " + quote(name) + " is missing from the weight files; " +
                     wants_ + " needs it.");
  if (tensor->shape != shape)
    throw InputError(tensor->file + ": tensor " + quote(name) + " has shape " +
                     shape_text(tensor->shape) + "; " + wants_ + " asks for " + shape_text(shape) +
                     ".");
  check_blocks(*tensor, static_cast<int>(shape.back()));
  taken_.insert(name);
  return *tensor;
}

Matrix TensorSet::matrix(const std::string& name, int n_rows, int n_cols) {
  const StoredTensor tensor = take(name, {n_rows, n_cols});
  Matrix matrix;
  matrix.n_rows = n_rows;
  matrix.n_cols = n_cols;
  matrix.type = tensor.type;
  matrix.data = tensor.data;
  matrix.is_mapped = tensor.is_mapped;
  assert(matrix.n_bytes() == tensor.n_bytes);
  return matrix;
}

std::vector<float> TensorSet::vector(const std::string& name, int n) {
  const StoredTensor tensor = take(name, {n});
  assert(row_bytes(tensor.type, n) == tensor.n_bytes);
  std::vector<float> values(static_cast<std::size_t>(n));
  dequantize(tensor.type, tensor.data.get(), values.size(), values.data());
  return values;
}

void TensorSet::expect_all_taken(const std::function<bool(std::string_view name)>& may_stay) const {
  for (const auto& [name, tensor] : tensors_) {
    if (taken_.contains(name) || may_stay(name)) continue;
    throw InputError(tensor.file + ": tensor " + quote(name) + " is not part of " + wants_ +
                     "; what it does to the output is unknown, so the model is refused.");
  }
}

std::uint64_t TensorSet::inspect(int n_threads) const {
  std::vector<const StoredTensor*> tensors;  // in order of names
  for (const auto& [name, tensor] : tensors_) tensors.push_back(&tensor);
  // The largest first, each to the next thread that is free: so they end together.
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tensors[a]->n_bytes > tensors[b]->n_bytes;
  });
  std::vector<Inspection> found(tensors.size());
  std::atomic<std::size_t> next = 0;
  const auto inspect_some = [&](int) {
    for (std::size_t i = next++; i < order.size(); i = next++)
      found[order[i]] = inspect_tensor(*tensors[order[i]]);
  };
  parallel_for(std::max(n_threads, 1), n_threads, inspect_some);

  std::string lines;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (found[i].bad) refuse_bad_value(*tensors[i], *found[i].bad);
    lines += line_of(*tensors[i], found[i].hash);
  }
  return XXH3_64bits(lines.data(), lines.size());
}

std::string TensorSet::dtype() const {
  std::map<WeightType, std::size_t> n_bytes;
  for (const std::string& name : taken_) {
    const StoredTensor* tensor = find(name);
    n_bytes[tensor->type] += tensor->n_bytes;
  }
  if (n_bytes.empty()) return "";
  const auto most =
      std::max_element(n_bytes.begin(), n_bytes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return std::string(weight_type_name(most->first)) + (n_bytes.size() > 1 ? "+" : "");
}

}  // namespace specbench::engine
