#include "engine/model/gguf_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/model/gguf_test_files.h"
#include "engine/model/mapped_file.h"
#include "engine/model/tensors.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::floats_of;
using testing::GgufParts;
using testing::raw;
using testing::ScratchFolder;
using testing::tiny_gguf;
using testing::wrong_error;

Model load(const ScratchFolder& folder, const GgufParts& parts) {
  return load_gguf(folder.write("tiny.gguf", parts.bytes()));
}

/// What the converters of the architecture llama do to the rows of queries and keys: row i of the
/// first half of a head goes to 2 i, row i of the second half to 2 i + 1.
void interleave_rows(std::string& data, std::size_t n_heads, std::size_t head_dim,
                     std::size_t row_bytes) {
  const std::string old = data;
  for (std::size_t head = 0; head < n_heads; ++head) {
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::size_t i = 0; i < head_dim / 2; ++i) {
        const std::size_t from = head * head_dim + half * head_dim / 2 + i;
        const std::size_t to = head * head_dim + 2 * i + half;
        data.replace(to * row_bytes, row_bytes, old.substr(from * row_bytes, row_bytes));
      }
    }
  }
}

TEST(GgufModel, LoadsEveryTensor) {
  const ScratchFolder folder;
  for (const std::string architecture : {"llama", "qwen2", "qwen3"}) {
    // What the file holds before a converter has touched it, to compare with.
    GgufParts plain = tiny_gguf(architecture);
    GgufParts parts = plain;
    if (architecture == "llama") {
      for (const std::string layer : {"blk.0.", "blk.1."}) {
        interleave_rows(parts.tensor(layer + "attn_q.weight").data, 2, 4, 8 * sizeof(float));
        interleave_rows(parts.tensor(layer + "attn_k.weight").data, 1, 4, 8 * sizeof(float));
      }
      ASSERT_NE(parts.tensor("blk.1.attn_q.weight").data, plain.tensor("blk.1.attn_q.weight").data);
    }
    const Model model = load(folder, parts);
    EXPECT_EQ(model.name, "tiny.gguf");
    EXPECT_EQ(model.weights_dtype, "F32");
    EXPECT_NE(model.weights_hash, 0U);
    const Weights& w = model.weights;
    EXPECT_EQ(to_floats(w.embedding), floats_of(plain, "token_embd.weight"));
    EXPECT_EQ(to_floats(w.head), floats_of(plain, "output.weight"));
    EXPECT_EQ(w.final_norm, floats_of(plain, "output_norm.weight"));
    EXPECT_TRUE(w.embedding.is_mapped);
    ASSERT_EQ(w.layers.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string p = "blk." + std::to_string(i) + ".";
      const LayerWeights& layer = w.layers[i];
      EXPECT_EQ(layer.attention_norm, floats_of(plain, p + "attn_norm.weight"));
      EXPECT_EQ(to_floats(layer.query), floats_of(plain, p + "attn_q.weight")) << architecture;
      EXPECT_EQ(to_floats(layer.key), floats_of(plain, p + "attn_k.weight")) << architecture;
      EXPECT_EQ(to_floats(layer.value), floats_of(plain, p + "attn_v.weight"));
      EXPECT_EQ(to_floats(layer.attention_out), floats_of(plain, p + "attn_output.weight"));
      EXPECT_EQ(layer.ffn_norm, floats_of(plain, p + "ffn_norm.weight"));
      EXPECT_EQ(to_floats(layer.gate), floats_of(plain, p + "ffn_gate.weight"));
      EXPECT_EQ(to_floats(layer.up), floats_of(plain, p + "ffn_up.weight"));
      EXPECT_EQ(to_floats(layer.down), floats_of(plain, p + "ffn_down.weight"));
      EXPECT_EQ(layer.query_bias.empty(), architecture != "qwen2");
      EXPECT_EQ(layer.query_norm.empty(), architecture != "qwen3");
      if (architecture == "qwen2") {
        EXPECT_EQ(layer.query_bias, floats_of(plain, p + "attn_q.bias"));
        EXPECT_EQ(layer.key_bias, floats_of(plain, p + "attn_k.bias"));
        EXPECT_EQ(layer.value_bias, floats_of(plain, p + "attn_v.bias"));
      }
      if (architecture == "qwen3") {
        EXPECT_EQ(layer.query_norm, floats_of(plain, p + "attn_q_norm.weight"));
        EXPECT_EQ(layer.key_norm, floats_of(plain, p + "attn_k_norm.weight"));
      }
    }
  }
}

