#include "engine/model/model.h"

#include <array>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/error.h"
#include "engine/model/bos.h"
#include "engine/model/config.h"
#include "engine/model/gguf_model.h"
#include "engine/model/input_file.h"
#include "engine/model/synthetic.h"
#include "engine/model/tensors.h"
#include "engine/model/weights.h"

namespace specbench::engine {

namespace {

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

void read_generation_config_if_any(const std::filesystem::path& file, ModelConfig& config) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) read_generation_config(file, config);
}

/// By its first bytes, whatever its name; by its name where those are damaged, so that the error
/// speaks of them.
bool is_gguf(const std::filesystem::path& path) {
  if (path.extension() == ".gguf") return true;
  const InputFile file(path);
  std::array<char, 4> magic{};
  if (file.size() < magic.size()) return false;
  file.read(0, std::as_writable_bytes(std::span(magic)));
  return std::string_view(magic.data(), magic.size()) == "GGUF";
}

/// A token that the tokenizer cannot spell is no part of any text the model was trained on.
void check_bos(const Model& model, const std::filesystem::path& directory) {
  if (!model.config.bos || *model.config.bos < model.tokenizer.size()) return;
  throw InputError((directory / "tokenizer.json").string() + ": its post_processor puts token " +
                   std::to_string(*model.config.bos) + " before every text, but its ids end at " +
                   std::to_string(model.tokenizer.size() - 1) +
                   "; the file is damaged, so fetch the model again.");
}

}  // namespace

std::vector<TokenId> Model::encode_prompt(std::string_view text) const {
  std::vector<TokenId> ids = tokenizer.encode(text);
  const bool is_there = !ids.empty() && ids.front() == config.bos;
  if (config.bos && !is_there) ids.insert(ids.begin(), *config.bos);
  if (ids.empty()) {
    throw InputError("the prompt is empty and model " + name +
                     " puts no BOS token before it; give a prompt of at least one token.");
  }
  return ids;
}

Model load_hugging_face(const std::filesystem::path& directory) {
  Model model;
  model.name = name_of(directory);
  // Small files first: a wrong directory is told before gigabytes are read.
  model.config = read_config(directory / "config.json");
  read_generation_config_if_any(directory / "generation_config.json", model.config);
  model.tokenizer = Tokenizer::from_json_file(directory / "tokenizer.json");
  if (model.tokenizer.size() > model.config.vocab_size) {
    throw InputError((directory / "tokenizer.json").string() + " has token ids up to " +
                     std::to_string(model.tokenizer.size() - 1) + ", but vocab_size in " +
                     (directory / "config.json").string() + " is " +
                     std::to_string(model.config.vocab_size) +
                     "; they belong to different models.");
  }
  // Embeddings are often padded to a round number of rows.
  if (model.tokenizer.size() < model.config.vocab_size)
    model.config.n_tokens = model.tokenizer.size();
  model.config.bos = read_bos(directory / "tokenizer.json", model.config.vocab_size);
  check_bos(model, directory);
  StoredWeights stored = read_weights(directory, model.config, n_reading_threads());
  model.weights = std::move(stored.weights);
  model.weights_hash = stored.hash;
  model.weights_dtype = std::move(stored.dtype);
  return model;
}

Model load_model(const std::string& source, std::size_t memory_limit_bytes) {
  std::error_code error;
  if (source.starts_with("synthetic:")) return make_synthetic(source, memory_limit_bytes);
  const auto status = std::filesystem::status(source, error);
  if (std::filesystem::is_directory(status)) return load_hugging_face(source);
  if (!std::filesystem::exists(status))
    throw InputError("model " + quote(source) + " does not exist; " + kModelSources + ".");
  if (std::filesystem::is_regular_file(status) && is_gguf(source)) return load_gguf(source);
  throw InputError("model " + source + " is not a directory and does not begin with 'GGUF'; " +
                   kModelSources + ".");
}

}  // namespace specbench::engine
