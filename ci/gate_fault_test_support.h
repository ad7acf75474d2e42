// Faults planted in a gate's records, and what must come of each. For *_test.cc only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ci/gate_test_support.h"

namespace specbench::ci::testing {

// A fault planted in the records, what comes of it and which check names it.
struct Fault {
  const char* name;
  std::function<void(Sides&)> plant;
  Outcome outcome;
  const char* check;
  const char* words;  // in its detail
};

inline results::NamedTable& table_of(results::Record& record) { return record.tables.front(); }

inline void drop_column(results::Record& record, const std::string& name) {
  auto& table = table_of(record);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c] != name) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
    return;
  }
}

inline void set_entry(results::Entries& entries, const std::string& key, results::Value value) {
  for (auto& entry : entries)
    if (entry.first == key) entry.second = value;
}

inline void set_counter(results::Record& record, const std::string& name, std::int64_t count) {
  for (auto& counter : record.counters)
    if (counter.first == name) counter.second = count;
}

inline void expect_faults(const std::vector<Fault>& faults, const Policy& policy = {}) {
  for (const Fault& fault : faults) {
    Sides sides;
    fault.plant(sides);
    const GateVerdict verdict = judge(sides.input(), policy);
    EXPECT_EQ(verdict.outcome, fault.outcome) << fault.name << ": " << verdict.sentence;
    const GateCheck* check = find_check(verdict, fault.check);
    ASSERT_NE(check, nullptr) << fault.name << ": " << verdict.sentence;
    EXPECT_EQ(check->outcome, fault.outcome) << fault.name << ": " << check->detail;
    EXPECT_NE(check->detail.find(fault.words), std::string::npos)
        << fault.name << ": " << check->detail;
    EXPECT_EQ(verdict.sentence.rfind(outcome_name(fault.outcome), 0), 0U) << verdict.sentence;
  }
}

}  // namespace specbench::ci::testing
