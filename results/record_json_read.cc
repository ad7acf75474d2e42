// The reading half of record_json.h. Trusts nothing in the text.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "results/record_json.h"
#include "results/record_json_parts.h"

namespace specbench::results {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

// A JSON value and the path to it, for sentences such as "metrics[3].value must be a number or
// null, not a string".
class Reader {
 public:
  Reader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  Reader field(const char* key) const {
    if (!json_.is_object()) wrong("an object");
    const std::string path = path_.empty() ? key : path_ + "." + key;
    const auto at = json_.find(key);
    if (at == json_.end())
      refuse(fmt::format("the record lacks the field '{}'; it was not written by specbench", path));
    return {*at, path};
  }

  // Neither absent nor null.
  bool has(const char* key) const {
    const auto at = json_.find(key);
    return at != json_.end() && !at->is_null();
  }

  std::vector<Reader> elements() const {
    if (!json_.is_array()) wrong("an array");
    std::vector<Reader> all;
    for (std::size_t i = 0; i < json_.size(); ++i)
      all.emplace_back(json_[i], fmt::format("{}[{}]", path_, i));
    return all;
  }

  std::vector<std::pair<std::string, Reader>> members() const {
    if (!json_.is_object()) wrong("an object");
    std::vector<std::pair<std::string, Reader>> all;
    for (auto it = json_.begin(); it != json_.end(); ++it)
      all.emplace_back(it.key(), Reader(*it, path_ + "." + it.key()));
    return all;
  }

  std::string text() const {
    if (!json_.is_string()) wrong("a string");
    return json_.get<std::string>();
  }
  bool flag() const {
    if (!json_.is_boolean()) wrong("true or false");
    return json_.get<bool>();
  }
  std::optional<double> number() const {
    if (json_.is_null()) return std::nullopt;
    if (!json_.is_number()) wrong("a number or null");
    return json_.get<double>();
  }
  template <typename Integer = std::int64_t>
  Integer integer() const {
    constexpr auto kMax = std::numeric_limits<Integer>::max();
    if (!json_.is_number_integer()) wrong("a whole number");
    const bool is_too_large =
        json_.is_number_unsigned() && json_.get<std::uint64_t>() > static_cast<std::uint64_t>(kMax);
    const bool is_too_small = !json_.is_number_unsigned() &&
                              json_.get<std::int64_t>() < std::numeric_limits<Integer>::min();
    if (is_too_large || is_too_small)
      refuse(fmt::format("the record's '{}' is {}, out of range", path_, json_.dump()));
    return json_.get<Integer>();
  }
  std::optional<std::int64_t> optional_integer() const {
    if (json_.is_null()) return std::nullopt;
    return integer();
  }
  Value value() const {
    if (json_.is_null()) return std::monostate{};
    if (json_.is_boolean()) return flag();
    if (json_.is_string()) return text();
    if (json_.is_number_integer()) return integer();
    if (json_.is_number()) return json_.get<double>();
    wrong("a scalar");
  }
  template <typename Integer>
  std::vector<Integer> integers() const {
    std::vector<Integer> all;
    for (const Reader& element : elements()) all.push_back(element.integer<Integer>());
    return all;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Reader& element : elements()) all.push_back(element.text());
    return all;
  }
  Entries entries() const {
    Entries all;
    for (const auto& [key, member] : members()) all.emplace_back(key, member.value());
    return all;
  }
  [[noreturn]] void wrong(const std::string& expected) const {
    refuse(fmt::format("the record's '{}' must be {}, not {} {}",
                       path_.empty() ? "top level" : path_, expected, json_.type_name(),
                       json_.is_structured() ? "" : json_.dump()));
  }

 private:
  const Json& json_;
  std::string path_;
};

CheckStatus read_status(const Reader& reader) {
  const std::string name = reader.text();
  for (const CheckStatus status : {CheckStatus::kPassed, CheckStatus::kFailed,
                                   CheckStatus::kInconclusive, CheckStatus::kSkipped}) {
    if (name == check_status_name(status)) return status;
  }
  reader.wrong("passed, failed, inconclusive or skipped");
}

std::uint64_t read_hash(const Reader& reader) {
  const std::string text = reader.text();
  std::uint64_t value = 0;
  if (text.size() == 18 && text.starts_with("0x")) {
    const auto [end, error] =
        std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error == std::errc() && end == text.data() + text.size()) return value;
  }
  reader.wrong("0x and 16 hexadecimal digits");
}

Metric read_metric(const Reader& r) {
  return {.name = r.field("name").text(),
          .value = r.field("value").number(),
          .unit = r.field("unit").text(),
          .lower = r.field("lower").number(),
          .upper = r.field("upper").number(),
          .level = r.field("level").number(),
          .note = r.field("note").text()};
}

TestRow read_test(const Reader& r) {
  return {.id = r.field("id").text(),
          .hypothesis = r.field("hypothesis").text(),
          .statistic_name = r.field("statistic_name").text(),
          .n = r.field("n").integer(),
          .statistic = r.field("statistic").number(),
          .p_value = r.field("p_value").number(),
          .min_detectable = r.field("min_detectable").number(),
          .drift_kind = r.field("drift_kind").text(),
          .alpha = r.field("alpha").number(),
          .tau = r.field("tau").number(),
          .beta = r.field("beta").number(),
          .verdict = r.field("verdict").text(),
          .reason = r.field("reason").text(),
          .required_n = r.field("required_n").optional_integer()};
}

