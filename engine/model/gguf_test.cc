#include "engine/model/gguf.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "engine/model/gguf_test_files.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::gguf_array;
using testing::gguf_string;
using testing::gguf_text;
using testing::gguf_u32;
using testing::GgufParts;
using testing::raw;
using testing::wrong_error;

// Bytes of a heap of exactly their size, so that the address sanitizer sees a step beyond.
class Parsed {
 public:
  explicit Parsed(const std::string& bytes)
      : bytes_(bytes.begin(), bytes.end()), file_(std::as_bytes(std::span(bytes_)), "f.gguf") {}
  const GgufFile* operator->() const { return &file_; }

 private:
  std::vector<char> bytes_;
  GgufFile file_;
};

/// What is wrong with how a file of these bytes is refused.
std::string refusal(const std::string& bytes, const std::string& fragment) {
  return wrong_error([&] { Parsed file(bytes); }, fragment);
}
std::string refusal(const GgufParts& parts, const std::string& fragment) {
  return refusal(parts.bytes(), fragment);
}

/// Two tensors of 3 x 2 and 64 values.
GgufParts two_tensors() {
  GgufParts parts;
  parts.set("a.b", gguf_u32(7));
  parts.tensors.push_back({"x", {2, 3}, 0, raw(std::vector<float>{1, 2, 3, 4, 5, 6})});
  parts.tensors.push_back({"w", {64}, 2, std::string(36, '\x33')});
  return parts;
}

