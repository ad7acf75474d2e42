#include "engine/model/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "engine/error.h"
#include "engine/model/half.h"
#include "engine/model/json.h"

namespace specbench::engine {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

namespace {

std::uint64_t dtype_bytes(Dtype dtype) { return dtype == Dtype::kF32 ? 4 : 2; }

Dtype read_dtype(const JsonView& field) {
  const std::string& name = field.as_string();
  if (name == "F32") return Dtype::kF32;
  if (name == "BF16") return Dtype::kBF16;
  if (name == "F16") return Dtype::kF16;
  field.fail("F32, BF16 and F16 are supported, so convert the model to one of them");
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
  const auto last = static_cast<std::int64_t>(data_bytes);
  const std::int64_t end = field.item(1).as_integer_in(0, last);
  const std::int64_t begin = field.item(0).as_integer_in(0, end);
  tensor.begin = static_cast<std::uint64_t>(begin);
  tensor.end = static_cast<std::uint64_t>(end);
}

TensorInfo read_tensor_info(const JsonView& entry, const std::string& name,
                            std::uint64_t data_bytes) {
  TensorInfo tensor;
  tensor.name = name;
  tensor.dtype = read_dtype(entry.at("dtype"));
  tensor.n_values = read_shape(entry.at("shape"), tensor.shape);
  read_offsets(entry.at("data_offsets"), data_bytes, tensor);
  const std::uint64_t width = dtype_bytes(tensor.dtype);
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

std::string read_header(const InputFile& file) {
  if (file.size() < 8) {
    throw InputError(file.name() + " is " + std::to_string(file.size()) +
                     " bytes long; a safetensors file begins with 8 bytes of header length.");
  }
  std::array<std::byte, 8> length_bytes{};
  file.read(0, length_bytes);
  const auto length = std::bit_cast<std::uint64_t>(length_bytes);
  if (length > kMaxHeaderBytes) {
    throw InputError(file.name() + " states a header of " + std::to_string(length) +
                     " bytes; the format allows " + std::to_string(kMaxHeaderBytes) +
                     ", so this is no safetensors file.");
  }
  if (length > file.size() - 8) {
    throw InputError(file.name() + " states a header of " + std::to_string(length) +
                     " bytes, but only " + std::to_string(file.size() - 8) +
                     " follow; the file is incomplete, so fetch it again.");
  }
  std::string header(static_cast<std::size_t>(length), '\0');
  file.read(8, std::as_writable_bytes(std::span(header.data(), header.size())));
  return header;
}

void widen(Dtype dtype, std::span<const std::byte> bytes, float* out) {
  if (dtype == Dtype::kF32) {
    std::memcpy(out, bytes.data(), bytes.size());
    return;
  }
  for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    out[i] = dtype == Dtype::kBF16 ? bf16_to_float(bits) : f16_to_float(bits);
  }
}

}  // namespace

const char* dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return "F32";
    case Dtype::kBF16:
      return "BF16";
    case Dtype::kF16:
      return "F16";
  }
  return "";
}

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

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  const std::string header = read_header(file_);
  data_begin_ = 8 + header.size();
  tensors_ = parse_safetensors_header(header, file_.size() - data_begin_, file_.name());
}

std::vector<float> SafetensorsFile::read(const TensorInfo& tensor) const {
  constexpr std::uint64_t kChunkValues = 1 << 18;
  const std::uint64_t width = dtype_bytes(tensor.dtype);
  std::vector<float> values(static_cast<std::size_t>(tensor.n_values));
  std::vector<std::byte> buffer(
      static_cast<std::size_t>(std::min(kChunkValues, tensor.n_values) * width));
  for (std::uint64_t done = 0; done < tensor.n_values;) {
    const std::uint64_t count = std::min(kChunkValues, tensor.n_values - done);
    const std::span<std::byte> chunk(buffer.data(), static_cast<std::size_t>(count * width));
    file_.read(data_begin_ + tensor.begin + done * width, chunk);
    widen(tensor.dtype, chunk, values.data() + done);
    done += count;
  }
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad != values.end()) {
    throw InputError(file_.name() + ": tensor " + quote(tensor.name) + " holds " +
                     (std::isnan(*bad) ? "NaN" : "infinity") + " at index " +
                     std::to_string(bad - values.begin()) +
                     "; every weight must be finite, so fetch or convert the model again.");
  }
  return values;
}

}  // namespace specbench::engine
