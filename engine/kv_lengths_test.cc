#include "engine/kv_lengths.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/error.h"

namespace specbench::engine {
namespace {

template <typename Call>
std::string violation(const Call& call) {
  try {
    call();
  } catch (const StateViolation& error) {
    return error.what();
  }
  return "no violation";
}

// Two lanes of three layers and four entries; lane 1 belongs to request 7 and holds two entries in
// every layer.
KvLengths filled() {
  KvLengths kv(2, 3, 4);
  kv.reset(0, 5);
  kv.reset(1, 7);
  for (int pos = 0; pos < 2; ++pos)
    for (int layer = 0; layer < 3; ++layer) kv.append(1, layer, pos);
  return kv;
}

TEST(KvLengths, CountsEachLaneAndLayerAlone) {
  KvLengths kv = filled();
  kv.append(1, 0, 2);
  EXPECT_EQ(kv.at(1, 0), 3);
  EXPECT_EQ(kv.at(1, 1), 2);
  EXPECT_EQ(kv.at(0, 0), 0);
  EXPECT_EQ(kv.of(1).size(), 3U);
  kv.trim(1, 2);
  EXPECT_EQ(kv.at(1, 0), 2);
  kv.trim(1, 2);  // nothing to do
  kv.reset(1, 8);
  for (int layer = 0; layer < 3; ++layer) EXPECT_EQ(kv.at(1, layer), 0);
}

TEST(KvLengths, TrimLeavesShorterLayersAlone) {
  KvLengths kv = filled();
  kv.append(1, 0, 2);
  kv.append(1, 0, 3);
  kv.append(1, 1, 2);
  kv.trim(1, 3);
  EXPECT_EQ(kv.at(1, 0), 3);
  EXPECT_EQ(kv.at(1, 1), 3);
  EXPECT_EQ(kv.at(1, 2), 2);
}

TEST(KvLengths, AppendRefusesGapsAndRepeats) {
  KvLengths kv = filled();
  EXPECT_EQ(violation([&] { kv.append(1, 0, 3); }),
            "KV cache of request 7, lane 1, layer 0: position 3 was written where the cache holds "
            "2 entries; "
            "positions must be "
            "consecutive.");
  EXPECT_EQ(violation([&] { kv.append(1, 0, 1); }),
            "KV cache of request 7, lane 1, layer 0: position 1 was written where the cache holds "
            "2 entries; "
            "positions must be "
            "consecutive.");
}

TEST(KvLengths, AppendRefusesWhatDoesNotFit) {
  KvLengths kv = filled();
  kv.append(1, 0, 2);
  kv.append(1, 0, 3);
  EXPECT_EQ(
      violation([&] { kv.append(1, 0, 4); }),
      "KV cache of request 7, lane 1, layer 0: position 4 is beyond the capacity of 4 entries.");
}

TEST(KvLengths, AppendRefusesATokenThatHasNotPassedTheLayerAbove) {
  KvLengths kv = filled();
  EXPECT_EQ(violation([&] { kv.append(1, 2, 2); }),
            "KV cache of request 7, lane 1, layer 2: position 2 entered before it had passed the "
            "layer above, "
            "which holds 2 "
            "entries.");
  EXPECT_EQ(kv.at(1, 2), 2);  // a refused entry leaves the length alone
}

TEST(KvLengths, TrimRefusesNegativeAndGrowing) {
  KvLengths kv = filled();
  EXPECT_EQ(violation([&] { kv.trim(1, -1); }),
            "KV cache of request 7, lane 1, layer 0: trimmed to -1 entries, but it holds 2.");
  EXPECT_EQ(violation([&] { kv.trim(1, 3); }),
            "KV cache of request 7, lane 1, layer 0: trimmed to 3 entries, but it holds 2.");
}

TEST(KvLengths, CheckNamesRoundRequestLayerAndBothLengths) {
  KvLengths kv = filled();
  EXPECT_EQ(violation([&] { kv.check(1, 7, 2, 0, 4); }), "no violation");
  EXPECT_EQ(violation([&] { kv.check(1, 7, 3, 0, 4); }),
            "KV cache after round 4 of request 7, lane 1, layer 0: the cache holds 2 entries, the "
            "committed tokens "
            "need 3.");
  kv.append(1, 0, 2);
  kv.append(1, 1, 2);
  EXPECT_EQ(violation([&] { kv.check(1, 7, 3, 0, 4); }),
            "KV cache after round 4 of request 7, lane 1, layer 2: the cache holds 2 entries, the "
            "committed tokens "
            "need 3.");
}

TEST(KvLengths, CheckSeesSlotsOfAnotherRequest) {
  KvLengths kv = filled();
  EXPECT_EQ(violation([&] { kv.check(1, 9, 2, 1, 4); }),
            "KV cache after round 4 of request 9, lane 1, layer 0: slot 1 was written by request 7 "
            "for position 1.");
  EXPECT_EQ(violation([&] { kv.check(1, 9, 2, 2, 4); }),
            "no violation");  // only the round's slots are looked at
}

// Fault K8: a lane handed on without a reset still holds the entries of the request before.
TEST(KvLengths, CheckSeesALaneThatWasNotReset) {
  KvLengths kv = filled();
  for (int layer = 0; layer < 3; ++layer) kv.append(1, layer, 2);
  EXPECT_NE(violation([&] {
              kv.check(1, 8, 1, 0, 0);
            }).find("holds 3 entries, the committed tokens need 1."),
            std::string::npos);
}

}  // namespace
}  // namespace specbench::engine
