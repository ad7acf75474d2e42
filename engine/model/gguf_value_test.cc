#include "engine/model/gguf_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "engine/model/gguf.h"
#include "engine/model/gguf_test_files.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::gguf_array;
using testing::gguf_number;
using testing::gguf_string;
using testing::gguf_strings;
using testing::raw;
using testing::wrong_error;

/// A file of the one key "k".
class OneValue {
 public:
  explicit OneValue(const std::string& value) {
    testing::GgufParts parts;
    parts.set("k", value);
    bytes_ = parts.bytes();
  }
  template <typename Call>
  auto operator()(Call call) const {
    const GgufFile file(std::as_bytes(std::span(bytes_)), "f.gguf");
    return call(file.at("k"));
  }

 private:
  std::string bytes_;
};

std::int64_t integer(const GgufField& field) {
  return field.as_integer_in(std::numeric_limits<std::int64_t>::min(),
                             std::numeric_limits<std::int64_t>::max());
}
double number(const GgufField& field) { return field.as_number(); }

TEST(GgufValue, ReadsEveryNumber) {
  EXPECT_EQ(OneValue(gguf_number(GgufType::kUint8, std::uint8_t{200}))(integer), 200);
  EXPECT_EQ(OneValue(gguf_number(GgufType::kInt8, std::int8_t{-100}))(integer), -100);
  EXPECT_EQ(OneValue(gguf_number(GgufType::kUint16, std::uint16_t{65535}))(integer), 65535);
  EXPECT_EQ(OneValue(gguf_number(GgufType::kInt16, std::int16_t{-32768}))(integer), -32768);
  EXPECT_EQ(OneValue(gguf_number(GgufType::kUint32, 4294967295U))(integer), 4294967295);
  EXPECT_EQ(OneValue(gguf_number(GgufType::kInt32, std::int32_t{-5}))(integer), -5);
  EXPECT_EQ(OneValue(gguf_number(GgufType::kUint64, std::uint64_t{1} << 62))(integer),
            std::int64_t{1} << 62);
  EXPECT_EQ(OneValue(gguf_number(GgufType::kInt64, std::int64_t{-1} << 62))(integer),
            std::int64_t{-1} * (std::int64_t{1} << 62));
  EXPECT_EQ(OneValue(gguf_number(GgufType::kFloat64, 0.1))(number), 0.1);
  EXPECT_EQ(OneValue(gguf_number(GgufType::kInt8, std::int8_t{-3}))(number), -3.0);
  const auto flag = [](const GgufField& field) { return field.as_bool(); };
  EXPECT_TRUE(OneValue(testing::gguf_bool(true))(flag));
  EXPECT_FALSE(OneValue(testing::gguf_bool(false))(flag));
}

TEST(GgufValue, GivesTheDecimalThatWasNarrowed) {
  EXPECT_EQ(OneValue(testing::gguf_f32(1e-5F))(number), 1e-5);
  EXPECT_EQ(OneValue(testing::gguf_f32(1e-6F))(number), 1e-6);
  EXPECT_EQ(OneValue(testing::gguf_f32(500000.0F))(number), 500000.0);
  EXPECT_EQ(OneValue(testing::gguf_f32(-0.1F))(number), -0.1);
  EXPECT_TRUE(std::isnan(OneValue(testing::gguf_f32(std::nanf("")))(number)));
  EXPECT_TRUE(std::isinf(OneValue(testing::gguf_f32(-HUGE_VALF))(number)));
}

