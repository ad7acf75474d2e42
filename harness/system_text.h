// Reads the small text files of /proc and /sys. What cannot be read or parsed is absent; never
// throws for that, and judges nothing.
#pragma once

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace specbench::harness {

// The whole file. These files report no size, so they are read to the end.
std::optional<std::string> read_text(const std::filesystem::path& path);

// Without the white space and the double quotes at both ends.
std::string_view trim(std::string_view text);

// The pieces between the separators, n + 1 for n of them; empty pieces too.
std::vector<std::string_view> split(std::string_view text, char separator);

// The first line of a file, trimmed; absent for a blank file too.
std::optional<std::string> read_line(const std::filesystem::path& path);

// The rest of the first line "key <separator> rest", trimmed. It points into `text`.
std::optional<std::string_view> find_field(std::string_view text, std::string_view key,
                                           char separator);

// The number at the start of the text, spaces before it allowed.
template <typename Number>
std::optional<Number> parse_number(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  const std::string_view trimmed = trim(*text);
  Number value{};
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

template <typename Number>
std::optional<Number> read_number(const std::filesystem::path& path) {
  return parse_number<Number>(read_line(path));
}

// One control group of this process in one hierarchy: "4:memory:/a/b" in /proc/self/cgroup.
struct CgroupPath {
  std::string controller;  // "memory"; empty in version 2
  std::string path;        // "/a/b"
};
std::vector<CgroupPath> read_cgroup_paths(const std::filesystem::path& root);

// The folders that limit this process in one hierarchy, from its own up to the root of the mount.
// A container may not see its own folder; its parents then still count.
std::vector<std::filesystem::path> cgroup_folders(const std::filesystem::path& root,
                                                  const CgroupPath& cgroup);

}  // namespace specbench::harness
