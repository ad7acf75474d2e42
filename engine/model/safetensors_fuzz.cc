// libFuzzer on the weights of a Hugging Face directory, with a line "%%" between its parts: they
// must be read or refused with InputError in one sentence. ci/test runs it on the files of
// fuzz/safetensors. The first byte says what the parts are:
// - bits 0 and 1: the model's architecture, as in kArchitectures; bit 2: whether its head is tied
// - bit 3: model.safetensors alone, else model.safetensors.index.json and two files, a and b
// - bit 4: each *.safetensors is one part; else two, header and data, and its length is put in
// front
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/fuzz_json.h"
#include "engine/model/fuzz_support.h"
#include "engine/model/safetensors.h"
#include "engine/model/test_files.h"
#include "engine/model/weights.h"

namespace {

using namespace specbench::engine;
using testing::must;

constexpr std::array<const char*, 4> kArchitectures = {"llama", "mistral", "qwen2", "qwen3"};

/// A file in memory, which a symbolic link gives its name.
class MemoryFile {
 public:
  explicit MemoryFile(const std::filesystem::path& path) : descriptor_(::memfd_create("fuzz", 0)) {
    must(descriptor_ >= 0);
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(descriptor_), path);
  }

  void hold(std::string_view bytes) const {
    const auto size = static_cast<ssize_t>(bytes.size());
    must(::ftruncate(descriptor_, 0) == 0 &&
         ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == size);
  }

 private:
  int descriptor_;
};

ModelConfig config_of(unsigned flags) {
  ModelConfig config;
  config.architecture = kArchitectures[flags & 3];
  config.has_qkv_bias = config.architecture == "qwen2";
  config.has_qk_norm = config.architecture == "qwen3";
  config.vocab_size = 3;
  config.width = 2;
  config.n_layers = 1;
  config.n_heads = 2;
  config.n_kv_heads = 1;
  config.head_dim = 2;
  config.ffn_width = 1;
  config.tied_head = (flags & 4) != 0;
  return config;
}

/// One file as its tensors, from bytes with nothing behind them: the sanitizer sees a read beyond
/// the end, which in a mapped file would be a zero.
void check_file(std::string_view bytes) {
  const std::shared_ptr<std::byte> exact(new std::byte[bytes.size()],
                                         std::default_delete<std::byte[]>());
  if (!bytes.empty()) std::memcpy(exact.get(), bytes.data(), bytes.size());
  testing::reads_or_refuses([&] {
    TensorSet tensors("fuzz", "a model");
    std::size_t n_bytes = 0;
    for (StoredTensor& tensor : read_safetensors({exact, bytes.size()}, "fuzz.safetensors")) {
      n_bytes += tensor.n_bytes;
      tensors.add(std::move(tensor));
    }
    must(n_bytes <= bytes.size());
    tensors.inspect(1);
  });
}

void check_directory(const std::filesystem::path& directory, const ModelConfig& config) {
  testing::reads_or_refuses([&] {
    const StoredWeights stored = read_weights(directory, config, 1);
    must(stored.weights.layers.size() == 1 && stored.weights.embedding.n_rows == 3);
    must(to_floats(stored.weights.embedding).size() == 6 && !stored.dtype.empty());
  });
}

/// The *.safetensors that the parts from `first` on spell.
std::vector<std::string> files_of(const std::vector<std::string_view>& parts, std::size_t first,
                                  bool is_whole) {
  std::vector<std::string> files;
  for (std::size_t i = first; i < parts.size(); i += is_whole ? 1 : 2)
    files.push_back(is_whole ? std::string(parts[i])
                             : testing::safetensors_bytes(parts[i], parts[i + 1]));
  return files;
}

}  // namespace

// libFuzzer's name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::ScratchFolder kOne, kTwo;
  static const MemoryFile kSingle(kOne.path() / "model.safetensors");
  static const MemoryFile kIndex(kTwo.path() / "model.safetensors.index.json");
  static const MemoryFile kA(kTwo.path() / "a.safetensors"), kB(kTwo.path() / "b.safetensors");
  if (size == 0) return 0;
  const bool is_single = (data[0] & 8) != 0, is_whole = (data[0] & 16) != 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t n_files = is_single ? 1 : 2, n_index = is_single ? 0 : 1;
  const auto parts = testing::parts_of(input, n_index + n_files * (is_whole ? 1 : 2));
  const std::vector<std::string> files = files_of(parts, n_index, is_whole);
  for (const std::string& file : files) check_file(file);
  if (is_single) {
    kSingle.hold(files[0]);
  } else {
    kIndex.hold(parts[0]);
    kA.hold(files[0]);
    kB.hold(files[1]);
  }
  check_directory((is_single ? kOne : kTwo).path(), config_of(data[0]));
  return 0;
}
