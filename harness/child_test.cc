#include "harness/child.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace specbench::harness {
namespace {

using std::chrono::milliseconds;

ChildResult run_shell(const std::string& script, milliseconds timeout = milliseconds(20'000)) {
  const std::atomic<bool> stop{false};
  return run_child({"/bin/sh", "-c", script}, timeout, stop);
}

TEST(Child, ExitCodeAndBothOutputsAreKept) {
  const ChildResult result = run_shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_NE(result.output.find("out\n"), std::string::npos);
  EXPECT_NE(result.output.find("err\n"), std::string::npos);
  EXPECT_EQ(last_line("a\nb c\n \n"), "b c");
  EXPECT_EQ(last_line(" \n"), "");
}

TEST(Child, MuchOutputIsReadAndOnlyItsEndKept) {
  const ChildResult result = run_shell(
      "i=0; while [ $i -lt 20000 ]; do echo 0123456789; "
      "i=$((i+1)); done; echo the end");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LE(result.output.size(), std::size_t{64 * 1024});
  EXPECT_EQ(last_line(result.output), "the end");
}

TEST(Child, SignalIsNoExitCode) {
  const ChildResult result = run_shell("kill -KILL $$");
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_EQ(result.signal, 9);
}

TEST(Child, TimeIsUp) {
  const ChildResult result = run_shell("sleep 60", milliseconds(100));
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.has_passed());
}

TEST(Child, IsAskedToEnd) {
  std::atomic<bool> stop{false};
  std::thread user([&] {
    std::this_thread::sleep_for(milliseconds(200));
    stop = true;
  });
  const ChildResult result =
      run_child({"/bin/sh", "-c", "trap 'echo kept; exit 130' TERM; while :; do sleep 0.05; done"},
                milliseconds(60'000), stop);
  user.join();
  EXPECT_TRUE(result.was_interrupted);
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(last_line(result.output), "kept");
}

TEST(Child, NoProgramIsNamed) {
  const std::atomic<bool> stop{false};
  try {
    run_child({"/nowhere/specbench"}, milliseconds(1000), stop);
    FAIL() << "it ran";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "/nowhere/specbench could not be run: No such file or directory");
  }
}

}  // namespace
}  // namespace specbench::harness
