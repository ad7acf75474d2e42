#include "suites/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "engine/error.h"
#include "results/record_json.h"
#include "suites/context.h"

namespace specbench::suites {

namespace {

constexpr double kKilled = 0.9;      // a kind of the signature fails again
constexpr double kBystander = 0.03;  // another kind fails too
constexpr double kNearBest = 3.0;    // nats: faults this close to the best are named with it
constexpr std::size_t kMostNamed = 3;

std::set<std::string> split(const std::string& text) {
  std::set<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; stream >> part;) parts.insert(part);
  return parts;
}

std::string text(const results::Value& value) {
  const auto* string = std::get_if<std::string>(&value);
  return string == nullptr ? std::string() : *string;
}

std::size_t column_of(const results::NamedTable& table, const char* name) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), name);
  if (at == table.columns.end())
    throw std::invalid_argument(fmt::format("The kill matrix has no column '{}'.", name));
  return static_cast<std::size_t>(at - table.columns.begin());
}

}  // namespace

KillMatrix kill_matrix_of(const results::Record& record) {
  const results::NamedTable* table = results::find_table(record, "kill_matrix");
  const results::NamedTable* kinds = results::find_table(record, "kill_matrix_kinds");
  const results::NamedTable* faults = results::find_table(record, "mutants");
  if (table == nullptr || kinds == nullptr || faults == nullptr)
    throw std::invalid_argument("The record holds no kill matrix; it is not one of a selftest.");
  KillMatrix matrix;
  const std::size_t id = column_of(*table, "id"), killed = column_of(*table, "killed_by");
  const std::size_t name = column_of(*faults, "id"), fault = column_of(*faults, "fault");
  for (const auto& row : table->rows) {
    const auto named = std::find_if(faults->rows.begin(), faults->rows.end(),
                                    [&](const auto& r) { return text(r[name]) == text(row[id]); });
    matrix.signatures.push_back(
        {text(row[id]), named == faults->rows.end() ? text(row[id]) : text((*named)[fault]),
         split(text(row[killed]))});
  }
  const std::size_t kind = column_of(*kinds, "kind");
  for (const auto& row : kinds->rows) matrix.kinds.insert(text(row[kind]));
  return matrix;
}

KillMatrix load_kill_matrix() {
  try {
    std::ifstream file(data_directory() / "baselines" / "selftest.json");
    std::ostringstream text;
    text << file.rdbuf();
    return kill_matrix_of(results::from_json(text.str()));
  } catch (const std::exception&) {
    return {};  // a verdict stands without a diagnosis
  }
}

double resemblance(const Signature& signature, const std::set<std::string>& failed,
                   const std::set<std::string>& seen, const KillMatrix& matrix) {
  double sum = 0.0;
  for (const std::string& kind : seen) {
    if (matrix.kinds.count(kind) == 0) continue;
    const double p = signature.kinds.count(kind) > 0 ? kKilled : kBystander;
    sum += std::log(failed.count(kind) > 0 ? p : 1.0 - p);
  }
  return sum;
}

std::string diagnose(const std::set<std::string>& failed, const std::set<std::string>& seen,
                     const KillMatrix& matrix) {
  if (failed.empty() || matrix.signatures.empty()) return {};
  std::vector<std::pair<double, const Signature*>> ranked;
  for (const Signature& signature : matrix.signatures) {
    const auto n_explained = std::count_if(failed.begin(), failed.end(), [&](const auto& kind) {
      return signature.kinds.count(kind) > 0;
    });
    if (2 * n_explained >= static_cast<std::ptrdiff_t>(failed.size()))
      ranked.emplace_back(resemblance(signature, failed, seen, matrix), &signature);
  }
  if (ranked.empty()) return "looks like no known fault";
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string sentence = "looks like: ";
  for (std::size_t i = 0; i < ranked.size() && i < kMostNamed; ++i) {
    if (ranked[i].first < ranked.front().first - kNearBest) break;
    sentence += fmt::format("{}{} ({})", i > 0 ? "; or " : "", ranked[i].second->fault,
                            ranked[i].second->id);
  }
  return sentence;
}

}  // namespace specbench::suites
