#include "engine/model/model.h"

#include <system_error>

#include "engine/error.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"

namespace specbench::engine {

namespace {

void check_directory(const std::filesystem::path& directory) {
  std::error_code error;
  const auto status = std::filesystem::status(directory, error);
  const std::string name = directory.string();
  if (!std::filesystem::exists(status)) {
    throw InputError(
        "model directory " + (name.empty() ? "''" : name) +
        " does not exist; give a directory with config.json, tokenizer.json and *.safetensors.");
  }
  if (!std::filesystem::is_directory(status)) {
    throw InputError("model " + name +
                     " is not a directory; give a directory with config.json, tokenizer.json and "
                     "*.safetensors.");
  }
}

/// The last part of the path as given; "." and ".." are resolved first.
std::string name_of(const std::filesystem::path& directory) {
  std::filesystem::path path = directory.lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  if (path == "." || path.filename() == "..") {
    std::error_code error;
    const auto resolved = std::filesystem::canonical(path, error);
    if (!error) path = resolved;
  }
  return path.filename().string();
}

}  // namespace

std::vector<TokenId> Model::encode_prompt(std::string_view text) const {
  std::vector<TokenId> ids;
  if (config.bos) ids.push_back(*config.bos);
  const std::vector<TokenId> text_ids = tokenizer.encode(text);
  ids.insert(ids.end(), text_ids.begin(), text_ids.end());
  if (ids.empty()) {
    throw InputError("the prompt is empty and model " + name +
                     " has no bos_token_id to begin with; give a prompt of at least one token.");
  }
  return ids;
}

Model load_hugging_face(const std::filesystem::path& directory) {
  check_directory(directory);
  Model model;
  model.name = name_of(directory);
  // Small files first: a wrong directory is told before gigabytes are read.
  model.config = read_config(directory / "config.json");
  model.tokenizer = Tokenizer::from_json_file(directory / "tokenizer.json");
  if (model.tokenizer.size() > model.config.vocab_size) {
    throw InputError((directory / "tokenizer.json").string() + " has token ids up to " +
                     std::to_string(model.tokenizer.size() - 1) + ", but vocab_size in " +
                     (directory / "config.json").string() + " is " +
                     std::to_string(model.config.vocab_size) +
                     "; they belong to different models.");
  }
  StoredWeights stored = read_weights(directory, model.config);
  model.weights = std::move(stored.weights);
  model.weights_hash = stored.hash;
  model.weights_dtype = std::move(stored.dtype);
  return model;
}

Model load_model(const std::string& source) { return load_hugging_face(source); }

}  // namespace specbench::engine
