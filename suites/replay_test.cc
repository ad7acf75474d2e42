#include "suites/replay.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "suites/fault_test_support.h"

namespace specbench::suites {
namespace {

/// Decodes a few prompts and replays every round.
class Replayed final : public engine::Observer {
 public:
  Replayed(const engine::Verifier& verifier, std::uint64_t seed)
      : verifier_(verifier), seed_(seed) {}
  void round(const engine::Round& round) override { replay_round(round, verifier_, seed_, counts); }
  ReplayCounts counts;

 private:
  const engine::Verifier& verifier_;
  std::uint64_t seed_;
};

ReplayCounts replay(const std::string& verifier, const engine::Steps& steps,
                    std::uint64_t seed_of_replay = 1) {
  testing::Bench bench(testing::embedded_options("lossless"));
  engine::DecodeOptions options = decode_options(bench.context, verifier);
  options.steps = steps;
  const auto backend =
      open_backend(bench.context, 8, longest_sequence(bench.context, 40), options.draft_tokens);
  const auto drafter = open_drafter(bench.context);
  std::vector<engine::Request> requests;
  for (std::uint32_t i = 0; i < 16; ++i) requests.push_back({i, bench.context.prompts[i].ids, 40});
  Replayed observer(*options.verifier, seed_of_replay);
  engine::decode_speculative(*backend, *drafter, requests, options, observer);
  return observer.counts;
}

TEST(Replay, AgreesWithEveryVerifier) {
  for (const std::string verifier : {"token", "one-hot", "coupled"}) {
    const ReplayCounts counts = replay(verifier, {});
    EXPECT_GT(counts.n_rounds, 100) << verifier;
    EXPECT_EQ(counts.n_draft_mismatches, 0) << verifier << ": " << counts.first_mismatch;
    EXPECT_EQ(counts.n_round_mismatches, 0) << verifier << ": " << counts.first_mismatch;
  }
}

TEST(Replay, NamesPlantedFaults) {
  EXPECT_GT(replay("token", testing::steps_r1()).n_round_mismatches, 0);
  EXPECT_GT(replay("token", testing::steps_n1()).n_round_mismatches, 0);
  const ReplayCounts a1 = replay("token", testing::steps_a1());
  EXPECT_GT(a1.n_round_mismatches, 0);
  EXPECT_EQ(a1.n_draft_mismatches, 0);
  EXPECT_NE(a1.first_mismatch.find("accepted drafts"), std::string::npos) << a1.first_mismatch;
}

TEST(Replay, AnotherSeedDoesNotAgree) {
  const ReplayCounts counts = replay("token", {}, 2);
  EXPECT_GT(counts.n_draft_mismatches, 0);
  EXPECT_GT(counts.n_round_mismatches, 0);
}

}  // namespace
}  // namespace specbench::suites
