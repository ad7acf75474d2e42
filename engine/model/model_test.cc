#include "engine/model/model.h"

#include <gtest/gtest.h>

#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::ScratchFolder;
using testing::slurp;
using testing::wrong_error;

const std::filesystem::path kAusten =
    std::filesystem::path(SPECBENCH_SOURCE_DIR) / "engine/models/austen-10m";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::out_of_range(from);
  return text.replace(at, from.size(), to);
}

/// A copy of austen-10m whose weights are a link.
void copy_austen(const ScratchFolder& folder) {
  folder.write("config.json", slurp(kAusten / "config.json"));
  folder.write("tokenizer.json", slurp(kAusten / "tokenizer.json"));
  std::filesystem::create_symlink(kAusten / "model.safetensors",
                                  folder.path() / "model.safetensors");
}

TEST(Model, LoadsTheEmbeddedModel) {
  const Model model = load_hugging_face(kAusten);
  EXPECT_EQ(model.name, "austen-10m");
  EXPECT_EQ(model.config.vocab_size, 4096);
  EXPECT_EQ(model.config.max_positions, 1024);
  EXPECT_EQ(model.config.bos, 4094);
  EXPECT_EQ(model.config.eos, std::vector<TokenId>{4095});
  ASSERT_EQ(model.weights.layers.size(), 12U);
  std::size_t n_values =
      to_floats(model.weights.embedding).size() + model.weights.final_norm.size();
  for (const LayerWeights& layer : model.weights.layers) {
    EXPECT_EQ(layer.query.n_rows, 256);
    EXPECT_EQ(layer.key.n_rows, 128);
    EXPECT_EQ(layer.down.n_rows, 256);
    EXPECT_EQ(layer.down.n_cols, 704);
    n_values += layer.attention_norm.size() + layer.ffn_norm.size();
    for (const Matrix* matrix : {&layer.query, &layer.key, &layer.value, &layer.attention_out,
                                 &layer.gate, &layer.up, &layer.down}) {
      n_values += to_floats(*matrix).size();
    }
  }
  EXPECT_EQ(n_values * 2 + 8 + 12904, std::filesystem::file_size(kAusten / "model.safetensors"));
  EXPECT_TRUE(model.config.tied_head);
  EXPECT_TRUE(model.weights.head.empty());
  EXPECT_EQ(model.weights_dtype, "BF16");
  EXPECT_EQ(model.weights_hash, 0x59dcc86416523a3dULL);
  EXPECT_EQ(model.tokenizer.size(), 4096);
}

TEST(Model, EncodesPromptsAsTheOracle) {
  const Model model = load_hugging_face(kAusten);
  EXPECT_EQ(model.encode_prompt("It was a truth that Mr. Bennet"),
            (std::vector<TokenId>{4094, 1029, 304, 258, 1896, 333, 360, 46, 1208}));
  EXPECT_EQ(model.encode_prompt("Emma had never"), (std::vector<TokenId>{4094, 1800, 338, 578}));
  EXPECT_EQ(model.encode_prompt(""), std::vector<TokenId>{4094});
  // As a chat template writes it: one BOS, not two.
  EXPECT_EQ(model.encode_prompt("<|begin_of_text|>Emma had never"),
            (std::vector<TokenId>{4094, 1800, 338, 578}));
  EXPECT_EQ(model.encode_prompt("Emma<|begin_of_text|>"), (std::vector<TokenId>{4094, 1800, 4094}));
}

TEST(Model, RefusesAnEmptyPromptWithoutBos) {
  Model model;
  model.name = "m";
  EXPECT_EQ(wrong_error([&] { model.encode_prompt(""); },
                        "the prompt is empty and model m puts no BOS token before it"),
            "");
}

/// The embedded model's tokenizer.json with another post_processor.
std::string with_processor(const std::string& processor) {
  std::string text = slurp(kAusten / "tokenizer.json");
  const std::size_t begin = text.find("\"post_processor\": ") + 18;
  return text.replace(begin, text.find(",\n\"decoder\"") - begin, processor);
}

// Whatever bos_token_id of config.json says.
TEST(Model, PutsBosFirstWhereItsTokenizerDoes) {
  const ScratchFolder folder;
  copy_austen(folder);
  const auto ids_with = [&](const std::string& processor) {
    folder.write("tokenizer.json", with_processor(processor));
    return load_hugging_face(folder.path()).encode_prompt("Emma had never");
  };
  EXPECT_EQ(ids_with("null"), (std::vector<TokenId>{1800, 338, 578}));
  EXPECT_EQ(ids_with(R"({"type":"ByteLevel"})"), (std::vector<TokenId>{1800, 338, 578}));
  const std::string end_first =
      R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"e"}},{"Sequence":{"id":"A"}}],
          "special_tokens":{"e":{"ids":[4095]}}})";
  EXPECT_EQ(ids_with(end_first), (std::vector<TokenId>{4095, 1800, 338, 578}));
  folder.write("config.json", replaced(slurp(kAusten / "config.json"), "\"bos_token_id\": 4094",
                                       "\"bos_token_id\": 128000"));
  EXPECT_EQ(ids_with(end_first), (std::vector<TokenId>{4095, 1800, 338, 578}));
}

