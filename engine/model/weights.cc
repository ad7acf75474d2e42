#include "engine/model/weights.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/error.h"
#include "engine/model/input_file.h"
#include "engine/model/json.h"
#include "engine/model/safetensors.h"

namespace specbench::engine {

namespace {

constexpr std::uint64_t kMaxIndexBytes = 64 << 20;
constexpr std::size_t kMaxShards = 1000;  // each holds a file descriptor while the model is read
constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

/// Tensor name to the file that must hold it.
using WeightMap = std::map<std::string, std::string, std::less<>>;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < std::min<std::size_t>(shape.size(), 8); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() > 8 ? ", ...]" : "]");
}

WeightMap read_index(const std::filesystem::path& path) {
  const std::string file = path.string();
  const JsonValue root = parse_json(read_text(path, kMaxIndexBytes), file);
  const JsonView map = JsonView(file, root).at("weight_map");
  WeightMap placed;
  for (const JsonMember& member : map.as_object()) {
    const JsonView entry = map.child(member);
    const std::string& shard = entry.as_string();
    // A shard lies beside its index: a path could name any file of the machine.
    if (shard.find('/') != std::string::npos || !shard.ends_with(".safetensors")) {
      entry.fail("expected the name of a .safetensors file in the same directory");
    }
    placed.emplace(member.key, shard);
  }
  if (placed.empty()) map.fail("it lists no tensor");
  return placed;
}

std::vector<std::string> shard_names(const WeightMap& placed, const std::string& index) {
  std::set<std::string> names;
  for (const auto& [tensor, shard] : placed) names.insert(shard);
  if (names.size() > kMaxShards) {
    throw InputError(index + " lists " + std::to_string(names.size()) + " files; at most " +
                     std::to_string(kMaxShards) + " are read.");
  }
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

/// All tensors of a model by name, over its files. Each is taken once; what is left at the end is
/// reported.
class TensorStore {
 public:
  explicit TensorStore(const std::filesystem::path& directory) : directory_(directory.string()) {
    std::error_code ignored;
    if (std::filesystem::exists(directory / kSingleFile, ignored)) {
      open(directory, {kSingleFile});
    } else if (std::filesystem::exists(directory / kIndexFile, ignored)) {
      const WeightMap placed = read_index(directory / kIndexFile);
      open(directory, shard_names(placed, (directory / kIndexFile).string()));
      check_placement(placed);
    } else {
      open(directory, {only_safetensors_file(directory)});
    }
  }

  std::vector<float> take(const std::string& name, const std::vector<std::int64_t>& shape) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      throw InputError(
          directory_ + ": tensor " + quote(name) +
          " is missing from the weight files; a LlamaForCausalLM of this config.json needs it.");
    }
    const auto [file, tensor] = found->second;
    if (tensor->shape != shape) {
      throw InputError(file->file().name() + ": tensor " + quote(name) + " has shape " +
                       shape_text(tensor->shape) + "; config.json asks for " + shape_text(shape) +
                       ".");
    }
    dtypes_.insert(dtype_name(tensor->dtype));
    tensors_.erase(found);
    return file->read(*tensor);
  }

  std::vector<float> vector(const std::string& name, int size) { return take(name, {size}); }

  Matrix matrix(const std::string& name, int n_rows, int n_cols) {
    return make_matrix(n_rows, n_cols, take(name, {n_rows, n_cols}));
  }

  bool has(const std::string& name) const { return tensors_.contains(name); }

  /// Throws if a tensor was not taken. Old checkpoints store the rotary frequencies, which follow
  /// from the config.
  void expect_all_taken() const {
    for (const auto& [name, place] : tensors_) {
      if (name.ends_with("rotary_emb.inv_freq")) continue;
      throw InputError(
          place.first->file().name() + ": tensor " + quote(name) +
          " is not part of a LlamaForCausalLM with this config.json; what it does to the output "
          "is unknown, so the model is refused.");
    }
  }

  std::uint64_t hash() const {
    std::uint64_t hash = kFnvOffset;
    for (const SafetensorsFile& file : files_) hash = file.file().hash(hash);
    return hash;
  }

  std::string dtype() const { return dtypes_.size() == 1 ? *dtypes_.begin() : "mixed"; }

 private:
  using Place = std::pair<const SafetensorsFile*, const TensorInfo*>;

  /// `names` in file-name order.
  void open(const std::filesystem::path& directory, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const SafetensorsFile& file = files_.emplace_back(directory / name);
      for (const TensorInfo& tensor : file.tensors()) {
        const auto [earlier, is_new] = tensors_.emplace(tensor.name, Place{&file, &tensor});
        if (is_new) continue;
        throw InputError(file.file().name() + ": tensor " + quote(tensor.name) + " also lies in " +
                         earlier->second.first->file().name() + "; one of them must go.");
      }
    }
  }

  void check_placement(const WeightMap& placed) const {
    for (const auto& [name, shard] : placed) {
      const auto found = tensors_.find(name);
      const std::string expected = (std::filesystem::path(directory_) / shard).string();
      if (found == tensors_.end() || found->second.first->file().name() != expected) {
        throw InputError(expected + " lacks tensor " + quote(name) + ", which " + kIndexFile +
                         " places there; fetch both again.");
      }
    }
    for (const auto& [name, place] : tensors_) {
      if (placed.contains(name)) continue;
      throw InputError(place.first->file().name() + ": tensor " + quote(name) +
                       " is not listed in " + kIndexFile + "; fetch both again.");
    }
  }

  std::string directory_;
  std::deque<SafetensorsFile> files_;  // a deque: tensors_ points into it
  std::map<std::string, Place, std::less<>> tensors_;
  std::set<std::string> dtypes_;
};

