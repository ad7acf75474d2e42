// T0b (LOSSLESS section 2): the corners where rules, laws and coins break. Every case is one
// injected input with a known answer; no draws, no statistics.
#pragma once

#include <string_view>
#include <vector>

#include "engine/steps.h"
#include "results/record.h"

namespace specbench::suites {

/// The cases that a verifier has: its rule (or steps.accept), and the laws, coins and drafts that
/// steps.law, steps.coins and steps.draft give. "edges.<name>"; a StateViolation or InputError that
/// a step throws fails the case.
std::vector<results::Check> check_edges(std::string_view verifier, const engine::Steps& steps);

}  // namespace specbench::suites
