#include "engine/model/gguf_config.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/error.h"
#include "engine/model/config_limits.h"
#include "engine/model/gguf_rope.h"
#include "engine/model/input_file.h"
#include "engine/model/tokenizer_gguf.h"

namespace specbench::engine {

namespace {

constexpr std::int32_t kControlToken = 3;  // as a type (gguf_vocabulary.h)

bool is_zero(const GgufField& field) { return field.as_number() == 0.0; }

/// Shards and adapters lack the keys of a model, so they are told apart before any is asked for.
void check_is_whole_model(const GgufFile& file) {
  if (const auto count = file.find("split.count"); count && count->as_integer_in(0, 65535) > 1) {
    count->fail(
        "a model split over several files is not supported, so merge it into one "
        "(llama-gguf-split --merge)");
  }
  if (const auto type = file.find("general.type"); type && type->as_string() != "model") {
    type->fail("only 'model' is supported");
  }
  // Of how ggml's blocks are laid out; it has not changed since the format exists.
  const auto quantization = file.find("general.quantization_version");
  if (quantization && quantization->as_integer_in(0, 65535) != 2)
    quantization->fail("only 2 is supported, so convert the model again");
}

std::string read_architecture(const GgufFile& file) {
  const GgufField name = file.at("general.architecture");
  const auto known = {"llama", "qwen2", "qwen3"};
  if (std::find(known.begin(), known.end(), name.as_string()) == known.end()) {
    name.fail("llama (also SmolLM and Mistral), qwen2 and qwen3 are supported");
  }
  return std::string(name.as_string());
}

/// Keys that change what a model computes, and that these architectures do without.
void check_unsupported(const GgufFile& file, const std::string& prefix) {
  constexpr struct {
    const char* key;
    const char* what;
  } kUnsupported[] = {
      {"expert_count", "a mixture of experts is"},
      {"attention.scale", "another scale of attention scores is"},
      {"attention.max_alibi_bias", "ALiBi is"},
      {"attention.clamp_kqv", "clamping of queries, keys and values is"},
      {"attn_logit_softcapping", "capping of attention scores is"},
      {"final_logit_softcapping", "capping of logits is"},
      {"logit_scale", "scaling of logits is"},
      {"embedding_scale", "scaling of embeddings is"},
      {"residual_scale", "scaling of residuals is"},
  };
  for (const auto& one : kUnsupported) {
    const auto field = file.find(prefix + one.key);
    if (field && !is_zero(*field))
      field->fail(std::string(one.what) + " not supported; use a model without it");
  }
  if (const auto causal = file.find(prefix + "attention.causal"); causal && !causal->as_bool())
    causal->fail("only causal attention is supported");
  const auto parallel = file.find(prefix + "use_parallel_residual");
  if (parallel && parallel->as_bool()) parallel->fail("parallel residuals are not supported");
}

/// Up to the window's length every position sees all before it. The architecture llama is also
/// Mistral's, where the window is on; whether other architectures use it, the file does not say.
void read_window(const GgufFile& file, const std::string& prefix, ModelConfig& config) {
  const auto window = file.find(prefix + "attention.sliding_window");
  if (!window || is_zero(*window) || window->as_number() >= config.max_positions) return;
  if (config.architecture != "llama")
    window->fail("sliding-window attention is not supported; use a model without it");
  config.max_positions = positive(*window, kMaxPositions);
}

void read_heads(const GgufFile& file, const std::string& prefix, ModelConfig& config) {
  const GgufField heads = file.at(prefix + "attention.head_count");
  config.n_heads = positive(heads, kMaxHeads);
  config.n_kv_heads = config.n_heads;
  if (const auto field = file.find(prefix + "attention.head_count_kv")) {
    config.n_kv_heads = positive(*field, kMaxHeads);
    if (config.n_heads % config.n_kv_heads != 0) {
      field->fail("it must divide " + prefix + "attention.head_count, which is " +
                  std::to_string(config.n_heads));
    }
  }
  const auto key_length = file.find(prefix + "attention.key_length");
  if (key_length) {
    config.head_dim = positive(*key_length, kMaxHeadDim);
    if (config.head_dim % 2 != 0) key_length->fail("RoPE rotates pairs, so it must be even");
  } else {
    config.head_dim = config.width / config.n_heads;
    if (config.width % config.n_heads != 0 || config.head_dim % 2 != 0 ||
        config.head_dim > kMaxHeadDim || config.head_dim == 0) {
      heads.fail("without " + prefix + "attention.key_length, " + prefix + "embedding_length (" +
                 std::to_string(config.width) + ") over it must be an even integer of at most " +
                 std::to_string(kMaxHeadDim));
    }
  }
  const auto value_length = file.find(prefix + "attention.value_length");
  const std::string of_keys = "keys have " + std::to_string(config.head_dim) +
                              ", and only heads of one length are supported";
  if (value_length && value_length->as_number() != config.head_dim) value_length->fail(of_keys);
  // The format's default of the absent one is the width over the heads.
  if (key_length && !value_length && config.head_dim * config.n_heads != config.width) {
    key_length->fail("without " + prefix + "attention.value_length, values have " +
                     std::to_string(config.width / config.n_heads) +
                     ", and only heads of one length are supported");
  }
}

/// Texts and types of the tokens.
struct TokenList {
  std::vector<std::string> texts;
  std::vector<std::int32_t> types;  ///< empty where the file has not one for each text
};

TokenList read_tokens(const GgufFile& file) {
  TokenList tokens;
  tokens.texts = file.at("tokenizer.ggml.tokens").as_strings();
  const auto types = file.find("tokenizer.ggml.token_type");
  if (types && types->n_items() == tokens.texts.size())
    tokens.types = types->as_integers_in(0, 255);
  return tokens;
}

/// Returns the tokens once it has checked how many there are.
TokenList read_vocab_size(const GgufFile& file, ModelConfig& config) {
  const GgufField tokens = file.at("tokenizer.ggml.tokens");
  const std::uint64_t n_listed = tokens.n_items();
  const GgufTensor* const embedding = file.tensor(kGgufEmbedding);
  if (embedding == nullptr) {
    throw InputError(file.name() + ": tensor " + quote(kGgufEmbedding) +
                     " is missing; every model needs it.");
  }
  const std::int64_t n_rows = embedding->shape.size() == 2 ? embedding->shape[0] : 0;
  if (n_rows < 1 || n_rows > kMaxVocab) {
    throw InputError(file.name() + ": tensor " + quote(kGgufEmbedding) + " has " +
                     std::to_string(embedding->shape.size()) + " dimensions and " +
                     std::to_string(n_rows) + " rows; expected 2 and from 1 to " +
                     std::to_string(kMaxVocab) + ".");
  }
  if (n_listed == 0 || n_listed > static_cast<std::uint64_t>(n_rows)) {
    tokens.fail("expected from 1 to " + std::to_string(n_rows) + ", the rows of " + kGgufEmbedding);
  }
  config.vocab_size = static_cast<int>(n_rows);
  TokenList all = read_tokens(file);
  const int n_tokens = static_cast<int>(count_gguf_tokens(all.texts, all.types));
  if (n_tokens == 0) tokens.fail("all of them are marked as unused");
  if (n_tokens < config.vocab_size) config.n_tokens = n_tokens;
  return all;
}

bool is_sentencepiece(const GgufFile& file) {
  return file.at("tokenizer.ggml.model").as_string() == "llama";
}

/// Where the file does not say, whether BOS goes first depends on the tokenizer: always with
/// SentencePiece, with byte-level BPE ("gpt2") for the families of these splitters.
bool adds_bos(const GgufFile& file) {
  if (const auto field = file.find("tokenizer.ggml.add_bos_token")) return field->as_bool();
  if (is_sentencepiece(file)) return true;
  const auto pre = file.find("tokenizer.ggml.pre");
  return pre && gguf_pattern_adds_bos(pre->as_string());
}

/// Of the tokens at which llama.cpp stops whatever the keys say, those that end a turn or a
/// document; not those that part the files of a repository.
bool ends_a_text(std::string_view token) {
  static constexpr std::string_view kEnds[] = {"<|eot_id|>", "<|eom_id|>",    "<|im_end|>",
                                               "<|end|>",    "<|endoftext|>", "<|end_of_text|>",
                                               "</s>",       "<end_of_turn>"};
  return std::find(std::begin(kEnds), std::end(kEnds), token) != std::end(kEnds);
}

void read_special_tokens(const GgufFile& file, const TokenList& tokens, ModelConfig& config) {
  const int n_tokens = config.n_tokens != 0 ? config.n_tokens : config.vocab_size;
  // SentencePiece numbers them so unless told otherwise; llama.cpp too where a file is silent.
  const bool has_usual_ids = is_sentencepiece(file) && n_tokens > 2;
  const auto find = [&](const char* key, TokenId usual) -> std::optional<TokenId> {
    if (const auto field = file.find(key))
      return static_cast<TokenId>(field->as_integer_in(0, n_tokens - 1));
    return has_usual_ids && usual > 0 ? std::optional(usual) : std::nullopt;
  };
  if (adds_bos(file)) {
    config.bos = find("tokenizer.ggml.bos_token_id", 1);
    const auto asked = file.find("tokenizer.ggml.add_bos_token");
    if (!config.bos && asked) asked->fail("but tokenizer.ggml.bos_token_id is missing");
  }
  const auto is_in = [](const std::vector<TokenId>& ids, TokenId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  for (const auto& [key, usual] :
       {std::pair("tokenizer.ggml.eos_token_id", 2), std::pair("tokenizer.ggml.eot_token_id", 0),
        std::pair("tokenizer.ggml.eom_token_id", 0)}) {
    const auto id = find(key, usual);
    if (id && !is_in(config.eos, *id)) config.eos.push_back(*id);
  }
  const std::vector<TokenId> named = config.eos;
  for (std::size_t id = 0; id < tokens.types.size(); ++id) {
    if (tokens.types[id] != kControlToken || !ends_a_text(tokens.texts[id])) continue;
    if (!is_in(named, static_cast<TokenId>(id))) config.eos.push_back(static_cast<TokenId>(id));
  }
}

}  // namespace

ModelConfig read_gguf_config(const GgufFile& file) {
  check_is_whole_model(file);
  ModelConfig config;
  config.architecture = read_architecture(file);
  const std::string prefix = config.architecture + ".";
  check_unsupported(file, prefix);
  config.width = positive(file.at(prefix + "embedding_length"), kMaxWidth);
  config.n_layers = positive(file.at(prefix + "block_count"), kMaxLayers);
  config.ffn_width = positive(file.at(prefix + "feed_forward_length"), kMaxFfnWidth);
  config.max_positions = positive(file.at(prefix + "context_length"), kMaxPositions);
  read_heads(file, prefix, config);
  config.norm_eps = read_norm_eps(file.at(prefix + "attention.layer_norm_rms_epsilon"));
  read_gguf_rope(file, prefix, config);
  read_window(file, prefix, config);  // shortens what the rotation's scaling may refer to
  read_special_tokens(file, read_vocab_size(file, config), config);
  config.has_qkv_bias =
      config.architecture == "qwen2" || file.tensor("blk.0.attn_q.bias") != nullptr;
  config.has_qk_norm = config.architecture == "qwen3";
  config.tied_head = file.tensor(kGgufHead) == nullptr;
  return config;
}

}  // namespace specbench::engine
