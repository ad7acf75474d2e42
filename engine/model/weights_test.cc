#include "engine/model/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::safetensors_bytes;
using testing::ScratchFolder;
using testing::TestTensor;
using testing::wrong_error;

ModelConfig tiny_config(bool tied_head) {
  ModelConfig config;
  config.vocab_size = 5;
  config.width = 4;
  config.n_layers = 2;
  config.n_heads = 2;
  config.n_kv_heads = 1;
  config.head_dim = 6;
  config.ffn_width = 3;
  config.tied_head = tied_head;
  return config;
}

StoredWeights read(const ScratchFolder& folder, bool tied_head) {
  return read_weights(folder.path(), tiny_config(tied_head), 2);
}

/// Every tensor of the tiny model; values count up over all of them.
std::vector<TestTensor> tiny_tensors(bool with_head) {
  std::vector<TestTensor> tensors;
  float next = 0;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    std::int64_t size = 1;
    for (const std::int64_t n : shape) size *= n;
    TestTensor tensor{name, shape, {}};
    for (std::int64_t i = 0; i < size; ++i) tensor.values.push_back(next++);
    tensors.push_back(tensor);
  };
  add("model.embed_tokens.weight", {5, 4});
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    add(layer + "input_layernorm.weight", {4});
    add(layer + "self_attn.q_proj.weight", {12, 4});
    add(layer + "self_attn.k_proj.weight", {6, 4});
    add(layer + "self_attn.v_proj.weight", {6, 4});
    add(layer + "self_attn.o_proj.weight", {4, 12});
    add(layer + "post_attention_layernorm.weight", {4});
    add(layer + "mlp.gate_proj.weight", {3, 4});
    add(layer + "mlp.up_proj.weight", {3, 4});
    add(layer + "mlp.down_proj.weight", {4, 3});
  }
  add("model.norm.weight", {4});
  if (with_head) add("lm_head.weight", {5, 4});
  return tensors;
}

TestTensor& named(std::vector<TestTensor>& tensors, const std::string& name) {
  for (TestTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::out_of_range(name);
}

std::string index_json(const std::vector<std::pair<std::string, std::vector<TestTensor>>>& shards) {
  std::string entries;
  for (const auto& [file, tensors] : shards) {
    for (const TestTensor& tensor : tensors) {
      entries += (entries.empty() ? "\"" : ",\"") + tensor.name + "\":\"" + file + "\"";
    }
  }
  return R"({"metadata":{},"weight_map":{)" + entries + "}}";
}

TEST(Weights, ReadsOneFile) {
  const ScratchFolder folder;
  std::vector<TestTensor> tensors = tiny_tensors(true);
  const std::string bytes = safetensors_bytes(tensors);
  folder.write("model.safetensors", bytes);
  const StoredWeights stored = read(folder, false);
  ASSERT_EQ(stored.weights.layers.size(), 2U);
  const LayerWeights& layer = stored.weights.layers[1];
  EXPECT_EQ(layer.query.n_rows, 12);
  EXPECT_EQ(layer.query.n_cols, 4);
  EXPECT_EQ(to_floats(layer.query),
            named(tensors, "model.layers.1.self_attn.q_proj.weight").values);
  EXPECT_EQ(to_floats(layer.key), named(tensors, "model.layers.1.self_attn.k_proj.weight").values);
  EXPECT_EQ(to_floats(layer.value),
            named(tensors, "model.layers.1.self_attn.v_proj.weight").values);
  EXPECT_EQ(to_floats(layer.attention_out),
            named(tensors, "model.layers.1.self_attn.o_proj.weight").values);
  EXPECT_EQ(layer.attention_norm, named(tensors, "model.layers.1.input_layernorm.weight").values);
  EXPECT_EQ(layer.ffn_norm,
            named(tensors, "model.layers.1.post_attention_layernorm.weight").values);
  EXPECT_EQ(to_floats(layer.gate), named(tensors, "model.layers.1.mlp.gate_proj.weight").values);
  EXPECT_EQ(to_floats(layer.up), named(tensors, "model.layers.1.mlp.up_proj.weight").values);
  EXPECT_EQ(to_floats(layer.down), named(tensors, "model.layers.1.mlp.down_proj.weight").values);
  EXPECT_EQ(to_floats(stored.weights.embedding),
            named(tensors, "model.embed_tokens.weight").values);
  EXPECT_EQ(stored.weights.final_norm, named(tensors, "model.norm.weight").values);
  EXPECT_EQ(to_floats(stored.weights.head), named(tensors, "lm_head.weight").values);
  EXPECT_EQ(stored.dtype, "F32");
}

// As they are stored: bytes of the mapped file, in their own type.
TEST(Weights, KeepsMatricesAsStored) {
  const ScratchFolder folder;
  std::vector<TestTensor> tensors = tiny_tensors(true);
  named(tensors, "model.layers.0.self_attn.q_proj.weight").type = WeightType::kBF16;
  named(tensors, "model.layers.0.input_layernorm.weight").type = WeightType::kF16;
  named(tensors, "lm_head.weight").type = WeightType::kF16;
  folder.write("model.safetensors", safetensors_bytes(tensors));
  const StoredWeights stored = read(folder, false);
  const LayerWeights& layer = stored.weights.layers[0];
  EXPECT_EQ(layer.query.type, WeightType::kBF16);
  EXPECT_EQ(layer.query.n_bytes(), 12U * 4 * 2);
  EXPECT_TRUE(layer.query.is_mapped);
  EXPECT_EQ(layer.query.row_order, nullptr);
  EXPECT_EQ(layer.key.type, WeightType::kF32);
  EXPECT_EQ(layer.attention_norm, named(tensors, "model.layers.0.input_layernorm.weight").values);
  EXPECT_EQ(stored.weights.head.type, WeightType::kF16);
  EXPECT_EQ(to_floats(stored.weights.head), named(tensors, "lm_head.weight").values);
  EXPECT_EQ(stored.dtype, "F32+");
}

/// Bytes of memory that belongs to no file.
std::int64_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::int64_t kib = 0;
    if (word == "RssAnon:" && status >> kib) return kib * 1024;
  }
  return -1;
}

