#include "suites/diagnosis.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "suites/kinds.h"

namespace specbench::suites {
namespace {

using Kinds = std::set<std::string>;

TEST(Kinds, TellBrokenInvariantsApart) {
  EXPECT_EQ(violation_kind("KV cache of x: position 3 ... positions must be consecutive."),
            "positions");
  EXPECT_EQ(violation_kind("the cache holds 5 entries, the committed tokens need 4."),
            "cache-length");
  EXPECT_EQ(violation_kind("emitted 2 tokens, accepted 0; 1 were due."), "emitted");
  EXPECT_EQ(violation_kind("something else"), "other");
  EXPECT_EQ(violated("real", "trimmed to -1").id, "real.state.trim");
  EXPECT_EQ(kind_of("setting.T07.state.trim"), "setting.state.trim");
}

TEST(Kinds, LeaveOutCasePositionSizeSettingAndStatistic) {
  EXPECT_EQ(kind_of("narrow.opposed/V16/g3.rejected[1]"), "narrow.rejected");
  EXPECT_EQ(kind_of("narrow.mild/V2/g1.pair[0,1]"), "narrow.pair");
  EXPECT_EQ(kind_of("wide.V50257.rejected.p/q.ks"), "wide.rejected.p/q");
  EXPECT_EQ(kind_of("real.all.id.chi2"), "real.all.id");
  EXPECT_EQ(kind_of("real.all.p.support"), "real.all.p");
  EXPECT_EQ(kind_of("real.position[2].ks"), "real.position");
  EXPECT_EQ(kind_of("real.accept-bit[0]"), "real.accept-bit");
  EXPECT_EQ(kind_of("real.replay.law"), "replay.law");
  EXPECT_EQ(kind_of("setting.penalties.replay.law"), "replay.law");
  EXPECT_EQ(kind_of("setting.top-p.state"), "setting.state");
  EXPECT_EQ(kind_of("real.identity.bound"), "real.counters");
  EXPECT_EQ(kind_of("enumeration.token.fixed.processors"), "enumeration");
  EXPECT_EQ(kind_of("edges.last-coin"), "edges.last-coin");
  EXPECT_EQ(kind_of("equality.greedy"), "equality.greedy");
  EXPECT_EQ(kind_of(""), "");
}

KillMatrix small_matrix() {
  KillMatrix matrix;
  matrix.kinds = {"a", "b", "c", "d"};
  matrix.signatures = {{"R1", "residual not subtracted", {"a", "b"}},
                       {"N1", "coin reused", {"b", "c"}},
                       {"K1", "one too few", {"d"}}};
  return matrix;
}

TEST(Diagnosis, NamesTheNearestSignature) {
  EXPECT_EQ(diagnose({"a", "b"}, {"a", "b", "c", "d"}, small_matrix()),
            "looks like: residual not subtracted (R1)");
  EXPECT_EQ(diagnose({"b", "c"}, {"a", "b", "c", "d"}, small_matrix()),
            "looks like: coin reused (N1)");
  EXPECT_EQ(diagnose({"d"}, {"a", "b", "c", "d"}, small_matrix()), "looks like: one too few (K1)");
}

TEST(Diagnosis, NamesAllThatAreAsNear) {
  EXPECT_EQ(diagnose({"b"}, {"a", "b", "c", "d"}, small_matrix()),
            "looks like: residual not subtracted (R1); or coin reused (N1)");
}

// What one run did not look at says nothing against a fault.
TEST(Diagnosis, ComparesOnlyWhatBothRunsLookedAt) {
  EXPECT_EQ(diagnose({"a"}, {"a"}, small_matrix()), "looks like: residual not subtracted (R1)");
  EXPECT_EQ(resemblance(small_matrix().signatures[0], {"z"}, {"z"}, small_matrix()), 0.0);
}

TEST(Diagnosis, SaysWhenNothingIsNear) {
  EXPECT_EQ(diagnose({"x", "y", "z"}, {"x", "y", "z"}, small_matrix()),
            "looks like no known fault");
  EXPECT_EQ(diagnose({}, {"a"}, small_matrix()), "");
  EXPECT_EQ(diagnose({"a"}, {"a"}, {}), "");
}

TEST(Diagnosis, ReadsAKillMatrixFromARecord) {
  results::Record record;
  EXPECT_THROW(kill_matrix_of(record), std::invalid_argument);
  record.tables.push_back(
      {"kill_matrix", {"id", "killed_by"}, {{std::string("R1"), std::string("a b")}}});
  record.tables.push_back({"mutants", {"id", "fault"}, {{std::string("R1"), std::string("f")}}});
  record.tables.push_back(
      {"kill_matrix_kinds", {"kind"}, {{std::string("a")}, {std::string("b")}}});
  const KillMatrix matrix = kill_matrix_of(record);
  ASSERT_EQ(matrix.signatures.size(), 1U);
  EXPECT_EQ(matrix.signatures[0].fault, "f");
  EXPECT_EQ(matrix.signatures[0].kinds, (Kinds{"a", "b"}));
  EXPECT_EQ(matrix.kinds, (Kinds{"a", "b"}));
  record.tables[0].columns[1] = "other";
  EXPECT_THROW(kill_matrix_of(record), std::invalid_argument);
}

}  // namespace
}  // namespace specbench::suites
