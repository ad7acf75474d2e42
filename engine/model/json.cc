#include "engine/model/json.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/error.h"
#include "engine/model/input_file.h"

namespace specbench::engine {

namespace {

using Array = std::vector<JsonValue>;
using Object = std::vector<JsonMember>;

/// Receives nlohmann's events and builds the tree. Pointers to open containers stay valid: a
/// container grows only while it is the innermost open one.
class TreeBuilder {
 public:
  /// Stops behind the top-level member `last`; an empty one: at the end.
  TreeBuilder(const std::string& file, std::string_view last) : file_(file), last_(last) {}

  bool null() { return add(JsonValue{}); }
  bool boolean(bool value) { return add(JsonValue{value}); }
  bool number_integer(std::int64_t value) { return add(JsonValue{value}); }
  bool number_unsigned(std::uint64_t value) {
    if (!std::in_range<std::int64_t>(value)) return add(JsonValue{static_cast<double>(value)});
    return add(JsonValue{static_cast<std::int64_t>(value)});
  }
  bool number_float(double value, const std::string&) { return add(JsonValue{value}); }
  bool string(std::string& value) { return add(JsonValue{std::move(value)}); }
  bool binary(nlohmann::json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open(JsonValue{Object{}}); }
  bool start_array(std::size_t) { return open(JsonValue{Array{}}); }
  bool key(std::string& name) {
    std::get<Object>(open_.back()->data).push_back({std::move(name), {}});
    return true;
  }
  bool end_array() { return close(); }
  bool end_object() {
    const Object& object = std::get<Object>(open_.back()->data);
    std::vector<std::string_view> keys;
    keys.reserve(object.size());
    for (const JsonMember& member : object) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    const auto repeated = std::adjacent_find(keys.begin(), keys.end());
    if (repeated != keys.end()) {
      throw InputError(file_ + ": key " + quote(*repeated) +
                       " appears twice in one object; each may appear once.");
    }
    return close();
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception&) {
    throw InputError(file_ + " is not valid JSON at byte " + std::to_string(byte) +
                     "; the file is damaged or incomplete, so fetch the model again.");
  }

  JsonValue take() { return std::move(root_); }

 private:
  JsonValue* place(JsonValue&& value) {
    if (++n_values_ > kMaxJsonValues) {
      throw InputError(file_ + " holds more than " + std::to_string(kMaxJsonValues) +
                       " JSON values; no model this program can run needs that many.");
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (auto* array = std::get_if<Array>(&open_.back()->data)) {
      array->push_back(std::move(value));
      return &array->back();
    }
    JsonMember& member = std::get<Object>(open_.back()->data).back();
    member.value = std::move(value);
    return &member.value;
  }
  bool add(JsonValue&& value) {
    place(std::move(value));
    return !is_done();
  }
  bool open(JsonValue&& container) {
    if (open_.size() >= kMaxJsonDepth) {
      throw InputError(file_ + " nests JSON deeper than " + std::to_string(kMaxJsonDepth) +
                       " levels; a model file needs fewer than ten.");
    }
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return !is_done();
  }
  /// Has the member `last` just been completed?
  bool is_done() const {
    if (last_.empty() || open_.size() != 1) return false;
    const auto* object = std::get_if<Object>(&open_.back()->data);
    return object != nullptr && object->back().key == last_;
  }

  const std::string& file_;
  std::string_view last_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::int64_t n_values_ = 0;
};

JsonValue build(std::string_view text, const std::string& file, std::string_view last) {
  TreeBuilder builder(file, last);
  try {
    nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  } catch (const nlohmann::json::exception&) {
    throw InputError(file + " is not valid JSON; fetch the model again.");
  }
  return builder.take();
}

template <typename T>
const T& expect(const JsonView& view, const char* what) {
  const T* found = std::get_if<T>(&view.value().data);
  if (found == nullptr) view.fail(std::string("expected ") + what);
  return *found;
}

}  // namespace

JsonValue parse_json(std::string_view text, const std::string& file) {
  // nlohmann's lexer takes a zero byte for the end of the text.
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    throw InputError(file + " has a zero byte in its JSON, at byte " + std::to_string(zero) +
                     "; the file is damaged, so fetch the model again.");
  }
  return build(text, file, "");
}

JsonValue parse_json_until(std::string_view text, const std::string& file, std::string_view last) {
  return build(text, file, last);
}

std::string describe(const JsonValue& value) {
  if (const auto* boolean = std::get_if<bool>(&value.data)) return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.9g", *number);
    return digits.data();
  }
  if (const auto* text = std::get_if<std::string>(&value.data)) return quote(*text);
  if (std::holds_alternative<Array>(value.data)) return "an array";
  if (std::holds_alternative<Object>(value.data)) return "an object";
  return "null";
}

void JsonView::fail(std::string_view what) const {
  const std::string where = path_.empty() ? "the top level" : "field " + quote(path_);
  throw InputError(*file_ + ": " + where + " is " + describe(*value_) + "; " + std::string(what) +
                   ".");
}

bool JsonView::as_bool() const { return expect<bool>(*this, "true or false"); }

std::int64_t JsonView::as_integer() const { return expect<std::int64_t>(*this, "an integer"); }

std::int64_t JsonView::as_integer_in(std::int64_t low, std::int64_t high) const {
  const auto* integer = std::get_if<std::int64_t>(&value_->data);
  if (integer == nullptr || *integer < low || *integer > high) {
    fail("expected an integer from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return *integer;
}

double JsonView::as_number() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_->data)) {
    return static_cast<double>(*integer);
  }
  return expect<double>(*this, "a number");
}

const std::string& JsonView::as_string() const { return expect<std::string>(*this, "a string"); }

const Array& JsonView::as_array() const { return expect<Array>(*this, "an array"); }

const Object& JsonView::as_object() const { return expect<Object>(*this, "an object"); }

JsonView JsonView::step(const JsonValue& value, std::string path) const {
  JsonView view(*file_, value);
  view.path_ = std::move(path);
  return view;
}

JsonView JsonView::child(const JsonMember& member) const {
  return step(member.value, path_.empty() ? member.key : path_ + "." + member.key);
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  for (const JsonMember& member : as_object()) {
    if (member.key != key) continue;
    if (std::holds_alternative<std::monostate>(member.value.data)) return std::nullopt;
    return child(member);
  }
  return std::nullopt;
}

JsonView JsonView::at(std::string_view key) const {
  if (auto found = find(key)) return *std::move(found);
  const std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  throw InputError(*file_ + ": field " + quote(path) + " is missing; it is required.");
}

JsonView JsonView::item(std::size_t index) const {
  return step(as_array()[index], path_ + "[" + std::to_string(index) + "]");
}

}  // namespace specbench::engine
