#include "suites/gate_run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/error.h"
#include "results/record_file.h"
#include "suites/process_values.h"
#include "suites/read_record.h"

namespace specbench::suites {
namespace {

namespace fs = std::filesystem;

/// A program that says it is specbench, notes in a log how it was started and leaves the record it
/// was given for the suite.
class FakeProgram {
 public:
  FakeProgram(const fs::path& folder, const std::string& name)
      : folder_(folder), name_(name), path_(folder / name) {
    std::ofstream script(path_);
    script << "#!/usr/bin/env bash\n"
           << "case \"$1\" in --version) echo 'specbench 0.1.0'; exit 0 ;; esac\n"
           << "suite=latency out=\n"
           << "echo \"$@\" >>" << log() << "\n"
           << "while [ $# -gt 0 ]; do\n"
           << "  case \"$1\" in --suite) suite=$2 ;; --out) out=$2 ;; esac\n"
           << "  shift\n"
           << "done\n"
           << "cp " << (folder_ / name_).string() << ".$suite.json \"$out\"\n";
    script.close();
    fs::permissions(path_, fs::perms::owner_all);
    leave(latency());
  }

  static results::Record latency(std::int64_t accepted = 7) {
    results::Record record;
    record.suite = "latency";
    record.counters = {{"accepted", accepted}};
    record.environment = {{"vector_target", std::string("AVX2")}};
    ProcessValues values;
    values.log_speedup = 0.25;
    record.tables = {process_table({&values, 1})};
    return record;
  }
  static results::Record lossless(int exit_code = 0) {
    results::Record record;
    record.suite = "lossless";
    record.exit_code = exit_code;
    return record;
  }
  void leave(const results::Record& record) const {
    results::RecordFile(path_.string() + "." + record.suite + ".json").commit(record);
  }

  std::string path() const { return path_.string(); }
  std::string log() const { return path_.string() + ".log"; }
  std::vector<std::string> starts() const {
    std::ifstream file(log());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  fs::path folder_;
  std::string name_;
  fs::path path_;
};

class GateRunTest : public ::testing::Test {
 protected:
  GateRunTest() {
    options_.command = Command::kGate;
    options_.baseline_binary = old_.path();
    options_.candidate_binary = new_.path();
    options_.out = (folder_ / "gate.json").string();
    options_.arguments = {"gate",    "--baseline-binary", old_.path(), "--candidate-binary=x",
                          "--suite", "latency",           "--top-k",   "5"};
  }
  static fs::path make_folder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const fs::path folder =
        fs::path(::testing::TempDir()) / ("gate_run_" + std::string(test->name()));
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder;
  }
  GateRun run(std::int64_t lossless_samples = 0, bool are_counters_exact = true) {
    return {options_, lossless_samples, are_counters_exact, stop_, progress_};
  }

