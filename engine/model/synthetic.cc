#include "engine/model/synthetic.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/memory_limit.h"
#include "engine/model/byte_alphabet.h"
#include "engine/model/filled_matrix.h"
#include "engine/model/synthetic_rows.h"
#include "engine/model/synthetic_source.h"
#include "engine/model/tokenizer_gguf.h"

namespace specbench::engine {

namespace {

constexpr int kBytes = 256;  // ids that stand for a byte each

/// Makes tensors one after another, each with a number of its own; or only counts their bytes.
class Maker {
 public:
  enum class Mode { kMake, kCount };
  Maker(const SyntheticSpec& spec, Mode mode) : spec_(spec), mode_(mode) {}

  Matrix matrix(int n_rows, int n_cols, double deviation) {
    const WeightType type = spec_.type;
    const std::uint32_t tensor = n_tensors_++;
    n_bytes_ += static_cast<std::size_t>(n_rows) * row_bytes(type, n_cols);
    if (mode_ == Mode::kCount) return {};
    return filled_matrix(n_rows, n_cols, type, [&](int first, int last, std::byte* out) {
      for (int r = first; r < last; ++r, out += row_bytes(type, n_cols))
        fill_row(type, deviation, {spec_.seed, tensor, static_cast<std::uint32_t>(r)}, n_cols, out);
    });
  }

  /// Of a norm: about 1.
  std::vector<float> gains(int n) {
    std::vector<float> values(static_cast<std::size_t>(n));
    fill_row(WeightType::kF32, 0.1, {spec_.seed, n_tensors_++, 0}, n,
             reinterpret_cast<std::byte*>(values.data()));
    for (float& value : values) value += 1.0F;
    return values;
  }

  std::size_t n_bytes() const { return n_bytes_; }

 private:
  const SyntheticSpec& spec_;
  Mode mode_;
  std::uint32_t n_tensors_ = 0;
  std::size_t n_bytes_ = 0;  ///< of matrices; gains are nothing beside them
};

// A state has a root mean square of about 1 behind a norm. Products with `in` keep it there, so
// that scores and gates spread by 1; what a layer adds is smaller; logits spread by 2.
LayerWeights make_layer(const ModelConfig& c, double added, Maker& maker) {
  const int q = c.n_heads * c.head_dim;
  const int kv = c.n_kv_heads * c.head_dim;
  const double in = 1.0 / std::sqrt(c.width);
  LayerWeights layer;
  layer.attention_norm = maker.gains(c.width);
  layer.query = maker.matrix(q, c.width, in);
  layer.key = maker.matrix(kv, c.width, in);
  layer.value = maker.matrix(kv, c.width, in);
  layer.attention_out = maker.matrix(c.width, q, 0.5 * added / std::sqrt(q));
  layer.ffn_norm = maker.gains(c.width);
  layer.gate = maker.matrix(c.ffn_width, c.width, in);
  layer.up = maker.matrix(c.ffn_width, c.width, in);
  layer.down = maker.matrix(c.width, c.ffn_width, 0.5 * added / std::sqrt(c.ffn_width));
  return layer;
}

Weights make_weights(const ModelConfig& c, const SyntheticSpec& spec, Maker& maker) {
  const double out = 2.0 / std::sqrt(c.width);
  const int n_early = std::max(1, c.n_layers / 4);  // where a draft leaves the model by default
  Weights weights;
  weights.embedding = maker.matrix(c.vocab_size, c.width, out);
  for (int layer = 0; layer < c.n_layers; ++layer)
    weights.layers.push_back(make_layer(c, layer < n_early ? 1.0 : spec.later, maker));
  weights.final_norm = maker.gains(c.width);
  if (!c.tied_head) weights.head = maker.matrix(c.vocab_size, c.width, out);
  return weights;
}

/// Bytes without merges: a vocabulary of GPT-2's kind.
Tokenizer make_tokenizer(int n_ids, const std::string& name) {
  constexpr std::int32_t kNormal = 1;
  GgufVocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "gpt-2";
  for (int id = 0; id < n_ids; ++id)
    vocabulary.tokens.push_back(id < kBytes ? byte_symbol(static_cast<std::uint8_t>(id))
                                            : "<" + std::to_string(id) + ">");
  vocabulary.types.assign(vocabulary.tokens.size(), kNormal);
  return Tokenizer::from_gguf(vocabulary, name);
}

}  // namespace

Model make_synthetic(std::string_view source, std::size_t memory_limit_bytes) {
  const SyntheticSpec spec = read_synthetic_source(source);
  Model model;
  model.name = canonical_source(spec);
  model.config = spec.config;
  model.config.bos = model.config.vocab_size - 2;
  model.config.eos = {model.config.vocab_size - 1};
  Maker count(spec, Maker::Mode::kCount);
  (void)make_weights(model.config, spec, count);
  require_memory(model.name, 2 * count.n_bytes(), memory_limit_bytes,
                 "its weights are held twice, as made and as packed, so take a shape or a type of "
                 "fewer bytes");
  Maker maker(spec, Maker::Mode::kMake);
  model.weights = make_weights(model.config, spec, maker);
  model.tokenizer = make_tokenizer(model.config.vocab_size, model.name);
  const std::string bytes_of = "specbench synthetic 1 " + model.name;
  model.weights_hash = XXH3_64bits(bytes_of.data(), bytes_of.size());
  model.weights_dtype = weight_type_name(spec.type);
  return model;
}

}  // namespace specbench::engine
