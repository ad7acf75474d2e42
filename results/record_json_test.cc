#include "results/record_json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "results/record_json_parts.h"
#include "results/record_json_test_support.h"

namespace specbench::results {
namespace {

// The sentence with which `text` is refused; empty if it is read.
std::string refusal(const std::string& text) {
  try {
    from_json(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(RecordJson, MatchesTheCommittedText) { EXPECT_EQ(to_json(full_record()), committed_text()); }

TEST(RecordJson, RoundTripKeepsEveryField) {
  const Record r = from_json(to_json(full_record()));
  EXPECT_EQ(to_json(r), committed_text());
  EXPECT_EQ(r.suite, "latency");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_TRUE(r.was_interrupted);
  EXPECT_EQ(r.options, full_record().options);  // order and types too
  EXPECT_EQ(r.counters, full_record().counters);
  EXPECT_EQ(r.tables[0].rows, full_record().tables[0].rows);
  ASSERT_EQ(r.samples.size(), 2u);
  EXPECT_EQ(r.samples[0].fingerprint, 0xfedcba9876543210);
  EXPECT_EQ(r.samples[0].chunk_tokens, (std::vector<std::int32_t>{1, 4}));
  EXPECT_FALSE(r.samples[1].decode_ns.has_value());
  EXPECT_FALSE(find_metric(r, "bandwidth_share")->value.has_value());
  EXPECT_EQ(*find_counter(r, "rounds"), 40);
  EXPECT_EQ(find_metric(r, "absent"), nullptr);
  EXPECT_EQ(r.tests[1].required_n, 459);
  EXPECT_EQ(r.checks[1].status, CheckStatus::kInconclusive);
}

TEST(RecordJson, AnEmptyRecordSurvives) {
  EXPECT_EQ(to_json(from_json(to_json(Record{}))), to_json(Record{}));
}

TEST(RecordJson, DoublesComeBackBitForBit) {
  Record r;
  const std::vector<double> values{0.1,
                                   -0.0,
                                   1.0 / 3,
                                   1e300,
                                   5e-324,
                                   1e22,
                                   123456789.123456789,
                                   3.0,
                                   std::nextafter(1.0, 2.0),
                                   std::numeric_limits<double>::max()};
  for (std::size_t i = 0; i < values.size(); ++i)
    r.options.emplace_back("x" + std::to_string(i), values[i]);
  const Record back = from_json(to_json(r));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(std::holds_alternative<double>(back.options[i].second)) << values[i];
    EXPECT_EQ(std::bit_cast<std::uint64_t>(std::get<double>(back.options[i].second)),
              std::bit_cast<std::uint64_t>(values[i]));
  }
}

TEST(RecordJson, IntegersKeepTheirEnds) {
  Record r;
  r.counters = {{"max", std::numeric_limits<std::int64_t>::max()},
                {"min", std::numeric_limits<std::int64_t>::min()}};
  EXPECT_EQ(from_json(to_json(r)).counters, r.counters);
}

TEST(RecordJson, WhatIsNotFiniteBecomesNullWithANote) {
  Record r;
  const double inf = std::numeric_limits<double>::infinity();
  r.metrics = {{"speedup", std::nan(""), "ratio", -inf, inf, 0.95, ""}};
  r.tables = {{"t", {"x"}, {{inf}}}};
  r.wall_s = inf;
  const std::string text = to_json(r);
  EXPECT_EQ(text.find("inf,"), text.find("inf, written"));  // in notes only
  const Record back = from_json(text);
  EXPECT_FALSE(back.metrics[0].value || back.metrics[0].lower || back.metrics[0].upper ||
               back.wall_s);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(back.tables[0].rows[0][0]));
  ASSERT_EQ(back.notes.size(), 5u);
  EXPECT_EQ(back.notes[1], "metrics.speedup.value was nan, written as null");
}

TEST(RecordJson, BytesThatAreNotUtf8AreReplaced) {
  Record r;
  r.command_line = "--prompt \xff\xfe";
  EXPECT_EQ(from_json(to_json(r)).command_line, "--prompt \xef\xbf\xbd\xef\xbf\xbd");
}

TEST(RecordJson, InconsistentRecordsAreNotWritten) {
  const auto refuses = [](const std::function<void(Record&)>& spoil) {
    Record r = full_record();
    spoil(r);
    EXPECT_THROW(to_json(r), std::invalid_argument);
  };
  refuses([](Record& r) { r.options.push_back(r.options[0]); });
  refuses([](Record& r) { r.counters.push_back(r.counters[0]); });
  refuses([](Record& r) { r.metrics.push_back(r.metrics[0]); });
  refuses([](Record& r) { r.tables.push_back(r.tables[0]); });
  refuses([](Record& r) { r.tables[0].rows[0].pop_back(); });
  refuses([](Record& r) { r.samples[0].phase_ns.pop_back(); });
  refuses([](Record& r) { r.samples[0].chunk_tokens.pop_back(); });
}

TEST(RecordJson, EveryCutIsRefused) {
  const std::string text = to_json(full_record());
  // The last two bytes are the closing brace and the newline; without the newline it is whole.
  for (std::size_t n = 0; n + 2 < text.size(); ++n) ASSERT_NE(refusal(text.substr(0, n)), "") << n;
  EXPECT_EQ(refusal(text.substr(0, text.size() - 1)), "");
  EXPECT_EQ(refusal(text.substr(0, 100)), "the record is cut short after 100 bytes; write it anew");
  EXPECT_EQ(refusal(" \n"), "the record is empty");
}

TEST(RecordJson, EveryMissingFieldIsNamed) {
  const std::string text = committed_text();
  // Renaming a key is losing it. Keys of the maps are free, so only those of the schema count.
  for (const char* key :
       {"schema_version", "suite",       "verdict",     "exit_code",  "was_interrupted",
        "command_line",   "started_utc", "wall_s",      "options",    "environment",
        "build",          "metrics",     "checks",      "tests",      "counters",
        "tables",         "phase_names", "samples",     "notes",      "value",
        "lower",          "status",      "detail",      "hypothesis", "p_value",
        "required_n",     "columns",     "rows",        "arm",        "wall_ns",
        "fingerprint",    "mark",        "chunk_end_ns"}) {
    const std::string quoted = "\"" + std::string(key) + "\":";
    const std::string sentence = refusal(replaced(text, quoted, "\"_" + quoted.substr(1)));
    EXPECT_NE(sentence.find("lacks the field '"), std::string::npos) << key << ": " << sentence;
    EXPECT_NE(sentence.find(key), std::string::npos) << sentence;
  }
}

TEST(RecordJson, HostileTextIsRefusedInOneSentence) {
  const std::string text = committed_text();
  const auto with = [&](const std::string& from, const std::string& to) {
    return refusal(replaced(text, from, to));
  };
  EXPECT_EQ(with("\"value\":1.83", "\"value\":\"1.83\""),
            "the record's 'metrics[0].value' must be a number or null, not string \"1.83\"");
  EXPECT_EQ(with("\"exit_code\": 2", "\"exit_code\": 2.5"),
            "the record's 'exit_code' must be a whole number, not number 2.5");
  EXPECT_EQ(with("\"exit_code\": 2", "\"exit_code\": 99999999999"),
            "the record's 'exit_code' is 99999999999, out of range");
  EXPECT_EQ(with("\"wall_s\": 12.5", "\"wall_s\": 1e999"),
            "the record holds a number too large for a double");
  EXPECT_EQ(with("12345678901234", "18446744073709551615"),
            "the record's 'counters.accepted' is 18446744073709551615, out of range");
  EXPECT_EQ(with("\"rounds\": 40", "\"accepted\": 40"),
            "the record has the key 'accepted' twice in one object");
  EXPECT_NE(with("\"wall_s\": 12.5", "\"wall_s\": NaN").find("the record is not JSON"),
            std::string::npos);
  EXPECT_NE(with("0xfedcba9876543210", "0xfedcba987654321g"), "");
  EXPECT_NE(with("0xfedcba9876543210", "0xfedcba987654321"), "");
  EXPECT_NE(with("\"status\":\"passed\"", "\"status\":\"PASSED\""), "");
  EXPECT_NE(with("[1,0.9,\"first\"]", "[1,0.9]"), "");
  EXPECT_NE(with("[1,0.9,\"first\"]", "[1,0.9,[]]"), "");
  EXPECT_NE(with("\"phase_ns\":[100,900]", "\"phase_ns\":[100]"), "");
  EXPECT_NE(with("\"chunk_tokens\":[1,4]", "\"chunk_tokens\":[1,4000000000]"), "");
  EXPECT_NE(with("\"draft_layers\": 4", "\"draft_layers\": [4]"), "");
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal("null"), "");
  EXPECT_NE(refusal("{} {}"), "");
  EXPECT_NE(refusal(text + "x"), "");
  EXPECT_NE(refusal(std::string("{\"suite\":\"\xff\"}")), "");
  EXPECT_EQ(refusal(std::string(1'000'000, '[')), "the record is nested deeper than 8 levels");
}

TEST(RecordJson, UnknownFieldsAreIgnored) {
  EXPECT_EQ(refusal(replaced(committed_text(), "{\n", "{\n  \"later\": [1, {\"a\": 2}],\n")), "");
}

std::string with_versions(const std::string& schema, const std::string& least) {
  const std::string text =
      replaced(committed_text(), "\"min_reader_version\": 2", "\"min_reader_version\": " + least);
  return replaced(text, "\"schema_version\": 2", "\"schema_version\": " + schema);
}

TEST(RecordJson, LaterRecordsAreReadIfTheySaySo) {
  EXPECT_EQ(from_json(with_versions("7", "2")).schema_version, 7);
  EXPECT_EQ(from_json(with_versions("2", "1")).schema_version, 2);
  EXPECT_EQ(refusal(with_versions("7", "3")),
            "the record is of schema version 7 and needs a reader of version 3; this build reads "
            "version 2, use a newer one");
  // Without the field only the version itself counts.
  EXPECT_EQ(refusal(replaced(with_versions("3", "2"), "min_reader_version", "m")),
            "the record is of schema version 3 and needs a reader of version 3; this build reads "
            "version 2, use a newer one");
  EXPECT_NE(refusal(with_versions("2", "3")).find("damaged"), std::string::npos);
  EXPECT_NE(refusal(with_versions("2", "0")).find("damaged"), std::string::npos);
  EXPECT_NE(refusal(with_versions("-1", "-1")).find("damaged"), std::string::npos);
  EXPECT_NE(refusal(with_versions("\"2\"", "2")), "");
  EXPECT_NE(refusal(with_versions("2", "\"2\"")), "");
}

TEST(RecordJson, VersionOneIsStillReadAndWrittenAsTwo) {
  const Record old = from_json(text_of_file("results/testdata/record_version_1.json"));
  EXPECT_EQ(old.schema_version, 1);
  EXPECT_EQ(to_json(old), committed_text());
  const Record kills = from_json(text_of_file("results/baselines/selftest.json"));
  EXPECT_EQ(kills.suite, "selftest");
  EXPECT_NE(find_table(kills, "kill_matrix"), nullptr);
}

TEST(RecordJson, TextAloneCannotReplaceASamplesFile) {
  const std::string file =
      R"({"name":"a.samples.jsonl.gz","rows":1,"bytes":9,"fnv1a":"0x0000000000000001"})";
  const std::string both =
      replaced(committed_text(), "\"samples_file\": null", "\"samples_file\": " + file);
  EXPECT_NE(refusal(both).find("2 samples and names the file"), std::string::npos);
  Record r = full_record();
  const SamplesFile elsewhere{"a.samples.jsonl.gz", 2, 9, 1};
  EXPECT_EQ(refusal(to_json(r, elsewhere)),
            "the record keeps its samples in the file 'a.samples.jsonl.gz' beside it; read it by "
            "path");
  std::optional<SamplesFile> found;
  EXPECT_TRUE(from_json(to_json(r, elsewhere), found).samples.empty());
  EXPECT_EQ(found->rows, 2);
  EXPECT_EQ(found->fnv1a, 1u);
}

}  // namespace
}  // namespace specbench::results
