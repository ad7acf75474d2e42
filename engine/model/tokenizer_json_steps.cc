#include <algorithm>
#include <utility>

#include "engine/model/tokenizer_json_parts.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

constexpr std::size_t kMaxPrependedBytes =
    64;  ///< of one step; it goes before every added token too

/// A field's items where `object` is a Sequence, else the object itself.
std::vector<JsonView> steps_of(const JsonView& object, std::string_view field) {
  if (object.at("type").as_string() != "Sequence") return {object};
  std::vector<JsonView> steps;
  const JsonView items = object.at(field);
  for (std::size_t i = 0; i < items.as_array().size(); ++i) steps.push_back(items.item(i));
  return steps;
}

/// Text that a Replace step looks for.
const std::string& replaced_text(const JsonView& step) {
  const JsonView pattern = step.at("pattern");
  if (const auto regex = pattern.find("Regex")) {
    regex->fail("only a 'String' can be replaced, no regular expression");
  }
  const JsonView text = pattern.at("String");
  if (text.as_string().empty()) text.fail("expected at least one character");
  return text.as_string();
}

/// Replacements one after another multiply: thirty short ones make a letter longer than memory.
class Growth {
 public:
  void add(const JsonView& step, std::string_view text, std::string_view content) {
    constexpr double kMost = 16;  // a space becomes a mark of three bytes in published files
    factor_ *=
        std::max(1.0, static_cast<double>(content.size()) / static_cast<double>(text.size()));
    if (factor_ > kMost)
      step.at("content").fail(
          "with it and the replacements before it a text may become more than 16 times as long, "
          "which is not supported");
  }

 private:
  double factor_ = 1;
};

const std::string& one_character(const JsonView& field) {
  const std::string& text = field.as_string();
  if (text.empty() || character_length(text) != text.size()) field.fail("expected one character");
  return text;
}

void add_normalizer_step(const JsonView& step, Growth& growth, TokenizerSpec& spec) {
  const JsonView type = step.at("type");
  const std::string& name = type.as_string();
  if (name == "Sequence") {
    for (const JsonView& part : steps_of(step, "normalizers"))
      add_normalizer_step(part, growth, spec);
  } else if (name == "NFC") {
    spec.normalizer.push_back({NormalizerStep::Kind::kNfc, "", ""});
  } else if (name == "Prepend") {
    const JsonView prepended = step.at("prepend");
    if (prepended.as_string().size() > kMaxPrependedBytes)
      prepended.fail("at most " + std::to_string(kMaxPrependedBytes) + " bytes are supported");
    spec.normalizer.push_back({NormalizerStep::Kind::kPrepend, "", prepended.as_string()});
  } else if (name == "Replace") {
    const std::string& text = replaced_text(step);
    const std::string& content = step.at("content").as_string();
    growth.add(step, text, content);
    spec.normalizer.push_back({NormalizerStep::Kind::kReplace, text, content});
  } else {
    type.fail("only 'NFC', 'Prepend', 'Replace' and 'Sequence' are supported");
  }
}

Metaspace::Prepend read_prepend(const JsonView& step) {
  const auto scheme = step.find("prepend_scheme");
  const std::string name = scheme ? scheme->as_string() : "always";
  if (!flag(step, "add_prefix_space", true) && name != "never") {
    step.at("add_prefix_space").fail("that contradicts prepend_scheme '" + name + "'");
  }
  if (name == "always") return Metaspace::Prepend::kAlways;
  if (name == "first") return Metaspace::Prepend::kFirst;
  if (name == "never") return Metaspace::Prepend::kNever;
  scheme->fail("only 'always', 'first' and 'never' are supported");
}

void add_metaspace(const JsonView& step, TokenizerSpec& spec) {
  Metaspace metaspace;
  metaspace.mark = one_character(step.at("replacement"));
  metaspace.prepend = read_prepend(step);
  metaspace.splits = flag(step, "split", true);
  const bool also_prepends =
      std::any_of(spec.normalizer.begin(), spec.normalizer.end(),
                  [](const NormalizerStep& s) { return s.kind == NormalizerStep::Kind::kPrepend; });
  if (also_prepends && metaspace.prepend != Metaspace::Prepend::kNever) {
    step.at("type").fail(
        "beside the normalizer 'Prepend' only prepend_scheme 'never' is supported");
  }
  spec.metaspace = std::move(metaspace);
}

void add_byte_level(const JsonView& step, bool is_first, TokenizerSpec& spec) {
  if (flag(step, "add_prefix_space", true)) {
    if (!is_first) step.fail("add_prefix_space after another step is not supported");
    spec.add_prefix_space = true;
  }
  if (flag(step, "use_regex", true)) spec.split_rules.push_back({kGpt2Pattern, false});
}

