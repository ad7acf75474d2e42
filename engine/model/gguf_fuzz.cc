// libFuzzer on the reader of GGUF files: any bytes must be read or refused with InputError in one
// sentence, and nothing else. ci/test runs it on the files of fuzz/gguf.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/model/fuzz_support.h"
#include "engine/model/gguf_model.h"

namespace {

using specbench::engine::Matrix;
using specbench::engine::Model;

/// The first and the last row of a matrix lie within the file.
void touch(const Matrix& matrix) {
  std::vector<float> row(static_cast<std::size_t>(matrix.n_cols));
  matrix.read_row(0, row.data());
  matrix.read_row(matrix.n_rows - 1, row.data());
}

void check(const Model& model) {
  using namespace specbench::engine::testing;
  check_config(model.config);
  check_encoding(model.tokenizer, "he said \xc3\xa9t\xc3\xa9  42<|end|>\xff\n");
  touch(model.weights.embedding);
  for (const auto& layer : model.weights.layers) {
    for (const Matrix* matrix : {&layer.query, &layer.key, &layer.value, &layer.attention_out,
                                 &layer.gate, &layer.up, &layer.down})
      touch(*matrix);
  }
  if (!model.config.tied_head) touch(model.weights.head);
}

}  // namespace

// libFuzzer's name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace specbench::engine;
  // libFuzzer's copy is exactly as long as the input: the sanitizer sees a read beyond its end.
  const std::shared_ptr<const std::byte> bytes(std::shared_ptr<void>(),
                                               reinterpret_cast<const std::byte*>(data));
  testing::reads_or_refuses([&] { check(read_gguf({bytes, size}, "fuzz.gguf", 1)); });
  return 0;
}
