// The tensors of a model by name, over all its files, whatever their format. Each is taken once;
// what is left at the end is reported, since nobody knows what it would do to the output. Knows no
// architecture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/mapped_file.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_type.h"

namespace specbench::engine {

struct StoredTensor {
  std::string name;
  WeightType type = WeightType::kF32;
  std::vector<std::int64_t> shape;        ///< outermost first: {outputs, inputs}; empty: a scalar
  std::shared_ptr<const std::byte> data;  ///< keeps its file mapped
  std::size_t n_bytes = 0;
  std::string file;        ///< where it lies, for messages
  bool is_mapped = false;  ///< of FileBytes
};

/// As in "[12, 4]".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// For TensorSet::inspect: more than a few do not read memory faster.
int n_reading_threads();

class TensorSet {
 public:
  /// `source`: the model's path, for messages. `wants`: what its config calls itself, as in "a
  /// LlamaForCausalLM of this config.json".
  TensorSet(std::string source, std::string wants);

  /// Throws InputError where a tensor of that name is there already.
  void add(StoredTensor tensor);

  bool has(std::string_view name) const;                  ///< added and not yet taken
  const StoredTensor* find(std::string_view name) const;  ///< taken or not; null: never added

  /// Takes a matrix as it is stored, {n_rows, n_cols}. Throws InputError where it is missing, of
  /// another shape, or its rows are no whole number of blocks. n_bytes must be what the shape and
  /// type ask for: whoever adds a tensor has checked that.
  Matrix matrix(const std::string& name, int n_rows, int n_cols);
  /// Takes a vector as float32. Throws likewise.
  std::vector<float> vector(const std::string& name, int n);

  /// Throws InputError, naming one, where a tensor was not taken; may_stay says which are harmless.
  void expect_all_taken(const std::function<bool(std::string_view name)>& may_stay) const;

  /// Reads every byte of every tensor added, taken or not: throws InputError naming file, tensor
  /// and index of the first value that is NaN or infinite. Returns a hash (XXH3, 64 bits) of all
  /// names, types, shapes and bytes in order of names: the same however tensors are spread over
  /// files. It is that of a text, one line a tensor: "name BF16 [rows, columns] hash", the last in
  /// 16 hexadecimal digits and the XXH3 of the tensor's bytes.
  std::uint64_t inspect(int n_threads) const;

  /// As Model::weights_dtype, of the tensors taken.
  std::string dtype() const;

 private:
  StoredTensor take(const std::string& name, const std::vector<std::int64_t>& shape);

  std::string source_, wants_;
  std::map<std::string, StoredTensor, std::less<>> tensors_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace specbench::engine
