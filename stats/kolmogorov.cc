#include "stats/kolmogorov.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "stats/power.h"
#include "stats/require.h"

namespace specbench::stats {
namespace {

using Matrix = std::vector<double>;  // [size * size], row-major

// Beyond this n d^2 the two one-sided events almost exclude each other, and a complement would lose
// digits.
constexpr double kUpperTail = 4.5;

Matrix multiply(const Matrix& a, const Matrix& b, std::size_t size) {
  Matrix product(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t j = 0; j < size; ++j) {
        product[i * size + j] += a[i * size + k] * b[k * size + j];
      }
    }
  }
  return product;
}

// H of Marsaglia, Tsang and Wang: n d = k - h with k an integer and h in [0, 1).
Matrix transition_matrix(std::size_t size, double h) {
  Matrix matrix(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size && j <= i + 1; ++j) matrix[i * size + j] = 1.0;
  }
  const std::size_t last = size - 1;
  for (std::size_t i = 0; i < size; ++i) {
    matrix[i * size] -= std::pow(h, static_cast<double>(i + 1));
    matrix[last * size + i] -= std::pow(h, static_cast<double>(size - i));
  }
  if (2.0 * h > 1.0) matrix[last * size] += std::pow(2.0 * h - 1.0, static_cast<double>(size));
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size && j <= i; ++j) {
      for (std::size_t divisor = 2; divisor <= i - j + 1; ++divisor) {
        matrix[i * size + j] /= static_cast<double>(divisor);
      }
    }
  }
  return matrix;
}

// P(D_n < d) for n <= 100: n! / n^n times an element of H^n. Squarings stay far from overflow at
// this n.
double exact_cdf(double d, std::int64_t n) {
  const double nd = static_cast<double>(n) * d;
  const auto k = static_cast<std::size_t>(nd) + 1;
  const std::size_t size = 2 * k - 1;
  Matrix power = transition_matrix(size, static_cast<double>(k) - nd);
  Matrix result(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) result[i * size + i] = 1.0;
  for (std::int64_t rest = n; rest > 0; rest /= 2) {
    if (rest % 2 == 1) result = multiply(result, power, size);
    if (rest > 1) power = multiply(power, power, size);
  }
  double probability = result[(k - 1) * size + k - 1];
  for (std::int64_t i = 1; i <= n; ++i) {
    probability *= static_cast<double>(i) / static_cast<double>(n);
  }
  return std::clamp(probability, 0.0, 1.0);
}

// P(D_n^+ >= d), a sum of positive terms (Birnbaum and Tingey 1951).
double one_sided_sf(double d, std::int64_t n) {
  const double size = static_cast<double>(n);
  double sum = 0.0;
  double binomial = 1.0;  // C(n, j)
  for (std::int64_t j = 0; static_cast<double>(j) <= size * (1.0 - d); ++j) {
    const double at = d + static_cast<double>(j) / size;
    const double rest = std::max(0.0, 1.0 - at);
    sum += binomial * std::pow(at, static_cast<double>(j - 1)) *
           std::pow(rest, static_cast<double>(n - j));
    binomial *= static_cast<double>(n - j) / static_cast<double>(j + 1);
  }
  return d * sum;
}

bool is_exact_upper_tail(double d, std::int64_t n) {
  return d >= 0.5 || static_cast<double>(n) * d * d > kUpperTail;
}

double corrected_lambda(double d, std::int64_t n) {
  const double root = std::sqrt(static_cast<double>(n));
  const double x = root * d;
  const double second_order = x < 1.0 ? (x - 1.0) / 4.0 : (x * x * x - x) / 9.0;
  return std::max(0.0, x + 1.0 / (6.0 * root) + second_order / static_cast<double>(n));
}

void require_arguments(double d, std::int64_t n) {
  require(n >= 1, "kolmogorov law", "n must be at least 1", static_cast<double>(n));
  require(!std::isnan(d), "kolmogorov law", "d is not a number");
}