// A matrix of 64 MiB costs pages of its file only. The file has a hole, so that no memory freed
// while writing it could hide a copy.
TEST(Weights, CopiesNoMatrix) {
  const ScratchFolder folder;
  ModelConfig config = tiny_config(true);
  config.n_layers = 0;
  config.vocab_size = 1 << 17;
  config.width = 256;
  const std::string header =
      R"({"model.norm.weight":{"dtype":"F32","shape":[256],"data_offsets":[0,1024]},)"
      R"("model.embed_tokens.weight":{"dtype":"BF16","shape":[131072,256],"data_offsets":[1024,67109888]}})";
  const auto path = folder.write("model.safetensors", safetensors_bytes(header, ""));
  std::filesystem::resize_file(path, 8 + header.size() + 67109888);
  const std::int64_t before = anonymous_bytes();
  ASSERT_GT(before, 0);
  const StoredWeights stored = read_weights(folder.path(), config, 2);
  EXPECT_EQ(stored.weights.embedding.n_bytes(), 67108864U);
  EXPECT_LT(anonymous_bytes() - before, 16 << 20);
}

TEST(Weights, ReadsBiasesAndHeadNorms) {
  const ScratchFolder folder;
  std::vector<TestTensor> tensors = tiny_tensors(false);
  ModelConfig config = tiny_config(true);
  config.architecture = "qwen2";
  config.has_qkv_bias = true;
  folder.write("model.safetensors", safetensors_bytes(tensors));
  EXPECT_EQ(
      wrong_error([&] { read_weights(folder.path(), config, 1); },
                  "'model.layers.0.self_attn.q_proj.bias' is missing from the weight files; a "
                  "Qwen2ForCausalLM of this config.json needs it"),
      "");
  const auto add = [&](const std::string& name, std::int64_t n) {
    for (const std::string layer : {"model.layers.0.self_attn.", "model.layers.1.self_attn."})
      tensors.push_back({layer + name, {n}, std::vector<float>(static_cast<std::size_t>(n), 7.0F)});
  };
  add("q_proj.bias", 12);
  add("k_proj.bias", 6);
  add("v_proj.bias", 6);
  folder.write("model.safetensors", safetensors_bytes(tensors));
  const LayerWeights layer = read_weights(folder.path(), config, 1).weights.layers[1];
  EXPECT_EQ(layer.query_bias, std::vector<float>(12, 7.0F));
  EXPECT_EQ(layer.key_bias, std::vector<float>(6, 7.0F));
  EXPECT_EQ(layer.value_bias, std::vector<float>(6, 7.0F));
  EXPECT_TRUE(layer.query_norm.empty());

  config.architecture = "qwen3";
  config.has_qkv_bias = false;
  config.has_qk_norm = true;
  tensors = tiny_tensors(false);
  add("q_norm.weight", 6);
  add("k_norm.weight", 6);
  folder.write("model.safetensors", safetensors_bytes(tensors));
  const LayerWeights normed = read_weights(folder.path(), config, 1).weights.layers[0];
  EXPECT_EQ(normed.query_norm, std::vector<float>(6, 7.0F));
  EXPECT_EQ(normed.key_norm, std::vector<float>(6, 7.0F));
  EXPECT_TRUE(normed.query_bias.empty());
  // Without the config's word for it they are not part of the model.
  EXPECT_EQ(wrong_error([&] { read(folder, true); }, "k_norm.weight' is not part of"), "");
}

