// Reads one *.safetensors file: 8 bytes of header length, a JSON header, then the tensors back to
// back (https://huggingface.co/docs/safetensors). The whole header is checked before any tensor is
// read or memory taken for one. Knows nothing of models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/input_file.h"

namespace specbench::engine {

enum class Dtype { kF32, kBF16, kF16 };

const char* dtype_name(Dtype dtype);  ///< as the format spells it: "F32", "BF16", "F16"

struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  std::uint64_t n_values = 0;       ///< product of the shape
  std::uint64_t begin = 0;          ///< first byte, counted from the start of the tensor data
  std::uint64_t end = 0;            ///< one past the last byte
};

inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  ///< the format's own limit

/// The tensors of a header, in the order of their bytes. They cover [0, data_bytes) without hole or
/// overlap. Throws InputError naming `file`, tensor, field and value.
std::vector<TensorInfo> parse_safetensors_header(std::string_view header, std::uint64_t data_bytes,
                                                 const std::string& file);

class SafetensorsFile {
 public:
  /// Opens and checks the header. Throws InputError.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const InputFile& file() const { return file_; }

  /// The tensor's values, exactly converted to float32, in row-major order. Throws InputError on a
  /// value that is not finite. `tensor` must be one of tensors().
  std::vector<float> read(const TensorInfo& tensor) const;

 private:
  InputFile file_;
  std::uint64_t data_begin_ = 0;  ///< file offset of the tensor data
  std::vector<TensorInfo> tensors_;
};

}  // namespace specbench::engine
