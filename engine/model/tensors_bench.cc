// Micro benchmark of the pass that hashes and checks every weight when a model is loaded.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "engine/model/mapped_file.h"
#include "engine/model/tensors.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr int kTensors = 32;

/// As many equal tensors as fill `bytes`.
TensorSet tensors_over(const std::shared_ptr<const std::byte>& bytes, WeightType type) {
  TensorSet tensors("bench", "a model");
  const BlockShape block = block_shape(type);
  const auto block_bytes = static_cast<std::size_t>(block.n_bytes);
  const std::size_t n_blocks = kBytes / kTensors / block_bytes;
  for (int i = 0; i < kTensors; ++i) {
    StoredTensor tensor;
    tensor.name = std::to_string(i);
    tensor.type = type;
    tensor.shape = {static_cast<std::int64_t>(n_blocks) * block.n_values};
    tensor.n_bytes = n_blocks * block_bytes;
    tensor.data = {bytes, bytes.get() + static_cast<std::size_t>(i) * tensor.n_bytes};
    tensors.add(tensor);
  }
  return tensors;
}

/// Arguments: type, threads.
void BM_inspect(benchmark::State& state) {
  const auto type = static_cast<WeightType>(state.range(0));
  const auto memory = std::make_shared<std::vector<std::byte>>(kBytes, std::byte{1});
  const TensorSet tensors = tensors_over({memory, memory->data()}, type);
  for (auto _ : state) benchmark::DoNotOptimize(tensors.inspect(static_cast<int>(state.range(1))));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kBytes));
  state.SetLabel(weight_type_name(type));
}
BENCHMARK(BM_inspect)
    ->ArgsProduct({{0, 1, 2, 3, 4, 5, 6, 7, 8}, {1}})
    ->Args({2, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// The same over a file in the page cache, mapped anew each time, as a loader does. Argument:
/// threads.
void BM_inspect_mapped(benchmark::State& state) {
  const testing::ScratchFolder folder;
  const auto path = folder.write("weights", std::string(kBytes, '\1'));
  for (auto _ : state) {
    const auto file = MappedFile::open(path);
    const TensorSet tensors = tensors_over(file->at(0), WeightType::kBF16);
    benchmark::DoNotOptimize(tensors.inspect(static_cast<int>(state.range(0))));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kBytes));
}
BENCHMARK(BM_inspect_mapped)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace specbench::engine
