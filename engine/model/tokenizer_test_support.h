// For tests of tokenizers: the golden encodings that ci/oracles/tokenizer_golden.py writes, small
// vocabularies, and texts that are hard to keep whole.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/model/byte_alphabet.h"
#include "engine/model/test_files.h"
#include "engine/model/tokenizer.h"
#include "engine/model/tokenizer_gguf.h"
#include "engine/model/utf8.h"

namespace specbench::engine::testing {

inline const std::filesystem::path kGoldenFolder =
    std::filesystem::path(SPECBENCH_SOURCE_DIR) / "engine/model/golden";
inline const std::filesystem::path kAustenJson =
    std::filesystem::path(SPECBENCH_SOURCE_DIR) / "engine/models/austen-10m/tokenizer.json";

inline std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

struct GoldenCase {
  std::string text;
  std::vector<TokenId> ids;
  std::string decoded;  ///< by the oracle
};

inline std::vector<GoldenCase> golden_cases(const std::string& name) {
  std::ifstream texts(kGoldenFolder / "texts.txt");
  std::ifstream lines(kGoldenFolder / (name + ".txt"));
  std::vector<GoldenCase> cases;
  for (std::string hex, line; std::getline(texts, hex) && std::getline(lines, line);) {
    if (line == "-") continue;
    const std::size_t tab = line.find('\t');
    GoldenCase golden;
    golden.text = from_hex(hex);
    std::istringstream numbers(line.substr(0, tab));
    for (TokenId id = 0; numbers >> id;) golden.ids.push_back(id);
    const std::string decoded = line.substr(tab + 1);
    golden.decoded = decoded == "=" ? golden.text : from_hex(decoded);
    cases.push_back(std::move(golden));
  }
  return cases;
}

/// Every case of a golden file, but those that its oracle was not asked. Returns how many there
/// were.
inline std::size_t compare_with_golden(const Tokenizer& tokenizer, const std::string& name) {
  const std::vector<GoldenCase> cases = golden_cases(name);
  for (const GoldenCase& golden : cases) {
    EXPECT_EQ(tokenizer.encode(golden.text), golden.ids) << name << ": " << golden.text;
    EXPECT_EQ(tokenizer.decode(golden.ids), golden.decoded) << name << ": " << golden.text;
  }
  return cases.size();
}

inline Tokenizer golden_tokenizer(const std::string& name) {
  return Tokenizer::from_json_file(kGoldenFolder / (name + ".json"));
}

/// Text, invalid UTF-8, white space, control bytes.
inline std::vector<std::string> hard_texts() {
  return {"",
          std::string(1, '\0'),
          std::string(1000, ' '),
          std::string(1000, '\n') + "x",
          std::string("a\xff\xfe").append("b"),
          "\xc3",
          "\xed\xa0\x80 \xf4\x90\x80\x80",
          "\xe2\x96 \xe2\x96",
          "\xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 e\xcc\x81",
          "<|end_of_text|\xff><|end_of_text|>",
          "\x01\x1f\x7f\xc2\x85\xe2\x80\xa8"};
}

/// Random bytes; every other text is mostly valid UTF-8 of all lengths, with stray bytes.
inline std::string random_text(TestRandom& random, bool is_mostly_valid) {
  std::string text;
  for (std::size_t n = random.below(40); n > 0; --n) text += static_cast<char>(random.below(256));
  for (std::size_t n = is_mostly_valid ? random.below(30) : 0; n > 0; --n) {
    const std::size_t shift = random.below(21);
    text += to_utf8(static_cast<char32_t>(random.below(0x110000) >> shift));
  }
  return text;
}

/// "llama": <unk>, <s>, the 256 bytes from 2 on, then the mark = 258, "a" = 259, "b" = 260,
/// "ab" = 261, mark "a" = 262.
inline GgufVocabulary small_llama() {
  GgufVocabulary vocabulary;
  vocabulary.model = "llama";
  const auto add = [&](const std::string& text, float score, int type) {
    vocabulary.tokens.push_back(text);
    vocabulary.scores.push_back(score);
    vocabulary.types.push_back(type);
  };
  add("<unk>", 0, 2);
  add("<s>", 0, 3);
  for (int byte = 0; byte < 256; ++byte) add(byte_token(static_cast<std::uint8_t>(byte)), 0, 6);
  add("\xe2\x96\x81", -3, 1);
  add("a", -4, 1);
  add("b", -5, 1);
  add("ab", -1, 1);
  add("\xe2\x96\x81"
      "a",
      -2, 1);
  return vocabulary;
}

/// "gpt2": the 256 bytes, then "ab" = 256 and the control token "<x>" = 257.
inline GgufVocabulary small_gpt2() {
  GgufVocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "gpt-2";
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary.tokens.push_back(byte_symbol(static_cast<std::uint8_t>(byte)));
  }
  vocabulary.tokens.push_back("ab");
  vocabulary.types.assign(257, 1);
  vocabulary.tokens.push_back("<x>");
  vocabulary.types.push_back(3);
  vocabulary.merges = {"a b"};
  return vocabulary;
}

}  // namespace specbench::engine::testing