Evidence uniform_evidence(const Contract& contract, std::int64_t n, double d, double resolution) {
  Evidence evidence;
  evidence.statistic_name = "Kolmogorov-Smirnov D";
  evidence.drift_kind = kDriftKolmogorov;
  evidence.n = n;
  evidence.statistic = d;
  evidence.p_value = kolmogorov_sf(d, n);
  evidence.p_lower = kolmogorov_cdf(d + resolution, n);
  evidence.min_detectable =
      std::min(1.0, dkw_min_detectable(contract.alpha(), contract.beta(), n) + resolution);
  evidence.required_n =
      contract.tau() > resolution
          ? dkw_required_n(contract.alpha(), contract.beta(), contract.tau() - resolution)
          : kNoSampleSuffices;
  return evidence;
}

}  // namespace

double kolmogorov_limit_sf(double lambda) {
  require(lambda >= 0.0, "kolmogorov_limit_sf", "lambda must not be negative or NaN", lambda);
  if (lambda < 1.0) return 1.0 - kolmogorov_limit_cdf(lambda);
  double sum = 0.0;
  for (int k = 1; k <= 6; ++k) {
    const double term = std::exp(-2.0 * k * k * lambda * lambda);
    sum += k % 2 == 1 ? term : -term;
  }
  return std::min(1.0, 2.0 * sum);
}

double kolmogorov_limit_cdf(double lambda) {
  require(lambda >= 0.0, "kolmogorov_limit_cdf", "lambda must not be negative or NaN", lambda);
  if (lambda >= 1.0) return 1.0 - kolmogorov_limit_sf(lambda);
  if (lambda == 0.0) return 0.0;
  const double scale = std::numbers::pi * std::numbers::pi / (8.0 * lambda * lambda);
  double sum = 0.0;
  for (int k = 1; k <= 9; k += 2) sum += std::exp(-scale * k * k);
  return std::min(1.0, std::sqrt(2.0 * std::numbers::pi) / lambda * sum);
}

double kolmogorov_sf(double d, std::int64_t n) {
  require_arguments(d, n);
  if (d <= 0.0) return 1.0;
  if (d >= 1.0) return 0.0;
  if (n > kExactKolmogorovN) return kolmogorov_limit_sf(corrected_lambda(d, n));
  if (is_exact_upper_tail(d, n)) return std::min(1.0, 2.0 * one_sided_sf(d, n));
  return 1.0 - exact_cdf(d, n);
}

double kolmogorov_cdf(double d, std::int64_t n) {
  require_arguments(d, n);
  if (d <= 0.0) return 0.0;
  if (d >= 1.0) return 1.0;
  if (n > kExactKolmogorovN) return kolmogorov_limit_cdf(corrected_lambda(d, n));
  if (is_exact_upper_tail(d, n)) return 1.0 - kolmogorov_sf(d, n);
  return exact_cdf(d, n);
}

double ks_statistic(std::span<const double> pit) {
  require(!pit.empty(), "ks_statistic", "there are no values");
  for (double u : pit)
    require(u >= 0.0 && u <= 1.0, "ks_statistic", "a PIT value must lie in [0, 1]", u);
  std::vector<double> sorted(pit.begin(), pit.end());
  std::sort(sorted.begin(), sorted.end());
  const double n = static_cast<double>(sorted.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double below = static_cast<double>(i) / n;
    const double at = static_cast<double>(i + 1) / n;
    largest = std::max({largest, sorted[i] - below, at - sorted[i]});
  }
  return largest;
}

TestResult ks_uniform_test(const Contract& contract, std::span<const double> pit) {
  const double d = ks_statistic(pit);
  return decide(contract,
                uniform_evidence(contract, static_cast<std::int64_t>(pit.size()), d, 0.0));
}

TestResult ks_uniform_test(const Contract& contract, const PitAccumulator& pit) {
  const double resolution = 1.0 / static_cast<double>(PitAccumulator::kCells);
  return decide(contract, uniform_evidence(contract, pit.n(), pit.edge_statistic(), resolution));
}

}  // namespace specbench::stats
