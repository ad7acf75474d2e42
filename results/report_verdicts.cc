// What was decided: the verdict, the gate's table, what failed or stays open, the kill matrix.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "results/report_sections.h"
#include "results/table.h"

namespace specbench::results {
namespace {

constexpr std::size_t kMostRows = 300;  // of one table of open items; the record has them all

struct Word {
  const char* text;
  const char* tone;
};

Word word_of_exit_code(const Record& record) {
  if (record.was_interrupted || record.exit_code == 130) return {"INTERRUPTED", "doubt"};
  switch (record.exit_code) {
    case 0:
      return {"PASSED", "good"};
    case 1:
      return {"FAILED", "bad"};
    case 2:
      return {"INCONCLUSIVE", "doubt"};
    case 3:
      return {"VOID", "doubt"};
    default:
      return {"WRONG INPUT", "bad"};
  }
}

Word word_of_status(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPassed:
      return {"PASS", "good"};
    case CheckStatus::kFailed:
      return {"FAIL", "bad"};
    case CheckStatus::kInconclusive:
      return {"INCONCLUSIVE", "doubt"};
    case CheckStatus::kSkipped:
      break;
  }
  return {"SKIPPED", "plain"};
}

std::string status_badge(CheckStatus status) {
  const Word word = word_of_status(status);
  return badge(word.text, word.tone);
}

std::string key_figures(const Record& record) {
  std::string out;
  for (const char* name :
       {"speedup", "predicted_speedup", "acceptance_length", "certified_tv", "aa_ratio"}) {
    const Metric* metric = find_metric(record, name);
    if (metric == nullptr || !metric->value) continue;
    out +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, escape_html(estimate_text(*metric)));
  }
  return out.empty() ? "" : "<dl class=\"figures\">" + out + "</dl>\n";
}

HtmlRow check_row(const Check& check) {
  return {"", {status_badge(check.status), escape_html(check.id), escape_html(check.detail)}};
}

// What failed before what is in doubt.
bool is_open(const Check& check) {
  return check.status == CheckStatus::kFailed || check.status == CheckStatus::kInconclusive;
}
bool is_open(const TestRow& test) { return test.verdict != "PASS" && test.verdict != "passed"; }
bool is_fail(const TestRow& test) { return test.verdict == "FAIL" || test.verdict == "failed"; }

HtmlRow test_row(const TestRow& t) {
  const std::string required = t.required_n ? fmt::format("{}", *t.required_n) : "-";
  const std::string drift =
      t.min_detectable ? format_number(*t.min_detectable, 3) + " " + t.drift_kind : "-";
  return {
      "",
      {badge(t.verdict, is_fail(t) ? "bad" : "doubt"), escape_html(t.id), fmt::format("{}", t.n),
       format_number(t.p_value, 3), escape_html(drift), required, escape_html(t.reason)}};
}

// At most kMostRows, and a sentence about the rest.
std::string shortened(const std::vector<std::string>& titles, std::vector<HtmlRow> rows) {
  const std::size_t n_all = rows.size();
  if (n_all > kMostRows) rows.resize(kMostRows);
  std::string out = html_table(titles, rows);
  if (n_all > kMostRows)
    out += paragraph(fmt::format("And {} more; the record has them all.", n_all - kMostRows));
  return out;
}

using Killers = std::set<std::string>;

