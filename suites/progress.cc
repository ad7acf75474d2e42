#include "suites/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace specbench::suites {

namespace {
long long now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}
}  // namespace

Progress::Progress(bool is_quiet) : is_on_(!is_quiet && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& what, double done, double total) {
  if (!is_on_) return;
  const long long now = now_ns();
  if (what != what_) {
    what_ = what;
    begin_ns_ = now;
  } else if (now - shown_ns_ < 100'000'000) {
    return;
  }
  shown_ns_ = now;
  std::string line = what;
  if (total > 0) {
    line += fmt::format(" {:.0f} %", 100.0 * done / total);
    const double spent_s = static_cast<double>(now - begin_ns_) * 1e-9;
    if (done > 0 && spent_s > 2)
      line += fmt::format(", {:.0f} s to go", spent_s * (total - done) / done);
  }
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  has_line_ = true;
}

void Progress::clear() {
  if (has_line_) fmt::print(stderr, "\r\033[K");
  has_line_ = false;
}

}  // namespace specbench::suites
