#include "suites/prompts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/model/utf8.h"

namespace specbench::suites {

namespace {

using Json = nlohmann::json;

/// What SPEED-Bench's published files hold where a text belongs to others.
constexpr std::string_view kNotFetched = "FULL BENCHMARK DATA SHOULD BE FETCHED";

/// The field; null where it is absent or null.
const Json* find(const Json& object, const char* field) {
  const auto at = object.find(field);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::string text_of(const Json& value, const char* field, const std::string& where) {
  if (!value.is_string()) throw engine::InputError(where + ": \"" + field + "\" is not text.");
  return value.get<std::string>();
}

/// A name stands in tables and on terminals.
std::string name_of(const Json& value, const char* field, const std::string& where) {
  std::string text = text_of(value, field, where);
  if (std::any_of(text.begin(), text.end(), engine::is_control))
    throw engine::InputError(where + ": \"" + field + "\" holds control characters.");
  return text;
}

/// Numbers are ids too: Spec-Bench counts its questions.
std::string id_of(const Json& object, const std::string& where) {
  for (const char* field : {"id", "question_id"}) {
    const Json* const id = find(object, field);
    if (id == nullptr) continue;
    if (id->is_number_integer()) return id->dump();
    if (id->is_string()) return name_of(*id, field, where);
    throw engine::InputError(where + ": \"" + field + "\" is neither text nor a whole number.");
  }
  return where;
}

/// The turns behind the first answer what the model said, which is another text each time.
std::string first_turn(const Json& turns, const std::string& where) {
  if (!turns.is_array() || turns.empty() || !turns.front().is_string())
    throw engine::InputError(where + ": \"turns\" is not a list that begins with text.");
  std::string text = turns.front().get<std::string>();
  if (text.starts_with(kNotFetched))
    throw engine::InputError(where +
                             " holds a stand-in for a text that must be fetched first; do so with "
                             "the benchmark's own script.");
  return text;
}

Prompt parse_line(const std::string& line, const std::string& where) {
  Json object;
  try {
    object = Json::parse(line);
  } catch (const Json::exception&) {
    throw engine::InputError(where +
                             " is not JSON; each line must be an object with \"prompt\" or "
                             "\"turns\".");
  }
  const Json* const prompt = object.is_object() ? find(object, "prompt") : nullptr;
  const Json* const turns = object.is_object() ? find(object, "turns") : nullptr;
  if (prompt == nullptr && turns == nullptr)
    throw engine::InputError(where +
                             " has no \"prompt\" and no \"turns\"; each line must be an object "
                             "with one of them.");
  const Json* const category = find(object, "category");
  return {id_of(object, where),
          category != nullptr ? name_of(*category, "category", where) : "all",
          prompt != nullptr ? text_of(*prompt, "prompt", where) : first_turn(*turns, where),
          {}};
}

}  // namespace

std::vector<Prompt> read_prompts(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(file, ignored);
  const bool may_end = std::filesystem::is_regular_file(status) || std::filesystem::is_fifo(status);
  std::ifstream stream;
  if (may_end) stream.open(file);
  if (!may_end || !stream)
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
