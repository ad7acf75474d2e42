// Takes the bytes of a GGUF file apart from the front: the one place that asks whether bytes are
// there before they are touched. For gguf.cc alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/error.h"
#include "engine/model/input_file.h"

namespace specbench::engine {

inline constexpr std::uint64_t kMaxGgufNameBytes = 65535;  ///< of a key; tensors' are shorter

/// Takes bytes off the front. Must not outlive `file`.
class GgufReader {
 public:
  GgufReader(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return bytes_.size() - position_; }

  /// What is read from here on, for messages: "key" and its name, which must outlive it. Put into
  /// words only by fail().
  void enter(const char* what, std::string_view name = {}) {
    what_ = what;
    name_ = name;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(file_ + ": " + what_ + (name_.empty() ? "" : " " + quote(name_)) + " " + what +
                     ".");
  }

  std::span<const std::byte> take(std::uint64_t n) {
    if (n > left()) {
      fail("needs " + std::to_string(n) + " bytes at byte " + std::to_string(position_) +
           ", but only " + std::to_string(left()) + " follow; the file is incomplete or damaged, " +
           "so fetch it again");
    }
    const auto taken =
        bytes_.subspan(static_cast<std::size_t>(position_), static_cast<std::size_t>(n));
    position_ += n;
    return taken;
  }

  template <typename T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// A string: its length, then its bytes.
  std::span<const std::byte> text() { return take(number<std::uint64_t>()); }

  /// Of a key or tensor.
  std::string_view name() {
    const auto bytes = text();
    if (bytes.size() > kMaxGgufNameBytes) {
      fail("has " + std::to_string(bytes.size()) + " bytes; the format allows " +
           std::to_string(kMaxGgufNameBytes) + ", so the file is damaged");
    }
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// A number of things that take at least `least` bytes each.
  std::uint64_t count(const char* things, std::uint64_t least) {
    const auto n = number<std::uint64_t>();
    if (n > left() / least) {
      fail("states " + std::to_string(n) + " " + things + ", which need at least " +
           std::to_string(least) + " bytes each, but only " + std::to_string(left()) +
           " bytes follow; the file is incomplete or damaged, so fetch it again");
    }
    return n;
  }

  /// What was taken since the reader stood at `begin`.
  std::span<const std::byte> since(std::uint64_t begin) const {
    return bytes_.subspan(static_cast<std::size_t>(begin),
                          static_cast<std::size_t>(position_ - begin));
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::uint64_t position_ = 0;
  const char* what_ = "the header";
  std::string_view name_;
};

}  // namespace specbench::engine
