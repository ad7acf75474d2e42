// T0 (LOSSLESS section 2): the exact joint law of the first g + 2 tokens that two rounds of a rule
// emit, over small vocabularies, against the target's. No draws, no statistics: what differs by
// more than rounding is biased.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/steps.h"
#include "results/record.h"
#include "suites/logit_table.h"
#include "suites/stop_rules.h"

namespace specbench::suites {

inline constexpr double kMaxEnumerationL1 = 1e-12;

struct EnumerationCase {
  int n_ids = 3;
  int g = 3;
  const StopRule* stop = nullptr;
  Tables tables = Tables::kRandom;
  std::uint64_t seed = 1;
  engine::SamplingParams params;
  /// The second round uses the accept coins of the first at the same positions (N6).
  bool shares_accept_coins = false;

  std::string name() const;
};

struct RuleUnderTest {
  std::string_view verifier;  ///< "token", "block", "one-hot", "coupled" or "greedy"
  engine::Steps steps;        ///< accept, law and n_wanted are used; accept null: the verifier's
};

struct EnumerationResult {
  double l1 = 0.0;    ///< sum over texts of |emitted - due|
  std::string worst;  ///< the text that differs most, with both probabilities
};

/// Throws StateViolation where the rule or a law breaks an invariant. For the coupled rule l1 is
/// the share of texts that differ from the autoregressive one under the same noise.
EnumerationResult enumerate(const EnumerationCase& one, const RuleUnderTest& rule);

/// The battery: V 2 to 6 and g 1 to 4 with drafts of fixed length; every legal stop rule at V = 3
/// and at V = 4, g = 3; the same with processors on at V = 3, g <= 3 and V = 4, g = 2.
std::vector<EnumerationCase> enumeration_cases(std::string_view verifier);

/// Runs the battery: a check for each stop rule without and with processors, passed iff each of its
/// cases has l1 <= kMaxEnumerationL1. Once one has not, those of V > 4 and g = 4 are left out.
/// Not whole: the cases of V <= 4 alone, a sixth of the time. "enumeration.<verifier>.<stop
/// rule>[.processors]".
std::vector<results::Check> check_enumeration(std::string_view verifier, const engine::Steps& steps,
                                              int n_threads, bool is_whole = true);

}  // namespace specbench::suites
