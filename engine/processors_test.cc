// Processors against numbers typed by hand, and against a second way to count.
#include "engine/processors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "engine/engine_test_support.h"
#include "engine/error.h"

namespace specbench::engine {
namespace {

using testing::Numbers;

constexpr float kGone = -std::numeric_limits<float>::infinity();

/// A past that owns its tokens.
struct Past {
  std::vector<TokenId> prompt, emitted, drafted, eos;
};

std::vector<float> processed(std::vector<float> logits, const SamplingParams& params,
                             const Past& past = {}) {
  process_logits(logits.data(), static_cast<int>(logits.size()), params,
                 {past.prompt, past.emitted, past.drafted, past.eos});
  return logits;
}

using Row = std::vector<float>;

SamplingParams penalties(double repetition, double presence, double frequency) {
  SamplingParams p;
  p.repetition_penalty = repetition;
  p.presence_penalty = presence;
  p.frequency_penalty = frequency;
  return p;
}

TEST(Processors, NoneLeaveTheRowAsItIs) {
  EXPECT_EQ(processed({1, -2, 0.1F}, {}, {{0}, {1, 1}, {2}, {0}}), (Row{1, -2, 0.1F}));
  EXPECT_FALSE(SamplingParams{}.has_processors());
}

TEST(Processors, BiasesAreAddedOnTopOfEachOther) {
  SamplingParams p;
  p.logit_bias = {{1, 2.5}, {0, -1}, {1, 0.5}};
  EXPECT_EQ(processed({1, -2, 7}, p), (Row{0, 1, 7}));
  EXPECT_TRUE(p.has_processors());
}

TEST(Processors, ABanWinsOverAnyBiasAndPenalty) {
  SamplingParams p = penalties(0.5, -3, -3);
  p.logit_bias = {{1, 1000}, {2, 1}};
  p.banned = {1};
  // Id 2: 4 + 1 = 5, seen in the text: 5 / .5 + 3 + 3 = 16.
  EXPECT_EQ(processed({1, 9, 4}, p, {{}, {1, 2}, {}, {}}), (Row{1, kGone, 16}));
}

TEST(Processors, RepetitionDividesPositiveLogitsAndMultipliesNegativeOnes) {
  const Past all_seen{{0, 1}, {2}, {3}, {}};
  EXPECT_EQ(processed({6, -6, 0, 3, 5}, penalties(2, 0, 0), all_seen), (Row{3, -12, 0, 1.5F, 5}));
  EXPECT_EQ(processed({6, -6, 0, 3, 5}, penalties(0.5, 0, 0), all_seen), (Row{12, -3, 0, 6, 5}));
  // Seen twice is seen.
  EXPECT_EQ(processed({6, -6}, penalties(2, 0, 0), {{0, 0}, {0, 1}, {1}, {}}), (Row{3, -12}));
}

// The sign is that of the logit with its bias: the bias comes first.
TEST(Processors, RepetitionSeesTheBiasedLogit) {
  SamplingParams p = penalties(2, 0, 0);
  p.logit_bias = {{0, -4}, {1, 4}};
  EXPECT_EQ(processed({2, -2}, p, {{0, 1}, {}, {}, {}}), (Row{-4, 1}));
}

TEST(Processors, PresenceCountsOnceAndFrequencyEachTime) {
  const Past past{{}, {0, 1, 1}, {1}, {}};  // id 0 once, id 1 three times, id 2 never
  EXPECT_EQ(processed({8, 8, 8}, penalties(1, 0.5, 0), past), (Row{7.5F, 7.5F, 8}));
  EXPECT_EQ(processed({8, 8, 8}, penalties(1, 0, 0.5), past), (Row{7.5F, 6.5F, 8}));
  EXPECT_EQ(processed({8, 8, 8}, penalties(1, 1, 0.25), past), (Row{6.75F, 6.25F, 8}));
  EXPECT_EQ(processed({8, 8, 8}, penalties(1, -1, -2), past), (Row{11, 15, 8}));
}

TEST(Processors, ThePromptCountsForRepetitionOnly) {
  const Past past{{0, 0, 1}, {1}, {}, {}};
  // Id 0: prompt only, 8 / 2. Id 1: prompt and text, 8 / 2 - 1 - .5 (once: the prompt's is free).
  EXPECT_EQ(processed({8, 8, 8}, penalties(2, 1, 0.5), past), (Row{4, 2.5F, 8}));
}

TEST(Processors, PenaltiesComeInOneOrder) {
  // 3 / 2 - 2 = -.5, where the penalties the other way round would give (3 - 2) / 2.
  EXPECT_EQ(processed({3}, penalties(2, 2, 0), {{}, {0}, {}, {}}), (Row{-0.5F}));
}

// Q8: a row's past includes the tokens drafted before it.
TEST(Processors, DraftedTokensAreHistory) {
  EXPECT_EQ(processed({8, 8}, penalties(1, 1, 0), {{}, {}, {1}, {}}), (Row{8, 7}));
  EXPECT_EQ(processed({8, 8}, penalties(2, 0, 0), {{}, {}, {1}, {}}), (Row{8, 4}));
  EXPECT_EQ(processed({8, 8}, penalties(1, 0, 1), {{}, {1}, {1, 0}, {}}), (Row{7, 6}));
}

// EOS may be token N + 1 at the earliest: N others come before it.
TEST(Processors, MinTokensForbidsEosUntilExactlySoManyAreOut) {
  SamplingParams p;
  p.min_tokens = 3;
  const auto eos_after = [&](std::vector<TokenId> emitted, std::vector<TokenId> drafted) {
    return processed({1, 2, 3}, p, {{0, 0, 0, 0}, emitted, drafted, {0, 2}});
  };
  EXPECT_EQ(eos_after({}, {}), (Row{kGone, 2, kGone}));
  EXPECT_EQ(eos_after({1, 1}, {}), (Row{kGone, 2, kGone}));
  EXPECT_EQ(eos_after({1, 1, 1}, {}), (Row{1, 2, 3}));
  EXPECT_EQ(eos_after({1}, {1}), (Row{kGone, 2, kGone}));  // drafted ones count like committed ones
  EXPECT_EQ(eos_after({1}, {1, 1}), (Row{1, 2, 3}));
  EXPECT_EQ(eos_after({}, {1, 1, 1}), (Row{1, 2, 3}));
}

TEST(Processors, WhereNothingEndsATextMinTokensForbidsNothing) {
  SamplingParams p;
  p.min_tokens = 3;
  EXPECT_EQ(processed({1, 2}, p), (Row{1, 2}));
}

// Everything at once by the definition, each id on its own.
float by_definition(float logit, TokenId id, const SamplingParams& p, const Past& past) {
  float biased = logit;
  for (const auto& [at, bias] : p.logit_bias)
    if (at == id) biased = static_cast<float>(static_cast<double>(biased) + bias);
  const auto count = [&](const std::vector<TokenId>& ids) {
    return static_cast<int>(std::count(ids.begin(), ids.end(), id));
  };
  const std::size_t n_out = past.emitted.size() + past.drafted.size();
  if (count(p.banned) > 0) return kGone;
  if (n_out < static_cast<std::size_t>(p.min_tokens) && count(past.eos) > 0) return kGone;
  const int n = count(past.emitted) + count(past.drafted);
  if (n + count(past.prompt) == 0) return biased;
  double x = static_cast<double>(biased);
  x = x > 0 ? x / p.repetition_penalty : x * p.repetition_penalty;
  if (n > 0) x = x - p.presence_penalty - p.frequency_penalty * n;
  return static_cast<float>(x);
}

TEST(Processors, AgreeWithTheDefinitionOnRandomPasts) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Numbers numbers(seed);
    const int n_ids = 2 + numbers.below(30);
    const auto ids = [&](int at_most) {
      std::vector<TokenId> some(static_cast<std::size_t>(numbers.below(at_most + 1)));
      for (TokenId& id : some) id = numbers.below(n_ids);
      return some;
    };
    SamplingParams p = penalties(0.5 + numbers.uniform(), 2 * numbers.spread(), numbers.spread());
    for (const TokenId id : ids(4)) p.logit_bias.emplace_back(id, 3 * numbers.spread());
    p.banned = ids(3);
    p.min_tokens = numbers.below(12);
    const Past past{ids(20), ids(10), ids(5), ids(2)};
    Row logits(static_cast<std::size_t>(n_ids));
    for (float& logit : logits) logit = static_cast<float>(4 * numbers.spread());
    const Row got = processed(logits, p, past);
    for (int id = 0; id < n_ids; ++id) {
      const auto at = static_cast<std::size_t>(id);
      EXPECT_EQ(got[at], by_definition(logits[at], id, p, past)) << "seed " << seed << " id " << id;
    }
  }
}

