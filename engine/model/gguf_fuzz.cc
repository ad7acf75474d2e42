// libFuzzer on the reader of GGUF files: any bytes must be read or refused with InputError, and
// nothing else. Build with -DSPECBENCH_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ and begin with small
// files, such as those of gguf_test_files.h.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/error.h"
#include "engine/model/gguf.h"
#include "engine/model/gguf_config.h"
#include "engine/model/gguf_vocabulary.h"
#include "engine/model/tokenizer.h"

// libFuzzer's name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace specbench::engine;
  try {
    const GgufFile file(std::as_bytes(std::span(data, size)), "fuzz.gguf");
    (void)read_gguf_config(file);
    (void)Tokenizer::from_gguf(load_gguf_vocabulary(file), file.name());
  } catch (const InputError&) {
  }
  return 0;
}
