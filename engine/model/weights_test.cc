#include "engine/model/weights.h"

#include <gtest/gtest.h>

#include <functional>

#include "engine/model/input_file.h"
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
  const StoredWeights stored = read_weights(folder.path(), tiny_config(false));
  ASSERT_EQ(stored.weights.layers.size(), 2U);
  const LayerWeights& layer = stored.weights.layers[1];
  EXPECT_EQ(layer.query.n_rows, 12);
  EXPECT_EQ(layer.query.n_cols, 4);
  EXPECT_EQ(to_floats(layer.query), named(tensors, "model.layers.1.self_attn.q_proj.weight").values);
  EXPECT_EQ(to_floats(layer.key), named(tensors, "model.layers.1.self_attn.k_proj.weight").values);
  EXPECT_EQ(to_floats(layer.value), named(tensors, "model.layers.1.self_attn.v_proj.weight").values);
  EXPECT_EQ(to_floats(layer.attention_out),
            named(tensors, "model.layers.1.self_attn.o_proj.weight").values);
  EXPECT_EQ(layer.attention_norm, named(tensors, "model.layers.1.input_layernorm.weight").values);
  EXPECT_EQ(layer.ffn_norm,
            named(tensors, "model.layers.1.post_attention_layernorm.weight").values);
  EXPECT_EQ(to_floats(layer.gate), named(tensors, "model.layers.1.mlp.gate_proj.weight").values);
  EXPECT_EQ(to_floats(layer.up), named(tensors, "model.layers.1.mlp.up_proj.weight").values);
  EXPECT_EQ(to_floats(layer.down), named(tensors, "model.layers.1.mlp.down_proj.weight").values);
  EXPECT_EQ(to_floats(stored.weights.embedding), named(tensors, "model.embed_tokens.weight").values);
  EXPECT_EQ(stored.weights.final_norm, named(tensors, "model.norm.weight").values);
  EXPECT_EQ(to_floats(stored.weights.head), named(tensors, "lm_head.weight").values);
  EXPECT_EQ(stored.dtype, "F32");
  EXPECT_EQ(stored.hash, fnv1a(kFnvOffset, std::as_bytes(std::span(bytes))));
}

TEST(Weights, ReadsShardsInFileNameOrder) {
  const ScratchFolder folder;
  const std::vector<TestTensor> all = tiny_tensors(false);
  const std::vector<TestTensor> front(all.begin(), all.begin() + 7);
  const std::vector<TestTensor> back(all.begin() + 7, all.end());
  const std::string index = index_json({{"b.safetensors", front}, {"a.safetensors", back}});
  folder.write("model.safetensors.index.json", index);
  folder.write("b.safetensors", safetensors_bytes(front));
  folder.write("a.safetensors", safetensors_bytes(back));
  const StoredWeights stored = read_weights(folder.path(), tiny_config(true));
  EXPECT_EQ(to_floats(stored.weights.embedding), all[0].values);
  EXPECT_TRUE(stored.weights.head.empty());
  const std::string joined = safetensors_bytes(back) + safetensors_bytes(front);
  EXPECT_EQ(stored.hash, fnv1a(kFnvOffset, std::as_bytes(std::span(joined))));

  const std::string path = "model.safetensors.index.json";
  const auto expect = [&](const std::string& fragment) {
    EXPECT_EQ(wrong_error([&] { read_weights(folder.path(), tiny_config(true)); }, fragment), "");
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
  expect("c.safetensors does not exist");
  folder.write(path, R"({"weight_map":{"x":7}})");
  expect("field 'weight_map.x' is 7; expected a string");
  folder.write(path, R"({"weight_map":{}})");
  expect("it lists no tensor");
  folder.write(path, "{}");
  expect("field 'weight_map' is missing");
}

TEST(Weights, TakesTheOnlyFileWhateverItsName) {
  const ScratchFolder folder;
  EXPECT_EQ(wrong_error([&] { read_weights(folder.path(), tiny_config(true)); },
                        "holds 0 *.safetensors files"),
            "");
  folder.write("x.safetensors", safetensors_bytes(tiny_tensors(false)));
  EXPECT_EQ(read_weights(folder.path(), tiny_config(true)).weights.layers.size(), 2U);
  folder.write("y.safetensors", safetensors_bytes(tiny_tensors(false)));
  EXPECT_EQ(wrong_error([&] { read_weights(folder.path(), tiny_config(true)); },
                        "holds 2 *.safetensors files"),
            "");
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
       "has shape [4, 12]; config.json asks for [12, 4]"},
      {true, [&](auto& t) { named(t, query).shape = {48}; },
       "has shape [48]; config.json asks for [12, 4]"},
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
    EXPECT_EQ(
        wrong_error([&] { read_weights(folder.path(), tiny_config(c.tied_head)); }, c.fragment),
        "");
  }
}

TEST(Weights, AllowsCopiesAndOldExtras) {
  const ScratchFolder folder;
  std::vector<TestTensor> tensors = tiny_tensors(false);
  tensors.push_back(tensors[0]);
  tensors.back().name = "lm_head.weight";
  tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", {3}, {1, 2, 3}});
  folder.write("model.safetensors", safetensors_bytes(tensors));
  EXPECT_TRUE(read_weights(folder.path(), tiny_config(true)).weights.head.empty());
}

TEST(Weights, RefusesAHugeConfigBeforeTakingMemory) {
  const ScratchFolder folder;
  folder.write("model.safetensors", safetensors_bytes(tiny_tensors(false)));
  ModelConfig config = tiny_config(true);
  config.vocab_size = 1 << 22;
  config.width = 1 << 16;
  EXPECT_EQ(wrong_error([&] { read_weights(folder.path(), config); }, "asks for [4194304, 65536]"),
            "");
}

}  // namespace
}  // namespace specbench::engine
