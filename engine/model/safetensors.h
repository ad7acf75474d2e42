// Reads one *.safetensors file: 8 bytes of header length, a JSON header, then the tensors back to
// back (https://huggingface.co/docs/safetensors). The whole header is checked before any tensor is
// touched; tensors are views of the mapped file. Knows nothing of models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/tensors.h"

namespace specbench::engine {

struct TensorInfo {
  std::string name;
  WeightType type = WeightType::kF32;  ///< F32, F16 or BF16
  std::vector<std::int64_t> shape;     ///< empty for a scalar
  std::uint64_t n_values = 0;          ///< product of the shape
  std::uint64_t begin = 0;             ///< first byte, counted from the start of the tensor data
  std::uint64_t end = 0;               ///< one past the last byte
};

inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  ///< the format's own limit

/// The tensors of a header, in the order of their bytes. They cover [0, data_bytes) without hole or
/// overlap. Throws InputError naming `file`, tensor, field and value.
std::vector<TensorInfo> parse_safetensors_header(std::string_view header, std::uint64_t data_bytes,
                                                 const std::string& file);

/// The tensors of a file, in the order of their bytes, each of as many bytes as its shape and type
/// ask for. Values are not looked at. Throws InputError.
std::vector<StoredTensor> open_safetensors(const std::filesystem::path& path);

/// The same of bytes that lie in memory, all of the file; the tensors keep them.
std::vector<StoredTensor> read_safetensors(const FileBytes& bytes, const std::string& file);

}  // namespace specbench::engine
