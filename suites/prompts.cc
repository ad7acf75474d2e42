#include "suites/prompts.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace specbench::suites {

namespace {

std::string text_field(const nlohmann::json& object, const char* field,
                       const std::string& otherwise, const std::string& where) {
  const auto at = object.find(field);
  if (at == object.end()) return otherwise;
  if (!at->is_string()) throw engine::InputError(where + ": \"" + field + "\" is not text.");
  return at->get<std::string>();
}

Prompt parse_line(const std::string& line, const std::string& where) {
  nlohmann::json object;
  try {
    object = nlohmann::json::parse(line);
  } catch (const nlohmann::json::exception&) {
    throw engine::InputError(where + " is not JSON; each line must be an object with \"prompt\".");
  }
  if (!object.is_object() || !object.contains("prompt"))
    throw engine::InputError(where + " has no \"prompt\"; each line must be an object with one.");
  return {text_field(object, "id", where, where),
          text_field(object, "category", "all", where),
          text_field(object, "prompt", "", where),
          {}};
}

}  // namespace

std::vector<Prompt> read_prompts(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file))
    throw engine::InputError("The prompt file " + file.string() +
                             " cannot be read; check --prompts.");
  std::vector<Prompt> prompts;
  std::string line;
  for (int n = 1; std::getline(stream, line); ++n) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    prompts.push_back(parse_line(line, file.string() + ", line " + std::to_string(n)));
  }
  if (stream.bad())
    throw engine::InputError("The prompt file " + file.string() + " could not be read to its end.");
  if (prompts.empty())
    throw engine::InputError("The prompt file " + file.string() + " holds no prompt.");
  return prompts;
}

}  // namespace specbench::suites
