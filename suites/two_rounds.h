// The engine room of the enumeration: every draft of a round, every coin set of its verification,
// two rounds joined.
#pragma once

#include "suites/enumeration.h"

namespace specbench::suites {

/// The joint law of the first g + 2 tokens of two rounds, shorter texts going on with plain draws
/// of the target, against the target's. Token, block, one-hot and greedy rules. Throws
/// StateViolation where the rule or a law breaks an invariant.
EnumerationResult compare_two_rounds(const EnumerationCase& one, const RuleUnderTest& rule);

}  // namespace specbench::suites
