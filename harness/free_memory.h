// How much memory this process can still take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace specbench::harness {

/// Bytes that can be taken without swapping: the least of what the system calls available and of
/// what each control group up the tree leaves (its limit less what is in use, but for file pages
/// that nobody asked for lately). Absent: neither is known. `root` stands for "/" in tests.
std::optional<std::int64_t> free_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace specbench::harness
