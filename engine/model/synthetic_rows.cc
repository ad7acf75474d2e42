#include "engine/model/synthetic_rows.h"

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstring>

#include "engine/model/half.h"
#include "engine/model/narrow.h"

namespace specbench::engine {

namespace {

// No purpose of coins.h ends a counter like this, so no coin shares a block with a weight.
constexpr std::uint32_t kQuants = 0x77000001, kScales = 0x77000002;

/// Words one after another, of one row and one use.
class Words {
 public:
  Words(const RowKey& key, std::uint32_t use)
      : counter_{{0, key.row, key.tensor, use}},
        seed_{{static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}} {}

  std::uint32_t next() {
    if (used_ == words_.size()) refill();
    return words_[used_++];
  }
  /// A multiple of 16 bytes.
  void fill(std::uint8_t* out, std::size_t n_bytes) {
    for (std::size_t at = 0; at < n_bytes; at += sizeof words_) {
      refill();
      std::memcpy(out + at, words_.data(), sizeof words_);
    }
    used_ = words_.size();
  }

 private:
  void refill() {
    const auto words = r123::Philox4x32()(counter_, seed_);
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = words[i];
    ++counter_[0];
    used_ = 0;
  }

  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::key_type seed_;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

/// Uniform with mean 0 and that deviation, from 16 bits.
void fill_floats(WeightType type, double deviation, Words& quants, int n_cols, std::byte* out) {
  const auto step = static_cast<float>(deviation * std::sqrt(3.0) / 32768.0);
  for (int i = 0; i < n_cols; i += 2) {
    const std::uint32_t word = quants.next();
    for (int j = 0; j < 2 && i + j < n_cols; ++j) {
      const auto sixteen = static_cast<float>((word >> (16 * j)) & 0xffffU);
      const float value = step * (sixteen - 32767.5F);
      const std::uint16_t narrow = type == WeightType::kF16 ? to_f16(value) : to_bf16(value);
      if (type == WeightType::kF32)
        std::memcpy(out + 4 * static_cast<std::size_t>(i + j), &value, 4);
      else
        std::memcpy(out + 2 * static_cast<std::size_t>(i + j), &narrow, 2);
    }
  }
}

// Root mean squares: of a size factor uniform on [3/4, 5/4); of the integers of a block about their
// middle or, where the format has none, about zero; of 6-bit scales uniform on 32..63.
constexpr double kSizeRms = 1.0103629710818451;
constexpr double kQ8Rms = 73.4676799688135;
constexpr double kQ4OffsetRms = 4.636809247747852, kQ4Rms = 4.6097722286464435;
constexpr double kQ5OffsetRms = 9.246621004453464, kQ5Rms = 9.233092656309694,
                 kQ6Rms = 18.479718612576328;
constexpr double kSixBitRms = 48.38904834774083;

std::uint16_t scale_of(std::uint32_t word, double mean) {
  const double size = 0.75 + 0.5 * (static_cast<double>(word >> 8) * 0x1p-24);
  return to_f16(static_cast<float>(mean / kSizeRms * size));
}

// A format whose integers reach further down than up has a mean; the sign of its scale turns it
// either way, or every output would lean with the sum of its inputs.
std::uint16_t signed_scale_of(std::uint32_t word, double mean) {
  return static_cast<std::uint16_t>(scale_of(word, mean) ^ ((word & 1U) << 15));
}

void put(std::uint8_t* at, std::uint16_t value) { std::memcpy(at, &value, 2); }

std::uint16_t times(std::uint16_t scale, float factor) {
  return to_f16(f16_to_float(scale) * factor);
}

void block_q8_0(double deviation, Words& quants, Words& scales, std::uint8_t* b) {
  put(b, signed_scale_of(scales.next(), deviation / kQ8Rms));
  quants.fill(b + 2, 32);
  for (int i = 2; i < 34; ++i)
    if (b[i] == 0x80) b[i] = 0;  // -128, which no quantiser writes
}

void block_q4_0(double deviation, Words& quants, Words& scales, std::uint8_t* b) {
  put(b, signed_scale_of(scales.next(), deviation / kQ4OffsetRms));
  quants.fill(b + 2, 16);
}

void block_q4_1(double deviation, Words& quants, Words& scales, std::uint8_t* b) {
  const std::uint16_t d = scale_of(scales.next(), deviation / kQ4Rms);
  put(b, d);
  put(b + 2, times(d, -7.5F));
  quants.fill(b + 4, 16);
}

void put_five_bits(Words& quants, std::uint8_t* b) {
  const std::uint32_t fifth = quants.next();
  std::memcpy(b, &fifth, 4);
  quants.fill(b + 4, 16);
}

void block_q5_0(double deviation, Words& quants, Words& scales, std::uint8_t* b) {
  put(b, signed_scale_of(scales.next(), deviation / kQ5OffsetRms));
  put_five_bits(quants, b + 2);
}

void block_q5_1(double deviation, Words& quants, Words& scales, std::uint8_t* b) {
  const std::uint16_t d = scale_of(scales.next(), deviation / kQ5Rms);
  put(b, d);
  put(b + 2, times(d, -15.5F));
  put_five_bits(quants, b + 4);
}

// Eight 6-bit scales with equal minima, as weight_type.cc takes them apart.
void put_six_bits(Words& scales, std::uint8_t* b) {
  std::array<std::uint32_t, 8> s{};
  const std::uint32_t words[] = {scales.next(), scales.next()};
  for (std::size_t j = 0; j < 8; ++j) s[j] = 32 + ((words[j / 4] >> (8 * (j % 4))) & 31U);
  for (std::size_t j = 0; j < 4; ++j) {
    b[j] = b[j + 4] = static_cast<std::uint8_t>(s[j] | ((s[j + 4] >> 4) << 6));
    b[j + 8] = static_cast<std::uint8_t>((s[j + 4] & 15U) | ((s[j + 4] & 15U) << 4));
  }
}

void block_q4_k(double deviation, Words& quants, Words& scales, std::uint8_t* b) {
  const std::uint16_t d = scale_of(scales.next(), deviation / (kQ4Rms * kSixBitRms));
  put(b, d);
  put(b + 2, times(d, 7.5F));
  put_six_bits(scales, b + 4);
  quants.fill(b + 16, 128);
}

void block_q5_k(double deviation, Words& quants, Words& scales, std::uint8_t* b) {
  const std::uint16_t d = scale_of(scales.next(), deviation / (kQ5Rms * kSixBitRms));
  put(b, d);
  put(b + 2, times(d, 15.5F));
  put_six_bits(scales, b + 4);
  quants.fill(b + 16, 160);
}

void block_q6_k(double deviation, Words& quants, Words& scales, std::uint8_t* b) {
  quants.fill(b, 192);
  for (std::size_t i = 0; i < 16; i += 4) {
    const std::uint32_t word = scales.next();
    for (std::size_t j = 0; j < 4; ++j) {
      const std::uint32_t byte = (word >> (8 * j)) & 0xffU;
      const int size = 32 + static_cast<int>(byte & 31U);
      b[192 + i + j] = static_cast<std::uint8_t>((byte & 0x80U) != 0 ? -size : size);
    }
  }
  put(b + 208, scale_of(scales.next(), deviation / (kQ6Rms * kSixBitRms)));
}

using FillBlock = void (*)(double deviation, Words& quants, Words& scales, std::uint8_t* block);

FillBlock filler_of(WeightType type) {
  switch (type) {
    case WeightType::kQ8_0:
      return block_q8_0;
    case WeightType::kQ4_0:
      return block_q4_0;
    case WeightType::kQ4_1:
      return block_q4_1;
    case WeightType::kQ5_0:
      return block_q5_0;
    case WeightType::kQ5_1:
      return block_q5_1;
    case WeightType::kQ4_K:
      return block_q4_k;
    case WeightType::kQ5_K:
      return block_q5_k;
    case WeightType::kQ6_K:
      return block_q6_k;
    case WeightType::kF32:
    case WeightType::kF16:
    case WeightType::kBF16:
      break;
  }
  return nullptr;
}

}  // namespace

void fill_row(WeightType type, double deviation, const RowKey& key, int n_cols, std::byte* out) {
  Words quants(key, kQuants);
  const FillBlock fill_block = filler_of(type);
  if (fill_block == nullptr) return fill_floats(type, deviation, quants, n_cols, out);
  Words scales(key, kScales);
  const BlockShape shape = block_shape(type);
  auto* bytes = reinterpret_cast<std::uint8_t*>(out);
  for (int i = 0; i < n_cols; i += shape.n_values, bytes += shape.n_bytes)
    fill_block(deviation, quants, scales, bytes);
}

}  // namespace specbench::engine
