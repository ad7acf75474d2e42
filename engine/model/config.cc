#include "engine/model/config.h"

#include <cmath>

#include "engine/error.h"
#include "engine/model/input_file.h"
#include "engine/model/json.h"

namespace specbench::engine {

namespace {

constexpr std::uint64_t kMaxConfigBytes = 16 << 20;

// Bounds far above any model published, low enough that a product of two fits in 64 bits with room
// to spare.
constexpr int kMaxVocab = 1 << 22;
constexpr int kMaxWidth = 1 << 16;
constexpr int kMaxLayers = 1 << 10;
constexpr int kMaxHeads = 1 << 10;
constexpr int kMaxHeadDim = 1 << 10;
constexpr int kMaxFfnWidth = 1 << 20;
constexpr int kMaxPositions = 1 << 24;

int positive(const JsonView& field, int most) {
  return static_cast<int>(field.as_integer_in(1, most));
}

/// Fields that change what a model computes, and that a plain Llama has switched off.
void refuse_if_set(const JsonView& top, const char* key, const char* what) {
  const auto field = top.find(key);
  if (!field) return;
  if (const auto* flag = std::get_if<bool>(&field->value().data); flag != nullptr && !*flag) return;
  field->fail(std::string(what) + " not supported; use a model without it");
}

void check_architecture(const JsonView& top) {
  const JsonView type = top.at("model_type");
  if (type.as_string() != "llama") {
    type.fail("only 'llama' (LlamaForCausalLM) is supported");
  }
  if (const auto architectures = top.find("architectures")) {
    for (std::size_t i = 0; i < architectures->as_array().size(); ++i) {
      const JsonView name = architectures->item(i);
      if (name.as_string() != "LlamaForCausalLM") {
        name.fail("only 'LlamaForCausalLM' is supported");
      }
    }
  }
  if (const auto activation = top.find("hidden_act")) {
    if (activation->as_string() != "silu") activation->fail("only 'silu' is supported");
  }
}

void check_unsupported(const JsonView& top) {
  refuse_if_set(top, "attention_bias", "biases in attention are");
  refuse_if_set(top, "mlp_bias", "biases in the feed-forward layers are");
  refuse_if_set(top, "quantization_config", "quantized weights are");
  refuse_if_set(top, "sliding_window", "sliding-window attention is");
  refuse_if_set(top, "num_local_experts", "a mixture of experts is");
  refuse_if_set(top, "attn_logit_softcapping", "capping of attention scores is");
  refuse_if_set(top, "final_logit_softcapping", "capping of logits is");
  if (const auto part = top.find("partial_rotary_factor"); part && part->as_number() != 1.0) {
    part->fail("only 1 (all of each head rotated) is supported");
  }
}

/// The frequency base. Both spellings are read: rope_theta with rope_scaling, and the newer
/// rope_parameters.
double read_rope_theta(const JsonView& top) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto scaling = top.find(key);
    if (!scaling) continue;
    for (const char* type_key : {"rope_type", "type"}) {
      const auto type = scaling->find(type_key);
      if (type && type->as_string() != "default") {
        type->fail("only 'default' (unscaled RoPE) is supported");
      }
    }
    if (std::string_view(key) == "rope_scaling" && !scaling->find("rope_type") &&
        !scaling->find("type")) {
      scaling->fail("a scaling without rope_type is not supported; only 'default' is");
    }
  }
  auto theta = top.find("rope_theta");
  if (const auto parameters = top.find("rope_parameters")) {
    if (auto inner = parameters->find("rope_theta")) theta = inner;
  }
  if (!theta) return 10000.0;
  if (!(theta->as_number() >= 1.0 && theta->as_number() <= 1e15)) {
    theta->fail("expected a number from 1 to 1e15");
  }
  return theta->as_number();
}

double read_norm_eps(const JsonView& top) {
  const auto eps = top.find("rms_norm_eps");
  if (!eps) return 1e-6;
  if (!(eps->as_number() > 0.0 && eps->as_number() <= 1.0)) {
    eps->fail("expected a number above 0, at most 1");
  }
  return eps->as_number();
}

void read_heads(const JsonView& top, ModelConfig& config) {
  config.n_heads = positive(top.at("num_attention_heads"), kMaxHeads);
  config.n_kv_heads = config.n_heads;
  if (const auto field = top.find("num_key_value_heads")) {
    config.n_kv_heads = positive(*field, kMaxHeads);
    if (config.n_heads % config.n_kv_heads != 0) {
      field->fail("it must divide num_attention_heads, which is " + std::to_string(config.n_heads));
    }
  }
  if (const auto field = top.find("head_dim")) {
    config.head_dim = positive(*field, kMaxHeadDim);
    if (config.head_dim % 2 != 0) field->fail("RoPE rotates pairs, so it must be even");
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

void read_special_tokens(const JsonView& top, ModelConfig& config) {
  if (const auto bos = top.find("bos_token_id")) config.bos = read_token(*bos, config);
  const auto eos = top.find("eos_token_id");
  if (!eos) return;
  if (std::holds_alternative<std::int64_t>(eos->value().data)) {
    config.eos.push_back(read_token(*eos, config));
    return;
  }
  for (std::size_t i = 0; i < eos->as_array().size(); ++i) {
    config.eos.push_back(read_token(eos->item(i), config));
  }
}

}  // namespace

ModelConfig parse_config(std::string_view json, const std::string& file) {
  const JsonValue root = parse_json(json, file);
  const JsonView top(file, root);
  check_architecture(top);
  check_unsupported(top);

  ModelConfig config;
  config.vocab_size = positive(top.at("vocab_size"), kMaxVocab);
  config.width = positive(top.at("hidden_size"), kMaxWidth);
  config.n_layers = positive(top.at("num_hidden_layers"), kMaxLayers);
  config.ffn_width = positive(top.at("intermediate_size"), kMaxFfnWidth);
  read_heads(top, config);
  config.norm_eps = read_norm_eps(top);
  config.rope_theta = read_rope_theta(top);
  config.max_positions = 2048;
  if (const auto field = top.find("max_position_embeddings")) {
    config.max_positions = positive(*field, kMaxPositions);
  }
  if (const auto field = top.find("tie_word_embeddings")) config.tied_head = field->as_bool();
  read_special_tokens(top, config);
  return config;
}

ModelConfig read_config(const std::filesystem::path& file) {
  return parse_config(read_text(file, kMaxConfigBytes), file.string());
}

}  // namespace specbench::engine