TEST(Weights, ReadsShards) {
  const ScratchFolder folder;
  const std::vector<TestTensor> all = tiny_tensors(false);
  const std::vector<TestTensor> front(all.begin(), all.begin() + 7);
  const std::vector<TestTensor> back(all.begin() + 7, all.end());
  const std::string index = index_json({{"b.safetensors", front}, {"a.safetensors", back}});
  folder.write("model.safetensors.index.json", index);
  folder.write("b.safetensors", safetensors_bytes(front));
  folder.write("a.safetensors", safetensors_bytes(back));
  const StoredWeights stored = read(folder, true);
  EXPECT_EQ(to_floats(stored.weights.embedding), all[0].values);
  EXPECT_TRUE(stored.weights.head.empty());
  // The same model in one file has the same hash.
  const ScratchFolder whole;
  whole.write("model.safetensors", safetensors_bytes(all));
  EXPECT_EQ(stored.hash, read(whole, true).hash);

  const std::string path = "model.safetensors.index.json";
  const auto expect = [&](const std::string& fragment) {
    EXPECT_EQ(wrong_error([&] { read(folder, true); }, fragment), "");
  };
  folder.write("a.safetensors", safetensors_bytes(all));
  expect("also lies in");
  folder.write("a.safetensors",
               safetensors_bytes(std::vector<TestTensor>(back.begin() + 1, back.end())));
  expect("lacks tensor '" + back[0].name + "', which model.safetensors.index.json places there");
  folder.write("a.safetensors", safetensors_bytes(back));
  folder.write(path, index_json({{"b.safetensors", front},
                                 {"a.safetensors", {back.begin() + 1, back.end()}}}));
  expect("is not listed in model.safetensors.index.json");
  folder.write(path, R"({"weight_map":{"x":"../a.safetensors"}})");
  expect("field 'weight_map.x' is '../a.safetensors'; expected the name of a .safetensors file");
  folder.write(path, R"({"weight_map":{"x":"config.json"}})");
  expect("expected the name of a .safetensors file");
  folder.write(path, R"({"weight_map":{"x":"c.safetensors"}})");
  expect("model.safetensors.index.json lists 'c.safetensors', which is not beside it");
  folder.write(path, R"({"weight_map":{"x":"a\u007f\u001b[2J.safetensors"}})");
  expect("field 'weight_map.x' is 'a??[2J.safetensors'; expected the name of a .safetensors file");
  folder.write(path, R"({"weight_map":{"x":")" + std::string(250, 'a') + R"(.safetensors"}})");
  expect("expected the name of a .safetensors file");
  folder.write(path, R"({"weight_map":{"x":7}})");
  expect("field 'weight_map.x' is 7; expected a string");
  folder.write(path, R"({"weight_map":{}})");
  expect("it lists no tensor");
  folder.write(path, "{}");
  expect("field 'weight_map' is missing");
}

// A checkpoint of the old kind whose index was written for another, or a tied one's for a copy.
TEST(Weights, DoesNotMindWhereUnusedTensorsLie) {
  const ScratchFolder folder;
  const std::vector<TestTensor> all = tiny_tensors(false);
  const TestTensor frequencies = {"model.layers.0.self_attn.rotary_emb.inv_freq", {3}, {1, 2, 3}};
  TestTensor head = all[0];
  head.name = "lm_head.weight";
  std::vector<TestTensor> more = all;
  more.push_back(frequencies);
  more.push_back(head);
  const auto write = [&](const std::vector<TestTensor>& listed,
                         const std::vector<TestTensor>& stored) {
    folder.write("model.safetensors.index.json", index_json({{"a.safetensors", listed}}));
    folder.write("a.safetensors", safetensors_bytes(stored));
  };
  write(more, all);
  EXPECT_EQ(to_floats(read(folder, true).weights.embedding), all[0].values);
  EXPECT_EQ(wrong_error([&] { read(folder, false); }, "lacks tensor 'lm_head.weight', which"), "");
  write(all, more);
  EXPECT_EQ(to_floats(read(folder, true).weights.embedding), all[0].values);
  EXPECT_EQ(wrong_error([&] { read(folder, false); }, "'lm_head.weight' is not listed in"), "");
  // Nor that their file is missing.
  write(all, all);
  folder.write("model.safetensors.index.json",
               index_json({{"a.safetensors", all}, {"b.safetensors", {head}}}));
  EXPECT_EQ(to_floats(read(folder, true).weights.embedding), all[0].values);
  EXPECT_EQ(wrong_error([&] { read(folder, false); }, "lists 'b.safetensors', which is not beside"),
            "");
}

TEST(Weights, TakesTheOnlyFileWhateverItsName) {
  const ScratchFolder folder;
  EXPECT_EQ(wrong_error([&] { read(folder, true); }, "holds 0 *.safetensors files"), "");
  folder.write("x.safetensors", safetensors_bytes(tiny_tensors(false)));
  EXPECT_EQ(read(folder, true).weights.layers.size(), 2U);
  folder.write("y.safetensors", safetensors_bytes(tiny_tensors(false)));
  EXPECT_EQ(wrong_error([&] { read(folder, true); }, "holds 2 *.safetensors files"), "");
}

TEST(Weights, ChecksNamesAndShapes) {
  const std::string query = "model.layers.1.self_attn.q_proj.weight";
  const struct {
    bool tied_head;
    std::function<void(std::vector<TestTensor>&)> change;
    const char* fragment;
  } cases[] = {
      {true, [&](auto& t) { named(t, query).name = "q"; },
       "tensor 'model.layers.1.self_attn.q_proj.weight' is missing"},
      {true,
       [&](auto& t) {
         named(t, query).shape = {4, 12};
       },
       "has shape [4, 12]; a LlamaForCausalLM of this config.json asks for [12, 4]"},
      {true, [&](auto& t) { named(t, query).shape = {48}; },
       "has shape [48]; a LlamaForCausalLM of this config.json asks for [12, 4]"},
      {true,
       [&](auto& t) {
         named(t, query).shape = {12, 4, 1};
       },
       "has shape [12, 4, 1]"},
      {true,
       [](auto& t) {
         t.push_back({"model.layers.0.self_attn.q_proj.bias", {1}, {0}});
       },
       "tensor 'model.layers.0.self_attn.q_proj.bias' is not part of a LlamaForCausalLM"},
      {true,
       [](auto& t) {
         t.push_back({"model.layers.2.input_layernorm.weight", {4}, {0, 0, 0, 0}});
       },
       "tensor 'model.layers.2.input_layernorm.weight' is not part of"},
      {false, [](auto&) {}, "tensor 'lm_head.weight' is missing"},
      {true,
       [](auto& t) {
         t.push_back(t[0]);
         t.back().name = "lm_head.weight";
         t.back().values[3] = 9;
       },
       "'lm_head.weight' differs from 'model.embed_tokens.weight'"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.fragment);
    const ScratchFolder folder;
    std::vector<TestTensor> tensors = tiny_tensors(false);
    c.change(tensors);
    folder.write("model.safetensors", safetensors_bytes(tensors));
    EXPECT_EQ(wrong_error([&] { read(folder, c.tied_head); }, c.fragment), "");
  }
}

TEST(Weights, AllowsCopiesAndOldExtras) {
  const ScratchFolder folder;
  std::vector<TestTensor> tensors = tiny_tensors(false);
  tensors.push_back(tensors[0]);
  tensors.back().name = "lm_head.weight";
  tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", {3}, {1, 2, 3}});
  folder.write("model.safetensors", safetensors_bytes(tensors));
  EXPECT_TRUE(read(folder, true).weights.head.empty());
  named(tensors, "lm_head.weight").type = WeightType::kBF16;  // small integers: equal in any type
  folder.write("model.safetensors", safetensors_bytes(tensors));
  EXPECT_TRUE(read(folder, true).weights.head.empty());
  named(tensors, "lm_head.weight").values[19] = 18;
  folder.write("model.safetensors", safetensors_bytes(tensors));
  EXPECT_EQ(wrong_error([&] { read(folder, true); }, "'lm_head.weight' differs from"), "");
}

TEST(Weights, RefusesValuesThatAreNotFinite) {
  const ScratchFolder folder;
  for (const char* name : {"model.layers.1.mlp.up_proj.weight", "model.norm.weight"}) {
    std::vector<TestTensor> tensors = tiny_tensors(false);
    named(tensors, name).values[3] = HUGE_VALF;
    folder.write("model.safetensors", safetensors_bytes(tensors));
    EXPECT_EQ(wrong_error([&] { read(folder, true); },
                          std::string("tensor '") + name + "' holds infinity at index 3"),
              "");
  }
}

TEST(Weights, RefusesAHugeConfigBeforeTakingMemory) {
  const ScratchFolder folder;
  folder.write("model.safetensors", safetensors_bytes(tiny_tensors(false)));
  ModelConfig config = tiny_config(true);
  config.vocab_size = 1 << 22;
  config.width = 1 << 16;
  EXPECT_EQ(
      wrong_error([&] { read_weights(folder.path(), config, 2); }, "asks for [4194304, 65536]"),
      "");
}

}  // namespace
}  // namespace specbench::engine
