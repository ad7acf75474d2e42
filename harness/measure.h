// The measurement: arms that differ in one thing run interleaved in blocks, each run between two
// clock readings. Knows no model; must not allocate, print or read files between the two readings.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/clock.h"
#include "harness/phase_timer.h"

namespace specbench::harness {

class Watch;  // harness/watch.h

// What a run produced. The fingerprint is a hash of the emitted ids: equal work, equal fingerprint.
struct Outcome {
  std::int64_t n_tokens = 0;
  std::uint64_t fingerprint = 0;
};

// The outcome of an arm that emits nothing.
inline constexpr Outcome kNoTokens{0, 0};

// One arm: anything that can run case 0..n_cases-1. For each run the harness calls, in this order:
// (turn), prepare, (watch), synchronize, (clock), run, synchronize, (clock), (watch).
class Subject {
 public:
  virtual ~Subject() = default;
  virtual const std::string& name() const = 0;
  virtual void prepare(int case_index) = 0;                    // untimed: reset, allocate, load
  virtual Outcome run(int case_index, PhaseTimer& timer) = 0;  // timed
  virtual void synchronize() {}                                // wait for the device
};

enum class Protocol {
  kStandard,  // warm-up until it has settled, n_blocks blocks
  kArticle,   // exactly 3 warm-ups, synchronise, 5 repetitions
  kGate,      // as standard, for one of several short processes: the interval lies over processes,
              // so few blocks do, and max_warmups bounds a warm-up that noise keeps from settling
};

struct Plan {
  int n_cases = 1;
  int n_warmups = 3;    // passes over all arms and cases before measuring, at least
  int max_warmups = 8;  // at most, when they do not settle
  double warmup_tolerance =
      0.02;                // settled: each arm's median of two successive passes differs by less
  int n_blocks = 5;        // repetitions of every (arm, case)
  std::uint64_t seed = 1;  // of the order of the arms
  Protocol protocol = Protocol::kStandard;
  std::vector<std::string> phase_names{"other"};  // phase 0 runs from the start of a run
  std::function<void()> take_turn;  // waits, untimed, before each run; empty: nobody to wait for
  std::size_t chunk_capacity = 0;   // deliveries kept a run; 0: none
  // Groups of arm indices whose fingerprints and token counts must agree on every case.
  std::vector<std::vector<int>> equal_fingerprint_groups;
};

// Throws std::invalid_argument with one sentence if the plan cannot be run with n_arms arms.
void validate(const Plan& plan, int n_arms);

struct Sample {
  int arm = 0;
  int case_index = 0;
  int block = 0;  // for a warm-up: the number of the pass
  int order = 0;  // position inside the block, 0..n_arms*n_cases-1
  bool is_warmup = false;
  std::int64_t wall_ns = 0;
  std::optional<std::int64_t>
      first_token_ns;                     // since the start of the run; absent: the arm marked none
  std::optional<std::int64_t> decode_ns;  // wall_ns - first_token_ns
  std::vector<std::int64_t> phase_ns;     // [n_phases], sums to wall_ns
  std::vector<std::int64_t> chunk_end_ns;  // [n_chunks], since the start of the run
  std::vector<std::int32_t> chunk_tokens;  // [n_chunks]
  std::int64_t n_tokens = 0;
  std::uint64_t fingerprint = 0;
  std::string
      mark;  // why the machine makes the time doubtful (watch.h), "steal,load"; empty: clean
};

struct Series {
  std::vector<std::string> arm_names;
  std::vector<std::string> phase_names;
  std::vector<Sample> samples;  // in the order they ran, warm-ups too
  bool was_interrupted = false;
  bool fingerprints_agree =
      true;  // false: the series is refused, faults say why; measuring stopped at that block
  bool chunks_complete = true;      // false: chunk_capacity was too small, ITL cannot be had
  int warmups_done = 0;             // whole passes
  bool warmup_converged = false;    // the last two passes differed by less than the tolerance
  int blocks_done = 0;              // whole blocks
  bool was_watched = false;         // false: no sample could be marked
  std::vector<std::string> faults;  // sentences

  bool is_refused() const { return !fingerprints_agree; }
  // Share of the measured samples (not the warm-ups) that are marked, 0..1; 0 if none was measured.
  double marked_share() const;
};

// True if more than `limit` of the measured samples are marked: the run says nothing then. With a
// fifth of its samples disturbed a median still lies between the quantiles .375 and .625 of the
// rest.
bool is_void_by_marks(const Series& series, double limit = 0.20);

struct Progress {
  int arm = 0;
  int case_index = 0;
  int block = 0;
  bool is_warmup = false;
  int n_done = 0;   // runs
  int n_total = 0;  // runs; grows while the warm-up has not settled
};

// Runs the plan. Every arm runs once per case per block, in an order drawn from (seed, block,
// case). Fingerprints of one (arm, case) must agree over all repetitions, warm-ups included.
// `on_progress` (may be empty) is called after each run, untimed. `stop` is honoured between runs;
// what was measured is kept. `watch` is read before and after each run, untimed, and marks doubtful
// samples; nullptr: none are marked. Exceptions of a subject pass through. Throws
// std::invalid_argument for a bad plan or two arms of one name.
Series measure(std::span<Subject* const> arms, const Plan& plan, Clock& clock,
               const std::function<void(const Progress&)>& on_progress,
               const std::atomic<bool>& stop, Watch* watch = nullptr);

// The order in which n_arms arms run: a permutation that depends on nothing but the arguments.
std::vector<int> arm_order(std::uint64_t seed, bool is_warmup, int block, int case_index,
                           int n_arms);

}  // namespace specbench::harness