Killers split_words(const std::string& text) {
  std::istringstream stream(text);
  Killers words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

struct Mutant {
  std::string id;
  std::string fault;
  bool is_caught = false;
  Killers killers;
};

std::vector<Mutant> read_mutants(const Record& record) {
  const TableView matrix = view_table(record, "kill_matrix");
  const TableView faults = view_table(record, "mutants");
  std::vector<Mutant> mutants;
  for (std::size_t i = 0; i < matrix.n_rows(); ++i) {
    Mutant mutant{matrix.text(i, "id"), "", false, split_words(matrix.text(i, "killed_by"))};
    const Value* caught = matrix.cell(i, "caught");
    mutant.is_caught = caught != nullptr && *caught == Value{true};
    for (std::size_t f = 0; f < faults.n_rows(); ++f)
      if (faults.text(f, "id") == mutant.id) mutant.fault = faults.text(f, "fault");
    mutants.push_back(std::move(mutant));
  }
  return mutants;
}

// Every kind that was looked at, or else every kind that killed.
std::vector<std::string> read_kinds(const Record& record, const std::vector<Mutant>& mutants) {
  Killers kinds;
  const TableView table = view_table(record, "kill_matrix_kinds");
  for (std::size_t i = 0; i < table.n_rows(); ++i) kinds.insert(table.text(i, "kind"));
  for (const Mutant& mutant : mutants) kinds.insert(mutant.killers.begin(), mutant.killers.end());
  return {kinds.begin(), kinds.end()};
}

std::string matrix_head(const std::vector<Mutant>& mutants) {
  std::string out = "<thead><tr><th>kind of test</th>";
  for (const Mutant& m : mutants)
    out += fmt::format("<th class=\"id{}\" title=\"{}\"><span>{}</span></th>",
                       m.is_caught ? "" : " missed", escape_html(m.fault), escape_html(m.id));
  return out + "<th>kills</th></tr></thead>\n";
}

std::string matrix_body(const std::vector<std::string>& kinds, const std::vector<Mutant>& mutants) {
  std::string out = "<tbody>\n";
  std::string family;
  for (const std::string& kind : kinds) {
    const std::string own = kind.substr(0, kind.find('.'));
    out += own == family || family.empty() ? "<tr>" : "<tr class=\"next\">";
    family = own;
    out += "<th>" + escape_html(kind) + "</th>";
    int n_kills = 0;
    for (const Mutant& m : mutants) {
      const bool kills = m.killers.contains(kind);
      n_kills += kills ? 1 : 0;
      out += kills ? "<td>&#9679;" : "<td>";
    }
    out += fmt::format("<td>{}</tr>\n", n_kills);
  }
  return out + "</tbody>";
}

}  // namespace

void write_verdict(const Record& record, Page& page) {
  const Word word = word_of_exit_code(record);
  page.html += fmt::format(
      "<div class=\"verdict {}\"><p class=\"word\">{} <span>{}</span></p><p>{}</p>\n{}</div>\n",
      word.tone, word.text, escape_html(record.suite), escape_html(record.verdict),
      key_figures(record));
}

bool has_gate(const Record& record) { return record.suite == "gate"; }

void write_gate(const Record& record, Page& page) {
  std::vector<HtmlRow> rows;
  for (const Check& check : record.checks) rows.push_back(check_row(check));
  page.html += html_table({"verdict", "check", "why"}, rows);
}

bool has_open_items(const Record& record) {
  return !record.checks.empty() || !record.tests.empty();
}

void write_open_items(const Record& record, Page& page) {
  std::vector<HtmlRow> checks;
  std::vector<HtmlRow> tests;
  for (const bool wants_fail : {true, false}) {
    for (const Check& check : record.checks)
      if (is_open(check) && (check.status == CheckStatus::kFailed) == wants_fail)
        checks.push_back(check_row(check));
    for (const TestRow& test : record.tests)
      if (is_open(test) && is_fail(test) == wants_fail) tests.push_back(test_row(test));
  }
  page.html += paragraph(
      fmt::format("{} of {} checks and {} of {} tests failed or are inconclusive.", checks.size(),
                  record.checks.size(), tests.size(), record.tests.size()));
  if (!checks.empty()) page.html += shortened({"status", "check", "why"}, checks);
  if (!tests.empty())
    page.html +=
        shortened({"verdict", "test", "n", "p", "finds drift of", "needs n", "why"}, tests);
}

bool has_kill_matrix(const Record& record) {
  return view_table(record, "kill_matrix").n_rows() > 0;
}

void write_kill_matrix(const Record& record, Page& page) {
  const std::vector<Mutant> mutants = read_mutants(record);
  const auto n_caught =
      std::count_if(mutants.begin(), mutants.end(), [](const Mutant& m) { return m.is_caught; });
  page.html += paragraph(fmt::format("{} of {} mutants were caught.", n_caught, mutants.size()));
  page.html += "<div class=\"scroll\"><table class=\"kills\">" + matrix_head(mutants) +
               matrix_body(read_kinds(record, mutants), mutants) + "</table></div>\n";
  std::vector<HtmlRow> rows;
  rows.reserve(mutants.size());
  for (const Mutant& m : mutants)
    rows.push_back(
        {"",
         {m.is_caught ? badge("CAUGHT", "good") : badge("MISSED", "bad"), escape_html(m.id),
          escape_html(m.fault), fmt::format("{}", m.killers.size())}});
  page.html +=
      folded("What each mutant does", html_table({"", "id", "fault", "kinds that saw it"}, rows));
}

}  // namespace specbench::results