LayerWeights read_layer(TensorStore& store, const ModelConfig& config, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const int width = config.width;
  const int query_width = config.n_heads * config.head_dim;
  const int kv_width = config.n_kv_heads * config.head_dim;
  LayerWeights weights;
  weights.attention_norm = store.vector(prefix + "input_layernorm.weight", width);
  weights.query = store.matrix(prefix + "self_attn.q_proj.weight", query_width, width);
  weights.key = store.matrix(prefix + "self_attn.k_proj.weight", kv_width, width);
  weights.value = store.matrix(prefix + "self_attn.v_proj.weight", kv_width, width);
  weights.attention_out = store.matrix(prefix + "self_attn.o_proj.weight", width, query_width);
  weights.ffn_norm = store.vector(prefix + "post_attention_layernorm.weight", width);
  weights.gate = store.matrix(prefix + "mlp.gate_proj.weight", config.ffn_width, width);
  weights.up = store.matrix(prefix + "mlp.up_proj.weight", config.ffn_width, width);
  weights.down = store.matrix(prefix + "mlp.down_proj.weight", width, config.ffn_width);
  return weights;
}

/// A tied model may carry a copy of the embedding as its head; a different head contradicts the
/// config.
void check_tied_copy(TensorStore& store, const ModelConfig& config, const Matrix& embedding,
                     const std::filesystem::path& directory) {
  if (!store.has("lm_head.weight")) return;
  const Matrix head = store.matrix("lm_head.weight", config.vocab_size, config.width);
  if (to_floats(head) == to_floats(embedding)) return;
  throw InputError(directory.string() +
                   ": tensor 'lm_head.weight' differs from 'model.embed_tokens.weight' although "
                   "config.json sets "
                   "tie_word_embeddings; set it to false to use the separate head.");
}

}  // namespace

StoredWeights read_weights(const std::filesystem::path& directory, const ModelConfig& config) {
  TensorStore store(directory);
  StoredWeights stored;
  Weights& weights = stored.weights;
  weights.embedding = store.matrix("model.embed_tokens.weight", config.vocab_size, config.width);
  for (int layer = 0; layer < config.n_layers; ++layer) {
    weights.layers.push_back(read_layer(store, config, layer));
  }
  weights.final_norm = store.vector("model.norm.weight", config.width);
  if (config.tied_head) {
    check_tied_copy(store, config, weights.embedding, directory);
  } else {
    weights.head = store.matrix("lm_head.weight", config.vocab_size, config.width);
  }
  store.expect_all_taken();
  stored.hash = store.hash();
  stored.dtype = store.dtype();
  return stored;
}

}  // namespace specbench::engine
