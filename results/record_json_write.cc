// The writing half of record_json.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <type_traits>

#include "results/record_json.h"
#include "results/record_json_parts.h"

namespace specbench::results {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

class Writer {
 public:
  // `samples_file` null: the samples stand in the text.
  Json write(const Record& record, const SamplesFile* samples_file);

 private:
  Json number(std::optional<double> value, const std::string& where) {
    if (!value) return nullptr;
    if (std::isfinite(*value)) return *value;
    notes_.push_back(fmt::format("{} was {}, written as null", where, *value));
    return nullptr;
  }

  Json value(const Value& any, const std::string& where) {
    return std::visit(
        [&](const auto& held) -> Json {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (std::is_same_v<Held, std::monostate>) return nullptr;
          if constexpr (std::is_same_v<Held, double>) return number(held, where);
          if constexpr (!std::is_same_v<Held, std::monostate> && !std::is_same_v<Held, double>)
            return held;
        },
        any);
  }

  Json entries(const Entries& list, const std::string& where) {
    Json object = Json::object();
    for (const auto& [key, any] : list)
      put(object, key, value(any, fmt::format("{}.{}", where, key)), where);
    return object;
  }

  static void put(Json& object, const std::string& key, Json value, const std::string& where) {
    if (object.contains(key))
      refuse(fmt::format("the record has '{}' twice in {}; name each once", key, where));
    object[key] = std::move(value);
  }

  Json metrics(const std::vector<Metric>& list);
  Json tests(const std::vector<TestRow>& list);
  Json tables(const std::vector<NamedTable>& list);

  std::vector<std::string> notes_;
};

std::string hash_text(std::uint64_t hash) { return fmt::format("0x{:016x}", hash); }

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Integer>
Json optional_integer(const std::optional<Integer>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json Writer::metrics(const std::vector<Metric>& list) {
  Json array = Json::array();
  std::set<std::string> names;
  for (const Metric& m : list) {
    if (!names.insert(m.name).second)
      refuse(fmt::format("the record has the metric '{}' twice", m.name));
    const std::string where = "metrics." + m.name;
    array.push_back({{"name", m.name},
                     {"value", number(m.value, where + ".value")},
                     {"unit", m.unit},
                     {"lower", number(m.lower, where + ".lower")},
                     {"upper", number(m.upper, where + ".upper")},
                     {"level", number(m.level, where + ".level")},
                     {"note", m.note}});
  }
  return array;
}

Json Writer::tests(const std::vector<TestRow>& list) {
  Json array = Json::array();
  for (const TestRow& t : list) {
    const std::string where = "tests." + t.id;
    array.push_back({{"id", t.id},
                     {"hypothesis", t.hypothesis},
                     {"statistic_name", t.statistic_name},
                     {"n", t.n},
                     {"statistic", number(t.statistic, where + ".statistic")},
                     {"p_value", number(t.p_value, where + ".p_value")},
                     {"min_detectable", number(t.min_detectable, where + ".min_detectable")},
                     {"drift_kind", t.drift_kind},
                     {"alpha", number(t.alpha, where + ".alpha")},
                     {"tau", number(t.tau, where + ".tau")},
                     {"beta", number(t.beta, where + ".beta")},
                     {"verdict", t.verdict},
                     {"reason", t.reason},
                     {"required_n", optional_integer(t.required_n)}});
  }
  return array;
}

Json Writer::tables(const std::vector<NamedTable>& list) {
  Json array = Json::array();
  std::set<std::string> names;
  for (const NamedTable& table : list) {
    if (!names.insert(table.name).second)
      refuse(fmt::format("the record has the table '{}' twice", table.name));
    Json rows = Json::array();
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      if (table.rows[r].size() != table.columns.size()) {
        refuse(fmt::format("row {} of table '{}' has {} cells for {} columns", r, table.name,
                           table.rows[r].size(), table.columns.size()));
      }
      Json cells = Json::array();
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        cells.push_back(value(table.rows[r][c],
                              fmt::format("tables.{}[{}].{}", table.name, r, table.columns[c])));
      }
      rows.push_back(std::move(cells));
    }
    array.push_back({{"name", table.name}, {"columns", table.columns}, {"rows", std::move(rows)}});
  }
  return array;
}

