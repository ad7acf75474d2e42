// libFuzzer on config.json and generation_config.json, with a line "%%" between the two: they must
// be read, to what the engine can run, or refused with InputError in one sentence. ci/test runs it
// on the files of fuzz/config.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/model/config.h"
#include "engine/model/fuzz_json.h"
#include "engine/model/fuzz_support.h"

// libFuzzer's name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace specbench::engine;
  const auto parts = testing::parts_of({reinterpret_cast<const char*>(data), size}, 2);
  testing::reads_or_refuses([&] {
    ModelConfig config = parse_config(parts[0], "config.json");
    testing::check_config(config);
    testing::must(class_of(config.architecture).ends_with("ForCausalLM"));
    if (parts[1].empty()) return;
    parse_generation_config(parts[1], "generation_config.json", config);
    testing::check_config(config);
  });
  return 0;
}
