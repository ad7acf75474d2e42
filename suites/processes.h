// A latency run over several processes: each is this program (or another build of it) started
// again, and its record is kept until the whole is done, so that an interrupted run can go on.
// Decides nothing about the figures but how they are put together.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.h"
#include "suites/options.h"
#include "suites/progress.h"

namespace specbench::suites {

/// The folder of finished parts of a run. Removed at the end unless `keep` was called.
class Parts {
 public:
  /// Beside `out` ("<out>.parts"), or a temporary one where `out` is empty. `identity` says what is
  /// measured; with is_resumed parts of the same identity are taken up, and others refused by
  /// engine::InputError. Without it an old folder is emptied.
  Parts(const std::string& out, const std::string& identity, bool is_resumed);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  std::filesystem::path file(const std::string& name) const { return folder_ / (name + ".json"); }
  bool has(const std::string& name) const { return std::filesystem::exists(file(name)); }
  const std::filesystem::path& folder() const { return folder_; }
  /// Something is missing: the parts stay for --resume (a temporary folder does not).
  void keep() { is_kept_ = !is_temporary_; }
  bool is_kept() const { return is_kept_; }

 private:
  std::filesystem::path folder_;
  bool is_temporary_ = false;
  bool is_kept_ = false;
};

/// What of the command line the parts depend on: every word but those of output, resuming and the
/// number of processes; `taken` names options that take a value and are left out too.
std::vector<std::string> words_for_child(std::span<const std::string> arguments,
                                         std::span<const std::string_view> taken);

/// One program's part of a run.
struct Launch {
  std::string binary;
  std::vector<std::string> words;  ///< options but --out
  std::string name;                ///< of the part
};

/// The record of that part: from the folder, or measured now by a child process. Absent: it was
/// interrupted. Throws engine::InputError with the child's sentence where the child refused its
/// input or is not this program, std::runtime_error where it crashed.
std::optional<results::Record> measure_part(const Launch& launch, const Parts& parts,
                                            const std::atomic<bool>& stop);

/// Two parts measured in turn, run by run; both from the folder, or both measured now.
struct PartPair {
  results::Record first, second;
};
std::optional<PartPair> measure_in_turn(const std::array<Launch, 2>& launches, std::uint64_t seed,
                                        const Parts& parts, const std::atomic<bool>& stop);

/// Path of this program.
std::string this_program();

/// What a program says of itself under --version; throws engine::InputError, naming it, where it is
/// not specbench.
void require_specbench(const std::string& binary, const std::atomic<bool>& stop);

/// Records of one process each, put together: samples and process values of all, metrics as medians
/// over processes with exact intervals, counters and tables of the first after a check that all
/// did the same work. Requires one record at least; all of suite latency.
results::Record merge_processes(std::vector<results::Record> records);

/// --suite latency --processes P.
results::Record run_latency_processes(const Options& options, const std::atomic<bool>& stop,
                                      Progress& progress);

}  // namespace specbench::suites
