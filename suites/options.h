// Every option of the command line, with its default. Says nothing of what a suite does with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/sampling.h"

namespace specbench::suites {

enum class Command { kSuite, kGenerate, kInfo, kGate, kReport };

/// Exit codes of the program.
enum ExitCode {
  kPassed = 0,
  kFailed = 1,
  kInconclusive = 2,
  kVoid = 3,
  kUsage = 4,
  kInterrupted = 130
};

struct Options {
  Command command = Command::kSuite;
  std::string suite;             ///< "latency", "lossless", "kv", "sweep", "model", "selftest"
  std::string model;             ///< as engine::load_model takes it; empty: the embedded model
  std::string dtype = "stored";  ///< weights run as "stored", or converted first (convert.h)
  std::string kv_dtype = "f32";  ///< cache: "f32" or "f16"
  std::string backend = "cpu";
  std::string drafter = "layer-skip";
  int draft_layers = 0;  ///< 0: a quarter of the layers
  int draft_tokens = 2;  ///< g
  std::string verifier = "token";
  engine::SamplingParams sampling;
  std::vector<std::string> stop_texts;  ///< a text ends with the token that completes one
  int batch = 0;                        ///< sequences decoded together; 0: the suite's choice
  std::string prompts;                  ///< JSON lines (prompts.h); empty: the embedded set
  int max_prompts = 0;  ///< latency, model: prompts taken of the set; 0: the suite's choice
  std::string prompt;   ///< generate only
  int max_tokens = 0;   ///< 0: the suite's choice
  int threads = 0;      ///< 0: every core this process may use
  std::uint64_t seed = 1;
  bool vary_seed = false;            ///< the seed was drawn afresh for this run
  double samples = 1e5;              ///< lossless: verified token draws end to end
  int seeds = 0;                     ///< runs with a seed of their own; 0: the suite's choice
  double alpha = 1e-6;               ///< false alarm of a whole run, at most
  std::string mutant;                ///< lossless, latency: a known fault of the selftest to plant
  bool sequential = false;           ///< lossless: looks at the data more than once, by plan
  std::string state;                 ///< file that carries a sequential run from call to call
  bool analyze_calibration = false;  ///< judge the tests themselves
  bool stop_at_eos =
      false;  ///< latency: end a timed text at EOS instead of going on as a new document
  std::string protocol = "standard";  ///< latency: "standard", "article" or "gate"
  int processes = 1;                  ///< latency: measured in so many processes, one after another
  int process = 0;                    ///< which of them this is
  std::vector<int> turns;  ///< descriptors to take turns with another process by; empty: alone
  bool resume = false;     ///< go on where an interrupted run over processes ended
  double inject = 0;       ///< latency: percent of work added to the speculative arms
  std::vector<std::string> baseline;  ///< gate: records
  std::vector<std::string> candidate;
  std::string baseline_binary;  ///< gate: programs that are measured in turn
  std::string candidate_binary;
  std::string policy;                  ///< gate: JSON file; empty: the built-in defaults
  int rehearse = 0;                    ///< gate: play so many with pairs drawn from the records
  std::vector<std::string> records;    ///< report: files
  std::string to = "html";             ///< report: html, markdown, junit, google-benchmark
  std::string out;                     ///< record file (JSON)
  std::string format = "text";         ///< what goes to standard output: "text" or "json"
  bool quiet = false;                  ///< no progress
  std::string command_line;            ///< as typed, a varied seed spelled out: it repeats the run
  std::vector<std::string> arguments;  ///< the same as words, without the program
};

/// Throws engine::InputError with one sentence where an option is out of range or does not go with
/// another.
void check_options(const Options& options);

/// Parses the command line and checks it. Returns false where there is nothing left to do (--help,
/// --version), the text having gone to standard output. Throws engine::InputError with one sentence
/// for wrong usage.
bool parse_options(int argc, const char* const* argv, Options& options);

}  // namespace specbench::suites
