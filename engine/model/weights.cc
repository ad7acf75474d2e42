#include "engine/model/weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/error.h"
#include "engine/model/config.h"
#include "engine/model/input_file.h"
#include "engine/model/json.h"
#include "engine/model/safetensors.h"
#include "engine/model/tensors.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr std::uint64_t kMaxIndexBytes = 64 << 20;
constexpr std::size_t kMaxShards = 1000;    // each is a mapping of its own
constexpr std::size_t kMaxShardName = 255;  // the longest name that file systems have
constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

/// Tensor name to the file that must hold it.
using WeightMap = std::map<std::string, std::string, std::less<>>;

/// A shard lies beside its index: a path could name any file of the machine. Errors name it, so it
/// has nothing that a terminal obeys.
bool is_shard_name(std::string_view name) {
  return name.size() <= kMaxShardName && name.ends_with(".safetensors") &&
         std::none_of(name.begin(), name.end(), [](char c) { return c == '/' || is_control(c); });
}

WeightMap read_index(const std::filesystem::path& path) {
  const std::string file = path.string();
  const JsonValue root = parse_json(read_text(path, kMaxIndexBytes), file);
  const JsonView map = JsonView(file, root).at("weight_map");
  WeightMap placed;
  for (const JsonMember& member : map.as_object()) {
    const JsonView entry = map.child(member);
    const std::string& shard = entry.as_string();
    if (!is_shard_name(shard))
      entry.fail("expected the name of a .safetensors file in the same directory");
    placed.emplace(member.key, shard);
  }
  if (placed.empty()) map.fail("it lists no tensor");
  return placed;
}

/// Tensors that a file may hold, or its index name, though the model does without them.
bool may_stay_unused(std::string_view name, const ModelConfig& config) {
  // Old checkpoints store the rotary frequencies, which follow from the config.
  return name.ends_with("rotary_emb.inv_freq") || (config.tied_head && name == "lm_head.weight");
}

/// The files that hold what the model needs.
std::vector<std::string> shard_names(const WeightMap& placed, const ModelConfig& config,
                                     const std::filesystem::path& directory) {
  const std::string index = (directory / kIndexFile).string();
  std::set<std::string> names;
  for (const auto& [tensor, shard] : placed)
    if (!may_stay_unused(tensor, config)) names.insert(shard);
  if (names.size() > kMaxShards) {
    throw InputError(index + " lists " + std::to_string(names.size()) + " files; at most " +
                     std::to_string(kMaxShards) + " are read.");
  }
  std::error_code ignored;
  for (const std::string& name : names)
    if (!std::filesystem::exists(directory / name, ignored))
      throw InputError(index + " lists '" + name + "', which is not beside it; fetch it too.");
  return {names.begin(), names.end()};
}

std::string only_safetensors_file(const std::filesystem::path& directory) {
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".safetensors")
      found.push_back(entry->path().filename().string());
  }
  if (found.size() == 1) return found.front();
  throw InputError(directory.string() + " holds " + std::to_string(found.size()) +
                   " *.safetensors files and neither " + kSingleFile + " nor " + kIndexFile +
                   "; expected one of these two.");
}

/// Both must say the same of where each tensor lies that the model needs.
void check_placement(const WeightMap& placed, const std::map<std::string, std::string>& found,
                     const ModelConfig& config, const std::filesystem::path& directory) {
  for (const auto& [name, shard] : placed) {
    if (may_stay_unused(name, config)) continue;
    const std::string expected = (directory / shard).string();
    const auto place = found.find(name);
    if (place == found.end() || place->second != expected) {
      throw InputError(expected + " lacks tensor " + quote(name) + ", which " + kIndexFile +
                       " places there; fetch both again.");
    }
  }
  for (const auto& [name, file] : found) {
    if (placed.contains(name) || may_stay_unused(name, config)) continue;
    throw InputError(file + ": tensor " + quote(name) + " is not listed in " + kIndexFile +
                     "; fetch both again.");
  }
}

