// What decoding refuses, and the broken invariants it must notice, each with its sentence.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "engine/decode_test_support.h"
#include "engine/error.h"

namespace specbench::engine {
namespace {

using testing::Plan;
using testing::run;

const Model& small() {
  static const std::unique_ptr<Model> model = testing::random_model(testing::small_shape(), 17);
  return *model;
}

template <typename Error>
std::string sentence(const std::vector<Request>& requests, const Plan& s) {
  try {
    (void)run(small(), requests, s);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Plan greedy(const std::string& drafter, int k, int g) {
  Plan s;
  s.drafter = drafter;
  s.draft_layers = k;
  s.draft_tokens = g;
  s.temperature = 0.0;
  return s;
}

std::string refusal(const Request& request, int g = 2) {
  return sentence<InputError>({request}, greedy("layer-skip", 2, g));
}

TEST(DecodeErrors, RequestsThatDoNotFit) {
  EXPECT_EQ(
      refusal({7, {}, 3}),
      "Request 7: the prompt is empty and the model has no BOS token; give at least one token.");
  EXPECT_EQ(refusal({7, {1}, 0}), "Request 7: --max-tokens is 0; it must be at least 1.");
  EXPECT_EQ(refusal({7, {1, 2}, 255}),
            "Request 7: 2 prompt tokens and 255 more exceed the 256 positions there are; shorten "
            "the prompt or "
            "--max-tokens.");
  EXPECT_EQ(refusal({7, {1, 61}, 3}),
            "Request 7: prompt token 61 is outside the vocabulary of 61.");
  EXPECT_EQ(refusal({7, {-1}, 3}), "Request 7: prompt token -1 is outside the vocabulary of 61.");
  EXPECT_EQ(refusal({7, {1, 2}, 254}), "no error");  // the last position may be filled
}

TEST(DecodeErrors, DraftLengths) {
  EXPECT_EQ(refusal({7, {1}, 3}, -1), "--draft-tokens is -1; it must be 0 to 63.");
  EXPECT_EQ(refusal({7, {1}, 3}, -1000000000),
            "--draft-tokens is -1000000000; it must be 0 to 63.");
  EXPECT_EQ(refusal({7, {1}, 3}, 64), "--draft-tokens is 64; it must be 0 to 63.");
  EXPECT_EQ(refusal({7, {1}, 3}, 63), "no error");
  Plan wide = greedy("layer-skip", 2, 7);
  wide.n_lanes = 3;
  wide.n_slots = 23;
  EXPECT_EQ(sentence<InputError>({{1, {1}, 3}}, wide),
            "A verification of 3 sequences with 8 rows each exceeds the step of 23 rows; lower "
            "--batch or "
            "--draft-tokens.");
  wide.n_slots = 24;
  EXPECT_EQ(sentence<InputError>({{1, {1}, 3}}, wide), "no error");
}

TEST(DecodeErrors, Verifiers) {
  SamplingParams sampled;
  SamplingParams cold;
  cold.temperature = 0.0;
  EXPECT_EQ(find_verifier("token", sampled).name, "token");
  EXPECT_EQ(find_verifier("token", cold).name, "greedy");
  EXPECT_EQ(find_verifier("one-hot", cold).name, "one-hot");
  EXPECT_EQ(find_verifier("coupled", sampled).name, "coupled");
  EXPECT_THROW((void)find_verifier("greedy", sampled), InputError);
  EXPECT_EQ(find_verifier("block", sampled).name, "block");
  EXPECT_EQ(find_verifier("block", cold).name, "greedy");
}

TEST(DecodeErrors, Backends) {
  const auto refuse = [](std::string_view name, BackendOptions options) -> std::string {
    try {
      (void)make_backend(name, small(), options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refuse("cuda", {}), "--backend is 'cuda'; this build has cpu and reference.");
  BackendOptions options;
  options.n_lanes = 0;
  EXPECT_EQ(refuse("cpu", options), "--batch is 0; it must be 1 to 4096.");
  options.n_lanes = 1;
  options.n_threads = 0;
  EXPECT_EQ(refuse("cpu", options), "--threads is 0; it must be 1 to 1024.");
  options.n_threads = 1;
  options.max_length = 257;
  EXPECT_EQ(refuse("reference", options),
            "A sequence of 257 tokens does not fit: random has 256 positions; shorten the prompt "
            "or --max-tokens.");
}

// Fault K1: the cache is trimmed one too few. Uniform drafts are rejected, so the first round shows
// it.
TEST(DecodeErrors, K1IsNamedWithRoundLayerAndBothLengths) {
  Plan s = greedy("uniform", 1, 3);
  s.steps.kept_entries = [](const RoundEnd& end) { return end.n_committed; };
  EXPECT_EQ(sentence<StateViolation>({{7, {1, 2, 3}, 9}}, s),
            "KV cache after round 0 of request 7, lane 0, layer 0: the cache holds 5 entries, the "
            "committed tokens "
            "need 4.");
  // Where everything was accepted there is no such entry; the trim itself refuses.
  s.drafter = "oracle";
  EXPECT_EQ(sentence<StateViolation>({{7, {1, 2, 3}, 9}}, s),
            "Round 0 of request 7, lane 0: KV cache of request 7, lane 0, layer 0: trimmed to 8 "
            "entries, but it "
            "holds 7.");
}

// Faults K2, K7: trimmed too far, or by a negative count.
TEST(DecodeErrors, ATrimTooFarOrNegativeIsNamed) {
  Plan s = greedy("uniform", 1, 3);
  s.steps.kept_entries = [](const RoundEnd& end) { return end.n_committed - 2; };
  EXPECT_EQ(sentence<StateViolation>({{7, {1, 2, 3}, 9}}, s),
            "KV cache after round 0 of request 7, lane 0, layer 0: the cache holds 3 entries, the "
            "committed tokens "
            "need 4.");
  s.steps.kept_entries = [](const RoundEnd&) { return -1; };
  EXPECT_EQ(sentence<StateViolation>({{7, {1, 2, 3}, 9}}, s),
            "Round 0 of request 7, lane 0: KV cache of request 7, lane 0, layer 0: trimmed to -1 "
            "entries, but "
            "it holds 7.");
}

TEST(DecodeErrors, AnImpossibleTokenIsNamed) {
  Plan s = greedy("uniform", 1, 3);
  s.steps.accept = [](const Proposal& p, const RoundCoins&, const LawRoom&) {
    return Acceptance{0, (p.target_laws[0].point + 1) % 61, Source::kArgmax, false};
  };
  const std::string said = sentence<StateViolation>({{7, {1, 2, 3}, 9}}, s);
  EXPECT_NE(said.find("Round 0 of request 7, lane 0: token "), std::string::npos) << said;
  EXPECT_NE(said.find(" at position 4 was emitted though the target gives it probability zero."),
            std::string::npos);
}

}  // namespace
}  // namespace specbench::engine
