// The embedded model: both backends against each other and against an independent float64 oracle
// (numpy over the bf16 file).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/decode.h"
#include "engine/engine_test_support.h"

namespace specbench::engine {
namespace {

const Model& austen() {
  static const Model model = load_hugging_face(SPECBENCH_SOURCE_DIR "/engine/models/austen-10m");
  return model;
}

struct Oracle {
  const char* text;
  std::vector<TokenId> prompt, greedy;
};

const Oracle kOracles[] = {
    {"It was a truth that Mr. Bennet",
     {4094, 1029, 304, 258, 1896, 333, 360, 46, 1208},
     {538, 285,  291, 887, 341, 369, 44,  282, 333, 280, 538, 313, 357, 402, 1274, 272,
      459, 369,  584, 46,  10,  34,  73,  445, 734, 471, 478, 280, 44,  410, 73,   445,
      388, 1337, 318, 455, 285, 355, 388, 914, 46,  301, 445, 734, 318, 455, 285,  388}},
    {"Emma had never",
     {4094, 1800, 338, 578},
     {402, 647, 291, 1470, 44,  282, 338,  402, 647, 291,  266, 1072, 602, 44,  531,  266,
      671, 281, 266, 659,  338, 402, 1220, 44,  282, 266,  671, 577,  338, 402, 1220, 272,
      298, 44,  282, 333,  329, 338, 402,  355, 490, 1730, 272, 266,  848, 44,  333,  329}},
};

std::vector<TokenId> greedy(const std::string& backend_name, const Oracle& oracle, int n_threads,
                            int draft_layers) {
  const auto backend = make_backend(backend_name, austen(), testing::backend_options(1, n_threads));
  DecodeOptions options;
  options.sampling.temperature = 0.0;
  options.verifier = &find_verifier("greedy", options.sampling);
  options.draft_tokens = draft_layers > 0 ? 4 : 0;
  const Request request{0, oracle.prompt, 48};
  Observer observer;
  if (draft_layers == 0)
    return decode_autoregressive(*backend, {&request, 1}, options, observer).front().tokens;
  const auto drafter = make_drafter("layer-skip", draft_layers, austen().config);
  return decode_speculative(*backend, *drafter, {&request, 1}, options, observer).front().tokens;
}

TEST(Austen, TokenizesTheOraclesPrompts) {
  for (const Oracle& oracle : kOracles)
    EXPECT_EQ(austen().encode_prompt(oracle.text), oracle.prompt);
}

// The smallest gap between the two best logits on these paths is .0139, a thousand times the float
// error.
TEST(Austen, GreedyTextIsTheOracles) {
  for (const Oracle& oracle : kOracles) {
    EXPECT_EQ(greedy("cpu", oracle, 1, 0), oracle.greedy);
    EXPECT_EQ(greedy("cpu", oracle, 1, 3), oracle.greedy);
  }
}

TEST(AustenSlow, ReferenceGreedyTextIsTheOracles) {
  for (const Oracle& oracle : kOracles) EXPECT_EQ(greedy("reference", oracle, 1, 0), oracle.greedy);
}

struct Top {
  TokenId id;
  double logit;
};

// The five largest logits of the prompt's last row after the first n_layers layers.
void expect_top_five(const std::string& name, int n_layers, const std::vector<Top>& want) {
  const auto backend = make_backend(name, austen(), testing::backend_options(1, 1));
  const auto rows = testing::rows_of(0, 0, kOracles[0].prompt, 0);
  backend->reset(0, 0);
  backend->forward(rows, 0, n_layers);
  std::vector<float> logits(4096);
  backend->logits({&rows.back(), 1}, logits.data());
  std::vector<TokenId> ids(4096);
  for (int id = 0; id < 4096; ++id) ids[static_cast<std::size_t>(id)] = id;
  const auto logit = [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; };
  std::partial_sort(ids.begin(), ids.begin() + 5, ids.end(),
                    [&](TokenId a, TokenId b) { return logit(a) > logit(b); });
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(ids[i], want[i].id) << name << " after " << n_layers << " layers";
    // The oracle prints four decimals (5e-5); float rounding through 12 layers is some 1e-6 of a
    // logit of size 10.
    EXPECT_NEAR(logit(ids[i]), want[i].logit, 5e-5 + 5e-5) << name;
  }
}

TEST(Austen, TopLogitsAreTheOracles) {
  for (const char* name : {"cpu", "reference"}) {
    expect_top_five(name, 12,
                    {{538, 8.6351}, {338, 7.2160}, {304, 7.1882}, {391, 6.7735}, {404, 6.7080}});
    expect_top_five(name, 3,
                    {{338, 6.9335}, {304, 6.8116}, {371, 6.8062}, {538, 6.6378}, {391, 6.0865}});
  }
}

std::vector<float> logits_of(const std::string& name, const std::vector<TokenId>& tokens,
                             int n_threads) {
  const auto backend = make_backend(name, austen(), testing::backend_options(1, n_threads));
  const auto rows = testing::rows_of(0, 0, tokens, 0);
  std::vector<float> out(tokens.size() * 4096);
  backend->reset(0, 0);
  backend->forward(rows, 0, 12);
  backend->logits(rows, out.data());
  return out;
}

TEST(Austen, BackendsAgreeOnRealText) {
  const auto tokens = austen().encode_prompt(
      "There was a strange rumour in Highbury of all the little Perrys being seen with a slice of "
      "Mrs. Weston's "
      "wedding-cake in their hands: but Mr. Woodhouse would never believe it.");
  ASSERT_GT(tokens.size(), 30U);
  const auto cpu = logits_of("cpu", tokens, 2);
  const auto reference = logits_of("reference", tokens, 1);
  double worst = 0.0;
  for (std::size_t i = 0; i < cpu.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::fabs(cpu[i] - reference[i])));
  EXPECT_LT(worst, 1e-4);  // as above
  EXPECT_GT(worst, 0.0);   // two backends, not one twice
}

TEST(Austen, RowsHaveTheSameBitsAloneAndTogether) {
  const auto tokens =
      austen().encode_prompt("Fanny, having been sent into the village on some errand by her aunt");
  const auto backend = make_backend("cpu", austen(), testing::backend_options(2, 1));
  const auto alone = testing::logits_row_by_row(*backend, 1, tokens);
  for (const int n_threads : {1, 2, 3}) EXPECT_EQ(logits_of("cpu", tokens, n_threads), alone);
}

}  // namespace
}  // namespace specbench::engine
