// The coupled rule's T0: its noise is keyed, so that a text is not enumerated but compared, token
// for token, with what autoregressive decoding emits under the same noise.
#pragma once

#include "suites/enumeration.h"

namespace specbench::suites {

inline constexpr int kCoupledTexts = 300;  ///< a case

/// Two rounds a text, drafts by steps.draft, coins by steps.coins. l1 is the share of texts that
/// differ.
EnumerationResult compare_coupled_texts(const EnumerationCase& one, const RuleUnderTest& rule);

}  // namespace specbench::suites
