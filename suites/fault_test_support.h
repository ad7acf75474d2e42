// For tests of the suites: faults by their ids, and the embedded model in a context.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "engine/decode.h"
#include "suites/context.h"
#include "suites/mutants.h"

namespace specbench::suites::testing {

/// The faults of a mutant; "R1" and so on.
inline Faults planted(const char* id) { return find_mutant(id)->plant(); }
inline engine::Steps steps_r1() { return planted("R1").steps; }
inline engine::Steps steps_a1() { return planted("A1").steps; }
inline engine::Steps steps_n1() { return planted("N1").steps; }
inline engine::Steps steps_k1() { return planted("K1").steps; }

/// The embedded model and prompts of the source tree.
inline Options embedded_options(const std::string& suite) {
  Options options;
  options.suite = suite;
  options.model = std::string(SPECBENCH_SOURCE_DIR) + "/engine/models/austen-10m";
  options.prompts = std::string(SPECBENCH_SOURCE_DIR) + "/suites/prompts/austen.jsonl";
  options.quiet = true;
  options.threads = 2;
  options.command_line = "test";
  return options;
}

/// A context with its stop flag and silent progress.
struct Bench {
  explicit Bench(const Options& options) : context(open_context(options, stop, progress)) {}
  std::atomic<bool> stop{false};
  Progress progress{true};
  Context context;
};

}  // namespace specbench::suites::testing
