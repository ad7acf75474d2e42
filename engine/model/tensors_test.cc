#include "engine/model/tensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "engine/model/test_files.h"

namespace specbench::engine {
namespace {

using testing::wrong_error;

/// A tensor with memory of its own.
StoredTensor stored(const std::string& name, WeightType type, std::vector<std::int64_t> shape,
                    std::vector<std::byte> bytes) {
  StoredTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.n_bytes = bytes.size();
  tensor.file = "f";
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  tensor.data = {owner, owner->data()};
  return tensor;
}

template <typename Value>
StoredTensor stored(const std::string& name, WeightType type, std::vector<std::int64_t> shape,
                    const std::vector<Value>& values) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return stored(name, type, std::move(shape),
                std::vector<std::byte>(bytes, bytes + values.size() * sizeof(Value)));
}

StoredTensor floats(const std::string& name, std::vector<std::int64_t> shape,
                    const std::vector<float>& values) {
  return stored(name, WeightType::kF32, std::move(shape), values);
}

TensorSet make_set() { return {"dir", "a Model of this config.json"}; }

TEST(Tensors, AreTakenOnceAsTheyAreStored) {
  TensorSet set = make_set();
  const StoredTensor wide = floats("wide", {2, 3}, {1, 2, 3, 4, 5, 6});
  set.add(wide);
  set.add(stored<std::uint16_t>("half", WeightType::kF16, {2}, {0x3c00, 0xc000}));
  EXPECT_TRUE(set.has("wide"));
  const Matrix matrix = set.matrix("wide", 2, 3);
  EXPECT_EQ(matrix.data, wide.data);  // no copy
  EXPECT_FALSE(matrix.is_mapped);
  EXPECT_EQ(to_floats(matrix), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(set.vector("half", 2), (std::vector<float>{1, -2}));
  EXPECT_FALSE(set.has("wide"));
  ASSERT_NE(set.find("wide"), nullptr);
  EXPECT_EQ(set.find("wide")->n_bytes, 24U);
  EXPECT_EQ(set.find("no"), nullptr);
  set.expect_all_taken([](std::string_view) { return false; });
}

TEST(Tensors, RefuseWhatDoesNotFit) {
  TensorSet set = make_set();
  set.add(floats("a", {2, 3}, std::vector<float>(6)));
  set.add(floats("v", {6}, std::vector<float>(6)));
  set.add(stored("q", WeightType::kQ8_0, {34, 32}, std::vector<std::byte>(34 * 34)));
  const auto expect = [&](auto call, const char* fragment) {
    EXPECT_EQ(wrong_error(call, fragment), "");
  };
  expect([&] { set.matrix("b", 2, 3); },
         "dir: tensor 'b' is missing from the weight files; a Model of this config.json needs it.");
  expect([&] { set.matrix("a", 3, 2); },
         "f: tensor 'a' has shape [2, 3]; a Model of this config.json asks for [3, 2].");
  expect([&] { set.vector("a", 6); },
         "has shape [2, 3]; a Model of this config.json asks for [6].");
  expect([&] { set.matrix("v", 2, 3); }, "has shape [6]");
  expect([&] { set.add(floats("a", {1}, {0})); }, "f: tensor 'a' is stored twice");
  StoredTensor elsewhere = floats("a", {1}, {0});
  elsewhere.file = "g";
  expect([&] { set.add(elsewhere); }, "g: tensor 'a' also lies in f; one of them must go.");
  expect([&] { set.expect_all_taken([](std::string_view name) { return name != "v"; }); },
         "f: tensor 'v' is not part of a Model of this config.json; what it does to the output");
}

TEST(Tensors, RefuseRowsThatEndWithinABlock) {
  TensorSet set = make_set();
  set.add(stored("q", WeightType::kQ8_0, {32, 16}, std::vector<std::byte>(34 * 16)));
  EXPECT_EQ(wrong_error([&] { set.matrix("q", 32, 16); },
                        "tensor 'q' has rows of 16 values of type Q8_0, which stores blocks of 32"),
            "");
}

TEST(Tensors, TheirDtypeIsTheCommonestByBytes) {
  TensorSet set = make_set();
  set.add(floats("a", {2, 1}, {0, 0}));
  set.add(stored<std::uint16_t>("b", WeightType::kBF16, {6, 1}, std::vector<std::uint16_t>(6)));
  set.add(stored<std::uint16_t>("c", WeightType::kBF16, {9}, std::vector<std::uint16_t>(9)));
  EXPECT_EQ(set.dtype(), "");
  set.matrix("a", 2, 1);
  EXPECT_EQ(set.dtype(), "F32");  // what is not taken does not count
  set.matrix("b", 6, 1);
  EXPECT_EQ(set.dtype(), "BF16+");
}

// Computed with the xxhash package of Python from the text that TensorSet::inspect describes.
TEST(Tensors, HashNamesTypesShapesAndBytes) {
  const StoredTensor a = floats("a", {2, 1}, {1.0F, -2.0F});
  const StoredTensor b = stored<std::uint16_t>("b", WeightType::kBF16, {3}, {1, 2, 3});
  const auto hash_of = [](const std::vector<StoredTensor>& tensors) {
    TensorSet set = make_set();
    for (const StoredTensor& tensor : tensors) set.add(tensor);
    return set.inspect(2);
  };
  EXPECT_EQ(hash_of({}), 0x2d06800538d394c2ULL);
  const std::uint64_t both = hash_of({a, b});
  EXPECT_EQ(both, 0x001cc49b2aefbc4fULL);
  StoredTensor other = b;
  other.file = "g";
  EXPECT_EQ(hash_of({other, a}), both);  // files and their order do not count
  const auto expect_another = [&](auto change) {
    StoredTensor changed = b;
    change(changed);
    EXPECT_NE(hash_of({a, changed}), both);
  };
  expect_another([](StoredTensor& t) { t.name = "c"; });
  expect_another([](StoredTensor& t) { t.type = WeightType::kF16; });
  expect_another([](StoredTensor& t) { t.shape = {3, 1}; });
  expect_another([](StoredTensor& t) {
    t = stored<std::uint16_t>("b", WeightType::kBF16, {3}, {1, 2, 4});
  });
}

TEST(Tensors, HashTheSameOnAnyNumberOfThreads) {
  TensorSet set = make_set();
  for (int i = 0; i < 40; ++i)
    set.add(floats(std::to_string(i), {i * 2500},
                   std::vector<float>(static_cast<std::size_t>(i * 2500), static_cast<float>(i))));
  const std::uint64_t hash = set.inspect(1);
  EXPECT_EQ(set.inspect(2), hash);
  EXPECT_EQ(set.inspect(7), hash);
}

TEST(Tensors, NameTheFirstValueThatIsNotFinite) {
  const auto expect = [](WeightType type, std::vector<std::byte> bytes, const char* fragment) {
    TensorSet set = make_set();
    const BlockShape block = block_shape(type);
    const auto n = static_cast<std::int64_t>(bytes.size()) / block.n_bytes * block.n_values;
    set.add(stored("ok", WeightType::kF32, {1}, std::vector<std::byte>(4)));
    set.add(stored("t", type, {n}, std::move(bytes)));
    EXPECT_EQ(wrong_error([&] { set.inspect(2); }, fragment), "");
  };
  const auto with = [](std::size_t n_bytes, std::size_t at, std::uint32_t bits, std::size_t width) {
    std::vector<std::byte> bytes(n_bytes);
    std::memcpy(bytes.data() + at, &bits, width);
    return bytes;
  };
  expect(WeightType::kF32, with(40, 36, 0x7f800000, 4), "f: tensor 't' holds infinity at index 9;");
  expect(WeightType::kF32, with(40, 4, 0xff800001, 4), "tensor 't' holds NaN at index 1;");
  expect(WeightType::kF16, with(40, 38, 0xfc00, 2), "holds infinity at index 19;");
  expect(WeightType::kF16, with(40, 6, 0x7c01, 2), "holds NaN at index 3;");
  expect(WeightType::kBF16, with(40, 0, 0x7fc0, 2), "holds NaN at index 0;");
  // Beyond the first chunk.
  expect(WeightType::kBF16, with(1'000'000, 900'000, 0x7f80, 2), "infinity at index 450000;");
  const struct {
    WeightType type;
    std::vector<std::size_t> places;  // of the 16-bit floats in a block
  } types[] = {{WeightType::kQ8_0, {0}},    {WeightType::kQ4_0, {0}},  {WeightType::kQ4_1, {0, 2}},
               {WeightType::kQ4_K, {0, 2}}, {WeightType::kQ5_0, {0}},  {WeightType::kQ5_1, {0, 2}},
               {WeightType::kQ5_K, {0, 2}}, {WeightType::kQ6_K, {208}}};
  for (const auto& t : types) {
    SCOPED_TRACE(weight_type_name(t.type));
    const auto size = static_cast<std::size_t>(block_shape(t.type).n_bytes);
    const int begin = 2 * block_shape(t.type).n_values;
    for (const std::size_t place : t.places) {
      const std::string fragment = " at index " + std::to_string(begin) + ", where a block begins;";
      expect(t.type, with(3 * size, 2 * size + place, 0x7c00, 2), ("infinity" + fragment).c_str());
      expect(t.type, with(3 * size, 2 * size + place, 0x7e00, 2), ("NaN" + fragment).c_str());
    }
  }
}

// Any finite bits pass: what is judged are exponents, and in blocks nothing but scales and minima.
TEST(Tensors, PassEveryFiniteValue) {
  std::vector<std::uint16_t> f16, bf16;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00) != 0x7c00) f16.push_back(static_cast<std::uint16_t>(bits));
    if ((bits & 0x7f80) != 0x7f80) bf16.push_back(static_cast<std::uint16_t>(bits));
  }
  TensorSet set = make_set();
  set.add(stored("f16", WeightType::kF16, {static_cast<std::int64_t>(f16.size())}, f16));
  set.add(stored("bf16", WeightType::kBF16, {static_cast<std::int64_t>(bf16.size())}, bf16));
  set.add(floats("f32", {4},
                 {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(),
                  std::numeric_limits<float>::denorm_min(), -0.0F}));
  for (const WeightType type :
       {WeightType::kQ8_0, WeightType::kQ4_0, WeightType::kQ4_1, WeightType::kQ5_0,
        WeightType::kQ5_1, WeightType::kQ4_K, WeightType::kQ5_K, WeightType::kQ6_K}) {
    const BlockShape block = block_shape(type);
    std::vector<std::byte> bytes(static_cast<std::size_t>(block.n_bytes), std::byte{0xff});
    const std::size_t scale = type == WeightType::kQ6_K ? 208 : 0;
    for (const std::size_t at : {scale, scale + 1}) bytes[at] = std::byte{0x12};
    if (type == WeightType::kQ4_1 || type == WeightType::kQ5_1 || type == WeightType::kQ4_K ||
        type == WeightType::kQ5_K)
      bytes[2] = bytes[3] = std::byte{0x12};
    set.add(stored(weight_type_name(type), type, {block.n_values}, std::move(bytes)));
  }
  EXPECT_NO_THROW(set.inspect(2));
}

}  // namespace
}  // namespace specbench::engine
