#include "harness/turns.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace specbench::harness {
namespace {

using std::chrono::milliseconds;

// A shell that takes n turns and writes its name into a file at the beginning and the end of each.
TurnWords player(const std::string& name, int n, const std::string& log) {
  return [=](int wait_file, int turn_file) -> std::vector<std::string> {
    std::ostringstream script;
    script << "i=0; while [ $i -lt " << n << " ]; do printf w >&" << wait_file
           << "; dd bs=1 count=1 <&" << turn_file << " >/dev/null 2>&1; echo " << name << "[ >>"
           << log << "; sleep 0.01; echo " << name << "] >>" << log << "; i=$((i+1)); done; exit "
           << n;
    return {"/bin/bash", "-c", script.str()};
  };
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string fresh_log(const char* name) {
  const std::string path = testing::TempDir() + "specbench_turns_" + name;
  ::unlink(path.c_str());
  return path;
}

TEST(Turns, NeverTwoAtATimeAndAlwaysOneEach) {
  const std::string log = fresh_log("both");
  const std::atomic<bool> stop{false};
  const auto results =
      run_in_turns({player("a", 6, log), player("b", 6, log)}, 3, milliseconds(60'000), stop);
  EXPECT_EQ(results[0].exit_code, 6);
  EXPECT_EQ(results[1].exit_code, 6);
  const auto lines = lines_of(log);
  ASSERT_EQ(lines.size(), 24U);
  bool has_begun_with_b = false, has_begun_with_a = false;
  for (std::size_t i = 0; i < lines.size(); i += 4) {
    EXPECT_EQ(lines[i][0], lines[i + 1][0]);  // begin and end of one turn are neighbours
    EXPECT_EQ(lines[i + 2][0], lines[i + 3][0]);
    EXPECT_NE(lines[i][0], lines[i + 2][0]);  // each once in a pair of turns
    (lines[i][0] == 'a' ? has_begun_with_a : has_begun_with_b) = true;
  }
  EXPECT_TRUE(has_begun_with_a && has_begun_with_b);
}

TEST(Turns, OneThatEndsLeavesTheTurnsToTheOther) {
  const std::string log = fresh_log("one");
  const std::atomic<bool> stop{false};
  const auto results =
      run_in_turns({player("a", 1, log), player("b", 4, log)}, 1, milliseconds(60'000), stop);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_EQ(results[1].exit_code, 4);
  EXPECT_EQ(lines_of(log).size(), 10U);
}

TEST(Turns, AProgramThatCannotBeRunIsNamedAndTheOtherEnds) {
  const std::string log = fresh_log("none");
  const std::atomic<bool> stop{false};
  const TurnWords nobody = [](int, int) { return std::vector<std::string>{"/nowhere/program"}; };
  EXPECT_THROW(run_in_turns({nobody, player("b", 2, log)}, 1, milliseconds(60'000), stop),
               std::invalid_argument);
  EXPECT_EQ(lines_of(log).size(), 4U);
}

TEST(Turns, NobodyAtTheOtherEndIsAnError) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[1]);
  int other[2];
  ASSERT_EQ(::pipe(other), 0);
  EXPECT_THROW(take_turn(other[1], ends[0]), std::runtime_error);
  for (const int file : {ends[0], other[0], other[1]}) ::close(file);
}

}  // namespace
}  // namespace specbench::harness
