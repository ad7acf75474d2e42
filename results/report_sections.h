// The topics of the report, in reading order. Each says whether a record has data for it and writes
// that data; which record and which page is the business of report.cc alone.
#pragma once

#include "results/report_page.h"

namespace specbench::results {

struct Section {
  const char* id;
  const char* title;
  const char* explanation;  // HTML, one or two sentences
  const char* missing;      // HTML: which suite to run, where no record has data
  bool (*has_data)(const Record& record);
  void (*write)(const Record& record, Page& page);
};

// report_timing.cc
bool has_speedup(const Record& record);
void write_speedup(const Record& record, Page& page);
bool has_round_times(const Record& record);
void write_round_times(const Record& record, Page& page);
bool has_processes(const Record& record);
void write_processes(const Record& record, Page& page);

// report_acceptance.cc
bool has_acceptance(const Record& record);
void write_acceptance(const Record& record, Page& page);
bool has_sweep(const Record& record);
void write_sweep(const Record& record, Page& page);

// report_pit.cc
bool has_pit(const Record& record);
void write_pit(const Record& record, Page& page);

// report_verdicts.cc
void write_verdict(const Record& record, Page& page);
bool has_gate(const Record& record);
void write_gate(const Record& record, Page& page);
bool has_open_items(const Record& record);
void write_open_items(const Record& record, Page& page);
bool has_kill_matrix(const Record& record);
void write_kill_matrix(const Record& record, Page& page);

// report_context.cc
void write_context(const Record& record, Page& page);
void write_commands(const Record& record, Page& page);

}  // namespace specbench::results
