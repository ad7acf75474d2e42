#include "engine/model/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/error.h"
#include "engine/model/gguf_reader.h"
#include "engine/model/input_file.h"

namespace specbench::engine {

static_assert(std::endian::native == std::endian::little, "GGUF files are read little-endian");

namespace {

constexpr std::uint64_t kLeastValueBytes = 13;   // length of the key, type, one byte
constexpr std::uint64_t kLeastTensorBytes = 24;  // length of the name, dimensions, type, offset
constexpr std::uint32_t kMaxDimensions = 4;
constexpr std::int64_t kDefaultAlignment = 32;
constexpr std::int64_t kMaxAlignment = 1 << 16;

// By ggml's number; null where a type was given up.
constexpr std::array<const char*, 42> kGgmlTypes = {
    "F32",     "F16",   "Q4_0",   "Q4_1",  nullptr,    nullptr,    "Q5_0",     "Q5_1",    "Q8_0",
    "Q8_1",    "Q2_K",  "Q3_K",   "Q4_K",  "Q5_K",     "Q6_K",     "Q8_K",     "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S",    "IQ4_XS",   "I8",       "I16",     "I32",
    "I64",     "F64",   "IQ1_M",  "BF16",  "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0",
    nullptr,   nullptr, nullptr,  "MXFP4", "NVFP4",    "Q1_0"};

struct Header {
  std::uint64_t n_tensors = 0;
  std::uint64_t n_values = 0;
};

Header read_header(GgufReader& reader, std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "GGUF", 4) != 0) {
    const bool is_swapped = bytes.size() >= 4 && std::memcmp(bytes.data(), "FUGG", 4) == 0;
    throw InputError(file + (is_swapped ? " is a big-endian GGUF file; convert it to little-endian."
                                        : " does not begin with 'GGUF'; it is no GGUF file."));
  }
  reader.take(4);
  const auto version = reader.number<std::uint32_t>();
  if (version != 2 && version != 3) {
    // Written the other way round, a small version fills the highest byte.
    if (version != 0 && (version & 0xffffU) == 0) {
      throw InputError(file + " is a big-endian GGUF file; convert it to little-endian.");
    }
    throw InputError(file + " is of GGUF version " + std::to_string(version) +
                     "; versions 2 and 3 are supported, so convert the model again.");
  }
  Header header;
  header.n_tensors = reader.count("tensors", kLeastTensorBytes);
  header.n_values = reader.count("metadata values", kLeastValueBytes);
  return header;
}

GgufType read_type(GgufReader& reader) {
  const auto type = reader.number<std::uint32_t>();
  if (type >= kGgufTypes) {
    reader.fail("has type " + std::to_string(type) + "; the format knows 0 to " +
                std::to_string(kGgufTypes - 1) + ", so the file is damaged");
  }
  return static_cast<GgufType>(type);
}

void check_bools(const GgufReader& reader, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    if (byte <= std::byte{1}) continue;
    reader.fail("holds a bool of value " + std::to_string(std::to_integer<int>(byte)) +
                "; 0 and 1 are the only ones, so the file is damaged");
  }
}

GgufValue read_value(GgufReader& reader, GgufType type, int depth);

void read_array(GgufReader& reader, GgufValue& array, int depth) {
  if (depth > kMaxGgufDepth) {
    reader.fail("nests arrays deeper than " + std::to_string(kMaxGgufDepth) +
                " levels; no model this program can run needs that");
  }
  array.item_type = read_type(reader);
  const std::size_t width = gguf_type_bytes(array.item_type);
  // A string begins with its length, an array with its type and count.
  const bool is_string = array.item_type == GgufType::kString;
  const std::uint64_t least = width != 0 ? width : is_string ? 8 : 12;
  array.n_items = reader.count("items", least);
  const std::uint64_t begin = reader.position();
  if (width != 0) {
    reader.take(array.n_items * width);
  } else {
    for (std::uint64_t i = 0; i < array.n_items; ++i)
      (void)read_value(reader, array.item_type, depth + 1);
  }
  array.bytes = reader.since(begin);
  if (array.item_type == GgufType::kBool) check_bools(reader, array.bytes);
}

