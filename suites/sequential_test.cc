#include "suites/sequential.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/error.h"
#include "results/record_json.h"
#include "suites/fault_test_support.h"

namespace specbench::suites {
namespace {

namespace fs = std::filesystem;

class SequentialSlow : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::path(::testing::TempDir()) /
            (std::string("specbench.sequential.") +
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove(path_);
  }
  void TearDown() override { fs::remove(path_); }

  Options options(double samples) const {
    Options o = testing::embedded_options("lossless");
    o.samples = samples;
    o.state = path_.string();
    o.sequential = true;
    return o;
  }
  results::Record night(const Options& o, const Faults& faults = {}) const {
    testing::Bench bench(o);
    results::Record record = start_record(bench.context);
    run_sequential(bench.context, record, faults);
    return record;
  }
  std::string text() const {
    std::ifstream file(path_);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string refusal(const Options& o) const {
    try {
      night(o);
    } catch (const engine::InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  fs::path path_;
};

TEST_F(SequentialSlow, NightsAddUpAndShareNoCoins) {
  const results::Record first = night(options(3000));
  EXPECT_EQ(*results::find_counter(first, "sequential.nights"), 1);
  const std::int64_t n = *results::find_counter(first, "sequential.draws");
  EXPECT_GE(n, 3000);
  const results::Record second = night(options(3000));
  EXPECT_EQ(*results::find_counter(second, "sequential.nights"), 2);
  EXPECT_GT(*results::find_counter(second, "sequential.draws"), n + 2900);
  EXPECT_NE(second.exit_code, kFailed) << second.verdict;
  // The same coins again would give exactly twice the counts of the first night.
  const results::Record state = results::from_json(text());
  bool is_twice = true;
  for (const auto& row : results::find_table(state, "bins")->rows)
    is_twice &= std::get<std::int64_t>(row[0]) % 2 == 0;
  EXPECT_FALSE(is_twice);
}

TEST_F(SequentialSlow, ADriftRaisesTheAlarmForEver) {
  const results::Record faulty = night(options(20'000), testing::planted("R2"));
  EXPECT_EQ(faulty.exit_code, kFailed) << faulty.verdict;
  ASSERT_EQ(faulty.tests.size(), 1U);
  const results::Record later = night(options(2000));  // one honest night does not take it back
  EXPECT_EQ(faulty.tests[0].verdict, "FAIL") << faulty.tests[0].reason;
  EXPECT_EQ(later.exit_code, kFailed) << later.verdict;
}

TEST_F(SequentialSlow, RefusesStatesThatAreNotItsOwn) {
  night(options(1000));
  const std::string good = text();
  Options other = options(1000);
  other.sampling.temperature = 0.7;
  EXPECT_EQ(refusal(other),
            "The state was made with temperature 1, this run has 0.7; go on with the same, or name "
            "a new file.");
  other = options(1000);
  other.alpha = 1e-3;
  EXPECT_EQ(refusal(other).rfind("The state was made with alpha", 0), 0U);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, good.size() / 2}) {
    write(good.substr(0, size));
    EXPECT_NE(refusal(options(1000)).find("cannot be taken up"), std::string::npos) << size;
  }
  // Evidence that the counts do not give.
  const std::size_t at = good.find("\"log_e\"");
  ASSERT_NE(at, std::string::npos);
  const std::size_t value = good.find("\"value\":", at) + 8;
  std::string forged = good;
  forged.replace(value, good.find(',', value) - value, " -100");
  write(forged);
  EXPECT_NE(refusal(options(1000)).find("cannot be taken up"), std::string::npos);
  write(good);
  EXPECT_EQ(refusal(options(1000)), "accepted");
}

TEST_F(SequentialSlow, RefusesAPathItCannotWriteBeforeMeasuring) {
  Options o = options(1e12);
  o.state = "/nonexistent/folder/state.json";
  EXPECT_NE(refusal(o).find("--state"), std::string::npos);
}

}  // namespace
}  // namespace specbench::suites