TEST(GgufModel, PutsTheBiasesOfPermutedRowsBack) {
  const ScratchFolder folder;
  GgufParts parts = tiny_gguf();
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    // As a converter leaves them: of a head 0 1 2 3 it makes 0 2 1 3.
    parts.tensors.push_back(
        {layer + "attn_q.bias", {8}, 0, raw(std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7})});
    parts.tensors.push_back({layer + "attn_k.bias", {4}, 0, raw(std::vector<float>{0, 2, 1, 3})});
    parts.tensors.push_back({layer + "attn_v.bias", {4}, 0, raw(std::vector<float>{0, 1, 2, 3})});
  }
  const Model model = load(folder, parts);
  EXPECT_EQ(model.weights.layers[1].query_bias, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(model.weights.layers[1].key_bias, (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(model.weights.layers[1].value_bias, (std::vector<float>{0, 1, 2, 3}));
}

TEST(GgufModel, TiesTheHeadWhereTheFileHasNone) {
  const ScratchFolder folder;
  GgufParts parts = tiny_gguf();
  parts.drop_tensor("output.weight");
  const Model model = load(folder, parts);
  EXPECT_TRUE(model.config.tied_head);
  EXPECT_TRUE(model.weights.head.empty());
}

TEST(GgufModel, KeepsTheWeightsWhenTheFileIsClosed) {
  const ScratchFolder folder;
  GgufParts parts = tiny_gguf();
  Matrix embedding;
  {
    const Model model = load(folder, parts);
    embedding = model.weights.embedding;
  }
  EXPECT_EQ(to_floats(embedding), floats_of(parts, "token_embd.weight"));
}

TEST(GgufModel, HashesTheWeightsAndNotTheMetadata) {
  const ScratchFolder folder;
  GgufParts parts = tiny_gguf();
  const std::uint64_t hash = load(folder, parts).weights_hash;
  parts.set("general.name", testing::gguf_string("another"));
  std::swap(parts.tensors[1], parts.tensors[4]);
  EXPECT_EQ(load(folder, parts).weights_hash, hash);
  parts.tensor("blk.1.ffn_up.weight").data[0] ^= 1;
  EXPECT_NE(load(folder, parts).weights_hash, hash);
}

TEST(GgufModel, SpeaksByItsTokenizer) {
  const ScratchFolder folder;
  GgufParts parts = tiny_gguf();
  parts.set("tokenizer.ggml.add_bos_token", testing::gguf_bool(true));
  const Model model = load(folder, parts);
  EXPECT_EQ(model.encode_prompt("he"), (std::vector<TokenId>{257, 256}));
  EXPECT_EQ(model.tokenizer.decode(std::vector<TokenId>{256, 258}), "he<|end|>");
}

TEST(GgufModel, RefusesWhatDoesNotFitTogether) {
  const ScratchFolder folder;
  const auto expect = [&](const GgufParts& parts, const std::string& fragment) {
    EXPECT_EQ(wrong_error([&] { load(folder, parts); }, fragment), "");
  };
  GgufParts parts = tiny_gguf();
  parts.drop_tensor("blk.1.ffn_up.weight");
  expect(parts, "tensor 'blk.1.ffn_up.weight' is missing");
  parts = tiny_gguf();
  parts.tensor("blk.1.ffn_up.weight").dimensions = {12, 8};
  expect(parts, "tiny.gguf: tensor 'blk.1.ffn_up.weight' has shape [8, 12]");
  parts = tiny_gguf();
  parts.tensors.push_back({"blk.1.attn_output.bias", {8}, 0, std::string(32, '\0')});
  expect(parts, "tensor 'blk.1.attn_output.bias' is not part of a llama model");
  parts = tiny_gguf();
  parts.tensors.push_back({"blk.2.attn_norm.weight", {8}, 0, std::string(32, '\0')});
  expect(parts, "tensor 'blk.2.attn_norm.weight' is not part of");
  parts = tiny_gguf();
  parts.tensor("blk.0.attn_norm.weight").data.replace(8, 4, raw(HUGE_VALF));
  expect(parts, "tensor 'blk.0.attn_norm.weight' holds infinity at index 2");
  parts = tiny_gguf("qwen2");
  parts.drop_tensor("blk.1.attn_k.bias");
  expect(parts, "tensor 'blk.1.attn_k.bias' is missing");
  parts = tiny_gguf("qwen2");
  parts.drop_tensor("blk.0.attn_q.bias");
  expect(parts, "tensor 'blk.0.attn_q.bias' is missing");
  parts = tiny_gguf();
  parts.tensors.push_back({"rope_freqs.weight", {2}, 0, raw(std::vector<float>{1, 2})});
  EXPECT_EQ(load(folder, parts).config.rope_frequencies.size(), 2U);
}

TEST(GgufModel, RefusesPathsThatAreNoFile) {
  const ScratchFolder folder;
  EXPECT_EQ(wrong_error([&] { load_gguf(folder.path() / "no.gguf"); },
                        "no.gguf does not exist; give a Hugging Face directory"),
            "");
  EXPECT_EQ(wrong_error([] { load_gguf(""); }, "'' does not exist; give"), "");
  EXPECT_EQ(wrong_error([&] { load_gguf(folder.path()); }, "is a directory"), "");
  EXPECT_EQ(wrong_error([&] { load_gguf(folder.write("e.gguf", "")); },
                        "e.gguf does not begin with 'GGUF'"),
            "");
}

TEST(GgufModel, SurvivesMutationOfTheHeader) {
  const ScratchFolder folder;
  GgufParts parts = tiny_gguf();
  const std::string whole = parts.bytes();
  const std::size_t n_header = whole.find(parts.tensors.front().data);
  testing::TestRandom random(8);
  int n_loaded = 0;
  for (int i = 0; i < 2000; ++i) {
    // In place: bytes dropped or doubled move all that follows, and are refused for that.
    std::string bytes = whole;
    for (std::size_t n = 1 + random.below(2); n > 0; --n)
      bytes[random.below(n_header)] = static_cast<char>(random.below(256));
    const auto path = folder.write("m.gguf", bytes);
    n_loaded += testing::completes_or_input_error([&] { load_gguf(path); });
  }
  EXPECT_GT(n_loaded, 10);
  EXPECT_LT(n_loaded, 1000);
}

}  // namespace
}  // namespace specbench::engine
