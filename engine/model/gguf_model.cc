#include "engine/model/gguf_model.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/gguf.h"
#include "engine/model/gguf_config.h"
#include "engine/model/gguf_vocabulary.h"
#include "engine/model/mapped_file.h"
#include "engine/model/tensors.h"

namespace specbench::engine {

namespace {

using RowOrder = std::shared_ptr<const std::vector<std::int32_t>>;

/// Files of the architecture llama hold the rows of a query or key head so that the pairs that turn
/// together are neighbours (2 i, 2 i + 1); this engine turns i with i + half. Place of each row.
RowOrder neighbours_to_halves(int n_heads, int head_dim) {
  const int half = head_dim / 2;
  auto order = std::make_shared<std::vector<std::int32_t>>();
  order->reserve(static_cast<std::size_t>(n_heads) * static_cast<std::size_t>(head_dim));
  for (int head = 0; head < n_heads; ++head)
    for (int i = 0; i < head_dim; ++i)
      order->push_back(head * head_dim + (i < half ? 2 * i : 2 * (i - half) + 1));
  return order;
}

std::vector<float> reordered(std::vector<float> values, const RowOrder& order) {
  if (!order) return values;
  std::vector<float> out;
  out.reserve(values.size());
  for (const std::int32_t place : *order) out.push_back(values[static_cast<std::size_t>(place)]);
  return out;
}

/// Takes the weights of a model, one layer after the other.
class WeightTaker {
 public:
  WeightTaker(TensorSet& tensors, const ModelConfig& config) : tensors_(tensors), c_(config) {
    if (c_.architecture != "llama") return;
    query_order_ = neighbours_to_halves(c_.n_heads, c_.head_dim);
    key_order_ = neighbours_to_halves(c_.n_kv_heads, c_.head_dim);
  }

  Weights take() {
    Weights weights;
    weights.embedding = tensors_.matrix(kGgufEmbedding, c_.vocab_size, c_.width);
    for (int layer = 0; layer < c_.n_layers; ++layer)
      weights.layers.push_back(take_layer("blk." + std::to_string(layer) + "."));
    weights.final_norm = tensors_.vector("output_norm.weight", c_.width);
    if (!c_.tied_head) weights.head = tensors_.matrix(kGgufHead, c_.vocab_size, c_.width);
    return weights;
  }

 private:
  LayerWeights take_layer(const std::string& prefix) {
    const int query_width = c_.n_heads * c_.head_dim;
    const int kv_width = c_.n_kv_heads * c_.head_dim;
    LayerWeights w;
    w.attention_norm = tensors_.vector(prefix + "attn_norm.weight", c_.width);
    w.query = tensors_.matrix(prefix + "attn_q.weight", query_width, c_.width);
    w.query.row_order = query_order_;
    w.key = tensors_.matrix(prefix + "attn_k.weight", kv_width, c_.width);
    w.key.row_order = key_order_;
    w.value = tensors_.matrix(prefix + "attn_v.weight", kv_width, c_.width);
    if (c_.has_qkv_bias) {
      w.query_bias = reordered(tensors_.vector(prefix + "attn_q.bias", query_width), query_order_);
      w.key_bias = reordered(tensors_.vector(prefix + "attn_k.bias", kv_width), key_order_);
      w.value_bias = tensors_.vector(prefix + "attn_v.bias", kv_width);
    }
    if (c_.has_qk_norm) {
      w.query_norm = tensors_.vector(prefix + "attn_q_norm.weight", c_.head_dim);
      w.key_norm = tensors_.vector(prefix + "attn_k_norm.weight", c_.head_dim);
    }
    w.attention_out = tensors_.matrix(prefix + "attn_output.weight", c_.width, query_width);
    w.ffn_norm = tensors_.vector(prefix + "ffn_norm.weight", c_.width);
    w.gate = tensors_.matrix(prefix + "ffn_gate.weight", c_.ffn_width, c_.width);
    w.up = tensors_.matrix(prefix + "ffn_up.weight", c_.ffn_width, c_.width);
    w.down = tensors_.matrix(prefix + "ffn_down.weight", c_.width, c_.ffn_width);
    return w;
  }

  TensorSet& tensors_;
  const ModelConfig& c_;
  RowOrder query_order_, key_order_;  // null: as stored
};

TensorSet tensors_of(const GgufFile& file, const FileBytes& bytes, const ModelConfig& config) {
  TensorSet tensors(file.name(), "a " + config.architecture + " model of this file's metadata");
  for (const GgufTensor& tensor : file.tensors()) {
    tensors.add({tensor.name,
                 tensor.type,
                 tensor.shape,
                 {bytes.data, bytes.data.get() + tensor.begin},
                 static_cast<std::size_t>(tensor.n_bytes),
                 file.name(),
                 bytes.is_mapped});
  }
  return tensors;
}

}  // namespace

Model load_gguf(const std::filesystem::path& path) {
  const auto mapped = MappedFile::open(path);
  Model model = read_gguf(mapped->all(), mapped->name(), n_reading_threads());
  model.name = path.filename().string();
  return model;
}

Model read_gguf(const FileBytes& bytes, const std::string& name, int n_threads) {
  const GgufFile file({bytes.data.get(), bytes.size}, name);
  Model model;
  model.name = name;
  model.config = read_gguf_config(file);
  model.tokenizer = Tokenizer::from_gguf(load_gguf_vocabulary(file), file.name());
  TensorSet tensors = tensors_of(file, bytes, model.config);
  model.weights = WeightTaker(tensors, model.config).take();
  // The factors have gone into the config's frequencies.
  tensors.expect_all_taken([](std::string_view tensor) { return tensor == kGgufRopeFactors; });
  model.weights_hash = tensors.inspect(n_threads);
  model.weights_dtype = tensors.dtype();
  return model;
}

}  // namespace specbench::engine
