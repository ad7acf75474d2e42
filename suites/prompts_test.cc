// Prompt files: what is read, and that every fault names file, line and cause.
#include "suites/prompts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "engine/error.h"

namespace specbench::suites {
namespace {

class PromptFile : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const auto file =
        std::filesystem::path(::testing::TempDir()) / (std::string(test->name()) + ".jsonl");
    std::ofstream(file) << text;
    return file;
  }
  static std::string complaint(const std::filesystem::path& file) {
    try {
      read_prompts(file);
    } catch (const engine::InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(PromptFile, ReadsFieldsAndFillsInAbsentOnes) {
  const auto prompts = read_prompts(write(
      "{\"id\": \"x\", \"category\": \"c\", \"prompt\": \"one\"}\n\n  \r\n{\"prompt\": \"two\"}"));
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].id, "x");
  EXPECT_EQ(prompts[0].category, "c");
  EXPECT_EQ(prompts[0].text, "one");
  EXPECT_EQ(prompts[1].text, "two");
  EXPECT_EQ(prompts[1].category, "all");
  EXPECT_NE(prompts[1].id.find("line 4"), std::string::npos);
}

TEST_F(PromptFile, ReadsSpecBench) {
  const auto prompts = read_prompts(write(
      R"({"question_id": 81, "category": "writing", "turns": ["Compose a post.", "Rewrite it."]})"
      "\n"
      R"({"question_id": 161, "category": "math", "turns": ["x + 4z?"], "reference": ["a", "b"]})"));
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].id, "81");
  EXPECT_EQ(prompts[0].category, "writing");
  EXPECT_EQ(prompts[0].text, "Compose a post.");
  EXPECT_EQ(prompts[1].id, "161");
  EXPECT_EQ(prompts[1].text, "x + 4z?");
}

TEST_F(PromptFile, ReadsSpeedBench) {
  const auto prompts = read_prompts(write(
      R"({"question_id": "a1f", "category": "coding", "sub_category": null, "turns": ["Write."],)"
      R"( "source": "s", "src_id": "7", "difficulty": null, "multiturn": false})"
      "\n"
      R"({"question_id": null, "category": null, "turns": ["Go on.", "And on."]})"));
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].id, "a1f");
  EXPECT_EQ(prompts[0].category, "coding");
  EXPECT_EQ(prompts[0].text, "Write.");
  EXPECT_NE(prompts[1].id.find("line 2"), std::string::npos);
  EXPECT_EQ(prompts[1].category, "all");
  EXPECT_EQ(prompts[1].text, "Go on.");
}

TEST_F(PromptFile, APromptGoesBeforeTurns) {
  const auto prompts = read_prompts(write(R"({"id": 3, "prompt": "one", "turns": ["two"]})"));
  EXPECT_EQ(prompts[0].text, "one");
  EXPECT_EQ(prompts[0].id, "3");
}

TEST_F(PromptFile, FaultsNameFileLineAndCause) {
  const std::string good = "{\"prompt\": \"a\"}\n";
  const struct {
    std::string text, says;
  } faults[] = {{good + "nonsense\n", "line 2 is not JSON"},
                {good + good + "{\"text\": \"a\"}\n", "line 3 has no \"prompt\""},
                {"[1]\n", "line 1 has no \"prompt\""},
                {"{\"prompt\": 3}\n", "\"prompt\" is not text"},
                {"{\"prompt\": \"a\", \"id\": 3.5}\n", "\"id\" is neither text nor a whole"},
                {"{\"prompt\": \"a\", \"question_id\": []}\n", "\"question_id\" is neither"},
                {"{\"prompt\": \"a\", \"category\": 1}\n", "\"category\" is not text"},
                {"{\"prompt\": \"a\", \"category\": \"b\\u0007\"}\n",
                 "\"category\" holds control characters"},
                {"{\"prompt\": \"a\", \"id\": \"b\\nc\"}\n", "\"id\" holds control characters"},
                {"{\"prompt\": null}\n", "line 1 has no \"prompt\""},
                {"{\"turns\": []}\n", "\"turns\" is not a list that begins with text"},
                {"{\"turns\": \"a\"}\n", "\"turns\" is not a list"},
                {"{\"turns\": [1]}\n", "\"turns\" is not a list"},
                {"{\"turns\": [\"FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE\"]}\n",
                 "line 1 holds a stand-in"},
                {"\n \n", "holds no prompt"}};
  for (const auto& fault : faults) {
    const auto file = write(fault.text);
    const std::string message = complaint(file);
    EXPECT_NE(message.find(fault.says), std::string::npos) << fault.text << " gives: " << message;
    EXPECT_NE(message.find(file.string()), std::string::npos) << message;
  }
  EXPECT_NE(complaint("/no/such/file").find("cannot be read"), std::string::npos);
  EXPECT_NE(complaint(::testing::TempDir()).find("cannot be read"), std::string::npos);
}

TEST_F(PromptFile, ThePassagesAreLong) {
  const auto passages = read_prompts(SPECBENCH_SOURCE_DIR "/suites/prompts/passages.jsonl");
  ASSERT_EQ(passages.size(), 2U);
  for (const Prompt& passage : passages) EXPECT_GT(passage.text.size(), 2500U) << passage.id;
}

TEST_F(PromptFile, TheEmbeddedSetIsWhatItsReadmeSays) {
  const auto prompts = read_prompts(SPECBENCH_SOURCE_DIR "/suites/prompts/austen.jsonl");
  std::map<std::string, int> n_in;
  std::map<std::string, int> ids;
  for (const Prompt& prompt : prompts) {
    ++n_in[prompt.category];
    ++ids[prompt.id];
    EXPECT_FALSE(prompt.text.empty() || prompt.text.back() == ' ') << prompt.id;
  }
  EXPECT_EQ(prompts.size(), 40U);
  EXPECT_EQ(ids.size(), 40U);
  EXPECT_EQ(n_in, (std::map<std::string, int>{{"narrative", 8},
                                              {"dialogue", 8},
                                              {"description", 8},
                                              {"letter", 8},
                                              {"reflection", 8}}));
}

}  // namespace
}  // namespace specbench::suites
