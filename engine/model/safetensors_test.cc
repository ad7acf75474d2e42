#include "engine/model/safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "engine/model/half.h"
#include "engine/model/input_file.h"
#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::safetensors_bytes;
using testing::ScratchFolder;
using testing::wrong_error;

std::string data_of(const std::vector<std::uint16_t>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * 2};
}

std::vector<float> values_of(const StoredTensor& tensor) {
  const BlockShape block = block_shape(tensor.type);
  std::vector<float> values(tensor.n_bytes / static_cast<std::size_t>(block.n_bytes));
  dequantize(tensor.type, tensor.data.get(), values.size(), values.data());
  return values;
}

constexpr const char* kOneTensor = R"({"a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}})";

TEST(Safetensors, ReadsEachDtypeExactly) {
  const ScratchFolder folder;
  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("h":{"dtype":"F16","shape":[3],"data_offsets":[12,18]},)"
                             R"("f":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
                             R"("b":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}}   )";
  const std::string data = data_of({0x3f80, 0xc000, 0x0001, 0x8000}) + data_of({0x0fdb, 0x4049}) +
                           data_of({0x3c00, 0x0001, 0xfbff});
  const auto path = folder.write("x.safetensors", safetensors_bytes(header, data));
  const std::vector<StoredTensor> tensors = open_safetensors(path);
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].name, "b");  // in the order of their bytes
  EXPECT_EQ(tensors[0].shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(tensors[0].type, WeightType::kBF16);
  EXPECT_EQ(tensors[0].file, path.string());
  EXPECT_EQ(values_of(tensors[0]), (std::vector<float>{1.0F, -2.0F, 0x1p-133F, -0.0F}));
  EXPECT_TRUE(std::signbit(values_of(tensors[0])[3]));
  EXPECT_EQ(tensors[1].type, WeightType::kF32);
  EXPECT_EQ(values_of(tensors[1]), std::vector<float>{3.14159274F});
  EXPECT_EQ(tensors[2].type, WeightType::kF16);
  EXPECT_EQ(values_of(tensors[2]), (std::vector<float>{1.0F, 0x1p-24F, -65504.0F}));
}

TEST(Safetensors, WidensEveryHalf) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>((bits >> 10) & 0x1f);
    const double fraction = static_cast<double>(bits & 0x3ff) / 1024.0;
    double expected =
        exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1.0 + fraction, exponent - 15);
    if (exponent == 31)
      expected = fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    if ((bits & 0x8000) != 0) expected = -expected;
    const float got = f16_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(got),
                std::bit_cast<std::uint32_t>(static_cast<float>(expected)));
    }
  }
}

// The tensors of a file are one mapping of it, each where the header says.
TEST(Safetensors, ViewsTheFile) {
  const ScratchFolder folder;
  const auto path =
      folder.write("x.safetensors", safetensors_bytes({{"a", {3}, {1, 2, 3}}, {"b", {1}, {4}}}));
  std::vector<StoredTensor> tensors = open_safetensors(path);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[1].data.get(), tensors[0].data.get() + 12);
  std::filesystem::remove(path);
  tensors.erase(tensors.begin());  // one tensor keeps the mapping
  EXPECT_EQ(values_of(tensors[0]), std::vector<float>{4});
}

TEST(Safetensors, RefusesHostileHeaders) {
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  const std::string two =
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],)";
  const struct {
    std::string header;
    std::uint64_t data_bytes;
    const char* fragment;
  } cases[] = {
      {"", 0, "does not begin with '{'"},
      {"[]", 0, "does not begin with '{'"},
      {"{\"a\":", 0, "not valid JSON at byte"},
      {"{\"a\":1}", 0, "field 'a' is 1; expected an object"},
      {"{}", 4, "the tensors end at byte 0 of 4 bytes of data"},
      {"{}x", 0, "not valid JSON"},
      {std::string("{}\0{}", 5), 0, "zero byte"},
      {"{\"\xff\":1}", 0, "not valid JSON"},
      {R"({"__metadata__":{"n":1}})", 0, "field '__metadata__.n' is 1; expected a string"},
      {R"({"__metadata__":[]})", 0, "field '__metadata__' is an array; expected an object"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "field 'a.data_offsets' is missing"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "field 'a.dtype' is missing"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "field 'a.shape' is missing"},
      {R"({"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4,
       "key 'shape' appears twice"},
      {R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
       0, "key 'a' appears twice"},
      {entry("\"I64\"", "[1]", "[0,8]"), 8,
       "field 'a.dtype' is 'I64'; F32, BF16 and F16 are supported"},
      {entry("\"F8_E4M3\"", "[1]", "[0,1]"), 1, "field 'a.dtype' is 'F8_E4M3'"},
      {entry("\"Q8_0\"", "[32]", "[0,34]"), 34, "field 'a.dtype' is 'Q8_0'; F32, BF16 and F16"},
      {entry("3", "[1]", "[0,4]"), 4, "field 'a.dtype' is 3; expected a string"},
      {entry("\"F32\"", "1", "[0,4]"), 4, "field 'a.shape' is 1; expected an array"},
      {entry("\"F32\"", "[-1]", "[0,4]"), 4, "field 'a.shape[0]' is -1"},
      {entry("\"F32\"", "[1.0]", "[0,4]"), 4, "field 'a.shape[0]' is 1; expected an integer"},
      {entry("\"F32\"", "[1e400]", "[0,4]"), 4, "not valid JSON"},
      {entry("\"F32\"", "[18446744073709551616]", "[0,4]"), 4, "field 'a.shape[0]'"},
      {entry("\"F32\"", "[4294967296,4294967296]", "[0,4]"), 4, "no longer fits in 64 bits"},
      {entry("\"F32\"", "[4611686018427387904]", "[0,0]"), 0,
       "its shape asks for 4611686018427387904 values"},
      {entry("\"F32\"", "[9223372036854775807,0]", "[0,4]"), 4, "has 4 bytes by its data_offsets"},
      {entry("\"F32\"", "[2]", "[0,4]"), 4, "its shape asks for 2 values of 4 bytes"},
      {entry("\"F16\"", "[1]", "[0,3]"), 3, "has 3 bytes by its data_offsets"},
      {entry("\"F32\"", "[1]", "[0]"), 4, "expected two offsets"},
      {entry("\"F32\"", "[1]", "[0,4,8]"), 8, "expected two offsets"},
      {entry("\"F32\"", "[1]", "[4,0]"), 4,
       "field 'a.data_offsets[0]' is 4; expected an integer from 0 to 0"},
      {entry("\"F32\"", "[1]", "[-4,0]"), 4, "field 'a.data_offsets[0]' is -4"},
      {entry("\"F32\"", "[1]", "[0,8]"), 4,
       "field 'a.data_offsets[1]' is 8; the file has only 4 bytes behind its header"},
      {entry("\"F32\"", "[1]", "[0,9223372036854775807]"), 4,
       "is incomplete or damaged, so fetch it"},
      {entry("\"F32\"", "[1]", "[0,-4]"), 4,
       "field 'a.data_offsets[1]' is -4; expected an integer"},
      {entry("\"F32\"", "[1]", "[\"0\",4]"), 4, "field 'a.data_offsets[0]' is '0'"},
      {entry("\"F32\"", "[1]", "[4,8]"), 8, "bytes 0 to 4 before tensor 'a' belong to no tensor"},
      {entry("\"F32\"", "[1]", "[0,4]"), 8, "the tensors end at byte 4 of 8"},
      {two + R"("data_offsets":[0,4]}})", 4, "overlap at byte 0"},
      {two + R"("data_offsets":[2,6]}})", 6, "tensors 'a' and 'b' overlap at byte 2"},
      {two + R"("data_offsets":[6,10]}})", 10, "bytes 4 to 6 before tensor 'b'"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.header);
    EXPECT_EQ(
        wrong_error([&] { parse_safetensors_header(c.header, c.data_bytes, "f.safetensors"); },
                    c.fragment),
        "");
    EXPECT_EQ(
        wrong_error([&] { parse_safetensors_header(c.header, c.data_bytes, "f.safetensors"); },
                    "f.safetensors"),
        "");
  }
}

