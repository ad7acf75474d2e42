// Measures for the gate: two programs, a pair of processes at a time that run in turn, each a short
// latency run under the gate's protocol, and the candidate's laws once (they need no ruler: their
// contracts are absolute). Judges nothing.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.h"
#include "suites/options.h"
#include "suites/processes.h"
#include "suites/progress.h"

namespace specbench::suites {

/// What a gate compares. A side that was not measured or given is absent.
struct GateRecords {
  std::optional<results::Record> baseline, candidate;
  std::optional<results::Record> baseline_lossless, candidate_lossless;
};

/// The records of --baseline and --candidate: one of suite lossless goes where the laws go. Throws
/// engine::InputError for files that are no record, and for two of a kind on one side.
GateRecords read_gate_records(const Options& options);

class GateRun {
 public:
  /// lossless_samples 0: laws are not looked at. are_counters_exact: a pair whose counters differ
  /// has decided, and no more is measured. Throws engine::InputError where a program is not
  /// specbench or a folder cannot be made.
  GateRun(const Options& options, std::int64_t lossless_samples, bool are_counters_exact,
          const std::atomic<bool>& stop, Progress& progress);

  /// Until both sides have n_processes processes; the first call looks at the laws as well. False:
  /// interrupted; what there is stays for --resume.
  bool measure_until(int n_processes);

  const GateRecords& records() const { return records_; }
  /// Keeps each side's merged record, raw samples and all, beside --out: <stem>.baseline.json and
  /// <stem>.candidate.json. Nothing without --out. Throws std::runtime_error where that fails.
  void keep_records() const;

 private:
  bool measure_laws();
  bool measure_pair(int process);
  /// The last pair, or the laws, have shown what no further measurement can mend.
  bool has_decided() const;
  std::vector<std::string> words(std::string_view suite) const;

  const Options& options_;
  std::int64_t lossless_samples_;
  bool are_counters_exact_;
  const std::atomic<bool>& stop_;
  Progress& progress_;
  Parts parts_;
  std::vector<results::Record> baseline_, candidate_;  ///< [process]
  GateRecords records_;
};

}  // namespace specbench::suites
