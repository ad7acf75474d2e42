// Record files named on the command line. What cannot be read ends in one sentence.
#pragma once

#include <string>
#include <vector>

#include "results/record.h"

namespace specbench::suites {

/// Throws engine::InputError, naming the file, where it holds no record.
results::Record read_record(const std::string& path);
std::vector<results::Record> read_records(const std::vector<std::string>& paths);  ///< in order

}  // namespace specbench::suites