  fs::path folder_ = make_folder();
  FakeProgram old_{folder_, "old"}, new_{folder_, "new"};
  Options options_;
  std::atomic<bool> stop_{false};
  Progress progress_{true};
};

TEST_F(GateRunTest, MeasuresPairsAndGoesOnAtTheNextLook) {
  GateRun gate = run();
  EXPECT_TRUE(gate.measure_until(2));
  EXPECT_EQ(old_.starts().size(), 2U);
  EXPECT_EQ(new_.starts().size(), 2U);
  EXPECT_TRUE(gate.measure_until(3));
  EXPECT_EQ(new_.starts().size(), 3U);
  ASSERT_TRUE(gate.records().baseline && gate.records().candidate);
  EXPECT_EQ(read_process_table(*gate.records().candidate).size(), 3U);
  EXPECT_FALSE(gate.records().candidate_lossless);
  // The options go to both alike; the gate's own do not.
  const std::string words = new_.starts().back();
  EXPECT_NE(words.find("--top-k 5 --protocol gate --process 2"), std::string::npos) << words;
  EXPECT_EQ(words.find("binary"), std::string::npos) << words;
  EXPECT_NE(words.find("--turns"), std::string::npos) << words;
}

TEST_F(GateRunTest, ChangedCounterEndsTheMeasurement) {
  new_.leave(FakeProgram::latency(8));
  GateRun gate = run();
  EXPECT_TRUE(gate.measure_until(10));
  EXPECT_EQ(new_.starts().size(), 1U);
  EXPECT_EQ(gate.records().candidate->counters.front().second, 8);
  GateRun naming = run(0, /*are_counters_exact=*/false);
  EXPECT_TRUE(naming.measure_until(3));
  EXPECT_EQ(new_.starts().size(), 4U);
}

TEST_F(GateRunTest, OtherVectorUnitsMayCountOtherwise) {
  results::Record record = FakeProgram::latency(8);
  record.environment = {{"vector_target", std::string("AVX3")}};
  new_.leave(record);
  GateRun gate = run();
  EXPECT_TRUE(gate.measure_until(3));
  EXPECT_EQ(new_.starts().size(), 3U);
}

TEST_F(GateRunTest, BrokenLawsNeedNoTimes) {
  new_.leave(FakeProgram::lossless(kFailed));
  GateRun gate = run(1000);
  EXPECT_TRUE(gate.measure_until(10));
  ASSERT_TRUE(gate.records().candidate_lossless);
  EXPECT_NE(new_.starts().front().find("--suite lossless"), std::string::npos);
  EXPECT_NE(new_.starts().front().find("--samples 1000"), std::string::npos);
  EXPECT_LE(new_.starts().size(), 2U);  // the laws, and at most one pair that shows the counters
}

TEST_F(GateRunTest, InterruptedIsTakenUpWhereItEnded) {
  {
    GateRun gate = run();
    EXPECT_TRUE(gate.measure_until(2));
    stop_ = true;
    EXPECT_FALSE(gate.measure_until(4));
    EXPECT_EQ(read_process_table(*gate.records().candidate).size(), 2U);
  }
  stop_ = false;
  options_.resume = true;
  const std::size_t n_before = new_.starts().size();
  GateRun gate = run();
  EXPECT_TRUE(gate.measure_until(4));
  EXPECT_EQ(new_.starts().size(), n_before + 2);  // two of the four stood there
}

TEST_F(GateRunTest, KeepsBothSidesBesideTheRecord) {
  GateRun gate = run();
  EXPECT_TRUE(gate.measure_until(2));
  gate.keep_records();
  for (const char* side : {"baseline", "candidate"}) {
    const results::Record record =
        results::read_record(folder_ / (std::string("gate.") + side + ".json"));
    EXPECT_EQ(read_process_table(record).size(), 2U);
  }
}

TEST_F(GateRunTest, RecordsAtHandGoToTheirSide) {
  options_.baseline = {old_.path() + ".latency.json"};
  new_.leave(FakeProgram::lossless());
  options_.candidate = {new_.path() + ".lossless.json", new_.path() + ".latency.json"};
  const GateRecords records = read_gate_records(options_);
  EXPECT_EQ(records.candidate->suite, "latency");
  EXPECT_EQ(records.candidate_lossless->suite, "lossless");
  EXPECT_FALSE(records.baseline_lossless);
  options_.baseline.push_back(options_.baseline.front());
  EXPECT_THROW(read_gate_records(options_), engine::InputError);
  EXPECT_EQ(read_records(options_.baseline).size(), 2U);
  EXPECT_THROW(read_records({"/nowhere.json"}), engine::InputError);
}

TEST_F(GateRunTest, AnotherProgramIsRefusedBeforeMeasuring) {
  options_.candidate_binary = "/bin/true";
  EXPECT_THROW(run(), engine::InputError);
  EXPECT_TRUE(old_.starts().empty());
}

}  // namespace
}  // namespace specbench::suites
