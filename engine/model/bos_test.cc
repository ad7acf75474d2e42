#include "engine/model/bos.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::ScratchFolder;
using testing::wrong_error;

/// What this tokenizer.json puts before a text; -1: nothing.
TokenId bos_of(const std::string& tokenizer) {
  const ScratchFolder folder;
  return read_bos(folder.write("tokenizer.json", tokenizer), 10).value_or(-1);
}

std::string with_processor(const std::string& processor) {
  return R"({"version":"1.0","added_tokens":[{"id":0}],"post_processor":)" + processor +
         R"(,"model":{"vocab":{"a":0}}})";
}

const std::string kText = R"({"Sequence":{"id":"A","type_id":0}})";
const std::string kBos = R"({"SpecialToken":{"id":"<s>","type_id":0}})";

std::string template_of(const std::string& single, const std::string& ids = "[1]") {
  return R"({"type":"TemplateProcessing","single":[)" + single +
         R"(],"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":)" + ids +
         R"(,"tokens":["<s>"]}}})";
}

TEST(Bos, IsWhatTheTemplatePutsBeforeTheText) {
  EXPECT_EQ(bos_of(with_processor(template_of(kBos + "," + kText))), 1);
  EXPECT_EQ(bos_of(with_processor(template_of(kText))), -1);
  // As Llama 3 has it.
  EXPECT_EQ(bos_of(with_processor(R"({"type":"Sequence","processors":[{"type":"ByteLevel"},)" +
                                  template_of(kBos + "," + kText, "[9]") + "]}")),
            9);
  // As Qwen2 has it: bos_token_id of its config.json goes nowhere.
  EXPECT_EQ(bos_of(with_processor(R"({"type":"ByteLevel","use_regex":false})")), -1);
  // As SmolLM has it.
  EXPECT_EQ(bos_of(with_processor("null")), -1);
  EXPECT_EQ(bos_of(R"({"model":{}})"), -1);
}

TEST(Bos, IsFoundWithoutReadingTheVocabulary) {
  EXPECT_EQ(bos_of(R"({"post_processor":{"type":"ByteLevel"},"model":)"), -1);
  // Where it comes last, everything is read.
  EXPECT_EQ(bos_of(R"({"model":{"post_processor":null},"post_processor":{"type":"ByteLevel"}})"),
            -1);
}

TEST(Bos, RefusesWhatIsNotOneTokenBefore) {
  const auto expect = [](const std::string& processor, const char* fragment) {
    EXPECT_EQ(wrong_error([&] { bos_of(with_processor(processor)); }, fragment), "") << processor;
  };
  expect(
      template_of(kBos + "," + kBos + "," + kText),
      "'post_processor.single[1].SpecialToken.id' is '<s>'; more than one token before the text");
  expect(template_of(kText + "," + kBos),
         "'post_processor.single[1].SpecialToken.id' is '<s>'; a token behind the text");
  expect(template_of(kBos), "'post_processor.single' is an array; expected the text, 'A', once");
  expect(template_of(kText + "," + kText), "expected the text, 'A', once");
  expect(template_of(R"({"Sequence":{"id":"B"}})"),
         "'post_processor.single[0].Sequence.id' is 'B'");
  expect(template_of("{}"), "'post_processor.single[0].Sequence' is missing");
  expect(template_of(kBos + "," + kText, "[1,2]"), "expected one id");
  expect(template_of(kBos + "," + kText, "[10]"),
         ".ids[0]' is 10; expected an integer from 0 to 9");
  expect(template_of(R"({"SpecialToken":{"id":"<x>"}},)" + kText),
         "'post_processor.special_tokens.<x>' is missing");
  expect(R"({"type":"RobertaProcessing"})",
         "'post_processor.type' is 'RobertaProcessing'; 'TemplateProcessing', 'ByteLevel' and");
  expect(R"({"type":"Sequence"})", "'post_processor.processors' is missing");
  expect("7", "'post_processor' is 7; expected an object");
  EXPECT_EQ(wrong_error([] { bos_of("["); }, "tokenizer.json is not valid JSON"), "");
  EXPECT_EQ(wrong_error([] { bos_of("[]"); }, "the top level is an array"), "");
}

}  // namespace
}  // namespace specbench::engine
