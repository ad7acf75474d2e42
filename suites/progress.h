// One line of progress on standard error, only where that is a terminal and the user wants it.
#pragma once

#include <string>

namespace specbench::suites {

class Progress {
 public:
  explicit Progress(bool is_quiet);
  ~Progress();
  /// Replaces the line, at most ten times a second. done of total, any unit; total 0: unknown.
  void show(const std::string& what, double done, double total);
  void clear();

 private:
  bool is_on_;
  bool has_line_ = false;
  long long shown_ns_ = 0;  ///< steady clock of the last line
  long long begin_ns_ = 0;  ///< and of the first line of this `what`
  std::string what_;
};

}  // namespace specbench::suites
