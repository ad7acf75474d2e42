// Runs another program to its end and keeps what it said. Must not leave a child behind, nor show
// its output.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace specbench::harness {

struct ChildResult {
  int exit_code = -1;  // absent (-1) where a signal ended it
  int signal = 0;      // that ended it; 0: none
  bool timed_out = false;
  bool was_interrupted = false;  // `stop` was set: it was asked to end, and has ended
  std::string output;            // standard output and error together, the last 64 KiB
  bool has_passed() const { return exit_code == 0; }
};

// arguments[0] is the path of the program (no search in PATH). The child stands in a process group
// of its own, so that Ctrl-C reaches it through us alone: once `stop` is set or `timeout` has
// passed it gets SIGTERM, ten seconds later SIGKILL; it also ends when this process dies. Throws
// std::invalid_argument, naming the program, if it cannot be started.
// `inherited`: open descriptors that it gets under the same numbers.
ChildResult run_child(const std::vector<std::string>& arguments, std::chrono::milliseconds timeout,
                      const std::atomic<bool>& stop, const std::vector<int>& inherited = {});

// The last line of a text that is not blank, without its newline; empty if there is none.
std::string last_line(const std::string& text);

}  // namespace specbench::harness
