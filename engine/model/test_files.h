// For tests: a scratch folder, safetensors files made by hand, and the one way to expect an
// InputError.
#pragma once

#include <stdlib.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"
#include "engine/model/weight_type.h"

namespace specbench::engine::testing {

/// A folder of its own, gone with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "specbench-model-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    // A new file: some file systems wait for the disk when an old one is cut and written again.
    std::filesystem::remove(path_ / name);
    std::ofstream out(path_ / name, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// What is wrong with how `call` fails; empty where it throws InputError as one sentence on one
/// line that holds `fragment`. Other exceptions pass through.
template <typename Call>
std::string wrong_error(Call call, std::string_view fragment) {
  try {
    call();
    return "no error";
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    if (sentence.find(fragment) == std::string::npos) return "without the fragment: " + sentence;
    if (sentence.find('\n') != std::string::npos) return "several lines: " + sentence;
    return sentence.ends_with('.') ? "" : "without a full stop: " + sentence;
  }
}

/// True if `call` completes, false if it throws InputError. Other exceptions pass through and fail
/// the test.
template <typename Call>
bool completes_or_input_error(Call call) {
  try {
    call();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// The bytes of a safetensors file.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes.append(header).append(data);
}

struct TestTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;  ///< small integers where they are not stored as F32
  WeightType type = WeightType::kF32;
};

/// The bytes of a value that the type can hold, of a magnitude of 0 or from 2^-14 to 65504.
inline std::string stored_bytes(WeightType type, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t stored = bits;
  if (type == WeightType::kBF16) stored = bits >> 16;
  if (type == WeightType::kF16)
    stored = (bits >> 16 & 0x8000U) | (value == 0 ? 0 : ((bits >> 13) - (112U << 10)) & 0x7fffU);
  return {reinterpret_cast<const char*>(&stored), type == WeightType::kF32 ? 4U : 2U};
}

/// A valid file.
inline std::string safetensors_bytes(const std::vector<TestTensor>& tensors) {
  std::string header = "{";
  std::string data;
  for (const TestTensor& tensor : tensors) {
    std::string shape;
    for (const std::int64_t n : tensor.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(n);
    const std::size_t begin = data.size();
    for (const float value : tensor.values) data += stored_bytes(tensor.type, value);
    header += (header.size() > 1 ? ",\"" : "\"") + tensor.name + R"(":{"dtype":")" +
              weight_type_name(tensor.type) + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
              std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  return safetensors_bytes(header + "}", data);
}

/// splitmix64: fixed draws for mutation tests.
class TestRandom {
 public:
  explicit TestRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

/// `bytes` with one to four bytes changed, dropped or doubled.
inline std::string mutate(std::string bytes, TestRandom& random) {
  for (std::size_t n = 1 + random.below(4); n > 0 && !bytes.empty(); --n) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = "0123456789-.e\"{}[],: \\"[random.below(22)];
        break;
      case 2:
        bytes.erase(at, 1 + random.below(3));
        break;
      default:
        bytes.insert(at, 1, bytes[random.below(bytes.size())]);
        break;
    }
  }
  return bytes;
}

}  // namespace specbench::engine::testing
