// The program as its users meet it: exit code, one sentence on standard error, nothing on standard
// output where it refuses. Every case ends before heavy work begins.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "results/record_json.h"
#include "suites/options.h"

namespace specbench::suites {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// A folder of its own for each test, with inputs to trip over.
class CommandLine : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / ("specbench." + std::string(test->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "empty");
    write("empty.jsonl", "");
    write("broken.jsonl", "{\"prompt\": \"a\"}\nnonsense\n");
    write("crlf.jsonl", "{\"prompt\": \"It was\"}\r\n\r\n{\"prompt\": \"She had\"}\r\n");
    write("texts.jsonl", "{\"question_id\": 81, \"texts\": [\"one\", \"two\"]}\n");
    copy_model("truncated");
    const fs::path weights = weights_of("truncated");
    fs::resize_file(weights, fs::file_size(weights) / 2);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  void copy_model(const std::string& name) {
    fs::create_directories(folder_ / name);
    for (const auto& entry :
         fs::directory_iterator(SPECBENCH_SOURCE_DIR "/engine/models/austen-10m"))
      if (entry.is_regular_file())
        fs::copy_file(entry.path(), folder_ / name / entry.path().filename());
  }

  fs::path weights_of(const std::string& name) const {
    for (const auto& entry : fs::directory_iterator(folder_ / name))
      if (entry.path().extension() == ".safetensors") return entry.path();
    throw std::logic_error("the embedded model has no safetensors file");
  }

  std::string read(const std::string& name) const {
    std::ifstream stream(folder_ / name, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  /// Words as typed into a shell that stands in the test's folder. Redirections in the words win
  /// over those to the files that are read back.
  Outcome run(const std::string& words) const {
    const std::string command = "cd '" + folder_.string() + "' && : >out && : >err && { '" +
                                SPECBENCH_BINARY_DIR "/bin/specbench' " + words +
                                "; } >out 2>err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }

  fs::path folder_;
};

struct Fault {
  const char* words;
  const char* says;
};

constexpr Fault kUsageFaults[] = {
    {"", "Nothing to do"},
    {"--frobnicate", "--frobnicate"},
    {"frobnicate", "frobnicate"},
    {"--suite", "--suite"},
    {"--suite speed", "--suite is 'speed'"},
    {"--suite latency --drafter eagle", "--drafter is 'eagle'"},
    {"--suite kv --drafter eagle", "--drafter is 'eagle'"},
    {"--suite latency --verifier typical", "--verifier is 'typical'"},
    {"--suite kv --verifier typical", "--verifier is 'typical'"},
    {"--suite latency --verifier greedy", "--verifier greedy needs --temperature 0"},
    {"--suite latency --backend tpu", "tpu"},
    {"--suite kv --backend tpu", "tpu"},
    {"--suite latency --draft-layers 13", "--draft-layers is 13"},
    {"--suite kv --draft-layers 13", "--draft-layers is 13"},
    {"--suite latency --draft-layers 99999999999", "--draft-layers"},
    {"--suite latency --draft-tokens 64", "--draft-tokens is 64"},
    {"--suite latency --draft-tokens -1", "--draft-tokens is -1"},
    {"--suite latency --temperature -1", "--temperature is -1"},
    {"--suite latency --temperature nan", "--temperature is nan"},
    {"--suite latency --top-p 0", "--top-p is 0"},
    {"--suite latency --top-p 2", "--top-p is 2"},
    {"--suite latency --top-k -1", "--top-k is -1"},
    {"--suite latency --batch 99999", "--batch is 99999"},
    {"--suite latency --batch -1", "--batch is -1"},
    {"--suite latency --threads -1", "--threads is -1"},
    {"--suite latency --max-prompts -1", "--max-prompts is -1"},
    {"--suite latency --dtype q4_k", "--dtype is 'q4_k'"},
    {"--suite latency --kv-dtype q8_0", "--kv-dtype is 'q8_0'"},
    {"generate --prompt x --model ''", "--model: is empty"},
    {"--suite model --prompts ''", "--prompts: is empty"},
    {"--suite model --prompts /dev/zero", "/dev/zero cannot be read"},
    {"info --model synthetic:llama-70b", "supported is synthetic:"},
    {"info --model synthetic:tiny-f16:later=2", "the setting 'later=2'"},
    {"--suite latency --seed -1", "'-1' is not a whole number"},
    {"--suite latency --vary-seed --seed 3", "excludes"},
    {"--suite latency --logit-bias 5", "'5' is not a token id and a number"},
    {"--suite latency --logit-bias 5=inf", "--logit-bias is inf"},
    {"--suite latency --ban x", "'x' is not a token id"},
    {"--suite latency --repetition-penalty 0", "--repetition-penalty is 0"},
    {"--suite latency --stop ''", "--stop: is empty"},
    {"generate --prompt x --ban 4096", "--ban names token 4096; the vocabulary has ids 0 to 4095"},
    {"generate --prompt x --ban -1", "--ban names token -1"},
    {"generate --prompt x --logit-bias 9999=1", "--logit-bias names token 9999"},
    {"generate --prompt x --min-tokens 100", "--min-tokens is 100, more than the 64 tokens"},
    {"--suite lossless --samples nan", "--samples is nan"},
    {"--suite lossless --alpha 2", "--alpha is 2"},
    {"--suite lossless --seeds -1", "--seeds is -1"},
    {"--suite lossless --sequential", "--sequential needs --state"},
    {"--suite kv --mutant R1", "--mutant is 'R1'"},
    {"--suite latency --max-tokens 5000", "1024 positions"},
    {"--suite latency --max-tokens 2147483647", "--max-tokens is 2147483647"},
    {"--suite latency --protocol article --max-tokens 64", "--protocol article"},
    {"--suite latency info", "exclude each other"},
    {"generate", "--prompt"},
    {"generate --prompt", "--prompt"},
    {"generate --prompt x --max-tokens 5000", "1024 positions"},
    {"generate --prompt x --batch 99999", "--batch is 99999"},
    {"generate --prompt \"$(yes word | head -2000)\"", "1024 positions"},
    {"info --model missing", "missing"},
    {"info --model empty.jsonl", "empty.jsonl is not a directory"},
    {"info --model empty", "config.json does not exist"},
    {"info --model truncated", "truncated"},
    {"--suite kv --prompts missing", "missing cannot be read"},
    {"--suite kv --prompts empty.jsonl", "holds no prompt"},
    {"--suite kv --prompts broken.jsonl", "line 2 is not JSON"},
    {"--suite kv --prompts texts.jsonl", "line 1 has no \"prompt\""},
    {"--suite kv --prompts empty", "empty cannot be read"},
    {"info --out nowhere/record.json", "does not exist"},
    {"info --out empty", "it is a folder"},
    {"info --out ''", "--out"},
    {"info --out /dev/null", "no regular file"}};

TEST_F(CommandLine, MisuseIsRefusedInOneSentence) {
  for (const Fault& fault : kUsageFaults) {
    const Outcome outcome = run(fault.words);
    EXPECT_EQ(outcome.exit_code, kUsage) << fault.words << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << fault.words;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
        << fault.words << ": " << outcome.err;
    EXPECT_EQ(outcome.err.rfind("specbench: ", 0), 0U) << fault.words << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(fault.says), std::string::npos)
        << fault.words << ": " << fault.says << " is not in: " << outcome.err;
  }
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_NE(entry.path().extension(), ".tmp") << "left behind: " << entry.path();
}

TEST_F(CommandLine, GenerateGivesIdsAndTextAsJson) {
  const Outcome outcome =
      run("generate --prompt 'It was' --max-tokens 4 --temperature 0 --threads 1 --format json");
  EXPECT_EQ(outcome.exit_code, kPassed) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const results::Record record = results::from_json(outcome.out);
  const results::NamedTable* table = results::find_table(record, "generated");
  ASSERT_NE(table, nullptr) << outcome.out;
  for (const char* column : {"prompt", "ids", "text"})
    EXPECT_NE(std::find(table->columns.begin(), table->columns.end(), column), table->columns.end())
        << column;
  EXPECT_NE(outcome.out.find("It was"), std::string::npos);
}

TEST_F(CommandLine, AVariedSeedIsPrintedAndRepeatsTheRun) {
  const Outcome varied =
      run("generate --prompt 'It was' --max-tokens 12 --threads 1 --vary-seed --out record.json");
  EXPECT_EQ(varied.exit_code, kPassed) << varied.err;
  const results::Record record = results::from_json(read("record.json"));
  const std::size_t at = record.command_line.find("--seed ");
  ASSERT_NE(at, std::string::npos) << record.command_line;
  const std::string words = record.command_line.substr(at, record.command_line.find(" --out") - at);
  EXPECT_NE(varied.err.find("repeat with " + words + "\n"), std::string::npos) << varied.err;
  const Outcome again = run("generate --prompt 'It was' --max-tokens 12 --threads 1 " + words);
  EXPECT_EQ(again.out, varied.out);
  EXPECT_EQ(again.err, "");
}

TEST_F(CommandLine, OddPromptsAreContinued) {
  write("bytes", "caf\xc3 \xff\xfe");
  for (const char* words : {"generate --prompt '' --max-tokens 2",
                            "generate --prompt '\xf0\x9f\x8e\xa9 hats' --max-tokens 2",
                            "generate --prompt \"$(cat bytes)\" --max-tokens 2"}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, kPassed) << words << ": " << outcome.err;
    EXPECT_EQ(outcome.err, "") << words;
    EXPECT_NE(outcome.out, "") << words;
  }
}

TEST_F(CommandLine, TheRecordIsSafeWhereNobodyReads) {
  const std::string words = "generate --prompt x --max-tokens 2 --threads 1 --out record.json";
  for (const std::string redirection : {" >/dev/full", " >&-"}) {
    fs::remove(folder_ / "record.json");
    const Outcome outcome = run(words + redirection);
    EXPECT_EQ(outcome.exit_code, kVoid) << redirection << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("Standard output"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(results::from_json(read("record.json")).suite, "generate");
  }
  EXPECT_EQ(run("--help >/dev/full").exit_code, kVoid);
}

// With standard output and error closed, the record's file must not take their place.
TEST_F(CommandLine, ClosedDescriptorsDoNotReachTheRecord) {
  const Outcome outcome =
      run("generate --prompt x --max-tokens 2 --threads 1 --out record.json <&- >&- 2>&-");
  EXPECT_EQ(outcome.exit_code, kVoid);
  EXPECT_EQ(results::from_json(read("record.json")).suite, "generate");
}

// How long the model takes to load depends on the build and the machine: a run that had not begun
// is interrupted later.
TEST_F(CommandLine, InterruptionKeepsWhatThereIs) {
  for (const char* signal : {"INT", "TERM"}) {
    Outcome outcome;
    for (int delay = 2; delay <= 64; delay *= 2) {
      outcome = run("--suite kv --out record.json & sleep " + std::to_string(delay) + "; kill -" +
                    signal + " $!; wait $!");
      if (outcome.err.find("before anything was measured") == std::string::npos) break;
    }
    EXPECT_EQ(outcome.exit_code, kInterrupted) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("INTERRUPTED"), std::string::npos) << outcome.out;
    const results::Record record = results::from_json(read("record.json"));
    EXPECT_TRUE(record.was_interrupted);
    EXPECT_EQ(record.exit_code, kInterrupted);
  }
}

// Here the program waits for a pipe that nobody writes to, as for a model of many gigabytes.
TEST_F(CommandLine, InterruptedBeforeAnythingIsMeasuredItEndsAtOnce) {
  ASSERT_EQ(::mkfifo((folder_ / "waiting").c_str(), 0600), 0);
  const Outcome outcome =
      run("report waiting --out page.html & for i in $(seq 20); do kill -INT $! 2>/dev/null; "
          "sleep 0.1; done; kill -KILL $! 2>/dev/null; wait $!");
  EXPECT_EQ(outcome.exit_code, kInterrupted) << outcome.err;
  EXPECT_EQ(outcome.err, "specbench: interrupted before anything was measured.\n");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
    EXPECT_EQ(entry.path().string().find("page"), std::string::npos) << entry.path();
}

#ifndef __SANITIZE_ADDRESS__  // which itself takes terabytes of address space
// More threads than the address space has stacks for. OpenMP then ends the program itself, with 1.
TEST_F(CommandLine, ThreadsThatCannotBeHadAreNoFailedProperty) {
  const Outcome outcome =
      run("--version && ulimit -s 262144 && ulimit -v 4000000 && '" SPECBENCH_BINARY_DIR
          "/bin/specbench' generate --prompt x --max-tokens 2 --threads 512 --quiet --out a.json");
  EXPECT_EQ(outcome.exit_code, kVoid) << outcome.err;
  EXPECT_NE(outcome.err.find("try fewer --threads"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "a.json"));
}
#endif

// The weights are mapped: a file that is cut short takes pages away that the run still needs. The
// shell waits until the file is mapped, not for some time, and the decoding that follows reads it
// for longer than a cut takes.
TEST_F(CommandLine, AModelCutShortWhileInUseEndsInOneSentence) {
  copy_model("cut");
  const std::string weights = weights_of("cut").string();
  const Outcome outcome =
      run("generate --model cut --backend reference --prompt x --temperature 0 --max-tokens 1000 "
          "--quiet & for i in $(seq 3000); do grep -q model.safetensors /proc/$!/maps && break; "
          "sleep 0.01; done; grep -q model.safetensors /proc/$!/maps || exit 97; : >'" +
          weights + "'; wait $!");
  EXPECT_EQ(outcome.exit_code, kUsage) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.rfind("specbench: the model cut was cut short", 0), 0U) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(CommandLine, TheModelSuiteScoresEveryToken) {
  write("text.jsonl", "{\"prompt\": \"It was a truth that Mr. Bennet had never\"}\n");
  const Outcome outcome =
      run("--suite model --prompts text.jsonl --threads 1 --quiet --out record.json");
  EXPECT_EQ(outcome.exit_code, kPassed) << outcome.err << outcome.out;
  const results::Record record = results::from_json(read("record.json"));
  const results::NamedTable* table = results::find_table(record, "tokens");
  ASSERT_NE(table, nullptr);
  EXPECT_GT(table->rows.size(), 8U);
  EXPECT_EQ(table->columns.size(), 14U);
  EXPECT_NE(results::find_metric(record, "perplexity"), nullptr);
}

TEST_F(CommandLine, SyntheticModelsRunWithoutAFile) {
  const Outcome outcome =
      run("generate --model synthetic:tiny-q4_k:later=0 --prompt x --max-tokens 4 --threads 1 "
          "--kv-dtype f16 --out record.json");
  EXPECT_EQ(outcome.exit_code, kPassed) << outcome.err;
  EXPECT_NE(read("record.json").find("synthetic:tiny-q4_k:later=0"), std::string::npos);
}

TEST_F(CommandLine, PromptsWithCrlfAreRead) {
  const Outcome outcome = run("--suite latency --prompts crlf.jsonl --max-tokens 1023");
  EXPECT_EQ(outcome.exit_code, kUsage);
  EXPECT_NE(outcome.err.find("1024 positions"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace specbench::suites
