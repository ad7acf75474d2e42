#include "suites/pit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace specbench::suites {
namespace {

struct OwnedLaw {
  explicit OwnedLaw(const std::vector<double>& w)
      : weights(static_cast<std::size_t>(engine::padded_size(static_cast<int>(w.size())))),
        sums(weights.size() / engine::kChunk) {
    std::copy(w.begin(), w.end(), weights.begin());
    law = {weights.data(), sums.data(), 0.0, static_cast<int>(w.size()), -1};
    law.total = engine::sum_chunks(weights.data(), law.n_ids, sums.data());
  }
  std::vector<double> weights, sums;
  engine::Law law;
};

// The definition: sort the ids, add up what stands in front.
double pit_by_sorting(const std::vector<double>& p, const std::vector<double>& q, int token,
                      OutcomeLaw outcome, Order order, double coin) {
  std::vector<int> ids(p.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto key = [&](int id) {
    const auto y = static_cast<std::size_t>(id);
    return order == Order::kId       ? 0.0
           : order == Order::kTarget ? p[y]
           : q[y] > 0.0              ? p[y] / q[y]
                                     : HUGE_VAL;
  };
  std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return key(a) < key(b); });
  const auto weight = [&](int id) {
    const auto y = static_cast<std::size_t>(id);
    return outcome == OutcomeLaw::kTarget     ? p[y]
           : outcome == OutcomeLaw::kAccepted ? std::min(p[y], q[y])
                                              : std::max(0.0, p[y] - q[y]);
  };
  double before = 0.0, total = 0.0;
  bool is_before = true;
  for (const int id : ids) {
    if (id == token) is_before = false;
    if (is_before) before += weight(id);
    total += weight(id);
  }
  return (before + coin * weight(token)) / total;
}

TEST(Pit, EqualsTheDefinitionForEveryOrderAndLaw) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  for (const int n : {2, 7, 8, 9, 64, 300}) {
    std::vector<double> p(static_cast<std::size_t>(n)), q(p.size());
    for (std::size_t y = 0; y < p.size(); ++y) {
      p[y] = std::exp(3 * uniform(random));
      q[y] = std::exp(3 * uniform(random));
      if (y % 5 == 3) p[y] = p[0];  // ties
      if (y % 7 == 5) q[y] = 0.0;
    }
    const OwnedLaw target(p), draft(q);
    RowProbs row(n);
    row.load(target.law, &draft.law);
    for (std::size_t y = 0; y < p.size(); ++y) {
      p[y] = target.law.prob(static_cast<int>(y));
      q[y] = draft.law.prob(static_cast<int>(y));
    }
    for (int token = 0; token < n; ++token) {
      for (const OutcomeLaw law :
           {OutcomeLaw::kTarget, OutcomeLaw::kAccepted, OutcomeLaw::kResidual}) {
        const double coin = uniform(random);
        const auto u = row.pit(token, law, coin);
        for (const Order order : {Order::kId, Order::kTarget, Order::kRatio}) {
          const double expected = pit_by_sorting(p, q, token, law, order, coin);
          const double got = u[static_cast<std::size_t>(order)];
          if (std::isnan(expected) || std::isnan(got))
            continue;  // a token its law excludes: asserted below
          EXPECT_NEAR(got, expected, 1e-12) << n << " " << token << " " << static_cast<int>(law)
                                            << " " << static_cast<int>(order);
        }
      }
    }
  }
}

TEST(Pit, ATokenItsLawExcludesIsNotANumber) {
  const OwnedLaw target({0.5, 0.5, 0.0}), draft({0.25, 0.5, 0.25});
  RowProbs row(3);
  row.load(target.law, &draft.law);
  EXPECT_TRUE(std::isnan(row.pit(2, OutcomeLaw::kTarget, 0.5)[0]));
  EXPECT_TRUE(std::isnan(row.pit(1, OutcomeLaw::kResidual, 0.5)[0]));
  EXPECT_FALSE(std::isnan(row.pit(0, OutcomeLaw::kResidual, 0.5)[0]));
  EXPECT_DOUBLE_EQ(row.overlap(), 0.75);
}

TEST(Pit, PointMasses) {
  const engine::Law point{nullptr, nullptr, 1.0, 5, 3};
  RowProbs row(5);
  row.load(point, nullptr);
  EXPECT_DOUBLE_EQ(row.pit(3, OutcomeLaw::kTarget, 0.25)[0], 0.25);
  EXPECT_TRUE(std::isnan(row.pit(2, OutcomeLaw::kTarget, 0.25)[0]));
}

TEST(PitTable, HoldsTheBinsOfAStreamAndWhatTheyShouldHold) {
  stats::PitAccumulator pits;
  for (int i = 0; i < 128; ++i) pits.add((i + 0.5) / 128);  // two a bin
  for (int i = 0; i < 64; ++i) pits.add(0.999);             // and a fault: 64 more in the last
  results::NamedTable table = empty_pit_table();
  add_pit_bins("p/q", "rejected", pits, table);
  ASSERT_EQ(table.rows.size(), 64U);
  std::int64_t sum = 0;
  for (std::size_t bin = 0; bin < table.rows.size(); ++bin) {
    const auto& row = table.rows[bin];
    ASSERT_EQ(row.size(), table.columns.size());
    EXPECT_EQ(std::get<std::string>(row[0]), "p/q");
    EXPECT_EQ(std::get<std::string>(row[1]), "rejected");
    EXPECT_EQ(std::get<std::int64_t>(row[2]), static_cast<std::int64_t>(bin));
    EXPECT_EQ(std::get<std::int64_t>(row[3]), bin == 63 ? 66 : 2) << bin;
    EXPECT_DOUBLE_EQ(std::get<double>(row[4]), 3.0);
    sum += std::get<std::int64_t>(row[3]);
  }
  EXPECT_EQ(sum, pits.n());
}

TEST(PitTable, SaysNothingOfAFewTransforms) {
  stats::PitAccumulator pits;
  for (int i = 0; i < 63; ++i) pits.add(0.5);
  results::NamedTable table = empty_pit_table();
  add_pit_bins("id", "all", pits, table);
  EXPECT_TRUE(table.rows.empty());
  pits.add(0.5);
  add_pit_bins("id", "all", pits, table);
  EXPECT_EQ(table.rows.size(), 64U);
}

}  // namespace
}  // namespace specbench::suites
