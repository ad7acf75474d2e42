// A metadata value of a GGUF file as it lies there, and accessors that name file and key where it
// is not what was expected. Nothing is copied before it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace specbench::engine {

/// With the numbers of the format.
enum class GgufType : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
};
inline constexpr std::uint32_t kGgufTypes = 13;

/// Bytes of a number or bool; 0 for strings and arrays, whose length is written before them.
std::size_t gguf_type_bytes(GgufType type);

/// Well formed: the parser has walked every string and item (gguf.h).
struct GgufValue {
  GgufType type = GgufType::kUint8;
  GgufType item_type = GgufType::kUint8;  ///< of an array
  std::uint64_t n_items = 0;              ///< of an array
  std::span<const std::byte> bytes;  ///< a number, the text of a string, or the items of an array
};

/// A value in a few words for a message: `-3`, `'gemma'`, `an array of 4 numbers`.
std::string describe(const GgufValue& value);

/// One value and its key. Must not outlive `file` and the bytes. Every accessor throws InputError
/// where the value is of another type or out of range.
class GgufField {
 public:
  GgufField(const std::string& file, std::string key, const GgufValue& value)
      : file_(&file), key_(std::move(key)), value_(value) {}

  /// Throws InputError: "<file>: key '<key>' is <value>; <what>."
  [[noreturn]] void fail(std::string_view what) const;

  bool as_bool() const;
  /// Of any integer type, signed or not.
  std::int64_t as_integer_in(std::int64_t low, std::int64_t high) const;
  /// A float32 gives the shortest decimal that rounds to it: that is what the model's config.json
  /// said before the file's writer narrowed it, so both forms of a model compute with one number.
  double as_number() const;
  double as_number_in(double low, double high) const;
  std::string_view as_string() const;

  std::uint64_t n_items() const;
  std::vector<std::string> as_strings() const;
  std::vector<float> as_floats() const;  ///< float32 only
  std::vector<std::int32_t> as_integers_in(std::int32_t low, std::int32_t high) const;

 private:
  GgufField item(std::uint64_t index) const;  ///< of an array of numbers
  const GgufValue& array_of(bool (*accepts)(GgufType), const char* what) const;

  const std::string* file_;
  std::string key_;
  GgufValue value_;
};

}  // namespace specbench::engine
