#include "suites/report.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "engine/error.h"
#include "results/baseline.h"
#include "results/export_benchmark.h"
#include "results/export_junit.h"
#include "results/export_markdown.h"
#include "results/record_json.h"
#include "results/report.h"
#include "suites/context.h"
#include "suites/read_record.h"

namespace specbench::suites {

namespace {

std::string read_asset(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty())
    throw engine::InputError(path.string() + " is missing; keep bin/ and share/ together.");
  return text;
}

}  // namespace

std::string run_report(const Options& options) {
  std::vector<results::Record> records = read_records(options.records);
  try {
    if (options.to == "baseline") return results::to_json(results::to_baseline(records));
    if (options.to == "markdown") return results::to_markdown(records.front());
    if (options.to == "junit") return results::to_junit(records.front());
    if (options.to == "google-benchmark") return results::to_google_benchmark(records.front());
    return results::render_html(
        {std::move(records), read_asset(data_directory() / "report" / "chart.min.js"), ""});
  } catch (const std::invalid_argument& error) {
    throw engine::InputError("--to " + options.to + ": " + error.what() + ".");
  }
}

}  // namespace specbench::suites
