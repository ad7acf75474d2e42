// Prompt sets: JSON lines with "prompt" and, optionally, "id" and "category".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/types.h"

namespace specbench::suites {

struct Prompt {
  std::string id;
  std::string category;
  std::string text;
  std::vector<engine::TokenId> ids;  ///< encoded, BOS first; filled by the caller
};

/// Throws engine::InputError naming file, line and what is wrong; also for a set without prompts.
std::vector<Prompt> read_prompts(const std::filesystem::path& file);

}  // namespace specbench::suites
