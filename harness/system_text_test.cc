#include "harness/system_text.h"

#include <gtest/gtest.h>

namespace specbench::harness {
namespace {

TEST(SystemText, FieldsAreFoundByTheirWholeName) {
  const std::string_view text = "nr_throttled_other 1\nnr_throttled 27\nnr_throttled 28\n";
  EXPECT_EQ(find_field(text, "nr_throttled", ' '), "27");
  EXPECT_EQ(find_field("PRETTY_NAME=\"A b\"\r\n", "PRETTY_NAME", '='), "A b");
  EXPECT_FALSE(find_field(text, "nr_periods", ' ').has_value());
  EXPECT_FALSE(find_field("", "x", ':').has_value());
}

TEST(SystemText, NumbersStandAtTheStart) {
  EXPECT_EQ(parse_number<int>(" 42 kB"), 42);
  EXPECT_EQ(parse_number<double>("1.25 0.5"), 1.25);
  EXPECT_FALSE(parse_number<int>("max").has_value());
  EXPECT_FALSE(parse_number<int>(std::nullopt).has_value());
  EXPECT_FALSE(parse_number<int>("99999999999").has_value());  // does not fit
}

TEST(SystemText, PiecesAreOneMoreThanSeparators) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string_view>{""});
  EXPECT_EQ(trim(" \t\"x y\"\n"), "x y");
  EXPECT_EQ(trim("  "), "");
}

TEST(SystemText, FilesThatCannotBeReadAreAbsent) {
  EXPECT_FALSE(read_text("/nonexistent/file").has_value());
  EXPECT_FALSE(read_line("/dev/null").has_value());
  EXPECT_FALSE(read_number<int>("/nonexistent/file").has_value());
}

TEST(SystemText, GroupsAreLookedForUpToTheMount) {
  const auto folders = cgroup_folders("/r", {"cpu", "/a/b"});
  ASSERT_EQ(folders.size(), 9u);
  EXPECT_EQ(folders[0], "/r/sys/fs/cgroup/cpu/a/b");
  EXPECT_EQ(folders[2], "/r/sys/fs/cgroup/cpu");
  EXPECT_EQ(folders[5], "/r/sys/fs/cgroup");
}

}  // namespace
}  // namespace specbench::harness
