// Figures by category of the prompts: where in a mixed set does drafting pay? Needs one prompt a
// case; measures nothing itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/record.h"
#include "suites/latency_speed.h"

namespace specbench::suites {

/// What the checked speculative pass of one case did.
struct CaseRounds {
  std::int64_t n_rounds = 0, n_accepted = 0;
};

/// The table "categories", one row each in order of appearance: category, prompts, speedup (decode
/// only) with lower and upper at .95, acceptance_length. Both spans by case. The interval is absent
/// for a single prompt, which says nothing of its category; a speed-up where no token was emitted
/// behind the first. Absent for fewer than two categories.
std::optional<results::NamedTable> category_table(const Measured& measured,
                                                  std::span<const std::string> categories,
                                                  std::span<const CaseRounds> rounds);

/// Makes the merged record's table of those of all processes: the median speed-up of each category,
/// and an interval by order statistics where the processes are enough for one.
void merge_categories(std::span<const results::Record> records, results::Record& merged);

}  // namespace specbench::suites
