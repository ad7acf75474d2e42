// What every suite starts from: options with their defaults filled in, the model, the prompts, and
// the record it writes to.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend.h"
#include "engine/decode.h"
#include "engine/drafter.h"
#include "engine/model/model.h"
#include "engine/weight_pool.h"
#include "results/record.h"
#include "suites/options.h"
#include "suites/progress.h"
#include "suites/prompts.h"

namespace specbench::suites {

/// Copies share the model; a copy with other options is another way to look at it.
struct Context {
  Options options;  ///< threads and draft_layers resolved
  std::shared_ptr<engine::Model> shared_model;
  const engine::Model& model = *shared_model;
  std::vector<Prompt> prompts{};
  const std::atomic<bool>* stop = nullptr;  ///< set by Ctrl-C
  Progress* progress = nullptr;
  /// Backends of this model share its weights: a suite has several at a time.
  std::shared_ptr<engine::WeightPool> pool = std::make_shared<engine::WeightPool>();
};

/// Folder share/specbench that belongs to this executable: beside its bin/ folder. Throws
/// engine::InputError if it cannot be found.
std::filesystem::path data_directory();

/// Loads the model and the prompts that the options name. Throws engine::InputError.
Context open_context(const Options& options, const std::atomic<bool>& stop, Progress& progress);

/// Length of the longest sequence over all prompts with max_tokens more.
int longest_sequence(const Context& context, int max_tokens);

/// Dead cache slots hold NaN in debug builds, so that a read of one shows.
#ifdef NDEBUG
inline constexpr bool kPoisonByDefault = false;
#else
inline constexpr bool kPoisonByDefault = true;
#endif

/// What the options and the machine say of every backend's cache and memory.
void set_kv_and_memory(const Context& context, engine::BackendOptions& options);

/// The named backend, asserted to be the one that runs. batch lanes, sequences up to max_length,
/// draft_tokens drafts a round. n_visible: see engine::BackendOptions.
std::unique_ptr<engine::Backend> open_backend(const Context& context, int batch, int max_length,
                                              int draft_tokens, bool poison = kPoisonByDefault,
                                              int (*n_visible)(int pos, int n_held) = nullptr);

std::unique_ptr<engine::Drafter> open_drafter(const Context& context);

/// Decoding as the options say, with the given verifier ("": the options').
engine::DecodeOptions decode_options(const Context& context, std::string_view verifier = "");

/// A record with everything but results: options, environment, build, model.
results::Record start_record(const Context& context);

}  // namespace specbench::suites