GgufValue read_value(GgufReader& reader, GgufType type, int depth) {
  GgufValue value;
  value.type = type;
  if (type == GgufType::kString) {
    value.bytes = reader.text();
  } else if (type == GgufType::kArray) {
    read_array(reader, value, depth);
  } else {
    value.bytes = reader.take(gguf_type_bytes(type));
    if (type == GgufType::kBool) check_bools(reader, value.bytes);
  }
  return value;
}

std::map<std::string_view, GgufValue> read_values(GgufReader& reader, std::uint64_t n) {
  std::map<std::string_view, GgufValue> values;
  for (std::uint64_t i = 0; i < n; ++i) {
    reader.enter("the name of a key");
    const std::string_view key = reader.name();
    reader.enter("key", key);
    const GgufType type = read_type(reader);
    if (!values.emplace(key, read_value(reader, type, 1)).second) {
      reader.fail("appears twice; each may appear once");
    }
  }
  return values;
}

WeightType read_weight_type(GgufReader& reader) {
  const auto number = reader.number<std::uint32_t>();
  const char* const name = number < kGgmlTypes.size() ? kGgmlTypes[number] : nullptr;
  const auto type = name != nullptr ? weight_type_of(name) : std::nullopt;
  if (!type) {
    const std::string stored = name != nullptr ? name : "ggml type " + std::to_string(number);
    reader.fail(
        "is stored as " + stored +
        "; F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K and Q6_K are supported, so "
        "quantize the model to one of them");
  }
  return *type;
}

/// Outermost first; fills in the number of values.
std::vector<std::int64_t> read_shape(GgufReader& reader, std::uint64_t& n_values) {
  const auto n_dimensions = reader.number<std::uint32_t>();
  if (n_dimensions > kMaxDimensions) {
    reader.fail("has " + std::to_string(n_dimensions) + " dimensions; at most " +
                std::to_string(kMaxDimensions) + " are possible, so the file is damaged");
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::vector<std::int64_t> shape(n_dimensions);
  n_values = 1;
  for (std::uint32_t i = 0; i < n_dimensions; ++i) {
    const auto extent = reader.number<std::uint64_t>();
    if (extent == 0 || extent > kMost / n_values) {
      reader.fail("has a dimension of " + std::to_string(extent) +
                  (extent == 0 ? "; every one must be at least 1"
                               : "; with it the number of values no longer fits in 63 bits"));
    }
    n_values *= extent;
    shape[n_dimensions - 1 - i] = static_cast<std::int64_t>(extent);
  }
  return shape;
}

/// `begin` is yet from the start of the data, which is known only after the last tensor.
GgufTensor read_tensor(GgufReader& reader, std::uint64_t alignment, std::uint64_t file_bytes) {
  reader.enter("the name of a tensor");
  GgufTensor tensor;
  const std::string_view name = reader.name();
  reader.enter("tensor", name);
  tensor.name = name;
  std::uint64_t n_values = 0;
  tensor.shape = read_shape(reader, n_values);
  tensor.type = read_weight_type(reader);
  const BlockShape block = block_shape(tensor.type);
  const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (row % block.n_values != 0) {
    reader.fail("has rows of " + std::to_string(row) + " values, but " +
                weight_type_name(tensor.type) + " stores blocks of " +
                std::to_string(block.n_values) + "; the file is damaged");
  }
  const std::uint64_t n_blocks = n_values / static_cast<std::uint64_t>(block.n_values);
  const auto block_bytes = static_cast<std::uint64_t>(block.n_bytes);
  tensor.begin = reader.number<std::uint64_t>();
  if (tensor.begin % alignment != 0) {
    reader.fail("begins at byte " + std::to_string(tensor.begin) +
                " of the data, which is no multiple of the alignment, " +
                std::to_string(alignment) + "; the file is damaged");
  }
  // By division: their product and sum may not fit.
  if (tensor.begin > file_bytes || n_blocks > (file_bytes - tensor.begin) / block_bytes) {
    reader.fail("begins at byte " + std::to_string(tensor.begin) + " of the data and has " +
                std::to_string(n_values) + " values, but the whole file has " +
                std::to_string(file_bytes) + " bytes; it is incomplete or damaged, so fetch it " +
                "again");
  }
  tensor.n_bytes = n_blocks * block_bytes;
  return tensor;
}

/// Moves the tensors to where the data begins. `tensors` in order of names.
void place_tensors(std::vector<GgufTensor>& tensors, std::uint64_t data_begin,
                   std::uint64_t alignment, std::uint64_t file_bytes, const std::string& file) {
  std::vector<const GgufTensor*> by_place;
  for (GgufTensor& tensor : tensors) {
    // No overflow: both were compared with the size of the file, and a file has fewer than 2^62.
    tensor.begin += data_begin;
    if (tensor.begin > file_bytes || tensor.n_bytes > file_bytes - tensor.begin) {
      throw InputError(file + ": tensor " + quote(tensor.name) + " ends at byte " +
                       std::to_string(tensor.begin + tensor.n_bytes) + ", but the file has " +
                       std::to_string(file_bytes) +
                       " bytes; it is incomplete or damaged, so fetch it again.");
    }
    by_place.push_back(&tensor);
  }
  std::sort(by_place.begin(), by_place.end(), [](const GgufTensor* a, const GgufTensor* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->name < b->name;
  });
  std::uint64_t end = data_begin;  // of those before, with what aligns the next
  for (std::size_t i = 0; i < by_place.size(); ++i) {
    const GgufTensor& tensor = *by_place[i];
    if (i > 0 && tensor.begin < by_place[i - 1]->begin + by_place[i - 1]->n_bytes)
      throw InputError(file + ": tensors " + quote(by_place[i - 1]->name) + " and " +
                       quote(tensor.name) + " overlap at byte " + std::to_string(tensor.begin) +
                       "; each byte may belong to one tensor.");
    // A type or a shape that is not the stored one leaves a hole.
    if (tensor.begin != end)
      throw InputError(file + ": tensor " + quote(tensor.name) + " begins at byte " +
                       std::to_string(tensor.begin) + ", but what lies before it ends at byte " +
                       std::to_string(end) +
                       "; the format allows no holes, so the file is damaged.");
    end = (tensor.begin + tensor.n_bytes + alignment - 1) / alignment * alignment;
  }
}

}  // namespace

