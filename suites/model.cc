#include "suites/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/error.h"
#include "suites/info.h"
#include "suites/score.h"

namespace specbench::suites {

namespace {

constexpr int kDefaultTexts = 10, kDefaultTokens = 1024;
constexpr double kComparedWork = 3e9;  // parameters times positions the reference backend runs
constexpr double kMostCompared = 16, kLeastCompared = 2;

struct Text {
  const Prompt* prompt = nullptr;
  std::vector<engine::TokenId> tokens;  ///< as many as are scored
  std::vector<TokenScore> scores;
  bool is_cut() const { return tokens.size() < prompt->ids.size(); }
};

/// Sum over the scored tokens, nats.
struct Sum {
  double nats = 0;
  std::int64_t n_tokens = 0;
  std::optional<double> perplexity() const {
    if (n_tokens == 0) return std::nullopt;
    return std::exp(nats / static_cast<double>(n_tokens));
  }
};

Sum sum_of(const Text& text) {
  Sum sum;
  for (const TokenScore& score : text.scores) {
    if (!score.log_prob) continue;
    sum.nats -= *score.log_prob;
    ++sum.n_tokens;
  }
  return sum;
}

std::vector<Text> pick_texts(const Context& context) {
  const Options& o = context.options;
  const auto n_texts = static_cast<std::size_t>(o.max_prompts > 0 ? o.max_prompts : kDefaultTexts);
  const auto n_tokens = static_cast<std::size_t>(std::min(
      o.max_tokens > 0 ? o.max_tokens : kDefaultTokens, context.model.config.max_positions));
  std::vector<Text> texts;
  for (const Prompt& prompt : context.prompts) {
    if (texts.size() == n_texts) break;
    const std::size_t n = std::min(prompt.ids.size(), n_tokens);
    texts.push_back(
        {&prompt, {prompt.ids.begin(), prompt.ids.begin() + static_cast<std::ptrdiff_t>(n)}, {}});
  }
  const bool has_pair = std::any_of(texts.begin(), texts.end(),
                                    [](const Text& text) { return text.tokens.size() > 1; });
  if (!has_pair)
    throw engine::InputError(
        "No text has two tokens to score; give longer --prompts, or raise --max-tokens.");
  return texts;
}

void score_texts(const Context& context, std::vector<Text>& texts) {
  std::size_t longest = 0;
  for (const Text& text : texts) longest = std::max(longest, text.tokens.size());
  const auto backend = open_backend(context, 1, static_cast<int>(longest), 0);
  double n_done = 0;
  for (Text& text : texts) {
    context.progress->show("scoring texts", n_done++, static_cast<double>(texts.size()));
    text.scores = score_text(*backend, text.tokens, [&] { return context.stop->load(); });
  }
}

/// The chosen backend against the other one, on the beginning of the first text that has one.
Difference compare(const Context& context, const std::vector<Text>& texts) {
  const double n_parameters =
      static_cast<double>(model_sizes(context.model, context.options.kv_dtype).n_parameters);
  const auto n_laws = static_cast<std::size_t>(
      std::clamp(kComparedWork / n_parameters, kLeastCompared, kMostCompared));
  const auto text = std::find_if(texts.begin(), texts.end(),
                                 [](const Text& one) { return one.tokens.size() > 1; });
  const auto tokens = std::span(text->tokens).first(std::min(text->tokens.size(), n_laws + 1));
  Context other = context;
  other.options.backend = context.options.backend == "reference" ? "cpu" : "reference";
  context.progress->show("comparing with the " + other.options.backend + " backend", 0, 0);
  const auto mine = open_backend(context, 1, static_cast<int>(tokens.size()), 0);
  const auto its = open_backend(other, 1, static_cast<int>(tokens.size()), 0);
  return compare_backends(*mine, *its, tokens, [&] { return context.stop->load(); });
}

results::Value value_of(const std::optional<double>& x) {
  return x ? results::Value(*x) : results::Value();
}

results::NamedTable text_table(const std::vector<Text>& texts) {
  results::NamedTable table{"texts", {"text", "tokens", "scored", "perplexity", "is_cut"}, {}};
  for (const Text& text : texts) {
    const Sum sum = sum_of(text);
    table.rows.push_back({text.prompt->id, static_cast<std::int64_t>(text.tokens.size()),
                          sum.n_tokens, value_of(sum.perplexity()), text.is_cut()});
  }
  return table;
}

results::NamedTable token_table(const std::vector<Text>& texts) {
  results::NamedTable table{"tokens", {"text", "pos", "token", "log_prob"}, {}};
  for (std::size_t i = 1; i <= kTop; ++i) {
    table.columns.push_back(fmt::format("top_{}", i));
    table.columns.push_back(fmt::format("top_{}_log_prob", i));
  }
  for (const Text& text : texts) {
    std::int64_t pos = 0;
    for (const TokenScore& score : text.scores) {
      std::vector<results::Value> row{text.prompt->id, pos++, std::int64_t{score.token},
                                      value_of(score.log_prob)};
      for (const RankedToken& ranked : score.top) {
        row.emplace_back(std::int64_t{ranked.id});
        row.emplace_back(ranked.log_prob);
      }
      row.resize(table.columns.size());
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

/// Bytes of the text whose tokens have a probability: without BOS, the first token has none.
std::int64_t scored_bytes(const engine::Model& model, const Text& text) {
  auto n_bytes = static_cast<std::int64_t>(text.prompt->text.size());
  if (!model.config.bos && !text.tokens.empty())
    n_bytes -= static_cast<std::int64_t>(model.tokenizer.bytes_of(text.tokens.front()).size());
  return n_bytes;
}

void report_scores(const engine::Model& model, const std::vector<Text>& texts,
                   results::Record& record) {
  Sum all;
  std::int64_t n_bytes = 0, n_wrong = 0;
  bool is_whole = true;
  for (const Text& text : texts) {
    const Sum sum = sum_of(text);
    all.nats += sum.nats;
    all.n_tokens += sum.n_tokens;
    n_bytes += scored_bytes(model, text);
    is_whole = is_whole && !text.is_cut() && text.scores.size() == text.tokens.size();
    for (const TokenScore& score : text.scores)
      n_wrong += score.log_prob && !std::isfinite(*score.log_prob) ? 1 : 0;
  }
  const auto metric = [&](const char* name, std::optional<double> value, const std::string& note) {
    record.metrics.push_back({name, value, "1", {}, {}, {}, note});
  };
  const auto per_token =
      all.n_tokens > 0 ? std::optional(all.nats / static_cast<double>(all.n_tokens)) : std::nullopt;
  metric("perplexity", all.perplexity(), fmt::format("over {} tokens", all.n_tokens));
  metric("nats_per_token", per_token, "mean of -ln p");
  metric("bits_per_byte",
         is_whole && n_bytes > 0
             ? std::optional(all.nats / std::log(2.0) / static_cast<double>(n_bytes))
             : std::nullopt,
         is_whole ? "comparable across tokenizers" : "a text was cut");
  record.checks.push_back(
      {"model.finite", n_wrong == 0 ? results::CheckStatus::kPassed : results::CheckStatus::kFailed,
       fmt::format("{} of {} tokens have a probability that is zero or no number.", n_wrong,
                   all.n_tokens)});
}

void report_difference(const Difference& difference, results::Record& record) {
  const bool agrees = difference.largest <= kMaxBackendDifference;
  record.metrics.push_back(
      {"backend_difference",
       difference.largest,
       "nats",
       {},
       {},
       {},
       fmt::format("largest |ln p| apart, cpu and reference, {} positions", difference.n_laws)});
  record.checks.push_back(
      {"model.backends", agrees ? results::CheckStatus::kPassed : results::CheckStatus::kFailed,
       fmt::format("The backends' ln p differ by {:.2g} at most (id {}, position {}); {:.0e} is "
                   "allowed.",
                   difference.largest, difference.id, difference.pos, kMaxBackendDifference)});
}

void conclude(results::Record& record) {
  const auto failed =
      std::find_if(record.checks.begin(), record.checks.end(),
                   [](const auto& check) { return check.status == results::CheckStatus::kFailed; });
  const results::Metric& perplexity = *results::find_metric(record, "perplexity");
  if (failed != record.checks.end()) {
    record.exit_code = kFailed;
    record.verdict = "FAILED: " + failed->id + ". " + failed->detail;
  } else if (perplexity.value) {
    record.verdict = fmt::format("perplexity {:.4f} {}", *perplexity.value, perplexity.note);
  } else {
    record.exit_code = kVoid;
    record.verdict = "VOID: interrupted before a token was scored.";
  }
}

}  // namespace

void run_model(const Context& context, results::Record& record) {
  const Options& o = context.options;
  std::vector<Text> texts = pick_texts(context);
  record.options.emplace_back("prompts", o.prompts.empty() ? "embedded passages" : o.prompts);
  record.options.emplace_back("n_prompts", static_cast<std::int64_t>(texts.size()));
  record.options.emplace_back("max_tokens",
                              std::int64_t{o.max_tokens > 0 ? o.max_tokens : kDefaultTokens});
  score_texts(context, texts);
  report_scores(context.model, texts, record);
  if (!*context.stop) {
    const Difference difference = compare(context, texts);
    if (!*context.stop) report_difference(difference, record);
  }
  record.tables.push_back(text_table(texts));
  // Thousands of rows: for programs, not for a terminal.
  if (!o.out.empty() || o.format == "json") record.tables.push_back(token_table(texts));
  conclude(record);
}

results::Record without_tokens(results::Record record) {
  std::erase_if(record.tables, [](const auto& table) { return table.name == "tokens"; });
  return record;
}

}  // namespace specbench::suites
