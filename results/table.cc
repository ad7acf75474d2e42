#include "results/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace specbench::results {
namespace {

// One code point off the front; a byte that starts none stands for itself.
char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80    ? 1
                             : byte(0) >= 0xf0 ? 4
                             : byte(0) >= 0xe0 ? 3
                             : byte(0) >= 0xc0 ? 2
                                               : 1;
  char32_t code = length == 1 ? byte(0) : byte(0) & (0xffu >> (length + 1));
  std::size_t used = 1;
  while (used < length && used < text.size() && (byte(used) & 0xc0) == 0x80) {
    code = (code << 6) | (byte(used) & 0x3fu);
    ++used;
  }
  text.remove_prefix(used);
  return code;
}

struct Range {
  char32_t first, last;
};

bool is_in(char32_t code, std::initializer_list<Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](Range r) { return code >= r.first && code <= r.last; });
}

// The common cases of Unicode Standard Annex 11; not every script.
bool is_combining(char32_t code) {
  return is_in(
      code,
      {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}});
}
bool is_wide(char32_t code) {
  return is_in(code, {{0x1100, 0x115f},
                      {0x2e80, 0xa4cf},
                      {0xac00, 0xd7a3},
                      {0xf900, 0xfaff},
                      {0xfe30, 0xfe6f},
                      {0xff00, 0xff60},
                      {0xffe0, 0xffe6},
                      {0x1f300, 0x1faff},
                      {0x20000, 0x3fffd}});
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::vector<std::size_t> column_widths(const std::vector<TextColumn>& columns,
                                       const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  widths.reserve(columns.size());
  for (const TextColumn& column : columns) widths.push_back(display_width(column.title));
  for (const auto& row : rows) {
    assert(row.size() <= columns.size());
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c]));
  }
  return widths;
}

