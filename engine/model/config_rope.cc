#include "engine/model/config_rope.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/model/config_limits.h"
#include "engine/model/rope.h"

namespace specbench::engine {

namespace {

using Kind = RopeScaling::Kind;

double number_in(const JsonView& field, double low, double high, const char* what) {
  const double value = field.as_number();
  if (!(value >= low && value <= high)) field.fail(std::string("expected ") + what);
  return value;
}

/// A factor or count of turns.
double positive_number(const JsonView& field) {
  return number_in(field, 1e-6, 1e6, "a number from 1e-6 to 1e6");
}

Kind kind_of(const JsonView& type) {
  const std::string& name = type.as_string();
  if (name == "default") return Kind::kNone;
  if (name == "linear") return Kind::kLinear;
  if (name == "llama3") return Kind::kLlama3;
  if (name == "yarn") return Kind::kYarn;
  type.fail("'default', 'linear', 'llama3' and 'yarn' are supported");
}

/// Both spellings of the type. rope_parameters without one is unscaled.
Kind read_kind(const JsonView& scaling, bool needs_type) {
  const auto type = scaling.find("rope_type");
  const auto old_type = scaling.find("type");
  if (needs_type && !type && !old_type)
    scaling.fail(
        "a scaling without rope_type is not supported; name one of 'default', 'linear', 'llama3' "
        "and 'yarn'");
  if (type && old_type && kind_of(*type) != kind_of(*old_type))
    old_type->fail("rope_type says otherwise; one of them must go");
  if (type) return kind_of(*type);
  return old_type ? kind_of(*old_type) : Kind::kNone;
}

/// rope_parameters may hold a table for each type of layer.
void refuse_tables(const JsonView& parameters) {
  for (const JsonMember& member : parameters.as_object()) {
    const JsonView field = parameters.child(member);
    if (std::holds_alternative<std::vector<JsonMember>>(field.value().data))
      field.fail("only one rotation for all layers is supported");
  }
}

/// What scales the rotation, and how; nothing where it is unscaled.
std::optional<JsonView> find_scaling(const JsonView& top, Kind& kind) {
  const auto scaling = top.find("rope_scaling");
  const auto parameters = top.find("rope_parameters");
  if (parameters) refuse_tables(*parameters);
  const Kind by_scaling = scaling ? read_kind(*scaling, true) : Kind::kNone;
  const Kind by_parameters = parameters ? read_kind(*parameters, false) : Kind::kNone;
  if (by_scaling != Kind::kNone && by_parameters != Kind::kNone)
    parameters->fail("rope_scaling scales too; one of them must go");
  kind = by_scaling != Kind::kNone ? by_scaling : by_parameters;
  if (kind == Kind::kNone) return std::nullopt;
  return by_scaling != Kind::kNone ? scaling : parameters;
}

/// The innermost one counts.
double read_theta(const JsonView& top, Kind kind) {
  auto theta = top.find("rope_theta");
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto outer = top.find(key);
    if (!outer) continue;
    if (auto inner = outer->find("rope_theta")) theta = inner;
  }
  if (!theta) return 10000.0;
  // YaRN divides by its logarithm.
  if (kind == Kind::kYarn && theta->as_number() == 1.0)
    theta->fail("with 'yarn' it must be above 1");
  return number_in(*theta, 1.0, 1e15, "a number from 1 to 1e15");
}

/// A field of the whole file goes before that of the scaling, as in transformers.
std::optional<JsonView> find_original(const JsonView& top, const JsonView& scaling) {
  constexpr const char* kKey = "original_max_position_embeddings";
  const auto outer = top.find(kKey);
  return outer ? outer : scaling.find(kKey);
}

void read_llama3(const JsonView& scaling, RopeScaling& rope) {
  rope.low_freq_factor = positive_number(scaling.at("low_freq_factor"));
  const JsonView high = scaling.at("high_freq_factor");
  rope.high_freq_factor = positive_number(high);
  if (rope.high_freq_factor <= rope.low_freq_factor) high.fail("it must exceed low_freq_factor");
}

/// transformers' rule for files with both scales: how much one of them enlarges over the other.
std::optional<double> factor_by_scales(const JsonView& scaling, double factor) {
  const auto scale = [&](const char* key) {
    const auto field = scaling.find(key);
    return field ? number_in(*field, 0.0, 100.0, "a number from 0 to 100") : 0.0;
  };
  const double all_dim = scale("mscale_all_dim");
  const double own = scale("mscale");
  if (own == 0.0 || all_dim == 0.0) return std::nullopt;
  return (0.1 * own * std::log(factor) + 1.0) / (0.1 * all_dim * std::log(factor) + 1.0);
}

void read_yarn(const JsonView& scaling, RopeScaling& rope) {
  if (const auto beta = scaling.find("beta_fast")) rope.beta_fast = positive_number(*beta);
  if (const auto beta = scaling.find("beta_slow")) {
    rope.beta_slow = positive_number(*beta);
    if (rope.beta_slow > rope.beta_fast) beta->fail("it must not exceed beta_fast");
  }
  if (const auto truncate = scaling.find("truncate"); truncate && !truncate->as_bool())
    truncate->fail("only true (whole pairs) is supported");
  rope.attention_factor = factor_by_scales(scaling, rope.factor);
  if (const auto given = scaling.find("attention_factor"))
    rope.attention_factor = number_in(*given, 1e-3, 1e3, "a number from 1e-3 to 1e3");
}

RopeScaling read_scaling(const JsonView& top, const JsonView& scaling, Kind kind,
                         int max_positions) {
  RopeScaling rope;
  rope.kind = kind;
  const auto original = find_original(top, scaling);
  rope.original_positions =
      original ? static_cast<int>(original->as_integer_in(1, kMaxPositions)) : max_positions;
  const auto factor = scaling.find("factor");
  if (!factor && kind == Kind::kYarn && original) {
    rope.factor = static_cast<double>(max_positions) / rope.original_positions;
    if (rope.factor < 1.0) original->fail("it must not exceed max_position_embeddings");
  } else {
    rope.factor = number_in(scaling.at("factor"), 1.0, 1e6, "a number from 1 to 1e6");
  }
  if (kind == Kind::kLlama3) read_llama3(scaling, rope);
  if (kind == Kind::kYarn) read_yarn(scaling, rope);
  return rope;
}

}  // namespace

void read_rope(const JsonView& top, int max_positions, ModelConfig& config) {
  Kind kind = Kind::kNone;
  const auto scaling = find_scaling(top, kind);
  config.rope_theta = read_theta(top, kind);
  if (!scaling) return;
  RopeAngles angles = rope_angles(config.head_dim, config.rope_theta,
                                  read_scaling(top, *scaling, kind, max_positions));
  config.rope_frequencies = std::move(angles.frequencies);
  config.rope_magnitude = angles.magnitude;
}

}  // namespace specbench::engine
