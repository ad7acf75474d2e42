#include "suites/processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "engine/error.h"
#include "harness/child.h"
#include "harness/environment.h"
#include "harness/turns.h"
#include "results/record_file.h"

namespace specbench::suites {

namespace fs = std::filesystem;

namespace {

constexpr auto kPartTimeout = std::chrono::hours(2);
constexpr const char* kIdentityFile = "identity.txt";

/// Options of ours that a child must not see; the second kind takes a value.
constexpr std::string_view kOwnFlags[] = {"--resume", "--quiet"};
constexpr std::string_view kOwnOptions[] = {"--out", "--format", "--processes", "--process"};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text && file.flush()))
    throw engine::InputError(path.string() + " cannot be written; choose another --out.");
}

fs::path temporary_folder() {
  std::string name = (fs::temp_directory_path() / "specbench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw engine::InputError("No temporary folder can be made (" + name +
                             "); give --out a place to keep the parts.");
  return name;
}

bool is_option(std::string_view word, std::string_view option) {
  return word == option ||
         (word.starts_with(option) && word.size() > option.size() && word[option.size()] == '=');
}

}  // namespace

Parts::Parts(const std::string& out, const std::string& identity, bool is_resumed)
    : is_temporary_(out.empty()) {
  std::error_code error;
  folder_ = is_temporary_ ? temporary_folder() : fs::path(out + ".parts");
  const fs::path mark = folder_ / kIdentityFile;
  if (is_resumed && fs::exists(mark)) {
    if (read_text(mark) != identity)
      throw engine::InputError("--resume: " + folder_.string() +
                               " holds parts of another run (other options, program or machine); "
                               "leave --resume out to start afresh.");
    return;
  }
  if (!is_temporary_ && fs::exists(mark)) fs::remove_all(folder_, error);
  if (!is_temporary_ && fs::exists(folder_) && !fs::is_empty(folder_, error))
    throw engine::InputError(folder_.string() +
                             " is in the way and holds no parts of a run; move it, or choose "
                             "another --out.");
  fs::create_directories(folder_, error);
  if (error)
    throw engine::InputError(folder_.string() + " cannot be made: " + error.message() + ".");
  write_text(mark, identity);
}

Parts::~Parts() {
  std::error_code error;
  if (!is_kept_) fs::remove_all(folder_, error);
}

std::vector<std::string> words_for_child(std::span<const std::string> arguments,
                                         std::span<const std::string_view> taken) {
  std::vector<std::string> words;
  const auto is_in = [](auto& options, std::string_view word) {
    return std::any_of(std::begin(options), std::end(options),
                       [&](std::string_view option) { return is_option(word, option); });
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (is_in(kOwnFlags, word)) continue;
    if (is_in(kOwnOptions, word) || is_in(taken, word)) {
      if (word.find('=') == std::string::npos) ++i;
      continue;
    }
    words.push_back(word);
  }
  return words;
}

namespace {

std::vector<std::string> words_of(const Launch& launch, const Parts& parts) {
  std::vector<std::string> words{launch.binary};
  words.insert(words.end(), launch.words.begin(), launch.words.end());
  words.insert(words.end(), {"--quiet", "--out", parts.file(launch.name).string()});
  return words;
}

/// What a child left; absent: it was interrupted.
std::optional<results::Record> take_record(const Launch& launch, const harness::ChildResult& child,
                                           const Parts& parts, const std::atomic<bool>& stop) {
  const fs::path file = parts.file(launch.name);
  if (stop || child.was_interrupted || child.exit_code == kInterrupted) {
    fs::remove(file);  // a half-measured part is no part
    return std::nullopt;
  }
  const std::string said = harness::last_line(child.output);
  if (child.exit_code == kUsage) throw engine::InputError(launch.binary + ": " + said);
  if (child.timed_out)
    throw std::runtime_error(launch.binary + " did not end within two hours (" + launch.name + ")");
  if (!parts.has(launch.name))
    throw std::runtime_error(fmt::format("{} left no record of {} (exit code {}, signal {}): {}",
                                         launch.binary, launch.name, child.exit_code, child.signal,
                                         said));
  return results::read_record(file);
}

}  // namespace

