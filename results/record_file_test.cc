#include "results/record_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <stdexcept>

#include "results/record_json_parts.h"
#include "results/record_json_test_support.h"
#include "results/samples_file.h"

namespace specbench::results {
namespace {

namespace fs = std::filesystem;

Record many_samples(int n) {
  Record r = full_record();
  const SampleRow sample = r.samples[0];
  r.samples.assign(static_cast<std::size_t>(n), sample);
  for (int i = 0; i < n; ++i) r.samples[static_cast<std::size_t>(i)].block = i;
  return r;
}

// Any bytes as one gzip member, as a stranger might pack them.
std::string packed(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class RecordFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / ("specbench_record_file_" + std::to_string(getpid()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ / "run.json";
    side_ = folder_ / "run.samples.jsonl.gz";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  long count_files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static std::string refusal(const fs::path& path) {
    try {
      read_record(path);
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("'" + path.string() + "'"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.what();
    }
    return "";
  }
  void expect_refused(const std::string& part) const {
    const std::string sentence = refusal(path_);
    EXPECT_NE(sentence.find(part), std::string::npos) << "'" << sentence << "' lacks " << part;
  }
  // A record that promises `lines`, and a samples file that holds `held`.
  void plant(const std::string& lines, const std::string& held, std::int64_t rows) const {
    const SamplesFile file{side_.filename().string(), rows, static_cast<std::int64_t>(lines.size()),
                           fnv1a(lines)};
    write(path_, to_json(full_record(), file));
    write(side_, held);
  }

  fs::path folder_, path_, side_;
};

TEST_F(RecordFiles, AFewSamplesStandInTheRecord) {
  {
    RecordFile file(path_);
    EXPECT_FALSE(fs::exists(path_));
    file.commit(full_record());
    EXPECT_EQ(read(path_), committed_text());
  }
  EXPECT_EQ(count_files(), 1);
  EXPECT_EQ(to_json(read_record(path_)), committed_text());
}

TEST_F(RecordFiles, ManySamplesGoToAFileOfTheirOwn) {
  const Record r = many_samples(static_cast<int>(kMaxInlineSamples) + 1);
  {
    RecordFile file(path_);
    file.commit(r);
  }
  EXPECT_EQ(count_files(), 2);
  EXPECT_LT(fs::file_size(path_), 4000u);
  EXPECT_LT(fs::file_size(side_), sample_lines(r).size() / 10);
  const Record back = read_record(path_);
  EXPECT_EQ(to_json(back), to_json(r));
  EXPECT_EQ(back.samples.back().block, static_cast<int>(kMaxInlineSamples));
}

TEST_F(RecordFiles, TheLimitsAreRowsAndBytes) {
  const auto goes_aside = [&](const Record& r) {
    fs::remove(side_);
    {
      RecordFile file(path_);
      file.commit(r);
    }
    EXPECT_EQ(to_json(read_record(path_)), to_json(r));
    return fs::exists(side_);
  };
  EXPECT_FALSE(goes_aside(many_samples(static_cast<int>(kMaxInlineSamples))));
  Record long_one = full_record();
  long_one.samples[0].chunk_end_ns.assign(100'000, 1234567);
  long_one.samples[0].chunk_tokens.assign(100'000, 1);
  EXPECT_GT(sample_lines(long_one).size(), kMaxInlineBytes);
  EXPECT_TRUE(goes_aside(long_one));
}

TEST_F(RecordFiles, SameSamplesSameBytes) {
  const std::string lines = sample_lines(many_samples(3000));
  const std::string once = compress_samples(lines);
  EXPECT_EQ(once, compress_samples(lines));
  // RFC 1952: no flags, so no name; no time; system unknown.
  EXPECT_EQ(once.substr(0, 8), std::string("\x1f\x8b\x08\0\0\0\0\0", 8));
  EXPECT_EQ(once[9], '\xff');
}

TEST_F(RecordFiles, ThePlaceOfTheSamplesIsCheckedBeforeMeasuring) {
  fs::create_directories(side_);
  try {
    RecordFile file(path_);
    FAIL() << "a folder stands where the samples go";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find(side_.string()), std::string::npos) << error.what();
  }
  EXPECT_THROW(RecordFile(folder_ / "absent" / "run.json"), std::invalid_argument);
  EXPECT_EQ(count_files(), 1);
}

TEST_F(RecordFiles, AnUnwrittenRecordLeavesTheOldOne) {
  write(path_, "old");
  write(side_, "old samples");
  Record broken = many_samples(3000);
  broken.options.push_back(broken.options[0]);
  {
    RecordFile file(path_);
    EXPECT_THROW(file.commit(broken), std::invalid_argument);
  }
  EXPECT_EQ(read(path_), "old");
  EXPECT_EQ(read(side_), "old samples");
  EXPECT_EQ(count_files(), 2);
}

TEST_F(RecordFiles, ALinkKeepsRecordAndSamplesTogether) {
  fs::create_directories(folder_ / "elsewhere");
  write(folder_ / "elsewhere" / "kept.json", "old");
  fs::create_symlink(folder_ / "elsewhere" / "kept.json", path_);
  {
    RecordFile file(path_);
    file.commit(many_samples(2500));
  }
  EXPECT_TRUE(fs::exists(folder_ / "elsewhere" / "kept.samples.jsonl.gz"));
  EXPECT_EQ(read_record(path_).samples.size(), 2500u);
}

TEST_F(RecordFiles, NamesOfTheSamplesFile) {
  EXPECT_EQ(samples_path("a/run.json"), "a/run.samples.jsonl.gz");
  EXPECT_EQ(samples_path("a/run.txt"), "a/run.txt.samples.jsonl.gz");
  EXPECT_EQ(samples_path("a.b/run"), "a.b/run.samples.jsonl.gz");
  EXPECT_EQ(samples_path("run.1.json"), "run.1.samples.jsonl.gz");
}

TEST_F(RecordFiles, WhatIsNoRecordIsRefusedWithItsPath) {
  expect_refused("does not exist");
  EXPECT_NE(refusal(folder_).find("folder"), std::string::npos);
  write(path_, "");
  expect_refused("the record is empty");
  write(path_, committed_text().substr(0, 500));
  expect_refused("cut short after 500 bytes");
  write(path_, replaced(committed_text(), "12.5", "NaN"));
  expect_refused("not JSON");
  write(path_, "{\"schema\": 3}");
  expect_refused("lacks the field 'schema_version'");
  write(path_, replaced(committed_text(), "\"min_reader_version\": 2", "\"min_reader_version\":9"));
  expect_refused("damaged");
  write(path_, packed(committed_text()));
  expect_refused("not JSON");
  EXPECT_NE(refusal("/dev/zero").find("longer than"), std::string::npos);
  if (geteuid() != 0) {
    write(path_, committed_text());
    ::chmod(path_.c_str(), 0);
    expect_refused("may not be opened");
  }
}

TEST_F(RecordFiles, DamagedSamplesAreRefused) {
  const std::string lines = sample_lines(many_samples(50));
  const std::string good = packed(lines);
  plant(lines, good, 50);
  EXPECT_EQ(read_record(path_).samples.size(), 50u);
  for (std::size_t n = 0; n < good.size(); n += 7) {
    plant(lines, good.substr(0, n), 50);
    expect_refused("cut short");
  }
  for (std::size_t at = 0; at < good.size(); at += 5) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    plant(lines, damaged, 50);
    // The time, the extra flags and the system of the header (RFC 1952) carry nothing.
    const bool is_idle = at >= 4 && at <= 9;
    EXPECT_EQ(refusal(path_).empty(), is_idle) << at;
  }
  plant(lines, good + "x", 50);
  expect_refused("bytes follow the end");
  plant(lines, good + good, 50);
  expect_refused("bytes follow the end");
  plant(lines, lines, 50);
  expect_refused("damaged");
  plant(lines, good, 49);
  expect_refused("it holds 50 rows, the record says 49");
  plant(lines, packed(lines.substr(0, lines.size() - 1)), 50);
  expect_refused("last line is cut short");
  plant(lines, packed(lines.substr(0, lines.size() / 50)), 50);
  expect_refused("bytes, the record says");
  plant(lines, packed(lines + lines), 50);
  expect_refused("it unpacks to more than");
  std::string other = lines;
  other.replace(other.find("\"block\":7"), 9, "\"block\":8");
  plant(lines, packed(other), 50);
  expect_refused("its hash is");
  other = replaced(lines, "\"wall_ns\":1000", "\"wall_ns\":\"10\"");
  plant(other, packed(other), 50);
  expect_refused("line 1: the record's 'samples[0].wall_ns' must be a whole number");
  fs::remove(side_);
  expect_refused("does not exist; keep it in the folder of the record");
  ::mkfifo(side_.c_str(), 0600);  // would wait for ever
  expect_refused("no regular file");
}

TEST_F(RecordFiles, HostileClaimsAreRefused) {
  const auto claims = [&](const SamplesFile& file) {
    write(path_, to_json(full_record(), file));
    return refusal(path_);
  };
  for (const std::string name :
       {"", ".", "../run.samples.jsonl.gz", "/etc/passwd", ".samples.jsonl.gz", "run.json"}) {
    EXPECT_NE(claims({name, 1, 100, 0}).find("without a folder"), std::string::npos) << name;
  }
  const std::string name = side_.filename().string();
  for (const SamplesFile& file :
       {SamplesFile{name, -1, 100, 0}, SamplesFile{name, 1, -1, 0}, SamplesFile{name, 101, 100, 0},
        SamplesFile{name, 1, kMaxSamplesBytes + 1, 0}}) {
    EXPECT_NE(claims(file).find("impossible"), std::string::npos);
  }
}

// 200 MB of one byte as a gzip member, made without ever holding them.
std::string bomb() {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string block(1'000'000, '0');
  std::string out(2'000'000, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  for (int i = 0; i < 200; ++i) {
    stream.next_in = reinterpret_cast<Bytef*>(block.data());
    stream.avail_in = static_cast<uInt>(block.size());
    EXPECT_EQ(deflate(&stream, i < 199 ? Z_NO_FLUSH : Z_FINISH), i < 199 ? Z_OK : Z_STREAM_END);
  }
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Kilobytes of memory held now, or at most since the peak was last forgotten.
long memory_kb(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kb = 0;
    if (word == field && status >> kb) return kb;
  }
  return -1;
}

// What unpacks to a thousand times its size is given up before it has filled the memory.
TEST_F(RecordFiles, ABombIsGivenUpEarly) {
  const std::string text = bomb();
  ASSERT_LT(text.size(), 1'000'000u);
  plant("{}\n", text, 1);
  if (!(std::ofstream("/proc/self/clear_refs") << "5" << std::flush)) {
    GTEST_SKIP() << "the peak of memory cannot be reset here";
  }
  const long before_kb = memory_kb("VmRSS:");
  ASSERT_GT(before_kb, 0);
  expect_refused("it unpacks to more than the 3 bytes");
  const SamplesFile trusted{side_.filename().string(), 1, kMaxSamplesBytes, 0};
  write(path_, to_json(full_record(), trusted));
  expect_refused("line 1 is longer than 16777216 bytes");
  EXPECT_LT(memory_kb("VmHWM:") - before_kb, 60'000);  // a line of 16 MiB and its copy as it grows
}

TEST_F(RecordFiles, TooManySamplesAreNotWritten) {
  EXPECT_THROW(compress_samples(std::string(kMaxLineBytes + 1, 'x') + "\n"), std::invalid_argument);
}

}  // namespace
}  // namespace specbench::results
