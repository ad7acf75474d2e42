// A record as JUnit XML for the dashboards of CI services. Only what passed may look green.
#pragma once

#include <string>

#include "results/record.h"

namespace specbench::results {

// One suite; test cases: the verdict, each check, each test. Failed: <failure>; inconclusive, void,
// interrupted or a verdict of unknown name: <error>, because dashboards count <skipped> as green;
// skipped: <skipped>. Class names are specbench.<suite>.verdict|check|test; names of cases that
// stand twice get " (2)" and so on. Metrics and options are properties. Any bytes in the record
// give well-formed XML. time: s, of the whole run, on the verdict.
std::string to_junit(const Record& record);

}  // namespace specbench::results
