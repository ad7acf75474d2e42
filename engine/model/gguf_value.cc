#include "engine/model/gguf_value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "engine/error.h"
#include "engine/model/input_file.h"

namespace specbench::engine {

namespace {

template <typename T>
T load(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_integer(GgufType type) {
  return gguf_type_bytes(type) != 0 && type != GgufType::kBool && type != GgufType::kFloat32 &&
         type != GgufType::kFloat64;
}
bool is_string(GgufType type) { return type == GgufType::kString; }
bool is_float32(GgufType type) { return type == GgufType::kFloat32; }

/// Empty for other types and beyond 63 bits.
std::optional<std::int64_t> integer_of(const GgufValue& value) {
  switch (value.type) {
    case GgufType::kUint8:
      return load<std::uint8_t>(value.bytes);
    case GgufType::kInt8:
      return load<std::int8_t>(value.bytes);
    case GgufType::kUint16:
      return load<std::uint16_t>(value.bytes);
    case GgufType::kInt16:
      return load<std::int16_t>(value.bytes);
    case GgufType::kUint32:
      return load<std::uint32_t>(value.bytes);
    case GgufType::kInt32:
      return load<std::int32_t>(value.bytes);
    case GgufType::kInt64:
      return load<std::int64_t>(value.bytes);
    case GgufType::kUint64: {
      const auto wide = load<std::uint64_t>(value.bytes);
      if (std::in_range<std::int64_t>(wide)) return static_cast<std::int64_t>(wide);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

double shortest_decimal(float value) {
  if (!std::isfinite(value)) return value;
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  double decimal = 0.0;
  std::from_chars(digits.data(), written.ptr, decimal);
  return decimal;
}

std::string number_text(double value) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.9g", value);
  return digits.data();
}

const char* items_name(GgufType type) {
  switch (type) {
    case GgufType::kString:
      return "strings";
    case GgufType::kArray:
      return "arrays";
    case GgufType::kBool:
      return "bools";
    default:
      return is_integer(type) ? "integers" : "numbers";
  }
}

}  // namespace

std::size_t gguf_type_bytes(GgufType type) {
  static constexpr std::array<std::size_t, kGgufTypes> kBytes = {1, 1, 2, 2, 4, 4, 4,
                                                                 1, 0, 0, 8, 8, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

std::string describe(const GgufValue& value) {
  switch (value.type) {
    case GgufType::kString:
      return quote(text_of(value.bytes));
    case GgufType::kArray:
      return "an array of " + std::to_string(value.n_items) + " " + items_name(value.item_type);
    case GgufType::kBool:
      return load<std::uint8_t>(value.bytes) != 0 ? "true" : "false";
    case GgufType::kFloat32:
      return number_text(shortest_decimal(load<float>(value.bytes)));
    case GgufType::kFloat64:
      return number_text(load<double>(value.bytes));
    case GgufType::kUint64:
      return std::to_string(load<std::uint64_t>(value.bytes));
    default:
      return std::to_string(*integer_of(value));
  }
}

void GgufField::fail(std::string_view what) const {
  throw InputError(*file_ + ": key " + quote(key_) + " is " + describe(value_) + "; " +
                   std::string(what) + ".");
}

bool GgufField::as_bool() const {
  if (value_.type != GgufType::kBool) fail("expected true or false");
  return load<std::uint8_t>(value_.bytes) != 0;
}

std::int64_t GgufField::as_integer_in(std::int64_t low, std::int64_t high) const {
  const auto integer = integer_of(value_);
  if (!integer || *integer < low || *integer > high) {
    fail("expected an integer from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return *integer;
}

double GgufField::as_number() const {
  if (value_.type == GgufType::kFloat32) return shortest_decimal(load<float>(value_.bytes));
  if (value_.type == GgufType::kFloat64) return load<double>(value_.bytes);
  const auto integer = integer_of(value_);
  if (!integer) fail("expected a number");
  return static_cast<double>(*integer);
}

double GgufField::as_number_in(double low, double high) const {
  const double number = as_number();
  // The negation also catches NaN.
  if (!(number >= low && number <= high))
    fail("expected a number from " + number_text(low) + " to " + number_text(high));
  return number;
}

std::string_view GgufField::as_string() const {
  if (value_.type != GgufType::kString) fail("expected a string");
  return text_of(value_.bytes);
}

std::uint64_t GgufField::n_items() const {
  if (value_.type != GgufType::kArray) fail("expected an array");
  return value_.n_items;
}

const GgufValue& GgufField::array_of(bool (*accepts)(GgufType), const char* what) const {
  if (value_.type != GgufType::kArray || !accepts(value_.item_type)) {
    fail(std::string("expected an array of ") + what);
  }
  return value_;
}

std::vector<std::string> GgufField::as_strings() const {
  const GgufValue& array = array_of(is_string, "strings");
  std::vector<std::string> strings;
  strings.reserve(static_cast<std::size_t>(array.n_items));
  std::span<const std::byte> rest = array.bytes;
  for (std::uint64_t i = 0; i < array.n_items; ++i) {
    const auto length = static_cast<std::size_t>(load<std::uint64_t>(rest));
    strings.emplace_back(text_of(rest.subspan(8, length)));
    rest = rest.subspan(8 + length);
  }
  return strings;
}

std::vector<float> GgufField::as_floats() const {
  const GgufValue& array = array_of(is_float32, "float32 numbers");
  std::vector<float> floats(static_cast<std::size_t>(array.n_items));
  if (!floats.empty()) std::memcpy(floats.data(), array.bytes.data(), array.bytes.size());
  return floats;
}

GgufField GgufField::item(std::uint64_t index) const {
  const std::size_t width = gguf_type_bytes(value_.item_type);
  GgufValue one;
  one.type = value_.item_type;
  one.bytes = value_.bytes.subspan(static_cast<std::size_t>(index) * width, width);
  return {*file_, key_ + "[" + std::to_string(index) + "]", one};
}

std::vector<std::int32_t> GgufField::as_integers_in(std::int32_t low, std::int32_t high) const {
  const GgufValue& array = array_of(is_integer, "integers");
  const std::size_t width = gguf_type_bytes(array.item_type);
  std::vector<std::int32_t> integers;
  integers.reserve(static_cast<std::size_t>(array.n_items));
  GgufValue one;
  one.type = array.item_type;
  for (std::uint64_t i = 0; i < array.n_items; ++i) {
    one.bytes = array.bytes.subspan(static_cast<std::size_t>(i) * width, width);
    const auto integer = integer_of(one);
    // The name of an item is put together only where it is needed: there are 150,000 of them.
    if (!integer || *integer < low || *integer > high) (void)item(i).as_integer_in(low, high);
    integers.push_back(static_cast<std::int32_t>(*integer));
  }
  return integers;
}

}  // namespace specbench::engine