TEST(GgufValue, ReadsStringsAndArrays) {
  const auto text = [](const GgufField& field) { return std::string(field.as_string()); };
  EXPECT_EQ(OneValue(gguf_string(std::string("a\0b", 3)))(text), std::string("a\0b", 3));
  EXPECT_EQ(OneValue(gguf_string(""))(text), "");
  const auto strings = [](const GgufField& field) { return field.as_strings(); };
  EXPECT_EQ(OneValue(gguf_strings({"ab", "", "c"}))(strings),
            (std::vector<std::string>{"ab", "", "c"}));
  EXPECT_TRUE(OneValue(gguf_strings({}))(strings).empty());
  const auto floats = [](const GgufField& field) { return field.as_floats(); };
  const std::vector<float> some = {1.0F, -2.5F};
  EXPECT_EQ(OneValue(gguf_array(GgufType::kFloat32, 2, raw(some)))(floats), some);
  EXPECT_TRUE(OneValue(gguf_array(GgufType::kFloat32, 0, ""))(floats).empty());
  const auto integers = [](const GgufField& field) { return field.as_integers_in(-9, 9); };
  EXPECT_EQ(OneValue(gguf_array(GgufType::kInt8, 3, "\x01\xff\x09"))(integers),
            (std::vector<std::int32_t>{1, -1, 9}));
  EXPECT_EQ(OneValue(gguf_array(GgufType::kUint64, 1, raw(std::uint64_t{7})))(integers),
            std::vector<std::int32_t>{7});
  const auto count = [](const GgufField& field) { return field.n_items(); };
  EXPECT_EQ(OneValue(gguf_strings({"a", "b"}))(count), 2U);
}

TEST(GgufValue, NamesFileAndKeyOfAWrongType) {
  const auto expect = [](const std::string& value, auto call, const std::string& fragment) {
    const OneValue one(value);
    EXPECT_EQ(wrong_error([&] { one(call); }, "f.gguf: key 'k" + fragment), "");
  };
  const auto small = [](const GgufField& field) { return field.as_integer_in(1, 9); };
  const auto flag = [](const GgufField& field) { return field.as_bool(); };
  const auto text = [](const GgufField& field) { return field.as_string().size(); };
  const auto strings = [](const GgufField& field) { return field.as_strings(); };
  const auto floats = [](const GgufField& field) { return field.as_floats(); };
  const auto integers = [](const GgufField& field) { return field.as_integers_in(0, 9); };
  const auto half = [](const GgufField& field) { return field.as_number_in(0.5, 2); };
  const auto count = [](const GgufField& field) { return field.n_items(); };
  expect(gguf_string("x"), small, "' is 'x'; expected an integer from 1 to 9.");
  expect(testing::gguf_u32(10), small, "' is 10; expected an integer from 1 to 9.");
  expect(testing::gguf_f32(2.0F), small, "' is 2; expected an integer");
  expect(gguf_number(GgufType::kUint64, ~std::uint64_t{0}), small, "' is 18446744073709551615;");
  expect(testing::gguf_bool(true), small, "' is true; expected an integer");
  expect(testing::gguf_u32(1), flag, "' is 1; expected true or false.");
  expect(gguf_strings({"a"}), text, "' is an array of 1 strings; expected a string.");
  expect(gguf_string("x"), number, "' is 'x'; expected a number.");
  expect(gguf_number(GgufType::kUint64, ~std::uint64_t{0}), integer, "' is 18446744073709551615;");
  expect(testing::gguf_bool(false), number, "' is false; expected a number.");
  expect(testing::gguf_f32(3.0F), half, "' is 3; expected a number from 0.5 to 2.");
  expect(testing::gguf_f32(std::nanf("")), half, "' is nan; expected a number from 0.5 to 2.");
  expect(gguf_array(GgufType::kInt8, 2, "ab"), strings,
         "' is an array of 2 integers; expected an array of strings.");
  expect(gguf_string("x"), strings, "' is 'x'; expected an array of strings.");
  expect(gguf_array(GgufType::kFloat64, 1, raw(1.0)), floats,
         "' is an array of 1 numbers; expected an array of float32 numbers.");
  expect(gguf_array(GgufType::kBool, 1, "\x01"), integers,
         "' is an array of 1 bools; expected an array of integers.");
  expect(gguf_array(GgufType::kInt8, 3, "\x01\x02\x0a"), integers,
         "[2]' is 10; expected an integer from 0 to 9.");
  expect(testing::gguf_u32(1), count, "' is 1; expected an array.");
  const std::string inner = raw(std::uint32_t{0}) + raw(std::uint64_t{1}) + "x";
  expect(gguf_array(GgufType::kArray, 1, inner), integers, "' is an array of 1 arrays; expected");
}

}  // namespace
}  // namespace specbench::engine
