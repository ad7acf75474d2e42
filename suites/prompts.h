// Prompt sets: JSON lines, one object a prompt.
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

/// "prompt" is the text, or "turns" an array of texts of which the first is the prompt; "id" or
/// "question_id" a text or whole number, absent: the line; "category" a text, absent: "all". Other
/// fields are ignored. So Spec-Bench's question.jsonl and SPEED-Bench's files are read as they are.
/// Throws engine::InputError naming file, line and what is wrong; also for a set without prompts,
/// and for SPEED-Bench's stand-in for texts that were not fetched.
std::vector<Prompt> read_prompts(const std::filesystem::path& file);

}  // namespace specbench::suites
