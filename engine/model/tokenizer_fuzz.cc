// libFuzzer on tokenizers. An input that begins with '{' is read as tokenizer.json: it must give a
// tokenizer that encodes, or be refused with InputError in one sentence. Any other is a text to be
// encoded. ci/test runs it on the files of fuzz/tokenizer.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/bos.h"
#include "engine/model/byte_alphabet.h"
#include "engine/model/fuzz_json.h"
#include "engine/model/fuzz_support.h"
#include "engine/model/tokenizer.h"
#include "engine/model/tokenizer_gguf.h"

namespace {

using specbench::engine::GgufVocabulary;
using specbench::engine::Tokenizer;
using specbench::engine::testing::must;

void add(GgufVocabulary& vocabulary, const std::string& text, float score, int type) {
  vocabulary.tokens.push_back(text);
  vocabulary.scores.push_back(score);
  vocabulary.types.push_back(type);
}

Tokenizer tiny(const std::string& model, std::string (*byte)(std::uint8_t), int byte_type) {
  GgufVocabulary vocabulary;
  vocabulary.model = model;
  vocabulary.pre = "qwen2";
  for (int b = 0; b < 256; ++b) add(vocabulary, byte(static_cast<std::uint8_t>(b)), 0, byte_type);
  add(vocabulary, "<s>", 0, 3);
  if (model == "llama") {
    for (const char* text : {"\xe2\x96\x81", "a", "b", "\xc3\xa9"}) add(vocabulary, text, -9, 1);
    for (const char* text : {"ab",
                             "\xe2\x96\x81"
                             "a",
                             "\xc3\xa9"
                             "a"})
      add(vocabulary, text, -1, 1);
  } else {
    add(vocabulary, "ab", 0, 1);
    vocabulary.merges = {"a b"};
  }
  return Tokenizer::from_gguf(vocabulary, "tiny");
}

void encode(std::string_view text) {
  static const Tokenizer kSentencePiece = tiny("llama", specbench::engine::byte_token, 6);
  static const Tokenizer kByteLevel = tiny("gpt2", specbench::engine::byte_symbol, 1);
  // Normal form C makes a text three times as long at most.
  must(kByteLevel.decode(kByteLevel.encode(text)).size() <= 3 * text.size());
  kSentencePiece.decode(kSentencePiece.encode(text));
}

void parse(std::string_view json) {
  using namespace specbench::engine;
  constexpr int kVocab = 400;
  testing::reads_or_refuses([&] {
    const Tokenizer tokenizer = Tokenizer::from_json(json, "tokenizer.json");
    testing::check_encoding(tokenizer, "a b  <x>ab\xc3\xa9 e\xcc\x81 42's\xff\n");
    testing::check_encoding(tokenizer, "");
  });
  testing::reads_or_refuses([&] {
    const auto bos = parse_bos(json, "tokenizer.json", kVocab);
    must(!bos || (*bos >= 0 && *bos < kVocab));
  });
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with('{')) {
    parse(input);
  } else {
    encode(input);
  }
  return 0;
}
