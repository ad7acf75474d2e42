#include "results/output.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace specbench::results {
namespace {

namespace fs = std::filesystem;

class Output : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / ("specbench_output_" + std::to_string(getpid()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  long count_files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static std::string refusal(const fs::path& path) {
    try {
      OutputFile file(path);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(Output, ReplacesTheOldFileOnlyAtTheCommit) {
  const fs::path path = folder_ / "record.json";
  write(path, "old");
  OutputFile file(path);
  EXPECT_EQ(read(path), "old");
  file.commit("new text");
  EXPECT_EQ(read(path), "new text");
  EXPECT_EQ(count_files(), 1);
  EXPECT_THROW(file.commit("again"), std::logic_error);
  EXPECT_EQ(read(path), "new text");
}

TEST_F(Output, WithoutACommitNothingRemains) {
  {
    OutputFile file(folder_ / "record.json");
    EXPECT_EQ(count_files(), 1);  // the temporary one: the folder takes files
  }
  EXPECT_EQ(count_files(), 0);
}

TEST_F(Output, MovesKeepOneOwner) {
  OutputFile first(folder_ / "a");
  OutputFile second(std::move(first));
  OutputFile third(folder_ / "b");
  third = std::move(second);
  EXPECT_EQ(count_files(), 1);
  third.commit("x");
  EXPECT_EQ(read(folder_ / "a"), "x");
}

TEST_F(Output, BadPathsAreRefusedWithPathAndReason) {
  const std::string missing = refusal(folder_ / "no" / "record.json");
  EXPECT_NE(missing.find((folder_ / "no" / "record.json").string()), std::string::npos);
  EXPECT_NE(missing.find("does not exist; create it"), std::string::npos);
  EXPECT_NE(refusal(folder_).find("it is a folder"), std::string::npos);
  EXPECT_NE(refusal(folder_.string() + "/").find("it is a folder"), std::string::npos);
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("/dev/null").find("no regular file"), std::string::npos);
  EXPECT_NE(refusal("/proc/specbench.json"), "");  // refused to the superuser too
  EXPECT_NE(refusal(folder_ / std::string(300, 'x')), "");
  write(folder_ / "file", "");
  EXPECT_NE(refusal(folder_ / "file" / "record.json"), "");
  EXPECT_EQ(count_files(), 1);
}

TEST_F(Output, FoldersAndFilesWithoutPermissionAreRefused) {
  write(folder_ / "file", "old");
  fs::permissions(folder_ / "file", fs::perms::owner_read);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec |
                               fs::perms::others_read);
  // The superuser may write everywhere, so the test steps down for a moment.
  constexpr uid_t kNobody = 65534;
  const uid_t user = geteuid();
  if (user == 0) {
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  const std::string in_folder = refusal(folder_ / "record.json");
  const std::string on_file = refusal(folder_ / "file");
  ASSERT_EQ(seteuid(user), 0);
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_NE(in_folder.find("Permission denied"), std::string::npos) << in_folder;
  EXPECT_NE(on_file.find("Permission denied"), std::string::npos) << on_file;
  EXPECT_EQ(read(folder_ / "file"), "old");
}

TEST_F(Output, RelativePathsAndLinksAreFollowed) {
  write(folder_ / "real", "old");
  fs::create_symlink("real", folder_ / "link");
  OutputFile(folder_ / "link").commit("new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(folder_ / "real"), "new");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  OutputFile relative("here.json");
  fs::current_path(before);  // the path was settled at the opening
  relative.commit("x");
  EXPECT_EQ(read(folder_ / "here.json"), "x");
}

TEST_F(Output, KeepsTheModeOfTheOldFile) {
  write(folder_ / "f", "old");
  fs::permissions(folder_ / "f", fs::perms::owner_read | fs::perms::owner_write);
  OutputFile(folder_ / "f").commit("new");
  EXPECT_EQ(fs::status(folder_ / "f").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

// A limit on the size of files makes write fail half-way, as a full disk does.
TEST_F(Output, AFullDiskLeavesTheOldFileAndNoTemporary) {
  const fs::path path = folder_ / "record.json";
  write(path, "old");
  OutputFile file(path);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string sentence;
  try {
    file.commit(std::string(100'000, 'x'));
  } catch (const std::runtime_error& error) {
    sentence = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_NE(sentence.find("cannot write 100000 bytes to '" + path.string() + "'"),
            std::string::npos)
      << sentence;
  EXPECT_NE(sentence.find("unchanged"), std::string::npos) << sentence;
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(count_files(), 1);
}

TEST_F(Output, AFolderThatVanishesIsReported) {
  OutputFile file(folder_ / "record.json");
  fs::remove_all(folder_);
  EXPECT_THROW(file.commit("text"), std::runtime_error);
}

}  // namespace
}  // namespace specbench::results
