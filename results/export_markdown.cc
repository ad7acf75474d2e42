#include "results/export_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "results/export_text.h"
#include "results/table.h"

namespace specbench::results {
namespace {

constexpr std::size_t kMaxRows = 20;     // of a list of what did not pass
constexpr std::size_t kMaxEntries = 60;  // of options, environment, build, model each
constexpr std::size_t kEntryCharacters = 80;
constexpr std::size_t kMaxBytes = 60'000;

// In the order in which they are shown; a name that ends in a point stands for all that begin so.
constexpr std::string_view kKeyMetrics[] = {"speedup",
                                            "end_to_end_speedup",
                                            "decode_speedup",
                                            "predicted_speedup",
                                            "model_gap",
                                            "aa_ratio",
                                            "injected_ratio",
                                            "tokens_per_s.",
                                            "acceptance_length",
                                            "draft_acceptance_rate",
                                            "certified_tv",
                                            "min_detectable_tv",
                                            "draft_ms",
                                            "verify_ms",
                                            "accept_ms",
                                            "other_ms",
                                            "bandwidth_share",
                                            "slowdown.",
                                            "min_detectable_slowdown"};

std::string outcome_of(const Record& record) {
  if (record.was_interrupted || record.exit_code == 130) return "interrupted";
  switch (record.exit_code) {
    case 0:
      return "passed";
    case 1:
      return "FAILED";
    case 2:
      return "INCONCLUSIVE";
    case 3:
      return "VOID";
    default:
      return fmt::format("ended with exit code {}", record.exit_code);
  }
}

std::string interval_of(const Metric& metric) {
  if (!metric.lower && !metric.upper) return "";
  std::string text = fmt::format("{} .. {}", metric.lower ? format_number(metric.lower) : "",
                                 metric.upper ? format_number(metric.upper) : "");
  if (metric.level) text += fmt::format(" ({} %)", format_number(*metric.level * 100));
  return text;
}

std::string metrics_table(const Record& record) {
  std::string rows;
  for (const std::string_view key : kKeyMetrics) {
    for (const Metric& m : record.metrics) {
      if (m.name != key && !(key.ends_with('.') && m.name.starts_with(key))) continue;
      rows += fmt::format("| {} | {} | {} | {} | {} |\n", markdown_escaped(m.name),
                          format_number(m.value), interval_of(m), markdown_escaped(m.unit),
                          markdown_escaped(m.note));
    }
  }
  if (rows.empty()) return "";
  return "| metric | value | interval | unit | note |\n| :-- | --: | :-: | :-- | :-- |\n" + rows +
         "\n";
}

struct Row {
  std::string id;
  std::string detail;
};

std::string list_of(const std::string& title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format("**{} ({})**\n\n", title, rows.size());
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxRows); ++i)
    text += fmt::format("- **{}**: {}\n", markdown_escaped(rows[i].id),
                        markdown_escaped(rows[i].detail));
  if (rows.size() > kMaxRows) text += fmt::format("- and {} more\n", rows.size() - kMaxRows);
  return text + "\n";
}

// Whatever is neither passed nor skipped, an unknown verdict too, is at least in doubt.
std::string what_did_not_pass(const Record& record) {
  std::vector<Row> failed, doubtful;
  for (const Check& check : record.checks) {
    if (check.status == CheckStatus::kFailed) failed.push_back({check.id, check.detail});
    if (check.status == CheckStatus::kInconclusive) doubtful.push_back({check.id, check.detail});
  }
  for (const TestRow& test : record.tests) {
    std::string detail = test.hypothesis;
    if (!test.reason.empty()) detail += (detail.empty() ? "" : "; ") + test.reason;
    if (test.p_value) detail += "; p = " + format_number(test.p_value);
    const bool is_failed = test.verdict == "FAIL" || test.verdict == "failed";
    const bool is_quiet = test.verdict == "PASS" || test.verdict == "passed" ||
                          test.verdict == "skipped" || test.verdict == "SKIPPED";
    if (is_failed) failed.push_back({test.id, detail});
    if (!is_failed && !is_quiet) doubtful.push_back({test.id, detail});
  }
  return list_of("Failed", failed) + list_of("Inconclusive", doubtful);
}

std::string counts_of(const Record& record) {
  const auto n_checks = [&](CheckStatus status) {
    return std::count_if(record.checks.begin(), record.checks.end(),
                         [&](const Check& check) { return check.status == status; });
  };
  const auto n_passed = std::count_if(
      record.tests.begin(), record.tests.end(),
      [](const TestRow& test) { return test.verdict == "PASS" || test.verdict == "passed"; });
  return fmt::format("{} of {} checks passed, {} skipped; {} of {} tests passed.\n\n",
                     n_checks(CheckStatus::kPassed), record.checks.size(),
                     n_checks(CheckStatus::kSkipped), n_passed, record.tests.size());
}

std::string cell_of(const Value& value) {
  const std::string text = format_value(value);
  return std::holds_alternative<std::string>(value) ? markdown_escaped(text, kEntryCharacters)
                                                    : text;
}

std::string entries_table(const std::string& title, const Entries& entries) {
  if (entries.empty()) return "";
  std::string text = fmt::format("| {} | |\n| :-- | :-- |\n", title);
  for (std::size_t i = 0; i < std::min(entries.size(), kMaxEntries); ++i) {
    text += fmt::format("| {} | {} |\n", markdown_escaped(entries[i].first, kEntryCharacters),
                        cell_of(entries[i].second));
  }
  if (entries.size() > kMaxEntries)
    text += fmt::format("| and {} more | |\n", entries.size() - kMaxEntries);
  return text + "\n";
}

std::string details_of(const Record& record) {
  return "<details>\n<summary>Options and environment</summary>\n\n" +
         entries_table("run", {{"command", record.command_line},
                               {"started", record.started_utc},
                               {"seconds", record.wall_s ? Value(*record.wall_s) : Value()}}) +
         entries_table("option", record.options) +
         entries_table("environment", record.environment) + entries_table("build", record.build) +
         entries_table("model", record.model) + "</details>\n";
}

}  // namespace

std::string to_markdown(const Record& record) {
  std::string text =
      fmt::format("### specbench {}: {}\n\n", markdown_escaped(record.suite), outcome_of(record));
  if (!record.verdict.empty()) text += markdown_escaped(record.verdict, 1000) + "\n\n";
  bool is_whole = true;
  for (const std::string& part :
       {what_did_not_pass(record), metrics_table(record), counts_of(record), details_of(record)}) {
    const bool fits = text.size() + part.size() <= kMaxBytes;
    if (fits) text += part;
    is_whole = is_whole && fits;
  }
  return is_whole ? text : text + "Too long for a comment; the rest is in the record.\n";
}

}  // namespace specbench::results