TEST(Safetensors, RefusesDeepNesting) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string header = "{\"a\":";
    for (int i = 0; i < 1'000'000; ++i) header += open;
    EXPECT_EQ(
        wrong_error([&] { parse_safetensors_header(header, 0, "f"); }, "nests JSON deeper than 64"),
        "");
  }
}

TEST(Safetensors, AllowsScalarsAndEmptyTensors) {
  const auto tensors = parse_safetensors_header(
      R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"e":{"dtype":"F16","shape":[0,7],"data_offsets":[4,4]}})",
      4, "f");
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].n_values, 1U);
  EXPECT_EQ(tensors[1].n_values, 0U);
}

TEST(Safetensors, RefusesFilesThatAreNone) {
  const ScratchFolder folder;
  const auto expect = [](const std::filesystem::path& path, const char* fragment) {
    EXPECT_EQ(wrong_error([&] { open_safetensors(path); }, fragment), "");
  };
  expect(folder.path() / "no", "does not exist");
  expect(folder.path(), "is a directory");
  expect("/dev/zero", "is not a regular file");
  expect(folder.write("e", ""), "is 0 bytes long");
  expect(folder.write("s", "1234567"), "is 7 bytes long");
  expect(folder.write("h", "\xff\xff\xff\xff\xff\xff\xff\xff{}"),
         "states a header of 18446744073709551615 bytes");
  expect(folder.write("l", std::string("\x03\0\0\0\0\0\0\0{}", 10)),
         "states a header of 3 bytes, but only 2 follow");
}

TEST(Safetensors, RefusesEveryTruncation) {
  const ScratchFolder folder;
  const std::string whole = safetensors_bytes(kOneTensor, data_of({1, 2, 3, 4}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto path = folder.write("x.safetensors", whole.substr(0, length));
    EXPECT_THROW(open_safetensors(path), InputError) << length;
  }
}

TEST(Safetensors, SurvivesMutations) {
  const ScratchFolder folder;
  const std::string whole = safetensors_bytes({{"a", {2, 1}, {1, 2}}, {"bb", {1}, {3}}});
  const std::string header = whole.substr(8, whole.size() - 8 - 12);
  const std::string data = whole.substr(whole.size() - 12);
  testing::TestRandom random(1);
  int n_read = 0;
  for (int i = 0; i < 5000; ++i) {
    // Half of them keep a length that fits, so that the header's fields are reached.
    const auto path = folder.write(
        "x.safetensors", i % 2 == 0 ? testing::mutate(whole, random)
                                    : safetensors_bytes(testing::mutate(header, random), data));
    n_read += testing::completes_or_input_error([&] {
      for (const StoredTensor& tensor : open_safetensors(path)) values_of(tensor);
    });
  }
  EXPECT_GT(n_read, 50);  // some mutations are harmless, most are not
  EXPECT_LT(n_read, 2500);
}

TEST(InputFile, QuotesForOneLine) {
  EXPECT_EQ(quote("a\n\x7f"
                  "b"),
            "'a??b'");
  EXPECT_EQ(quote(std::string(81, 'x')), "'" + std::string(80, 'x') + "...'");
  EXPECT_EQ(quote(std::string(79, 'x') + "\xc3\xa9"), "'" + std::string(79, 'x') + "...'");
}

}  // namespace
}  // namespace specbench::engine
