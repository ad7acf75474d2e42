// A GGUF file, version 2 or 3, little-endian, taken apart where it lies
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). A damaged file costs no more than a
// small multiple of its own size: every count, length and offset is compared with the bytes that
// are left before it is used. Knows no architecture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/gguf_value.h"
#include "engine/model/weight_type.h"

namespace specbench::engine {

inline constexpr int kMaxGgufDepth = 4;  ///< arrays within arrays; no model needs two

struct GgufTensor {
  std::string name;
  WeightType type = WeightType::kF32;
  std::vector<std::int64_t> shape;  ///< outermost first (the file has them innermost first)
  std::uint64_t begin = 0;          ///< of its data, from the start of the file
  std::uint64_t n_bytes = 0;        ///< whole blocks, within the file
};

class GgufFile {
 public:
  /// `bytes`: the whole file; must outlive this. `name` is named in messages. Throws InputError
  /// where the bytes are no such file, a key or tensor is there twice, a tensor is stored in a type
  /// that is not supported, lies outside the file, off its alignment or over another.
  GgufFile(std::span<const std::byte> bytes, std::string name);
  GgufFile(const GgufFile&) = delete;
  GgufFile& operator=(const GgufFile&) = delete;

  const std::string& name() const { return name_; }

  std::optional<GgufField> find(std::string_view key) const;
  GgufField at(std::string_view key) const;  ///< throws InputError where it is missing

  const std::vector<GgufTensor>& tensors() const { return tensors_; }  ///< in order of names
  const GgufTensor* tensor(std::string_view name) const;               ///< null without
  std::span<const std::byte> data(const GgufTensor& tensor) const {
    return bytes_.subspan(static_cast<std::size_t>(tensor.begin),
                          static_cast<std::size_t>(tensor.n_bytes));
  }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
  std::map<std::string_view, GgufValue> values_;
  std::vector<GgufTensor> tensors_;
};

}  // namespace specbench::engine