std::string refusal(const SamplingParams& p, int n_ids, std::vector<TokenId> eos = {}) {
  try {
    validate_ids(p, n_ids, eos);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ValidateIds, NamesTheOptionTheIdAndTheVocabulary) {
  SamplingParams p;
  p.logit_bias = {{0, 1.0}, {5, 1.0}};
  EXPECT_EQ(refusal(p, 6), "accepted");
  EXPECT_EQ(refusal(p, 5), "--logit-bias names token 5; the vocabulary has ids 0 to 4.");
  p = {};
  p.banned = {3, -1};
  EXPECT_EQ(refusal(p, 4), "--ban names token -1; the vocabulary has ids 0 to 3.");
}

TEST(ValidateIds, SomeTokenMustBeLeft) {
  SamplingParams p;
  p.banned = {0, 2, 2, 0};  // said twice is said once
  EXPECT_EQ(refusal(p, 3), "accepted");
  p.banned = {0, 2, 1};
  EXPECT_EQ(refusal(p, 3), "--ban leaves no token of the vocabulary of 3; ban fewer.");
  p.banned = {0, 2};
  EXPECT_EQ(refusal(p, 3, {1}), "accepted");  // every text is empty, but there is one
  p.min_tokens = 1;
  EXPECT_EQ(refusal(p, 3, {1}),
            "--ban leaves no token of the vocabulary of 3 while --min-tokens forbids EOS; ban "
            "fewer.");
  EXPECT_EQ(refusal(p, 3), "accepted");
}

}  // namespace
}  // namespace specbench::engine
