#include "engine/model/config.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

#include "engine/model/config_limits.h"
#include "engine/model/config_rope.h"
#include "engine/model/input_file.h"
#include "engine/model/json.h"

namespace specbench::engine {

namespace {

constexpr std::uint64_t kMaxConfigBytes = 16 << 20;

/// What sliding_window means to a model type.
enum class Window {
  kUnused,       ///< switched by use_sliding_window, which is refused where it is on
  kCapsIfGiven,  ///< no such field belongs there: whoever wrote it meant it
  kCaps          ///< on, 4096 where absent, null for none
};
constexpr int kDefaultWindow = 4096;

/// What a model type has fixed, and the values its config class gives to absent fields.
struct Architecture {
  const char* model_type;
  const char* class_name;
  int max_positions;
  int n_kv_heads;  ///< 0: as many as query heads
  int head_dim;    ///< 0: hidden_size / num_attention_heads
  Window window;
  bool has_qkv_bias;
  bool has_qk_norm;
};

constexpr Architecture kArchitectures[] = {
    {"llama", "LlamaForCausalLM", 2048, 0, 0, Window::kCapsIfGiven, false, false},
    {"mistral", "MistralForCausalLM", 131072, 8, 0, Window::kCaps, false, false},
    {"qwen2", "Qwen2ForCausalLM", 32768, 32, 0, Window::kUnused, true, false},
    {"qwen3", "Qwen3ForCausalLM", 32768, 32, 128, Window::kUnused, false, true},
};

const Architecture& read_architecture(const JsonView& top) {
  const JsonView type = top.at("model_type");
  const auto* found =
      std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                   [&](const Architecture& one) { return type.as_string() == one.model_type; });
  if (found == std::end(kArchitectures))
    type.fail("'llama', 'mistral', 'qwen2' and 'qwen3' are supported");
  if (const auto classes = top.find("architectures")) {
    for (std::size_t i = 0; i < classes->as_array().size(); ++i) {
      const JsonView name = classes->item(i);
      if (name.as_string() != found->class_name)
        name.fail("only " + quote(found->class_name) + " is supported with model_type " +
                  quote(found->model_type));
    }
  }
  return *found;
}

/// Null is not absent: it switches off what an absent field would switch on.
bool is_null(const JsonView& top, std::string_view key) {
  const auto& members = top.as_object();
  return !top.find(key) && std::any_of(members.begin(), members.end(),
                                       [&](const JsonMember& m) { return m.key == key; });
}

/// Fields that change what a model computes, and that a supported model has switched off.
void refuse_if_set(const JsonView& top, const char* key, const char* what) {
  const auto field = top.find(key);
  if (!field) return;
  if (const auto* flag = std::get_if<bool>(&field->value().data); flag != nullptr && !*flag) return;
  field->fail(std::string(what) + " not supported; use a model without it");
}

void check_unsupported(const JsonView& top, const Architecture& architecture) {
  if (const auto activation = top.find("hidden_act");
      activation && activation->as_string() != "silu")
    activation->fail("only 'silu' is supported");
  // It would put a bias on the output projection too. Qwen2 has no such field: its biases on query,
  // key and value are fixed.
  if (!architecture.has_qkv_bias)
    refuse_if_set(top, "attention_bias", "a bias on the output of attention is");
  refuse_if_set(top, "mlp_bias", "biases in the feed-forward layers are");
  refuse_if_set(top, "quantization_config", "quantized weights are");
  refuse_if_set(top, "use_sliding_window", "sliding-window attention is");
  refuse_if_set(top, "num_local_experts", "a mixture of experts is");
  refuse_if_set(top, "attn_logit_softcapping", "capping of attention scores is");
  refuse_if_set(top, "final_logit_softcapping", "capping of logits is");
  if (const auto types = top.find("layer_types")) {
    for (std::size_t i = 0; i < types->as_array().size(); ++i)
      if (types->item(i).as_string() != "full_attention")
        types->item(i).fail("only 'full_attention' is supported");
  }
  for (const auto& where : {std::optional(top), top.find("rope_parameters")}) {
    if (const auto part = where ? where->find("partial_rotary_factor") : std::nullopt;
        part && part->as_number() != 1.0)
      part->fail("only 1 (all of each head rotated) is supported");
  }
}

void read_kv_heads(const JsonView& top, const Architecture& architecture, ModelConfig& config) {
  config.n_kv_heads = architecture.n_kv_heads;
  if (config.n_kv_heads == 0 || is_null(top, "num_key_value_heads"))
    config.n_kv_heads = config.n_heads;
  const auto field = top.find("num_key_value_heads");
  if (field) config.n_kv_heads = positive(*field, kMaxHeads);
  if (config.n_heads % config.n_kv_heads == 0) return;
  if (field)
    field->fail("it must divide num_attention_heads, which is " + std::to_string(config.n_heads));
  top.at("num_attention_heads")
      .fail("num_key_value_heads, which is " + std::to_string(config.n_kv_heads) +
            " where it is absent, must divide it");
}

void read_head_dim(const JsonView& top, const Architecture& architecture, ModelConfig& config) {
  if (const auto field = top.find("head_dim")) {
    config.head_dim = positive(*field, kMaxHeadDim);
    if (config.head_dim % 2 != 0) field->fail("RoPE rotates pairs, so it must be even");
    return;
  }
  if (architecture.head_dim > 0) {
    config.head_dim = architecture.head_dim;
    return;
  }
  config.head_dim = config.width / config.n_heads;
  if (config.width % config.n_heads != 0 || config.head_dim % 2 != 0 ||
      config.head_dim > kMaxHeadDim) {
    top.at("hidden_size")
        .fail("without head_dim, hidden_size / num_attention_heads (" +
              std::to_string(config.n_heads) + ") must be an even integer of at most " +
              std::to_string(kMaxHeadDim));
  }
}

TokenId read_token(const JsonView& field, const ModelConfig& config) {
  const std::int64_t id = field.as_integer();
  if (id < 0 || id >= config.vocab_size) {
    field.fail("expected a token id below vocab_size, which is " +
               std::to_string(config.vocab_size));
  }
  return static_cast<TokenId>(id);
}

/// A token that is there already is not added twice.
void add_eos(const JsonView& top, ModelConfig& config) {
  const auto eos = top.find("eos_token_id");
  if (!eos) return;
  const auto add = [&](const JsonView& field) {
    const TokenId id = read_token(field, config);
    if (std::find(config.eos.begin(), config.eos.end(), id) == config.eos.end())
      config.eos.push_back(id);
  };
  if (std::holds_alternative<std::int64_t>(eos->value().data)) return add(*eos);
  if (!std::holds_alternative<std::vector<JsonValue>>(eos->value().data))
    eos->fail("expected a token id or an array of token ids");
  if (eos->as_array().size() > kMaxEos)
    eos->fail("it lists " + std::to_string(eos->as_array().size()) + " tokens, and at most " +
              std::to_string(kMaxEos) + " are supported");
  for (std::size_t i = 0; i < eos->as_array().size(); ++i) add(eos->item(i));
}

/// Up to the window's length every position sees all before it, so nothing has to be hidden while
/// no sequence is longer.
void read_positions(const JsonView& top, const Architecture& architecture, ModelConfig& config) {
  const auto given = top.find("max_position_embeddings");
  const int max_positions = given ? positive(*given, kMaxPositions) : architecture.max_positions;
  read_rope(top, max_positions, config);
  config.max_positions = max_positions;
  if (architecture.window == Window::kUnused || is_null(top, "sliding_window")) return;
  const auto window = top.find("sliding_window");
  if (!window && architecture.window == Window::kCapsIfGiven) return;
  config.max_positions =
      std::min(max_positions, window ? positive(*window, kMaxPositions) : kDefaultWindow);
}

}  // namespace

