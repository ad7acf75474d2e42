// Fuzz target (clang++ -fsanitize=fuzzer,address with the sources of engine/model but their tests):
// the first byte chooses between reading the rest as tokenizer.json and encoding it. Not part of
// the build.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"
#include "engine/model/byte_alphabet.h"
#include "engine/model/tokenizer.h"
#include "engine/model/tokenizer_gguf.h"
#include "engine/model/tokenizer_json.h"

namespace {

using specbench::engine::GgufVocabulary;
using specbench::engine::InputError;
using specbench::engine::Tokenizer;

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
  const std::string back = kByteLevel.decode(kByteLevel.encode(text));
  if (back.size() > 3 * text.size()) __builtin_trap();
  kSentencePiece.decode(kSentencePiece.encode(text));
}

void parse(std::string_view json) {
  try {
    specbench::engine::parse_tokenizer(json, "fuzz");
  } catch (const InputError&) {
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    parse(rest);
  } else {
    encode(rest);
  }
  return 0;
}
