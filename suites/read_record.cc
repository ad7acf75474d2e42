#include "suites/read_record.h"

#include <stdexcept>

#include "engine/error.h"
#include "results/record_file.h"

namespace specbench::suites {

results::Record read_record(const std::string& path) {
  try {
    return results::read_record(path);
  } catch (const std::invalid_argument& error) {
    throw engine::InputError(std::string(error.what()) + ".");
  }
}

std::vector<results::Record> read_records(const std::vector<std::string>& paths) {
  std::vector<results::Record> records;
  for (const std::string& path : paths) records.push_back(read_record(path));
  return records;
}

}  // namespace specbench::suites