void add_split(const JsonView& step, TokenizerSpec& spec) {
  const JsonView behavior = step.at("behavior");
  const bool is_inverted = flag(step, "invert", false);
  // Removed with invert keeps the matches and drops what lies between. Converted tiktoken patterns,
  // for which it is used, leave nothing between; here it would be kept.
  if (behavior.as_string() != "Isolated" && !(behavior.as_string() == "Removed" && is_inverted)) {
    behavior.fail("only 'Isolated', or 'Removed' with invert, is supported");
  }
  const JsonView pattern = step.at("pattern");
  if (const auto regex = pattern.find("Regex")) {
    spec.split_rules.push_back({regex->as_string(), false});
  } else {
    spec.split_rules.push_back({pattern.at("String").as_string(), true});
  }
}

void add_step(const JsonView& step, std::size_t place, std::size_t count, TokenizerSpec& spec) {
  const JsonView type = step.at("type");
  const std::string& name = type.as_string();
  if (name == "ByteLevel") {
    if (place + 1 != count) type.fail("only the last step may be 'ByteLevel'");
    add_byte_level(step, place == 0, spec);
  } else if (name == "Metaspace") {
    if (count != 1) type.fail("'Metaspace' beside other steps is not supported");
    add_metaspace(step, spec);
  } else if (name == "Split") {
    add_split(step, spec);
  } else if (name == "Digits") {
    const bool one_by_one = flag(step, "individual_digits", false);
    spec.split_rules.push_back({one_by_one ? "\\p{N}" : "\\p{N}+", false});
  } else {
    type.fail("only 'Split', 'Digits', 'ByteLevel' and 'Metaspace' are supported");
  }
}

/// What a decoder has shown of itself so far, step by step.
struct DecoderProgress {
  bool has_fallback = false;
  bool is_fused = false;
  Growth growth;
};

void add_strip(const JsonView& step, const DecoderProgress& progress, TokenizerSpec& spec) {
  if (!progress.is_fused) step.at("type").fail("'Strip' is supported after 'Fuse' only");
  if (step.at("stop").as_integer() != 0) step.at("stop").fail("only 0 is supported");
  spec.stripped = one_character(step.at("content"));
  spec.n_stripped = static_cast<int>(step.at("start").as_integer_in(0, 1'000'000));
}

void add_decoder_step(const JsonView& step, bool is_alone, DecoderProgress& progress,
                      DecoderSpec& decoder, TokenizerSpec& spec) {
  const JsonView type = step.at("type");
  const std::string& name = type.as_string();
  const bool is_late = progress.has_fallback || progress.is_fused;
  if (name == "Metaspace") {
    if (!is_alone) type.fail("'Metaspace' beside other decoders is not supported");
    const std::string& mark = one_character(step.at("replacement"));
    decoder.replacements.emplace_back(mark, " ");
    if (read_prepend(step) != Metaspace::Prepend::kNever) decoder.front_mark = mark;
  } else if (name == "Replace") {
    if (is_late) type.fail("'Replace' is supported before 'ByteFallback' and 'Fuse' only");
    const std::string& text = replaced_text(step);
    const std::string& content = step.at("content").as_string();
    progress.growth.add(step, text, content);
    decoder.replacements.emplace_back(text, content);
  } else if (name == "ByteFallback") {
    if (is_late) type.fail("'ByteFallback' is supported once, before 'Fuse'");
    decoder.has_byte_fallback = progress.has_fallback = true;
  } else if (name == "Fuse") {
    progress.is_fused = true;
  } else if (name == "Strip") {
    add_strip(step, progress, spec);
  } else {
    type.fail(
        "only 'Metaspace', 'Replace', 'ByteFallback', 'Fuse' and 'Strip' are supported where the "
        "pre_tokenizer is not 'ByteLevel'");
  }
}

}  // namespace

void read_normalizer(const JsonView& top, TokenizerSpec& spec) {
  Growth growth;
  if (const auto normalizer = top.find("normalizer"))
    add_normalizer_step(*normalizer, growth, spec);
}

bool read_pre_tokenizer(const JsonView& top, TokenizerSpec& spec) {
  const auto pre_tokenizer = top.find("pre_tokenizer");
  if (!pre_tokenizer) return false;
  const std::vector<JsonView> steps = steps_of(*pre_tokenizer, "pretokenizers");
  for (std::size_t i = 0; i < steps.size(); ++i) add_step(steps[i], i, steps.size(), spec);
  return !steps.empty() && steps.back().at("type").as_string() == "ByteLevel";
}

DecoderSpec read_decoder(const JsonView& top, bool is_byte_level, TokenizerSpec& spec) {
  DecoderSpec decoder;
  decoder.is_byte_level = is_byte_level;
  if (is_byte_level) {
    const auto field = top.find("decoder");
    if (field && field->at("type").as_string() != "ByteLevel") {
      field->at("type").fail("only 'ByteLevel' is supported, as the pre_tokenizer is");
    }
    return decoder;
  }
  const std::vector<JsonView> steps = steps_of(top.at("decoder"), "decoders");
  DecoderProgress progress;
  for (const JsonView& step : steps) {
    add_decoder_step(step, steps.size() == 1, progress, decoder, spec);
  }
  return decoder;
}

}  // namespace specbench::engine