std::optional<results::Record> measure_part(const Launch& launch, const Parts& parts,
                                            const std::atomic<bool>& stop) {
  if (parts.has(launch.name)) return results::read_record(parts.file(launch.name));
  const auto child = harness::run_child(words_of(launch, parts), kPartTimeout, stop);
  return take_record(launch, child, parts, stop);
}

std::optional<PartPair> measure_in_turn(const std::array<Launch, 2>& launches, std::uint64_t seed,
                                        const Parts& parts, const std::atomic<bool>& stop) {
  const auto& [first, second] = launches;
  if (parts.has(first.name) && parts.has(second.name))
    return PartPair{results::read_record(parts.file(first.name)),
                    results::read_record(parts.file(second.name))};
  const auto words = [&](const Launch& launch) -> harness::TurnWords {
    return [&](int wait_file, int turn_file) {
      std::vector<std::string> all = words_of(launch, parts);
      all.insert(all.end(), {"--turns", std::to_string(wait_file), std::to_string(turn_file)});
      return all;
    };
  };
  const auto children =
      harness::run_in_turns({words(first), words(second)}, seed, kPartTimeout, stop);
  auto one = take_record(first, children[0], parts, stop);
  auto other = take_record(second, children[1], parts, stop);
  if (!one || !other) {
    fs::remove(parts.file(first.name));  // half a pair is no pair
    fs::remove(parts.file(second.name));
    return std::nullopt;
  }
  return PartPair{std::move(*one), std::move(*other)};
}

std::string this_program() { return fs::read_symlink("/proc/self/exe").string(); }

void require_specbench(const std::string& binary, const std::atomic<bool>& stop) {
  std::string said;
  try {
    const auto child = harness::run_child({fs::absolute(binary).string(), "--version"},
                                          std::chrono::seconds(20), stop);
    if (child.has_passed()) said = harness::last_line(child.output);
  } catch (const std::invalid_argument& error) {
    throw engine::InputError(std::string(error.what()) + ".");
  }
  if (!stop && !said.starts_with("specbench "))
    throw engine::InputError(binary + " is not specbench: asked for its --version it said '" +
                             said.substr(0, 60) + "'.");
}

results::Record run_latency_processes(const Options& options, const std::atomic<bool>& stop,
                                      Progress& progress) {
  const std::string binary = this_program();
  std::vector<std::string> words = words_for_child(options.arguments, {});
  const harness::Environment machine = harness::capture_environment();
  std::string identity =
      fmt::format("{:016x} {}", machine.binary_fnv1a.value_or(0), machine.cpu_model.value_or("?"));
  for (const std::string& word : words) identity += '\n' + word;
  Parts parts(options.out, identity + '\n', options.resume);

  std::vector<results::Record> records;
  for (int p = 0; p < options.processes; ++p) {
    progress.show("measuring, by process", p, options.processes);
    std::vector<std::string> own = words;
    own.insert(own.end(), {"--process", std::to_string(p)});
    auto record = measure_part({binary, std::move(own), fmt::format("process-{}", p)}, parts, stop);
    if (!record) {
      parts.keep();
      break;
    }
    records.push_back(std::move(*record));
    if (records.back().exit_code == kFailed) break;  // a broken property: no figure helps
  }
  if (records.empty()) {
    results::Record none;
    none.suite = "latency";
    none.exit_code = kVoid;
    none.verdict = "VOID: interrupted before the first process had ended.";
    return none;
  }
  results::Record merged = merge_processes(std::move(records));
  if (parts.is_kept())
    merged.notes.push_back("The processes that had ended are kept in " + parts.folder().string() +
                           "; --resume goes on from there.");
  return merged;
}

}  // namespace specbench::suites
