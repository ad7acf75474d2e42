#include "suites/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/error.h"
#include "engine/model/utf8.h"
#include "engine/stop_texts.h"
#include "suites/tally.h"

namespace specbench::suites {

namespace {

constexpr int kDefaultTokens = 64;

/// The tally, which also ends decoding where the user has asked to.
class CancellableTally final : public Tally {
 public:
  explicit CancellableTally(const std::atomic<bool>& stop) : stop_(stop) {}
  bool is_cancelled() override { return stop_; }

 private:
  const std::atomic<bool>& stop_;
};

/// Bytes that are not UTF-8 (a character cut in two by the last token, a stray byte) become U+FFFD;
/// the ids hold the truth.
std::string readable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t valid = engine::valid_prefix(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    text += "\xef\xbf\xbd";
    bytes.remove_prefix(1);
  }
  return text;
}

const char* stop_name(engine::StopReason stop) {
  switch (stop) {
    case engine::StopReason::kEos:
      return "eos";
    case engine::StopReason::kMaxTokens:
      return "max_tokens";
    case engine::StopReason::kStopText:
      return "stop";
    case engine::StopReason::kNone:
      break;
  }
  return "interrupted";
}

/// The text without what ended it: an EOS, or the stop string that the last token completes.
std::string shown_text(const engine::Completion& completion, const engine::DecodeOptions& options) {
  const std::span<const engine::TokenId> ids = completion.tokens;
  if (ids.empty()) return {};
  const std::string before = engine::text_of(ids.first(ids.size() - 1), *options.tokenizer);
  if (completion.stop == engine::StopReason::kEos) return before;
  std::string text = before + engine::text_of(ids.last(1), *options.tokenizer);
  if (completion.stop == engine::StopReason::kStopText)
    text.resize(engine::first_stop(text, options.stop_texts, before.size()));
  return text;
}

}  // namespace

void run_generate(const Context& context, results::Record& record) {
  const int max_tokens =
      context.options.max_tokens > 0 ? context.options.max_tokens : kDefaultTokens;
  if (context.options.sampling.min_tokens > max_tokens)
    throw engine::InputError(fmt::format(
        "--min-tokens is {}, more than the {} tokens generate emits; give --max-tokens.",
        context.options.sampling.min_tokens, max_tokens));
  const engine::DecodeOptions options = decode_options(context);
  const engine::Request request{0, context.model.encode_prompt(context.options.prompt), max_tokens};
  const auto backend = open_backend(
      context, 1, static_cast<int>(request.prompt.size()) + max_tokens, options.draft_tokens);
  const auto drafter = open_drafter(context);
  CancellableTally tally(*context.stop);
  const auto completions =
      engine::decode_speculative(*backend, *drafter, {&request, 1}, options, tally);
  const engine::Completion& completion = completions.front();

  record.options.emplace_back("max_tokens", std::int64_t{max_tokens});
  record.tables.push_back({"generated",
                           {"request", "prompt", "prompt_ids", "text", "ids", "stop"},
                           {{std::int64_t{request.id}, readable(context.options.prompt),
                             fmt::format("{}", fmt::join(request.prompt, " ")),
                             readable(shown_text(completion, options)),
                             fmt::format("{}", fmt::join(completion.tokens, " ")),
                             std::string(stop_name(completion.stop))}}});
  report_acceptance(tally, record);
  for (results::Check& check : check_identities(tally, completions, options.draft_tokens)) {
    if (check.status == results::CheckStatus::kFailed) record.exit_code = kFailed;
    record.checks.push_back(std::move(check));
  }
  const double length = tally.acceptance_length();  // none without a round
  record.verdict = fmt::format(
      "{} tokens, stopped by {}{}{}", completion.tokens.size(), stop_name(completion.stop),
      std::isfinite(length) ? fmt::format("; acceptance_length {:.3f}", length) : "",
      record.exit_code == kFailed ? "; FAILED: an identity is broken" : "");
}

std::string generated_text(const results::Record& record) {
  const results::NamedTable* table = results::find_table(record, "generated");
  if (table == nullptr || table->rows.empty()) return {};  // decoding failed; the verdict says how
  const auto cell = [&](const char* column) {
    const auto at =
        std::find(table->columns.begin(), table->columns.end(), column) - table->columns.begin();
    return std::get<std::string>(table->rows.front()[static_cast<std::size_t>(at)]);
  };
  return cell("prompt") + cell("text") + "\n";
}

}  // namespace specbench::suites
