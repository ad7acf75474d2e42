// Encoding speed, in bytes of text a second, over one megabyte of prose.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "engine/model/tokenizer.h"

namespace specbench::engine {
namespace {

const std::string kEngine = SPECBENCH_SOURCE_DIR "/engine/";

void encode_prose(benchmark::State& state, const std::string& file) {
  const Tokenizer tokenizer = Tokenizer::from_json_file(kEngine + file);
  const std::string sentence =
      "Mr. Bennet was so odd a mixture of quick parts, sarcastic humour, reserve, and caprice, "
      "that "
      "the experience of 23 years had been insufficient to make his wife understand his "
      "character;\nna\xc3\xafve caf\xc3\xa9s \xe2\x80\x9cquoted\xe2\x80\x9d.  ";
  std::string text;
  while (text.size() < 1'000'000) text += sentence;
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer.encode(text).size());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

BENCHMARK_CAPTURE(encode_prose, austen, "models/austen-10m/tokenizer.json");
BENCHMARK_CAPTURE(encode_prose, qwen2_style, "model/golden/qwen2-style.json");
BENCHMARK_CAPTURE(encode_prose, smollm_style, "model/golden/smollm-style.json");
BENCHMARK_CAPTURE(encode_prose, llama2_style, "model/golden/llama2-style.json");
BENCHMARK_CAPTURE(encode_prose, never_cut, "model/golden/metaspace-never.json");
BENCHMARK_CAPTURE(encode_prose, unigram_style, "model/golden/unigram-style.json");
BENCHMARK_CAPTURE(encode_prose, unigram_bytes, "model/golden/unigram-bytes.json");

}  // namespace
}  // namespace specbench::engine