Json sample_json(const Record& record, std::size_t index) {
  const SampleRow& s = record.samples[index];
  if (s.phase_ns.size() != record.phase_names.size() ||
      s.chunk_end_ns.size() != s.chunk_tokens.size()) {
    refuse(fmt::format(
        "sample {} of arm '{}' has {} phases for {} names, {} chunk times for {} chunk sizes",
        index, s.arm, s.phase_ns.size(), record.phase_names.size(), s.chunk_end_ns.size(),
        s.chunk_tokens.size()));
  }
  // Fingerprints are text: a JSON number above 2^53 does not survive most readers.
  return {{"arm", s.arm},
          {"process", s.process},
          {"case_index", s.case_index},
          {"block", s.block},
          {"order", s.order},
          {"is_warmup", s.is_warmup},
          {"wall_ns", s.wall_ns},
          {"first_token_ns", optional_integer(s.first_token_ns)},
          {"decode_ns", optional_integer(s.decode_ns)},
          {"phase_ns", s.phase_ns},
          {"chunk_end_ns", s.chunk_end_ns},
          {"chunk_tokens", s.chunk_tokens},
          {"n_tokens", s.n_tokens},
          {"fingerprint", hash_text(s.fingerprint)},
          {"mark", s.mark}};
}

Json samples_json(const Record& record) {
  Json array = Json::array();
  for (std::size_t i = 0; i < record.samples.size(); ++i) array.push_back(sample_json(record, i));
  return array;
}

Json samples_file_json(const SamplesFile& file) {
  return {{"name", file.name},
          {"rows", file.rows},
          {"bytes", file.bytes},
          {"fnv1a", hash_text(file.fnv1a)}};
}

Json Writer::write(const Record& record, const SamplesFile* samples_file) {
  Json root;
  // What is written has this build's fields, whatever the version of the file it was read from.
  root["schema_version"] = kSchemaVersion;
  root["min_reader_version"] = kMinReaderVersion;
  root["suite"] = record.suite;
  root["verdict"] = record.verdict;
  root["exit_code"] = record.exit_code;
  root["was_interrupted"] = record.was_interrupted;
  root["command_line"] = record.command_line;
  root["started_utc"] = record.started_utc;
  root["wall_s"] = number(record.wall_s, "wall_s");
  root["options"] = entries(record.options, "options");
  root["environment"] = entries(record.environment, "environment");
  root["build"] = entries(record.build, "build");
  root["model"] = entries(record.model, "model");
  root["metrics"] = metrics(record.metrics);
  root["checks"] = Json::array();
  for (const Check& check : record.checks) {
    root["checks"].push_back(
        {{"id", check.id}, {"status", check_status_name(check.status)}, {"detail", check.detail}});
  }
  root["tests"] = tests(record.tests);
  root["counters"] = Json::object();
  for (const auto& [name, count] : record.counters) put(root["counters"], name, count, "counters");
  root["tables"] = tables(record.tables);
  root["phase_names"] = record.phase_names;
  root["samples_file"] = samples_file == nullptr ? Json(nullptr) : samples_file_json(*samples_file);
  root["samples"] = samples_file == nullptr ? samples_json(record) : Json::array();
  root["notes"] = record.notes;
  for (const std::string& note : notes_) root["notes"].push_back(note);
  return root;
}

// Containers inside containers: 0 for a scalar, 1 for a list of scalars.
int height(const Json& json) {
  int highest = 0;
  if (!json.is_structured()) return 0;
  for (const Json& child : json) highest = std::max(highest, height(child));
  return highest + 1;
}

// A line for each section entry, row and sample: files that people read and `diff` compares.
void format(const Json& json, int depth, std::string& out) {
  const bool is_row = json.is_object() ? height(json) <= 2 && depth >= 2 : height(json) <= 1;
  if (json.empty() || is_row) {
    out += one_line(json);
    return;
  }
  const std::string indent(static_cast<std::size_t>(depth + 1) * 2, ' ');
  out += json.is_object() ? "{" : "[";
  bool is_first = true;
  for (auto it = json.begin(); it != json.end(); ++it) {
    out += is_first ? "\n" + indent : ",\n" + indent;
    is_first = false;
    if (json.is_object()) out += one_line(it.key()) + ": ";
    format(*it, depth + 1, out);
  }
  out += "\n" + indent.substr(2) + (json.is_object() ? "}" : "]");
}

std::string text_of(const Record& record, const SamplesFile* samples_file) {
  std::string text;
  format(Writer().write(record, samples_file), 0, text);
  return text + "\n";
}

}  // namespace

std::string to_json(const Record& record) { return text_of(record, nullptr); }

std::string to_json(const Record& record, const SamplesFile& samples_file) {
  return text_of(record, &samples_file);
}

std::string sample_lines(const Record& record) {
  std::string lines;
  for (std::size_t i = 0; i < record.samples.size(); ++i)
    lines += one_line(sample_json(record, i)) + "\n";
  return lines;
}

}  // namespace specbench::results