std::string render_line(const std::vector<TextColumn>& columns,
                        const std::vector<std::size_t>& widths,
                        const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::string cell = c < cells.size() ? cells[c] : "";
    const std::string padding(widths[c] - std::min(widths[c], display_width(cell)), ' ');
    if (c > 0) line += "  ";
    line += columns[c].is_right_aligned ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kYellow = "\x1b[33m";

std::string paint(std::string_view text, const char* colour) {
  return fmt::format("{}{}\x1b[0m", colour, text);
}

// The word in its colour; other text as it is.
std::string paint_status(const std::string& word, bool has_colour) {
  const auto is_any = [&](std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (!has_colour) return word;
  if (is_any({"PASS", "PASSED", "passed"})) return paint(word, kGreen);
  if (is_any({"FAIL", "FAILED", "failed"})) return paint(word, kRed);
  return is_any({"INCONCLUSIVE", "VOID", "inconclusive", "void"}) ? paint(word, kYellow) : word;
}

// Exit codes as in DESIGN.md section 5.
const char* colour_of(const Record& record) {
  const int code = record.was_interrupted ? 130 : record.exit_code;
  return code == 0 ? kGreen : code == 1 || code == 4 ? kRed : kYellow;
}

std::string interval_text(const Metric& metric) {
  if (!metric.lower && !metric.upper) return "";
  const std::string level =
      metric.level ? fmt::format(" {}%", format_number(*metric.level * 100)) : "";
  return fmt::format("[{}, {}]{}", format_number(metric.lower), format_number(metric.upper), level);
}

std::string render_metrics(const Record& record) {
  std::vector<std::vector<std::string>> rows;
  for (const Metric& m : record.metrics) {
    rows.push_back(
        {m.name, format_number(m.value), m.unit == "1" ? "" : m.unit, interval_text(m), m.note});
  }
  return render_table({{"metric"}, {"value", true}, {"unit"}, {"interval"}, {"note"}}, rows);
}

std::string render_checks(const Record& record, bool has_colour) {
  int counts[4] = {};
  std::string details;
  for (const Check& check : record.checks) {
    ++counts[static_cast<int>(check.status)];
    if (check.status == CheckStatus::kPassed) continue;
    const std::string name = paint_status(check_status_name(check.status), has_colour);
    details += wrap(fmt::format("  {} {}: {}", name, check.id, check.detail), kPageWidth, 4) + "\n";
  }
  return fmt::format("checks: {} passed, {} failed, {} inconclusive, {} skipped\n", counts[0],
                     counts[1], counts[2], counts[3]) +
         details;
}

std::vector<std::string> test_cells(const TestRow& t, bool has_colour) {
  const std::string statistic =
      t.statistic ? fmt::format("{} {}", t.statistic_name, format_number(*t.statistic))
                  : t.statistic_name;
  const std::string drift =
      t.min_detectable ? fmt::format("{} {}", format_number(*t.min_detectable, 3), t.drift_kind)
                       : "-";
  return {t.id,
          fmt::format("{}", t.n),
          statistic,
          format_number(t.p_value, 3),
          format_number(t.alpha, 3),
          drift,
          paint_status(t.verdict, has_colour)};
}

std::string group_of(const TestRow& test) { return test.id.substr(0, test.id.find('.')); }

// The passed tests of a large group in one row: the worst p and the least power among them.
std::vector<std::string> group_cells(const std::vector<const TestRow*>& passed, bool has_colour) {
  TestRow sum;
  sum.id = fmt::format("{}.* ({} tests)", group_of(*passed.front()), passed.size());
  sum.statistic_name = "smallest p, largest drift of";
  for (const TestRow* t : passed) {
    sum.n += t->n;
    if (t->p_value) sum.p_value = std::min(sum.p_value.value_or(1.0), *t->p_value);
    if (t->min_detectable && *t->min_detectable >= sum.min_detectable.value_or(0.0)) {
      sum.min_detectable = t->min_detectable;
      sum.drift_kind = t->drift_kind;
    }
    sum.alpha = t->alpha;
  }
  sum.verdict = "PASS";
  return test_cells(sum, has_colour);
}

// One row a test; of a group of more than kLargestGroup only what did not pass is listed, the rest
// summed up. The record holds every row.
std::string render_tests(const Record& record, bool has_colour) {
  constexpr std::size_t kLargestGroup = 40;
  constexpr std::size_t kLargestReasons = 8;
  std::vector<std::string> groups;
  for (const TestRow& t : record.tests)
    if (std::find(groups.begin(), groups.end(), group_of(t)) == groups.end())
      groups.push_back(group_of(t));
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> reasons;
  for (const std::string& group : groups) {
    std::vector<const TestRow*> passed;
    std::size_t size = 0;
    for (const TestRow& t : record.tests) size += group_of(t) == group ? 1 : 0;
    for (const TestRow& t : record.tests) {
      if (group_of(t) != group) continue;
      const bool has_passed = t.verdict == "PASS";
      if (has_passed && size > kLargestGroup) {
        passed.push_back(&t);
        continue;
      }
      rows.push_back(test_cells(t, has_colour));
      if (has_passed || t.reason.empty()) continue;
      const std::string required =
          t.required_n ? fmt::format(" (needs n = {})", *t.required_n) : "";
      reasons.push_back(wrap(fmt::format("  {}: {}{}", t.id, t.reason, required), kPageWidth, 4));
    }
    if (!passed.empty()) rows.push_back(group_cells(passed, has_colour));
  }
  std::string text = render_table({{"test"},
                                   {"n", true},
                                   {"statistic"},
                                   {"p", true},
                                   {"alpha", true},
                                   {"finds drift of"},
                                   {"verdict"}},
                                  rows);
  for (std::size_t i = 0; i < std::min(reasons.size(), kLargestReasons); ++i)
    text += reasons[i] + "\n";
  if (reasons.size() > kLargestReasons)
    text += fmt::format("  and {} more; the record (--out) has them all\n",
                        reasons.size() - kLargestReasons);
  return text;
}

std::string render_environment(const Record& record) {
  // What a reader needs to judge the numbers; the record holds the rest.
  constexpr std::string_view kShown[] = {"cpu_model", "gpu",          "n_cores_usable",
                                         "governor",  "load_average", "kernel"};
  std::string line;
  for (const std::string_view key : kShown) {
    for (const auto& [name, value] : record.environment) {
      if (name != key || std::holds_alternative<std::monostate>(value)) continue;
      line +=
          fmt::format("{}{} {}", line.empty() ? "environment: " : ", ", key, format_value(value));
    }
  }
  return line.empty() ? "" : wrap(line, kPageWidth, 2) + "\n";
}

}  // namespace

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == std::trunc(value) && std::abs(value) < 1e7)
    return fmt::format("{:.0f}", value + 0.0);
  std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
  // The exponent after rounding: 9.9996 to four digits is 10.00.
  const char* exponent_text = scientific.c_str() + scientific.find('e') + 1;
  if (*exponent_text == '+') ++exponent_text;
  int exponent = 0;
  std::from_chars(exponent_text, scientific.c_str() + scientific.size(), exponent);
  if (exponent < -4 || exponent >= 7) return scientific;
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