NamedTable read_table(const Reader& r) {
  NamedTable table{
      .name = r.field("name").text(), .columns = r.field("columns").texts(), .rows = {}};
  for (const Reader& row : r.field("rows").elements()) {
    std::vector<Value> cells;
    for (const Reader& cell : row.elements()) cells.push_back(cell.value());
    if (cells.size() != table.columns.size())
      row.wrong(fmt::format("{} cells", table.columns.size()));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

SampleRow read_sample(const Reader& r, std::size_t n_phases) {
  SampleRow sample{.arm = r.field("arm").text(),
                   .process = r.field("process").integer<int>(),
                   .case_index = r.field("case_index").integer<int>(),
                   .block = r.field("block").integer<int>(),
                   .order = r.field("order").integer<int>(),
                   .is_warmup = r.field("is_warmup").flag(),
                   .wall_ns = r.field("wall_ns").integer(),
                   .first_token_ns = r.field("first_token_ns").optional_integer(),
                   .decode_ns = r.field("decode_ns").optional_integer(),
                   .phase_ns = r.field("phase_ns").integers<std::int64_t>(),
                   .chunk_end_ns = r.field("chunk_end_ns").integers<std::int64_t>(),
                   .chunk_tokens = r.field("chunk_tokens").integers<std::int32_t>(),
                   .n_tokens = r.field("n_tokens").integer(),
                   .fingerprint = read_hash(r.field("fingerprint")),
                   .mark = r.field("mark").text()};
  if (sample.phase_ns.size() != n_phases)
    r.field("phase_ns").wrong(fmt::format("{} times", n_phases));
  if (sample.chunk_tokens.size() != sample.chunk_end_ns.size()) {
    r.field("chunk_tokens").wrong("as long as chunk_end_ns");
  }
  return sample;
}

// Checks while parsing, before anything large is built: depth, and keys that stand twice.
Json parse(std::string_view text) {
  constexpr int kMaxDepth = 8;
  std::vector<std::set<std::string>> keys;
  const auto guard = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth)
      refuse(fmt::format("the record is nested deeper than {} levels", kMaxDepth));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      refuse(fmt::format("the record has the key '{}' twice in one object",
                         parsed.get<std::string>()));
    }
    return true;
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse("the record is empty");
  try {
    return Json::parse(text, guard);
  } catch (const Json::parse_error& error) {
    if (error.byte > text.size()) {  // the parser wanted more than there is
      refuse(fmt::format("the record is cut short after {} bytes; write it anew", text.size()));
    }
    refuse(fmt::format("the record is not JSON: error at byte {}", error.byte));
  } catch (const Json::out_of_range&) {
    refuse("the record holds a number too large for a double");
  }
}

// A record may be read by builds that are older than its writer, if the writer says so.
int read_version(const Reader& root) {
  const int version = root.field("schema_version").integer<int>();
  const int least =
      root.has("min_reader_version") ? root.field("min_reader_version").integer<int>() : version;
  if (least < 1 || version < least) {
    refuse(fmt::format("the record says schema version {} and min_reader_version {}; it is damaged",
                       version, least));
  }
  if (least > kSchemaVersion) {
    refuse(fmt::format(
        "the record is of schema version {} and needs a reader of version {}; this build reads "
        "version {}, use a newer one",
        version, least, kSchemaVersion));
  }
  return version;
}

SamplesFile read_samples_file(const Reader& r) {
  return {.name = r.field("name").text(),
          .rows = r.field("rows").integer(),
          .bytes = r.field("bytes").integer(),
          .fnv1a = read_hash(r.field("fnv1a"))};
}

void read_samples(const Reader& root, Record& record, std::optional<SamplesFile>& samples_file) {
  samples_file.reset();
  if (root.has("samples_file")) samples_file = read_samples_file(root.field("samples_file"));
  for (const Reader& r : root.field("samples").elements())
    record.samples.push_back(read_sample(r, record.phase_names.size()));
  if (samples_file && !record.samples.empty()) {
    refuse(fmt::format("the record has {} samples and names the file '{}' for them; it is damaged",
                       record.samples.size(), samples_file->name));
  }
}

}  // namespace

Record from_json(std::string_view text) {
  std::optional<SamplesFile> samples_file;
  Record record = from_json(text, samples_file);
  if (samples_file) {
    refuse(fmt::format("the record keeps its samples in the file '{}' beside it; read it by path",
                       samples_file->name));
  }
  return record;
}

SampleRow sample_from_json(std::string_view line, std::size_t row, std::size_t n_phases) {
  const Json json = parse(line);
  return read_sample(Reader(json, fmt::format("samples[{}]", row)), n_phases);
}

Record from_json(std::string_view text, std::optional<SamplesFile>& samples_file) {
  const Json json = parse(text);
  const Reader root(json, "");
  Record record;
  record.schema_version = read_version(root);
  record.suite = root.field("suite").text();
  record.verdict = root.field("verdict").text();
  record.exit_code = root.field("exit_code").integer<int>();
  record.was_interrupted = root.field("was_interrupted").flag();
  record.command_line = root.field("command_line").text();
  record.started_utc = root.field("started_utc").text();
  record.wall_s = root.field("wall_s").number();
  record.options = root.field("options").entries();
  record.environment = root.field("environment").entries();
  record.build = root.field("build").entries();
  record.model = root.field("model").entries();
  for (const Reader& r : root.field("metrics").elements()) record.metrics.push_back(read_metric(r));
  for (const Reader& r : root.field("checks").elements()) {
    record.checks.push_back(
        {r.field("id").text(), read_status(r.field("status")), r.field("detail").text()});
  }
  for (const Reader& r : root.field("tests").elements()) record.tests.push_back(read_test(r));
  for (const auto& [name, count] : root.field("counters").members())
    record.counters.emplace_back(name, count.integer());
  for (const Reader& r : root.field("tables").elements()) record.tables.push_back(read_table(r));
  record.phase_names = root.field("phase_names").texts();
  read_samples(root, record, samples_file);
  record.notes = root.field("notes").texts();
  return record;
}

}  // namespace specbench::results
