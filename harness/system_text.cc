#include "harness/system_text.h"

#include <fstream>
#include <iterator>

namespace specbench::harness {

namespace fs = std::filesystem;

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return text;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\"";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> read_line(const fs::path& path) {
  const std::optional<std::string> text = read_text(path);
  if (!text || trim(*text).empty()) return std::nullopt;
  return std::string(trim(split(trim(*text), '\n').front()));
}

std::optional<std::string_view> find_field(std::string_view text, std::string_view key,
                                           char separator) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find(separator);
    if (at != std::string_view::npos && trim(line.substr(0, at)) == key)
      return trim(line.substr(at + 1));
  }
  return std::nullopt;
}

std::vector<CgroupPath> read_cgroup_paths(const fs::path& root) {
  std::vector<CgroupPath> paths;
  const std::string text = read_text(root / "proc/self/cgroup").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> parts = split(line, ':');  // number:controllers:path
    if (parts.size() < 3) continue;
    const std::string_view path = line.substr(parts[0].size() + parts[1].size() + 2);
    paths.push_back({std::string(parts[1]), std::string(path)});
  }
  return paths;
}

std::vector<fs::path> cgroup_folders(const fs::path& root, const CgroupPath& cgroup) {
  std::vector<fs::path> folders;
  const fs::path mount = root / "sys/fs/cgroup";
  for (const fs::path& base : {mount / cgroup.controller, mount, mount / "unified"}) {
    for (fs::path below = fs::path(cgroup.path).relative_path();; below = below.parent_path()) {
      folders.push_back(below.empty() ? base : base / below);
      if (below.empty()) break;
    }
  }
  return folders;
}

}  // namespace specbench::harness
