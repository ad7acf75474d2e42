// results/schema.json against what is written, against planted faults, and against schema.md.
#include <gtest/gtest.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "results/record_json_parts.h"
#include "results/record_json_test_support.h"

namespace specbench::results {
namespace {

using Json = nlohmann::json;

Json committed_schema() { return Json::parse(text_of_file("results/schema.json")); }

// Empty where `record` fits `schema`, else what does not and where.
std::string fault(const Json& schema, const Json& record) {
  valijson::Schema parsed;
  valijson::adapters::NlohmannJsonAdapter schema_adapter(schema);
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(schema_adapter, parsed);
  valijson::adapters::NlohmannJsonAdapter record_adapter(record);
  valijson::ValidationResults results;
  if (valijson::Validator().validate(parsed, record_adapter, &results)) return "";
  std::string text;
  for (const valijson::ValidationResults::Error& error : results) {
    for (const std::string& step : error.context) text += step;
    text += ": " + error.description + "\n";
  }
  return text.empty() ? "without a reason" : text;
}

// Calls visit(name, schema of the property) for each property at any depth.
template <typename Visit>
void each_property(const Json& schema, const Visit& visit) {
  if (schema.is_object() && schema.contains("properties") && schema.contains("description")) {
    for (const auto& [name, property] : schema["properties"].items()) visit(name, property);
  }
  for (const Json& child : schema) {
    if (child.is_structured()) each_property(child, visit);
  }
}

// The same schema without room for fields that it does not name.
void close(Json& schema) {
  if (schema.is_object() && schema.contains("properties") && schema.contains("description"))
    schema["additionalProperties"] = false;
  for (Json& child : schema) {
    if (child.is_structured()) close(child);
  }
}

Json full_json() { return Json::parse(to_json(full_record())); }

Json json_with_samples_file() {
  return Json::parse(to_json(full_record(), {"run.samples.jsonl.gz", 3000, 1'500'000, 7}));
}

TEST(Schema, WhatIsWrittenFits) {
  const Json schema = committed_schema();
  EXPECT_EQ(fault(schema, full_json()), "");
  EXPECT_EQ(fault(schema, json_with_samples_file()), "");
  EXPECT_EQ(fault(schema, Json::parse(to_json(Record{}))), "");
  EXPECT_EQ(fault(schema, Json::parse(text_of_file("results/testdata/record_version_1.json"))), "");
  EXPECT_EQ(fault(schema, Json::parse(text_of_file("results/baselines/selftest.json"))), "");
}

TEST(Schema, NamesEveryFieldThatIsWritten) {
  Json schema = committed_schema();
  close(schema);
  EXPECT_EQ(fault(schema, full_json()), "");
  EXPECT_EQ(fault(schema, json_with_samples_file()), "");
  Json record = full_json();
  record["metrics"][0]["extra"] = 1;  // the closed schema does see unknown fields
  EXPECT_NE(fault(schema, record), "");
  EXPECT_EQ(fault(committed_schema(), record), "");  // the open one lets later versions add them
}

TEST(Schema, EveryFieldThatIsWrittenIsRequired) {
  const Json schema = committed_schema();
  const Json record = json_with_samples_file();
  for (const auto& [key, value] : record.items()) {
    Json without = record;
    without.erase(key);
    EXPECT_NE(fault(schema, without), "") << key;
  }
  const Json full = full_json();
  for (const char* list : {"metrics", "checks", "tests", "tables", "samples"}) {
    for (const auto& [key, value] : full[list][0].items()) {
      Json without = full;
      without[list][0].erase(key);
      EXPECT_NE(fault(schema, without), "") << list << "." << key;
    }
  }
  for (const auto& [key, value] : record["samples_file"].items()) {
    Json without = record;
    without["samples_file"].erase(key);
    EXPECT_NE(fault(schema, without), "") << key;
  }
}

TEST(Schema, EveryFieldHasAType) {
  const Json schema = committed_schema();
  const Json full = full_json();
  const Json wrong = Json::array({Json::object({{"a", Json::object()}})});  // fits nowhere
  for (const auto& [key, value] : full.items()) {
    Json record = full;
    record[key] = wrong;
    EXPECT_NE(fault(schema, record), "") << key;
  }
  for (const char* list : {"metrics", "checks", "tests", "tables", "samples"}) {
    for (const auto& [key, value] : full[list][0].items()) {
      Json record = full;
      record[list][0][key] = wrong;
      EXPECT_NE(fault(schema, record), "") << list << "." << key;
    }
  }
}

TEST(Schema, PlantedFaultsAreRejected) {
  const Json schema = committed_schema();
  const auto faulty = [&](const char* where, const Json& value) {
    Json record = full_json();
    record[Json::json_pointer(where)] = value;
    EXPECT_NE(fault(schema, record), "") << where << " = " << value;
  };
  faulty("/schema_version", 0);
  faulty("/schema_version", "2");
  faulty("/min_reader_version", 1.5);
  faulty("/exit_code", -1);
  faulty("/started_utc", "yesterday");
  faulty("/wall_s", "12 s");
  faulty("/options/draft_layers", Json::array({4}));
  faulty("/counters/rounds", 1.5);
  faulty("/counters/rounds", nullptr);
  faulty("/metrics/0/level", 95);
  faulty("/metrics/0/name", "");
  faulty("/metrics/0/value", "1.83");
  faulty("/checks/0/status", "PASSED");
  faulty("/tests/0/p_value", -0.1);
  faulty("/tests/0/n", 2.5);
  faulty("/tables/0/columns/0", 1);
  faulty("/tables/0/columns", Json::array({"twice", "twice", "note"}));
  faulty("/tables/0/rows/0/0", Json::array());
  faulty("/phase_names/0", 1);
  faulty("/samples/0/wall_ns", -1);
  faulty("/samples/0/process", 3'000'000'000);
  faulty("/samples/0/fingerprint", "0xABC");
  faulty("/samples/0/phase_ns/0", 0.5);
  faulty("/samples/0/is_warmup", 0);
  faulty("/samples_file", "run.samples.jsonl.gz");
  Json record = json_with_samples_file();
  record["samples_file"]["name"] = "../run.samples.jsonl.gz";
  EXPECT_NE(fault(schema, record), "");
}

TEST(Schema, EveryFieldIsDescribedWithItsUnit) {
  const Json schema = committed_schema();
  int n_fields = 0;
  each_property(schema, [&](const std::string& name, const Json& property) {
    ++n_fields;
    Json described = property;
    if (property.contains("$ref"))
      described = schema[Json::json_pointer(property["$ref"].get<std::string>().substr(1))];
    EXPECT_FALSE(described.value("description", "").empty()) << name;
    const std::string type = described.contains("type") ? described["type"].dump() : "";
    const bool is_number =
        type.find("integer") != std::string::npos || type.find("number") != std::string::npos;
    EXPECT_TRUE(!is_number || !described.value("unit", "").empty()) << name;
  });
  EXPECT_GT(n_fields, 60);
}

// The properties of `schema` that `text` does not name as words of their own.
std::set<std::string> undocumented(const Json& schema, const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
    } else {
      words.insert(std::exchange(word, ""));
    }
  }
  std::set<std::string> missing;
  each_property(schema, [&](const std::string& name, const Json&) {
    if (!words.contains(name)) missing.insert(name);
  });
  return missing;
}

TEST(Schema, TheDocumentNamesEveryField) {
  const Json schema = committed_schema();
  const std::string text = text_of_file("results/schema.md");
  EXPECT_EQ(undocumented(schema, text), std::set<std::string>{});
  const std::string spoiled = replaced(text, "chunk_tokens", "chunk-tokens");
  EXPECT_EQ(undocumented(schema, spoiled), std::set<std::string>{"chunk_tokens"});
  Json grown = schema;
  grown["definitions"]["sample"]["properties"]["energy_mj"] = Json::object();
  EXPECT_EQ(undocumented(grown, text), std::set<std::string>{"energy_mj"});
}

TEST(Schema, TheDocumentNamesTheVersion) {
  const std::string text = text_of_file("results/schema.md");
  EXPECT_NE(text.find("schema version " + std::to_string(kSchemaVersion)), std::string::npos);
  EXPECT_NE(committed_schema()["title"].get<std::string>().find("schema version " +
                                                                std::to_string(kSchemaVersion)),
            std::string::npos);
}

}  // namespace
}  // namespace specbench::results