TEST(Model, TakesMoreEndsFromTheGenerationConfig) {
  const ScratchFolder folder;
  copy_austen(folder);
  folder.write("generation_config.json", R"({"eos_token_id":[4095,7]})");
  EXPECT_EQ(load_hugging_face(folder.path()).config.eos, (std::vector<TokenId>{4095, 7}));
  folder.write("generation_config.json", R"({"eos_token_id":4096})");
  EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.path()); },
                        "generation_config.json: field 'eos_token_id' is 4096"),
            "");
}

// A tokenizer of 4094 tokens over 4096 embeddings.
TEST(Model, KnowsRowsWithoutAToken) {
  EXPECT_EQ(load_hugging_face(kAusten).config.n_tokens, 0);
  const ScratchFolder folder;
  copy_austen(folder);
  const auto without_added = [](std::string tokenizer) {
    const std::size_t begin = tokenizer.find("\"added_tokens\": [") + 17;
    return tokenizer.erase(begin, tokenizer.find("]", begin) - begin);
  };
  folder.write("tokenizer.json", without_added(slurp(kAusten / "tokenizer.json")));
  EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.path()); },
                        "its post_processor puts token 4094 before every text, but its ids end at "
                        "4093"),
            "");
  folder.write("tokenizer.json", without_added(with_processor("null")));
  const Model model = load_hugging_face(folder.path());
  EXPECT_EQ(model.tokenizer.size(), 4094);
  EXPECT_EQ(model.config.n_tokens, 4094);
  EXPECT_EQ(model.config.vocab_size, 4096);
}

TEST(Model, SourceIsADirectoryOrAFile) {
  EXPECT_EQ(load_model(kAusten.string()).name, "austen-10m");
  const ScratchFolder folder;
  const auto expect = [](const std::string& source, const char* fragment) {
    EXPECT_EQ(wrong_error([&] { load_model(source); }, fragment), "") << source;
  };
  expect(folder.path().string(), "config.json does not exist");
  expect((folder.path() / "no").string(), "does not exist; give a Hugging Face directory");
  expect("", "model '' does not exist; give a Hugging Face directory");
  expect(folder.write("f", "GGU").string(),
         "f is not a directory and does not begin with 'GGUF'; give a Hugging Face directory");
  expect(folder.write("e", "").string(), "e is not a directory");
  expect("/dev/null", "model /dev/null is not a directory and does not begin with 'GGUF'");
  // Both by magic and by name.
  expect(folder.write("g", "GGUF").string(), "/g");
  expect(folder.write("g.gguf", "").string(), "g.gguf does not begin with 'GGUF'");
  expect("synthetic:1B", "supported is synthetic:<shape>");
  EXPECT_EQ(load_model("synthetic:tiny").name, "synthetic:tiny-bf16");
}

TEST(Model, IsNamedAfterItsDirectory) {
  const ScratchFolder folder;
  copy_austen(folder);
  const std::string name = folder.path().filename().string();
  EXPECT_EQ(load_hugging_face(folder.path() / "").name, name);
  EXPECT_EQ(load_hugging_face(folder.path() / ".").name, name);
}

TEST(Model, RefusesDirectoriesThatAreNoModel) {
  const ScratchFolder folder;
  EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.path() / "no"); },
                        "no/config.json does not exist; give a Hugging Face directory"),
            "");
  EXPECT_EQ(wrong_error([] { load_hugging_face(""); }, "config.json does not exist"), "");
  EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.write("f", "x")); },
                        "f/config.json cannot be opened: Not a directory."),
            "");
  EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.path()); }, "config.json does not exist"),
            "");
  folder.write("config.json", slurp(kAusten / "config.json"));
  EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.path()); }, "tokenizer.json does not exist"),
            "");
  folder.write("tokenizer.json", slurp(kAusten / "tokenizer.json"));
  EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.path()); }, "holds 0 *.safetensors files"),
            "");
}

TEST(Model, RefusesPartsThatDoNotFit) {
  const ScratchFolder folder;
  copy_austen(folder);
  const std::string config = slurp(kAusten / "config.json");
  const auto expect = [&](const std::string& from, const std::string& to,
                          const std::string& fragment) {
    folder.write("config.json", replaced(config, from, to));
    EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.path()); }, fragment), "");
  };
  expect("\"num_hidden_layers\": 12", "\"num_hidden_layers\": 13",
         "'model.layers.12.input_layernorm.weight' is missing");
  expect("\"num_hidden_layers\": 12", "\"num_hidden_layers\": 11",
         "'model.layers.11.input_layernorm.weight' is not part");
  expect("\"vocab_size\": 4096", "\"vocab_size\": 4097", "asks for [4097, 256]");
  expect("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false",
         "'lm_head.weight' is missing");
  folder.write("config.json", config);
  folder.write("tokenizer.json",
               replaced(slurp(kAusten / "tokenizer.json"), "\"id\": 4095", "\"id\": 4096"));
  EXPECT_EQ(wrong_error([&] { load_hugging_face(folder.path()); },
                        "has token ids up to 4096, but vocab_size in"),
            "");
}

}  // namespace
}  // namespace specbench::engine