ModelConfig parse_config(std::string_view json, const std::string& file) {
  const JsonValue root = parse_json(json, file);
  const JsonView top(file, root);
  const Architecture& architecture = read_architecture(top);
  check_unsupported(top, architecture);

  ModelConfig config;
  config.architecture = architecture.model_type;
  config.has_qkv_bias = architecture.has_qkv_bias;
  config.has_qk_norm = architecture.has_qk_norm;
  config.vocab_size = positive(top.at("vocab_size"), kMaxVocab);
  config.width = positive(top.at("hidden_size"), kMaxWidth);
  config.n_layers = positive(top.at("num_hidden_layers"), kMaxLayers);
  config.ffn_width = positive(top.at("intermediate_size"), kMaxFfnWidth);
  config.n_heads = positive(top.at("num_attention_heads"), kMaxHeads);
  read_kv_heads(top, architecture, config);
  read_head_dim(top, architecture, config);
  const auto eps = top.find("rms_norm_eps");
  config.norm_eps = eps ? read_norm_eps(*eps) : 1e-6;
  read_positions(top, architecture, config);
  if (const auto field = top.find("tie_word_embeddings")) config.tied_head = field->as_bool();
  add_eos(top, config);
  return config;
}

void parse_generation_config(std::string_view json, const std::string& file, ModelConfig& config) {
  const JsonValue root = parse_json(json, file);
  add_eos(JsonView(file, root), config);
}

std::string class_of(std::string_view architecture) {
  for (const Architecture& one : kArchitectures)
    if (one.model_type == architecture) return one.class_name;
  return std::string(architecture);
}

ModelConfig read_config(const std::filesystem::path& file) {
  return parse_config(read_text(file, kMaxConfigBytes), file.string());
}

void read_generation_config(const std::filesystem::path& file, ModelConfig& config) {
  parse_generation_config(read_text(file, kMaxConfigBytes), file.string(), config);
}

}  // namespace specbench::engine
