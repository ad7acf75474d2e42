#include "engine/model/tokenizer_normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <vector>

#include "engine/model/utf8.h"

namespace specbench::engine {

namespace {

using CodePoint = utf8proc_int32_t;

/// Canonical decomposition of valid UTF-8, marks not yet in order.
std::vector<CodePoint> decompose(std::string_view text) {
  std::vector<CodePoint> points;
  points.reserve(text.size());
  while (!text.empty()) {
    std::array<CodePoint, 16> parts{};  // the longest canonical decomposition has four
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<CodePoint>(first_code_point(text)), parts.data(),
                                parts.size(), UTF8PROC_DECOMPOSE, &boundary);
    assert(count > 0 && count <= static_cast<utf8proc_ssize_t>(parts.size()));
    points.insert(points.end(), parts.begin(), parts.begin() + count);
    text.remove_prefix(character_length(text));
  }
  return points;
}

auto combining_class(CodePoint point) { return utf8proc_get_property(point)->combining_class; }

/// utf8proc's own ordering takes the square of a run's length, which a text of marks alone makes
/// hours of.
void order_marks(std::vector<CodePoint>& points) {
  for (auto begin = points.begin(); begin != points.end();) {
    const auto is_starter = [](CodePoint point) { return combining_class(point) == 0; };
    begin = std::find_if_not(begin, points.end(), is_starter);
    const auto end = std::find_if(begin, points.end(), is_starter);
    std::stable_sort(begin, end, [](CodePoint a, CodePoint b) {
      return combining_class(a) < combining_class(b);
    });
    begin = end;
  }
}

void append_composed(std::string_view valid, std::string& result) {
  std::vector<CodePoint> points = decompose(valid);
  order_marks(points);
  const auto count = static_cast<std::size_t>(
      utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE)));
  assert(count <= points.size());
  for (std::size_t i = 0; i < count; ++i) result += to_utf8(static_cast<char32_t>(points[i]));
}

}  // namespace

std::string nfc(std::string_view text) {
  const auto is_ascii = [](char c) { return (static_cast<unsigned char>(c) & 0x80) == 0; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t valid = valid_prefix(text);
    append_composed(text.substr(0, valid), result);
    text.remove_prefix(valid);
    if (text.empty()) break;
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

std::string normalize(std::string_view text, std::span<const NormalizerStep> steps) {
  std::string result(text);
  for (const NormalizerStep& step : steps) {
    switch (step.kind) {
      case NormalizerStep::Kind::kNfc:
        result = nfc(result);
        break;
      case NormalizerStep::Kind::kPrepend:
        if (!result.empty()) result.insert(0, step.content);
        break;
      case NormalizerStep::Kind::kReplace:
        result = replace_all(result, step.pattern, step.content);
        break;
    }
  }
  return result;
}

}  // namespace specbench::engine