TensorSet open_tensors(const std::filesystem::path& directory, const ModelConfig& config) {
  std::error_code ignored;
  WeightMap placed;
  std::vector<std::string> names = {kSingleFile};
  if (!std::filesystem::exists(directory / kSingleFile, ignored)) {
    if (std::filesystem::exists(directory / kIndexFile, ignored)) {
      placed = read_index(directory / kIndexFile);
      names = shard_names(placed, config, directory);
    } else {
      names = {only_safetensors_file(directory)};
    }
  }
  TensorSet tensors(directory.string(),
                    "a " + class_of(config.architecture) + " of this config.json");
  std::map<std::string, std::string> found;  // tensor to file
  for (const std::string& name : names) {
    for (StoredTensor& tensor : open_safetensors(directory / name)) {
      found.emplace(tensor.name, tensor.file);
      tensors.add(std::move(tensor));
    }
  }
  if (!placed.empty()) check_placement(placed, found, config, directory);
  return tensors;
}

LayerWeights read_layer(TensorSet& tensors, const ModelConfig& config, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const int width = config.width;
  const int query_width = config.n_heads * config.head_dim;
  const int kv_width = config.n_kv_heads * config.head_dim;
  LayerWeights weights;
  weights.attention_norm = tensors.vector(prefix + "input_layernorm.weight", width);
  weights.query = tensors.matrix(prefix + "self_attn.q_proj.weight", query_width, width);
  weights.key = tensors.matrix(prefix + "self_attn.k_proj.weight", kv_width, width);
  weights.value = tensors.matrix(prefix + "self_attn.v_proj.weight", kv_width, width);
  if (config.has_qkv_bias) {
    weights.query_bias = tensors.vector(prefix + "self_attn.q_proj.bias", query_width);
    weights.key_bias = tensors.vector(prefix + "self_attn.k_proj.bias", kv_width);
    weights.value_bias = tensors.vector(prefix + "self_attn.v_proj.bias", kv_width);
  }
  if (config.has_qk_norm) {
    weights.query_norm = tensors.vector(prefix + "self_attn.q_norm.weight", config.head_dim);
    weights.key_norm = tensors.vector(prefix + "self_attn.k_norm.weight", config.head_dim);
  }
  weights.attention_out = tensors.matrix(prefix + "self_attn.o_proj.weight", width, query_width);
  weights.ffn_norm = tensors.vector(prefix + "post_attention_layernorm.weight", width);
  weights.gate = tensors.matrix(prefix + "mlp.gate_proj.weight", config.ffn_width, width);
  weights.up = tensors.matrix(prefix + "mlp.up_proj.weight", config.ffn_width, width);
  weights.down = tensors.matrix(prefix + "mlp.down_proj.weight", width, config.ffn_width);
  return weights;
}

bool is_equal(const Matrix& a, const Matrix& b) {
  if (a.type == b.type) return std::memcmp(a.data.get(), b.data.get(), a.n_bytes()) == 0;
  std::vector<float> of_a(static_cast<std::size_t>(a.n_cols)), of_b(of_a.size());
  for (int r = 0; r < a.n_rows; ++r) {
    a.read_row(r, of_a.data());
    b.read_row(r, of_b.data());
    if (of_a != of_b) return false;
  }
  return true;
}

/// A tied model may carry a copy of the embedding as its head; a different head contradicts the
/// config.
void check_tied_copy(TensorSet& tensors, const ModelConfig& config, const Matrix& embedding,
                     const std::filesystem::path& directory) {
  if (!tensors.has("lm_head.weight")) return;
  const Matrix head = tensors.matrix("lm_head.weight", config.vocab_size, config.width);
  if (is_equal(head, embedding)) return;
  throw InputError(directory.string() +
                   ": tensor 'lm_head.weight' differs from 'model.embed_tokens.weight' although "
                   "config.json sets "
                   "tie_word_embeddings; set it to false to use the separate head.");
}

}  // namespace

StoredWeights read_weights(const std::filesystem::path& directory, const ModelConfig& config,
                           int n_threads) {
  TensorSet tensors = open_tensors(directory, config);
  StoredWeights stored;
  Weights& weights = stored.weights;
  weights.embedding = tensors.matrix("model.embed_tokens.weight", config.vocab_size, config.width);
  for (int layer = 0; layer < config.n_layers; ++layer) {
    weights.layers.push_back(read_layer(tensors, config, layer));
  }
  weights.final_norm = tensors.vector("model.norm.weight", config.width);
  if (config.tied_head) {
    check_tied_copy(tensors, config, weights.embedding, directory);
  } else {
    weights.head = tensors.matrix("lm_head.weight", config.vocab_size, config.width);
  }
  tensors.expect_all_taken([&](std::string_view name) { return may_stay_unused(name, config); });
  stored.hash = tensors.inspect(n_threads);
  stored.dtype = tensors.dtype();
  return stored;
}

}  // namespace specbench::engine