GgufFile::GgufFile(std::span<const std::byte> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {
  GgufReader reader(bytes_, name_);
  const Header header = read_header(reader, bytes_, name_);
  values_ = read_values(reader, header.n_values);
  std::int64_t alignment = kDefaultAlignment;
  if (const auto field = find("general.alignment")) {
    alignment = field->as_integer_in(8, kMaxAlignment);
    if (!std::has_single_bit(static_cast<std::uint64_t>(alignment)))
      field->fail("expected a power of two");
  }
  const auto step = static_cast<std::uint64_t>(alignment);
  for (std::uint64_t i = 0; i < header.n_tensors; ++i)
    tensors_.push_back(read_tensor(reader, step, bytes_.size()));
  std::sort(tensors_.begin(), tensors_.end(),
            [](const GgufTensor& a, const GgufTensor& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(tensors_.begin(), tensors_.end(),
                         [](const GgufTensor& a, const GgufTensor& b) { return a.name == b.name; });
  if (twice != tensors_.end()) {
    throw InputError(name_ + ": tensor " + quote(twice->name) +
                     " appears twice; each may appear once.");
  }
  place_tensors(tensors_, (reader.position() + step - 1) / step * step, step, bytes_.size(), name_);
}

std::optional<GgufField> GgufFile::find(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  return GgufField(name_, std::string(key), found->second);
}

GgufField GgufFile::at(std::string_view key) const {
  if (auto found = find(key)) return *std::move(found);
  throw InputError(name_ + ": key " + quote(key) + " is missing; it is required.");
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
  const auto found = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const GgufTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

}  // namespace specbench::engine
