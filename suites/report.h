// specbench report: a record as a page, or in another tool's format.
#pragma once

#include <string>

#include "suites/options.h"

namespace specbench::suites {

/// The text to write. Throws engine::InputError for files that are no record.
std::string run_report(const Options& options);

}  // namespace specbench::suites