std::string format_number(std::optional<double> value, int digits) {
  return value ? format_number(*value, digits) : "-";
}

std::string format_value(const Value& value, int digits) {
  return std::visit(
      [&](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return "-";
        } else if constexpr (std::is_same_v<Held, bool>) {
          return held ? "yes" : "no";
        } else if constexpr (std::is_same_v<Held, double>) {
          return format_number(held, digits);
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    if (text.starts_with("\x1b[") && end < text.size() && text[end] == 'm') {
      text.remove_prefix(end + 1);
      continue;
    }
    const char32_t code = take_code_point(text);
    width += is_combining(code) ? 0 : is_wide(code) ? 2 : 1;
  }
  return width;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  bool is_line_start = true;
  // The first line keeps the spaces it begins with.
  const std::size_t lead = std::min(text.find_first_not_of(' '), text.size());
  out.append(lead, ' ');
  std::size_t column = lead;
  text.remove_prefix(lead);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t word_width = display_width(word);
    if (!is_line_start && column + 1 + word_width > width) {
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n" + std::string(indent, ' ');
      column = indent;
      is_line_start = true;
    }
    if (!is_line_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word_width;
    is_line_start = false;
  }
  return out;
}

std::string render_table(const std::vector<TextColumn>& columns,
                         const std::vector<std::vector<std::string>>& rows) {
  if (columns.empty()) return "";
  std::vector<std::size_t> widths = column_widths(columns, rows);
  std::size_t before_last = 2 * (columns.size() - 1);
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) before_last += widths[c];
  if (!columns.back().is_right_aligned && before_last + widths.back() > kPageWidth) {
    constexpr std::size_t kNarrowest = 20;
    widths.back() = std::min(widths.back(),
                             std::max(kNarrowest, kPageWidth - std::min(kPageWidth, before_last)));
  }
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    titles.push_back(columns[c].title);
    rules.emplace_back(widths[c], '-');
  }
  std::string out = render_line(columns, widths, titles) + render_line(columns, widths, rules);
  for (std::vector<std::string> row : rows) {
    row.resize(columns.size());
    const std::vector<std::string> lines =
        split_lines(columns.back().is_right_aligned ? row.back() : wrap(row.back(), widths.back()));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) row.assign(columns.size(), "");
      row.back() = lines[i];
      out += render_line(columns, widths, row);
    }
  }
  return out;
}

std::string render_table(const NamedTable& table, bool has_colour) {
  std::vector<TextColumn> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool is_text = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return c < row.size() &&
             (std::holds_alternative<std::string>(row[c]) || std::holds_alternative<bool>(row[c]));
    });
    columns.push_back({table.columns[c], !is_text});
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (const Value& value : row)
      rows.back().push_back(paint_status(format_value(value), has_colour));
  }
  return render_table(columns, rows);
}

std::string render_record(const Record& record, bool has_colour) {
  std::string out = wrap(fmt::format("{}: {}", record.suite, record.verdict), kPageWidth, 2);
  if (has_colour) {
    const std::size_t from = std::min(record.suite.size() + 2, out.size());
    out = out.substr(0, from) + paint(out.substr(from), colour_of(record));
  }
  out += "\n";
  if (record.was_interrupted) out += "interrupted: what was measured until then follows\n";
  if (!record.metrics.empty()) out += "\n" + render_metrics(record);
  if (!record.checks.empty()) out += "\n" + render_checks(record, has_colour);
  if (!record.tests.empty()) out += "\n" + render_tests(record, has_colour);
  for (const NamedTable& table : record.tables)
    out += "\n" + table.name + "\n" + render_table(table, has_colour);
  if (const std::string environment = render_environment(record); !environment.empty())
    out += "\n" + environment;
  for (const std::string& note : record.notes) out += wrap("note: " + note, kPageWidth, 2) + "\n";
  return out;
}

}  // namespace specbench::results
