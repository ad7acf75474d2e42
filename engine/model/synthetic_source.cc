#include "engine/model/synthetic_source.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "engine/error.h"
#include "engine/model/input_file.h"
#include "engine/model/rope.h"

namespace specbench::engine {

namespace {

constexpr std::string_view kPrefix = "synthetic:";

ModelConfig shape_of(int width, int layers, int heads, int kv_heads, int ffn_width, int vocab) {
  ModelConfig c;
  c.width = width;
  c.n_layers = layers;
  c.n_heads = heads;
  c.n_kv_heads = kv_heads;
  c.head_dim = 64;
  c.ffn_width = ffn_width;
  c.vocab_size = vocab;
  c.norm_eps = 1e-5;
  c.rope_theta = 10'000.0;
  return c;
}

/// Llama 3.2 1B.
ModelConfig llama_1b() {
  ModelConfig c = shape_of(2048, 16, 32, 8, 8192, 128'256);
  c.max_positions = 131'072;
  c.tied_head = true;
  c.rope_theta = 500'000.0;
  RopeScaling scaling;
  scaling.kind = RopeScaling::Kind::kLlama3;
  scaling.factor = 32.0;
  scaling.low_freq_factor = 1.0;
  scaling.high_freq_factor = 4.0;
  scaling.original_positions = 8192;
  const RopeAngles angles = rope_angles(c.head_dim, c.rope_theta, scaling);
  c.rope_frequencies = angles.frequencies;
  c.rope_magnitude = angles.magnitude;
  return c;
}

/// Llama 2 7B.
ModelConfig llama_7b() {
  ModelConfig c = shape_of(4096, 32, 32, 32, 11'008, 32'000);
  c.head_dim = 128;
  c.max_positions = 4096;
  return c;
}

/// Every input a whole block of every type, and quickly run by the reference backend.
ModelConfig tiny() {
  ModelConfig c = shape_of(256, 8, 4, 2, 512, 512);
  c.max_positions = 512;
  return c;
}

struct Shape {
  std::string_view name;
  ModelConfig (*config)();
};
constexpr Shape kShapes[] = {{"llama-1b", llama_1b}, {"llama-7b", llama_7b}, {"tiny", tiny}};

struct TypeWord {
  std::string_view word;
  WeightType type;
};
constexpr TypeWord kTypeWords[] = {
    {"f32", WeightType::kF32},   {"f16", WeightType::kF16},   {"bf16", WeightType::kBF16},
    {"q8_0", WeightType::kQ8_0}, {"q4_0", WeightType::kQ4_0}, {"q4_1", WeightType::kQ4_1},
    {"q5_0", WeightType::kQ5_0}, {"q5_1", WeightType::kQ5_1}, {"q4_k", WeightType::kQ4_K},
    {"q5_k", WeightType::kQ5_K}, {"q6_k", WeightType::kQ6_K}, {"q4", WeightType::kQ4_0}};

[[noreturn]] void refuse(std::string_view source, const std::string& what) {
  std::string shapes, types;
  for (const Shape& shape : kShapes)
    shapes += (shapes.empty() ? "" : ", ") + std::string(shape.name);
  for (const TypeWord& type : kTypeWords)
    types += (types.empty() ? "" : ", ") + std::string(type.word);
  throw InputError("the model " + quote(source) + " " + what +
                   "; supported is synthetic:<shape>[-<type>][:seed=N][:later=X] with shape " +
                   shapes + ", type " + types + ", and X from 0 to 1.");
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && read_to == end ? std::optional(number) : std::nullopt;
}

/// False where the words name no shape, or no type behind it.
bool read_shape(std::string_view words, SyntheticSpec& spec) {
  for (const Shape& shape : kShapes) {
    if (!words.starts_with(shape.name)) continue;
    const std::string_view rest = words.substr(shape.name.size());
    const auto* const type = std::find_if(
        std::begin(kTypeWords), std::end(kTypeWords),
        [&](const TypeWord& t) { return rest.starts_with('-') && rest.substr(1) == t.word; });
    if (!rest.empty() && type == std::end(kTypeWords)) continue;
    spec.shape = shape.name;
    spec.config = shape.config();
    if (!rest.empty()) spec.type = type->type;
    return true;
  }
  return false;
}

void read_setting(std::string_view setting, std::string_view source, SyntheticSpec& spec) {
  const std::string_view value = setting.substr(std::min(setting.find('=') + 1, setting.size()));
  const auto seed = number_of<std::uint64_t>(value);
  const auto later = number_of<double>(value);
  if (setting.starts_with("seed=") && seed)
    spec.seed = *seed;
  else if (setting.starts_with("later=") && later && *later >= 0.0 && *later <= 1.0)
    spec.later = *later;
  else
    refuse(source, "has the setting " + quote(setting));
}

std::string text_of(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

}  // namespace

SyntheticSpec read_synthetic_source(std::string_view source) {
  SyntheticSpec spec;
  std::string_view rest = source;
  if (!rest.starts_with(kPrefix)) refuse(source, "is not synthetic");
  rest.remove_prefix(kPrefix.size());
  const std::string_view shape = rest.substr(0, rest.find(':'));
  if (!read_shape(shape, spec)) refuse(source, "has the shape and type " + quote(shape));
  rest.remove_prefix(shape.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view setting = rest.substr(0, rest.find(':'));
    read_setting(setting, source, spec);
    rest.remove_prefix(setting.size());
  }
  return spec;
}

std::string canonical_source(const SyntheticSpec& spec) {
  std::string text = std::string(kPrefix) + std::string(spec.shape) + '-';
  for (const TypeWord& type : kTypeWords) {
    if (type.type != spec.type) continue;
    text += type.word;
    break;
  }
  if (spec.seed != SyntheticSpec{}.seed) text += ":seed=" + std::to_string(spec.seed);
  if (spec.later != SyntheticSpec{}.later) text += ":later=" + text_of(spec.later);
  return text;
}

}  // namespace specbench::engine
