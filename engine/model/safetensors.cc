#include "engine/model/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "engine/error.h"
#include "engine/model/input_file.h"
#include "engine/model/json.h"
#include "engine/model/mapped_file.h"

namespace specbench::engine {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

namespace {

constexpr std::size_t kLengthBytes = 8;

WeightType read_dtype(const JsonView& field) {
  const std::optional<WeightType> type = weight_type_of(field.as_string());
  // The types of blocks belong to another format.
  if (!type || block_shape(*type).n_values != 1)
    field.fail("F32, BF16 and F16 are supported, so convert the model to one of them");
  return *type;
}

std::uint64_t read_shape(const JsonView& field, std::vector<std::int64_t>& shape) {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < field.as_array().size(); ++i) {
    const JsonView dimension = field.item(i);
    const std::int64_t extent =
        dimension.as_integer_in(0, std::numeric_limits<std::int64_t>::max());
    shape.push_back(extent);
    const auto factor = static_cast<std::uint64_t>(extent);
    if (factor != 0 && product > std::numeric_limits<std::uint64_t>::max() / factor) {
      dimension.fail("with it the number of values no longer fits in 64 bits");
    }
    product *= factor;
  }
  return product;
}

void read_offsets(const JsonView& field, std::uint64_t data_bytes, TensorInfo& tensor) {
  if (field.as_array().size() != 2) field.fail("expected two offsets, begin and end");
  const JsonView last = field.item(1);
  const std::int64_t end = last.as_integer_in(0, std::numeric_limits<std::int64_t>::max());
  if (static_cast<std::uint64_t>(end) > data_bytes) {
    last.fail("the file has only " + std::to_string(data_bytes) +
              " bytes behind its header; it is incomplete or damaged, so fetch it again");
  }
  const std::int64_t begin = field.item(0).as_integer_in(0, end);
  tensor.begin = static_cast<std::uint64_t>(begin);
  tensor.end = static_cast<std::uint64_t>(end);
}

TensorInfo read_tensor_info(const JsonView& entry, const std::string& name,
                            std::uint64_t data_bytes) {
  TensorInfo tensor;
  tensor.name = name;
  tensor.type = read_dtype(entry.at("dtype"));
  tensor.n_values = read_shape(entry.at("shape"), tensor.shape);
  read_offsets(entry.at("data_offsets"), data_bytes, tensor);
  const auto width = static_cast<std::uint64_t>(block_shape(tensor.type).n_bytes);
  // By division: n_values * width may overflow.
  const std::uint64_t n_bytes = tensor.end - tensor.begin;
  if (n_bytes % width != 0 || n_bytes / width != tensor.n_values) {
    throw InputError(entry.file() + ": tensor " + quote(name) + " has " + std::to_string(n_bytes) +
                     " bytes by its data_offsets, but its shape asks for " +
                     std::to_string(tensor.n_values) + " values of " + std::to_string(width) +
                     " bytes; the file is damaged.");
  }
  return tensor;
}

void check_metadata(const JsonView& metadata) {
  for (const JsonMember& member : metadata.as_object()) {
    if (!std::holds_alternative<std::string>(member.value.data)) {
      throw InputError(metadata.file() + ": field " + quote("__metadata__." + member.key) + " is " +
                       describe(member.value) + "; expected a string.");
    }
  }
}

/// `tensors` is sorted by bytes.
void check_coverage(const std::vector<TensorInfo>& tensors, std::uint64_t data_bytes,
                    const std::string& file) {
  std::uint64_t covered = 0;
  const std::string* previous = nullptr;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin < covered) {
      throw InputError(file + ": tensors " + quote(*previous) + " and " + quote(tensor.name) +
                       " overlap at byte " + std::to_string(tensor.begin) +
                       "; each byte may belong to one tensor.");
    }
    if (tensor.begin > covered) {
      throw InputError(file + ": bytes " + std::to_string(covered) + " to " +
                       std::to_string(tensor.begin) + " before tensor " + quote(tensor.name) +
                       " belong to no tensor; the format allows no holes.");
    }
    covered = tensor.end;
    previous = &tensor.name;
  }
  if (covered != data_bytes) {
    throw InputError(file + ": the tensors end at byte " + std::to_string(covered) + " of " +
                     std::to_string(data_bytes) +
                     " bytes of data; the format allows no trailing bytes.");
  }
}

/// The JSON text between the length and the tensors.
std::string_view header_of(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes) {
    throw InputError(file + " is " + std::to_string(bytes.size()) +
                     " bytes long; a safetensors file begins with 8 bytes of header length.");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    throw InputError(file + " states a header of " + std::to_string(length) +
                     " bytes; the format allows " + std::to_string(kMaxHeaderBytes) +
                     ", so this is no safetensors file.");
  }
  if (length > bytes.size() - kLengthBytes) {
    throw InputError(file + " states a header of " + std::to_string(length) + " bytes, but only " +
                     std::to_string(bytes.size() - kLengthBytes) +
                     " follow; the file is incomplete, so fetch it again.");
  }
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes,
          static_cast<std::size_t>(length)};
}

}  // namespace

std::vector<TensorInfo> parse_safetensors_header(std::string_view header, std::uint64_t data_bytes,
                                                 const std::string& file) {
  if (header.empty() || header.front() != '{') {
    throw InputError(file + ": the header does not begin with '{'; this is no safetensors file.");
  }
  const JsonValue root = parse_json(header, file);
  const JsonView top(file, root);
  std::vector<TensorInfo> tensors;
  for (const JsonMember& member : top.as_object()) {
    const JsonView entry = top.child(member);
    if (member.key == "__metadata__") {
      check_metadata(entry);
    } else {
      tensors.push_back(read_tensor_info(entry, member.key, data_bytes));
    }
  }
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  check_coverage(tensors, data_bytes, file);
  return tensors;
}

std::vector<StoredTensor> open_safetensors(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  return read_safetensors(file->all(), file->name());
}

std::vector<StoredTensor> read_safetensors(const FileBytes& bytes, const std::string& file) {
  const std::string_view header = header_of({bytes.data.get(), bytes.size}, file);
  const std::size_t data_begin = kLengthBytes + header.size();
  std::vector<StoredTensor> tensors;
  for (TensorInfo& info : parse_safetensors_header(header, bytes.size - data_begin, file)) {
    StoredTensor tensor;
    tensor.name = std::move(info.name);
    tensor.type = info.type;
    tensor.shape = std::move(info.shape);
    tensor.data = {bytes.data, bytes.data.get() + data_begin + info.begin};
    tensor.n_bytes = static_cast<std::size_t>(info.end - info.begin);
    tensor.file = file;
    tensor.is_mapped = bytes.is_mapped;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace specbench::engine
