// JSON of a model file as a plain tree, and accessors that name file and field when a value is not
// what was expected. Hostile text (deep nesting, repeated keys, zero bytes) is refused; nothing
// here recurses deeper than kMaxJsonDepth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace specbench::engine {

inline constexpr int kMaxJsonDepth = 64;
inline constexpr std::int64_t kMaxJsonValues =
    8'000'000;  ///< a 256k-token vocabulary with merges has 2 million

struct JsonMember;

/// An integer beyond 64 bits is held as double, so it never passes for an integer.
struct JsonValue {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<JsonValue>,
               std::vector<JsonMember>>
      data;
};

struct JsonMember {
  std::string key;  ///< unique within its object
  JsonValue value;
};

/// A value in a few words for a message: `"gelu"`, `-3`, `an array`.
std::string describe(const JsonValue& value);

/// A value and where it stands. Accessors throw InputError: "<file>: field 'a.b' is <value>;
/// expected <what>."
class JsonView {
 public:
  /// `file` and `value` must outlive the view.
  JsonView(const std::string& file, const JsonValue& value) : file_(&file), value_(&value) {}

  bool as_bool() const;
  std::int64_t as_integer() const;
  double as_number() const;  ///< an integer too
  const std::string& as_string() const;
  const std::vector<JsonValue>& as_array() const;
  const std::vector<JsonMember>& as_object() const;

  std::optional<JsonView> find(std::string_view key) const;  ///< nothing where absent or null
  JsonView at(std::string_view key) const;                   ///< throws where absent or null
  JsonView item(std::size_t index) const;          ///< of an array; index must be in range
  JsonView child(const JsonMember& member) const;  ///< of an object; must be one of its members

  /// Integer in [low, high].
  std::int64_t as_integer_in(std::int64_t low, std::int64_t high) const;

  /// Throws "<file>: field '...' is <value>; <what>."
  [[noreturn]] void fail(std::string_view what) const;

  const JsonValue& value() const { return *value_; }
  const std::string& file() const { return *file_; }
  const std::string& path() const { return path_; }

 private:
  JsonView step(const JsonValue& value, std::string path) const;

  const std::string* file_;
  const JsonValue* value_;
  std::string path_;  ///< "a.b[2]"; empty at the top
};

/// Throws InputError naming `file` and the byte where the text stops being JSON.
JsonValue parse_json(std::string_view text, const std::string& file);

/// The top-level object only up to the member `last`; all of it where it has none. What follows is
/// not read and need not be JSON: for one field of a large file that is checked elsewhere.
JsonValue parse_json_until(std::string_view text, const std::string& file, std::string_view last);

}  // namespace specbench::engine