TEST(Gguf, ReadsValuesAndTensors) {
  for (const std::uint32_t version : {2U, 3U}) {
    GgufParts parts = two_tensors();
    parts.version = version;
    const Parsed file(parts.bytes());
    EXPECT_EQ(file->name(), "f.gguf");
    EXPECT_EQ(file->at("a.b").as_integer_in(0, 9), 7);
    EXPECT_FALSE(file->find("a.c"));
    ASSERT_EQ(file->tensors().size(), 2U);
    EXPECT_EQ(file->tensors()[0].name, "w");
    const GgufTensor* x = file->tensor("x");
    ASSERT_NE(x, nullptr);
    EXPECT_EQ(x->shape, (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(x->type, WeightType::kF32);
    EXPECT_EQ(x->begin % 32, 0U);
    float last = 0;
    std::memcpy(&last, file->data(*x).data() + 20, 4);
    EXPECT_EQ(last, 6.0F);
    EXPECT_EQ(file->tensor("w")->type, WeightType::kQ4_0);
    EXPECT_EQ(file->tensor("w")->n_bytes, 36U);
    EXPECT_EQ(file->data(*file->tensor("w"))[35], std::byte{0x33});
    EXPECT_EQ(file->tensor("y"), nullptr);
    EXPECT_EQ(wrong_error([&] { (void)file->at("a.c"); },
                          "f.gguf: key 'a.c' is missing; it is required."),
              "");
  }
}

TEST(Gguf, ReadsEveryWeightType) {
  const std::pair<std::uint32_t, WeightType> kinds[] = {
      {0, WeightType::kF32},   {1, WeightType::kF16},  {30, WeightType::kBF16},
      {8, WeightType::kQ8_0},  {2, WeightType::kQ4_0}, {3, WeightType::kQ4_1},
      {6, WeightType::kQ5_0},  {7, WeightType::kQ5_1}, {12, WeightType::kQ4_K},
      {13, WeightType::kQ5_K}, {14, WeightType::kQ6_K}};
  for (const auto& [number, type] : kinds) {
    GgufParts parts;
    parts.tensors.push_back({"w", {512, 3}, number, std::string(3 * row_bytes(type, 512), 'x')});
    EXPECT_EQ(Parsed(parts.bytes())->tensor("w")->type, type);
    parts.tensors[0].data.pop_back();
    EXPECT_EQ(refusal(parts, "tensor 'w'"), "") << weight_type_name(type);
  }
}

TEST(Gguf, ReadsAnEmptyFileAndAScalar) {
  EXPECT_TRUE(Parsed(GgufParts().bytes())->tensors().empty());
  GgufParts parts;
  parts.tensors.push_back({"s", {}, 0, raw(2.0F)});
  EXPECT_TRUE(Parsed(parts.bytes())->tensor("s")->shape.empty());
  EXPECT_EQ(Parsed(parts.bytes())->tensor("s")->n_bytes, 4U);
}

TEST(Gguf, HonoursTheAlignment) {
  GgufParts parts = two_tensors();
  parts.set("general.alignment", gguf_u32(4096));
  parts.alignment = 4096;
  const Parsed file(parts.bytes());
  EXPECT_EQ(file->tensor("x")->begin, 4096U);
  EXPECT_EQ(file->tensor("w")->begin, 8192U);
  const std::pair<std::string, std::string> wrong[] = {
      {gguf_u32(0), "'general.alignment' is 0; expected an integer from 8 to 65536"},
      {gguf_u32(4), "'general.alignment' is 4; expected"},
      {gguf_u32(48), "'general.alignment' is 48; expected a power of two"},
      {gguf_u32(1 << 17), "'general.alignment' is 131072"},
      {gguf_string("32"), "'general.alignment' is '32'; expected an integer"}};
  for (const auto& [value, fragment] : wrong) {
    parts.set("general.alignment", value);
    EXPECT_EQ(refusal(parts, fragment), "");
  }
}

TEST(Gguf, RefusesOtherFiles) {
  EXPECT_EQ(refusal("", "f.gguf does not begin with 'GGUF'; it is no GGUF file"), "");
  EXPECT_EQ(refusal("GGU", "does not begin with 'GGUF'"), "");
  EXPECT_EQ(refusal("PK\x03\x04 and so on", "does not begin with 'GGUF'"), "");
  EXPECT_EQ(refusal(std::string("FUGG\0\0\0\3", 8), "big-endian"), "");
  GgufParts parts = two_tensors();
  for (const std::uint32_t version : {0x03000000U, 0x02000000U}) {
    parts.version = version;
    EXPECT_EQ(refusal(parts, "f.gguf is a big-endian GGUF file; convert it to little-endian."), "");
  }
  for (const std::uint32_t version : {1U, 4U, 65535U}) {
    parts.version = version;
    EXPECT_EQ(refusal(parts, "is of GGUF version " + std::to_string(version) +
                                 "; versions 2 and 3 are supported"),
              "");
  }
}

TEST(Gguf, RefusesCountsThatTheFileCannotHold) {
  const std::string head = "GGUF" + raw(std::uint32_t{3});
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(refusal(head + raw(huge) + raw(std::uint64_t{0}),
                    "the header states 18446744073709551615 tensors"),
            "");
  EXPECT_EQ(refusal(head + raw(std::uint64_t{1}) + raw(std::uint64_t{0}),
                    "states 1 tensors, which need at least 24 bytes each, but only 8 bytes"),
            "");
  EXPECT_EQ(refusal(head + raw(std::uint64_t{0}) + raw(huge >> 1), "metadata values"), "");
  for (const GgufType type : {GgufType::kUint8, GgufType::kBool, GgufType::kFloat64,
                              GgufType::kString, GgufType::kArray}) {
    for (const std::uint64_t n : {huge, huge >> 3, std::uint64_t{1} << 61, std::uint64_t{40}}) {
      GgufParts parts;
      parts.set("k", gguf_array(type, n, std::string(30, '\0')));
      EXPECT_EQ(refusal(parts, "f.gguf: key 'k' states " + std::to_string(n) + " items"), "");
    }
  }
  // Fewer items than bytes, but a string takes 8 of them at least and an array 12.
  for (const auto& [type, n] : {std::pair{GgufType::kString, 4U}, {GgufType::kArray, 3U}}) {
    GgufParts parts;
    parts.set("k", gguf_array(type, n, std::string(30, '\0')));
    EXPECT_EQ(refusal(parts, "key 'k' states " + std::to_string(n) + " items"), "");
  }
  GgufParts parts;
  parts.set("k", raw(std::uint32_t{8}) + raw(huge) + "abc");
  EXPECT_EQ(refusal(parts, "key 'k' needs 18446744073709551615 bytes at byte 45, but only 3"), "");
}

TEST(Gguf, RefusesWrongValues) {
  const std::pair<std::string, std::string> wrong[] = {
      {raw(std::uint32_t{13}) + "x", "key 'k' has type 13; the format knows 0 to 12"},
      {raw(std::uint32_t{7}) + "\x02", "key 'k' holds a bool of value 2; 0 and 1"},
      {gguf_array(GgufType::kBool, 3, std::string("\1\0\xff", 3)), "a bool of value 255"},
      {gguf_array(static_cast<GgufType>(99), 0, ""), "key 'k' has type 99"},
      {raw(std::uint32_t{10}) + "1234567", "key 'k' needs 8 bytes"}};
  for (const auto& [value, fragment] : wrong) {
    GgufParts parts;
    parts.set("k", value);
    EXPECT_EQ(refusal(parts, fragment), "");
  }
  GgufParts twice = two_tensors();
  twice.values.push_back(twice.values.front());
  EXPECT_EQ(refusal(twice, "key 'a.b' appears twice"), "");
  GgufParts long_key;
  long_key.set(std::string(65536, 'k'), gguf_u32(1));
  EXPECT_EQ(refusal(long_key, "the name of a key has 65536 bytes; the format"), "");
}

TEST(Gguf, NestsArraysToALimit) {
  const auto nested = [](int depth) {
    std::string items;
    for (int i = 2; i < depth; ++i) items += raw(std::uint32_t{9}) + raw(std::uint64_t{1});
    items += raw(std::uint32_t{0}) + raw(std::uint64_t{1}) + "x";
    GgufParts parts;
    parts.set("k", gguf_array(GgufType::kArray, 1, items));
    return parts;
  };
  EXPECT_EQ(Parsed(nested(kMaxGgufDepth).bytes())->at("k").n_items(), 1U);
  EXPECT_EQ(refusal(nested(kMaxGgufDepth + 1), "nests arrays deeper than 4 levels"), "");
  EXPECT_EQ(refusal(nested(100'000), "nests arrays deeper than 4 levels"), "");
}

TEST(Gguf, RefusesWrongTensors) {
  const struct {
    std::function<void(GgufParts::Tensor&)> change;  // of "x", 3 x 2 values
    const char* fragment;
  } cases[] = {{[](auto& t) {
                  t.dimensions = {1, 2, 1, 1, 3};
                },
                "has 5 dimensions; at most 4"},
               {[](auto& t) {
                  t.dimensions = {2, 0};
                },
                "has a dimension of 0; every one must be"},
               {[](auto& t) {
                  t.dimensions = {1ULL << 40, 1ULL << 40};
                },
                "no longer fits in 63 bits"},
               {[](auto& t) { t.dimensions = {~0ULL}; }, "no longer fits in 63 bits"},
               {[](auto& t) { t.dimensions = {1ULL << 61}; }, "but the whole file has"},
               {[](auto& t) {
                  t.dimensions = {2, 1000};
                },
                "has 2000 values, but the whole file has"},
               {[](auto& t) {
                  t.dimensions = {2, 8};
                },
                "overlap at byte"},
               {[](auto& t) { t.type = 2; }, "has rows of 2 values, but Q4_0 stores blocks of 32"},
               {[](auto& t) { t.type = 12; }, "but Q4_K stores blocks of 256"},
               {[](auto& t) { t.type = 10; }, "is stored as Q2_K; F32, F16, BF16, Q8_0"},
               {[](auto& t) { t.type = 26; }, "is stored as I32; F32"},
               {[](auto& t) { t.type = 39; }, "is stored as MXFP4; F32"},
               {[](auto& t) { t.type = 4; }, "is stored as ggml type 4; F32"},
               {[](auto& t) { t.type = 4000; }, "is stored as ggml type 4000; F32"},
               {[](auto& t) { t.name = "w"; }, "tensor 'w' appears twice"},
               {[](auto& t) { t.name = std::string(70'000, 'x'); }, "has 70000 bytes"}};
  for (const auto& c : cases) {
    GgufParts parts = two_tensors();
    c.change(parts.tensors[0]);
    EXPECT_EQ(refusal(parts, c.fragment), "") << c.fragment;
  }
}

TEST(Gguf, RefusesOffsetsOutsideTheData) {
  const std::string bytes = two_tensors().bytes();
  // The offset of "w" is the last thing before the data.
  const std::string info =
      gguf_text("w") + raw(std::uint32_t{1}) + raw(std::uint64_t{64}) + raw(std::uint32_t{2});
  const std::size_t at = bytes.find(info) + info.size();
  const auto with_offset = [&](std::uint64_t offset) {
    return std::string(bytes).replace(at, 8, raw(offset));
  };
  EXPECT_EQ(Parsed(with_offset(32))->tensor("w")->n_bytes, 36U);
  EXPECT_EQ(refusal(with_offset(33), "is no multiple of the alignment, 32"), "");
  EXPECT_EQ(refusal(with_offset(0), "tensors 'w' and 'x' overlap at byte"), "");
  EXPECT_EQ(refusal(with_offset(64), "tensor 'w' ends at byte"), "");
  EXPECT_EQ(refusal(with_offset(~std::uint64_t{31}), "but the whole file has"), "");
  EXPECT_EQ(refusal(with_offset(std::uint64_t{1} << 63), "but the whole file has"), "");
}

// A tensor that is said to be smaller than it is stored leaves one.
TEST(Gguf, RefusesHoles) {
  GgufParts parts;
  parts.tensors = {{"a", {64}, 0, std::string(256, 'x')}, {"b", {8}, 0, std::string(32, 'y')}};
  EXPECT_EQ(Parsed(parts.bytes())->tensor("b")->begin,
            Parsed(parts.bytes())->tensor("a")->begin + 256);
  const std::string bytes = parts.bytes();
  const std::string info = gguf_text("a") + raw(std::uint32_t{1}) + raw(std::uint64_t{64});
  const std::size_t at = bytes.find(info) + info.size();
  const std::string as_f16 = std::string(bytes).replace(at, 4, raw(std::uint32_t{1}));
  EXPECT_EQ(refusal(as_f16, "tensor 'b' begins at byte"), "");
  EXPECT_EQ(refusal(as_f16, "the format allows no holes"), "");
}

TEST(Gguf, RefusesEveryTruncation) {
  for (const GgufParts& parts : {two_tensors(), testing::tiny_gguf()}) {
    const std::string whole = parts.bytes();
    for (std::size_t length = 0; length < whole.size(); ++length)
      ASSERT_THROW(Parsed(whole.substr(0, length)), InputError) << length;
    // Bytes behind the last tensor are padding.
    EXPECT_EQ(Parsed(whole + "tail")->tensors().size(), parts.tensors.size());
  }
}

TEST(Gguf, SurvivesMutation) {
  GgufParts parts = two_tensors();
  parts.set("general.alignment", gguf_u32(32));
  parts.set("s", testing::gguf_strings({"ab", "c"}));
  const std::string inner = raw(std::uint32_t{8}) + raw(std::uint64_t{1}) + gguf_text("x");
  parts.set("n", gguf_array(GgufType::kArray, 2, inner + inner));
  const std::string whole = parts.bytes();
  testing::TestRandom random(5);
  int n_read = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = testing::mutate(whole, random);
    n_read += testing::completes_or_input_error([&] { Parsed file(bytes); });
  }
  // Both outcomes must be met, or the test would prove nothing.
  EXPECT_GT(n_read, 500);
  EXPECT_LT(n_read, 19'000);
}

}  // namespace
}  // namespace specbench::engine
