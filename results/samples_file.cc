#include "results/samples_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

namespace specbench::results {
namespace {

namespace fs = std::filesystem;

constexpr int kGzip = 15 + 16;  // windowBits of zlib: the largest window, a gzip header
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
constexpr std::string_view kSuffix = ".samples.jsonl.gz";

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

// Cuts the unpacked text into rows as it comes and stops as soon as it is not what was promised.
class RowReader {
 public:
  RowReader(const SamplesFile& file, std::size_t n_phases) : file_(file), n_phases_(n_phases) {}

  void add(std::string_view text) {
    n_bytes_ += static_cast<std::int64_t>(text.size());
    if (n_bytes_ > file_.bytes)
      refuse(fmt::format("it unpacks to more than the {} bytes of the record", file_.bytes));
    hash_ = fnv1a(text, hash_);
    for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;) {
      extend(text.substr(0, end));
      add_row();
      text.remove_prefix(end + 1);
    }
    extend(text);
  }

  std::vector<SampleRow> finish() {
    if (!line_.empty()) refuse("its last line is cut short");
    if (n_bytes_ != file_.bytes)
      refuse(fmt::format("it holds {} bytes, the record says {}", n_bytes_, file_.bytes));
    if (static_cast<std::int64_t>(rows_.size()) != file_.rows)
      refuse(fmt::format("it holds {} rows, the record says {}", rows_.size(), file_.rows));
    if (hash_ != file_.fnv1a) {
      refuse(
          fmt::format("its hash is 0x{:016x}, the record says 0x{:016x}: it belongs to another run "
                      "or is damaged",
                      hash_, file_.fnv1a));
    }
    return std::move(rows_);
  }

 private:
  void extend(std::string_view text) {
    if (line_.size() + text.size() > kMaxLineBytes)
      refuse(fmt::format("line {} is longer than {} bytes", rows_.size() + 1, kMaxLineBytes));
    line_ += text;
  }

  void add_row() {
    try {
      rows_.push_back(sample_from_json(line_, rows_.size(), n_phases_));
    } catch (const std::invalid_argument& error) {
      refuse(fmt::format("line {}: {}", rows_.size() + 1, error.what()));
    }
    line_.clear();
  }

  const SamplesFile& file_;
  std::size_t n_phases_;
  std::string line_;
  std::vector<SampleRow> rows_;
  std::int64_t n_bytes_ = 0;
  std::uint64_t hash_ = fnv1a("");
};

class Unpacker {
 public:
  Unpacker() {
    if (inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() { inflateEnd(&stream_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // Hands on what `packed` unpacks to.
  void add(std::string_view packed, RowReader& rows) {
    std::array<char, kBufferBytes> text;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    do {
      if (is_done_) break;
      stream_.next_out = reinterpret_cast<Bytef*>(text.data());
      stream_.avail_out = static_cast<uInt>(text.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        refuse("its compressed data is damaged");
      is_done_ = status == Z_STREAM_END;
      rows.add({text.data(), text.size() - stream_.avail_out});
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    if (stream_.avail_in > 0) refuse("bytes follow the end of its compressed data");
  }

  bool is_done() const { return is_done_; }

 private:
  z_stream stream_{};
  bool is_done_ = false;
};

std::vector<SampleRow> unpack(const fs::path& path, const SamplesFile& file, std::size_t n_phases) {
  std::error_code error;
  if (!fs::exists(path, error)) refuse("it does not exist; keep it in the folder of the record");
  if (!fs::is_regular_file(path, error)) refuse("it is no regular file");
  std::ifstream input(path, std::ios::binary);
  if (!input) refuse("it cannot be opened");
  RowReader rows(file, n_phases);
  Unpacker unpacker;
  std::array<char, kBufferBytes> packed;
  while (input) {
    input.read(packed.data(), static_cast<std::streamsize>(packed.size()));
    if (input.gcount() > 0)
      unpacker.add({packed.data(), static_cast<std::size_t>(input.gcount())}, rows);
  }
  if (input.bad()) refuse("it cannot be read");
  if (!unpacker.is_done()) refuse("its compressed data is cut short");
  return rows.finish();
}

void check_claims(const SamplesFile& file) {
  const bool is_plain = file.name.size() > kSuffix.size() && file.name.ends_with(kSuffix) &&
                        file.name.find('/') == std::string::npos &&
                        file.name.find('\0') == std::string::npos;
  if (!is_plain)
    refuse(fmt::format("it must be a name that ends in {}, without a folder", kSuffix));
  if (file.rows < 0 || file.bytes < 0 || file.bytes > kMaxSamplesBytes || file.rows > file.bytes) {
    refuse(fmt::format("{} rows in {} bytes are impossible or more than {} bytes", file.rows,
                       file.bytes, kMaxSamplesBytes));
  }
}

}  // namespace

std::uint64_t fnv1a(std::string_view text, std::uint64_t hash) {
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

fs::path samples_path(const fs::path& record) {
  const fs::path stem = record.extension() == ".json" ? record.stem() : record.filename();
  return record.parent_path() / (stem.string() + std::string(kSuffix));
}

std::string compress_samples(std::string_view lines) {
  if (static_cast<std::int64_t>(lines.size()) > kMaxSamplesBytes) {
    refuse(fmt::format("the samples take {} bytes, more than {}; measure fewer blocks or processes",
                       lines.size(), kMaxSamplesBytes));
  }
  for (std::size_t at = 0, end; at < lines.size(); at = end + 1) {
    end = std::min(lines.find('\n', at), lines.size());
    if (end - at > kMaxLineBytes)
      refuse(fmt::format("a sample takes {} bytes, more than {}; measure fewer tokens in a run",
                         end - at, kMaxLineBytes));
  }
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  gz_header header{};
  header.os = 255;  // unknown, wherever it is written
  deflateSetHeader(&stream, &header);
  std::string packed(deflateBound(&stream, lines.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(lines.data()));
  stream.avail_in = static_cast<uInt>(lines.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::logic_error("the bound of the compressed size was wrong");
  return packed;
}

std::vector<SampleRow> read_samples(const fs::path& folder, const SamplesFile& file,
                                    std::size_t n_phases) {
  try {
    check_claims(file);
    return unpack(folder / file.name, file, n_phases);
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("its samples_file '{}' does not serve: {}", file.name, error.what()));
  }
}

}  // namespace specbench::results
