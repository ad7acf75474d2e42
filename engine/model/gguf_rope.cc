#include "engine/model/gguf_rope.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/error.h"
#include "engine/model/config_limits.h"
#include "engine/model/gguf_config.h"
#include "engine/model/input_file.h"
#include "engine/model/rope.h"
#include "engine/model/tensors.h"

namespace specbench::engine {

namespace {

/// Keys by their end, as in "rope.scaling.factor".
class RopeKeys {
 public:
  RopeKeys(const GgufFile& file, const std::string& prefix)
      : file_(&file), prefix_(prefix + "rope.") {}
  std::optional<GgufField> find(const char* end) const { return file_->find(prefix_ + end); }
  double number(const char* end, double low, double high, double absent) const {
    const auto field = find(end);
    return field ? field->as_number_in(low, high) : absent;
  }

 private:
  const GgufFile* file_;
  std::string prefix_;
};

void read_yarn(const RopeKeys& keys, const ModelConfig& config, RopeScaling& scaling) {
  scaling.original_positions = config.max_positions;
  if (const auto field = keys.find("scaling.original_context_length")) {
    scaling.original_positions = static_cast<int>(field->as_integer_in(1, kMaxPositions));
  }
  if (const auto field = keys.find("scaling.yarn_ext_factor"); field && field->as_number() != 1.0) {
    field->fail("only 1 (the blend of YaRN in full) is supported");
  }
  scaling.beta_fast = keys.number("scaling.yarn_beta_fast", 1e-3, 1e6, scaling.beta_fast);
  scaling.beta_slow = keys.number("scaling.yarn_beta_slow", 1e-3, 1e6, scaling.beta_slow);
  if (scaling.beta_fast < scaling.beta_slow) {
    auto field = keys.find("scaling.yarn_beta_fast");
    if (!field) field = keys.find("scaling.yarn_beta_slow");
    field->fail("yarn_beta_fast (32 without the key) must not be below yarn_beta_slow (1)");
  }
  if (const auto field = keys.find("scaling.yarn_attn_factor"))
    scaling.attention_factor = field->as_number_in(1e-3, 1e3);
}

/// Without a type, a factor is linear; without a factor, nothing is scaled.
RopeScaling read_scaling(const RopeKeys& keys, const ModelConfig& config) {
  RopeScaling scaling;
  const auto type = keys.find("scaling.type");
  const std::string_view name = type ? type->as_string() : "linear";
  if (name != "none" && name != "linear" && name != "yarn")
    type->fail("'none', 'linear' and 'yarn' are supported");
  for (const char* end : {"scaling.yarn_log_multiplier", "scaling.alpha"}) {
    const auto field = keys.find(end);
    if (field && field->as_number() != 0.0)
      field->fail("it is not supported for this architecture");
  }
  auto factor = keys.find("scaling.factor");
  if (!factor) factor = keys.find("scale_linear");  // the older spelling
  if (!factor || name == "none") return scaling;
  scaling.factor = factor->as_number_in(1.0, 1e6);
  scaling.kind = name == "yarn" ? RopeScaling::Kind::kYarn : RopeScaling::Kind::kLinear;
  if (name == "yarn") read_yarn(keys, config, scaling);
  return scaling;
}

/// The number that each pair's frequency is divided by; empty where the file has none.
std::vector<float> read_factors(const GgufFile& file, int n_pairs) {
  const GgufTensor* const tensor = file.tensor(kGgufRopeFactors);
  if (tensor == nullptr) return {};
  if (tensor->shape.size() != 1 || tensor->shape[0] != n_pairs ||
      tensor->type != WeightType::kF32) {
    throw InputError(file.name() + ": tensor " + quote(kGgufRopeFactors) + " is stored as " +
                     weight_type_name(tensor->type) + " of shape " + shape_text(tensor->shape) +
                     "; expected F32 of shape [" + std::to_string(n_pairs) + "].");
  }
  std::vector<float> factors(static_cast<std::size_t>(n_pairs));
  dequantize(tensor->type, file.data(*tensor).data(), factors.size(), factors.data());
  const auto bad = std::find_if(factors.begin(), factors.end(),
                                [](float f) { return !(f >= 1e-3F && f <= 1e6F); });
  if (bad != factors.end()) {
    throw InputError(file.name() + ": tensor " + quote(kGgufRopeFactors) + " holds " +
                     std::to_string(*bad) + " at index " + std::to_string(bad - factors.begin()) +
                     "; expected a number from 0.001 to 1000000.");
  }
  return factors;
}

}  // namespace

void read_gguf_rope(const GgufFile& file, const std::string& prefix, ModelConfig& config) {
  const RopeKeys keys(file, prefix);
  if (const auto field = keys.find("dimension_count");
      field && field->as_number() != config.head_dim) {
    field->fail("only " + std::to_string(config.head_dim) +
                " (all of each head rotated) is supported");
  }
  config.rope_theta = keys.number("freq_base", 1.0, 1e15, 10000.0);
  const RopeScaling scaling = read_scaling(keys, config);
  if (scaling.kind == RopeScaling::Kind::kYarn && config.rope_theta <= 1.0)
    keys.find("freq_base")->fail("YaRN needs a number above 1");
  const std::vector<float> factors = read_factors(file, config.head_dim / 2);
  const double attention = keys.number("scaling.attn_factor", 1e-3, 1e3, 1.0);
  config.rope_magnitude = attention;
  if (scaling.kind == RopeScaling::Kind::kNone && factors.empty()) return;
  RopeAngles angles = rope_angles(config.head_dim, config.rope_theta, scaling);
  config.rope_magnitude = angles.magnitude * attention;
  for (std::size_t i = 0; i < factors.size(); ++i)
    angles.frequencies[i] /= static_cast<double>(factors[i]);
  config.rope_frequencies = std::move(angles.frequencies);
}

}  // namespace specbench::engine
