// The size of a deviation beside its noise floor. For printing; must never decide a verdict.
#pragma once

#include <cstdint>
#include <span>

namespace specbench::stats {

// Plug-in total variation and what a correct sampler would show.
struct TotalVariationEffect {
  double plug_in = 0.0;     // 1/2 sum |observed / n - p|
  double null_mean = 0.0;   // exact expectation of plug_in when the law holds
  double null_lower = 0.0;  // band holding plug_in with probability >= level when the law holds
  double null_upper = 0.0;
  double level = 0.0;
};

// Expectation by De Moivre's formula for E|X - n p|, summed over outcomes; band by bounded
// differences (one draw moves plug_in by at most 1/n): half-width sqrt(ln(2 / (1 - level)) / (2 n))
// (McDiarmid 1989). Throws std::invalid_argument for no draws, negative counts, sizes that differ,
// an illegal law or level.
TotalVariationEffect total_variation_effect(std::span<const std::int64_t> observed,
                                            std::span<const double> probs, double level = 0.99);

// 1/2 sum |a - b| of two laws of one support. Throws std::invalid_argument for illegal laws or
// sizes that differ.
double total_variation(std::span<const double> a, std::span<const double> b);

// Expected plug-in total variation of n draws from probs. Throws like above.
double expected_plug_in_tv(std::span<const double> probs, std::int64_t n);

}  // namespace specbench::stats
