// One block of packed weights from the stored rows of its 32 outputs. The stored formats are those
// of weight_type.cc, the packed ones those of packed_matrix.h.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "engine/cpu/packed_matrix.h"

namespace specbench::engine {

namespace {

using In = const std::uint8_t*;
using Out = std::uint8_t*;

std::uint32_t load32(In at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, 4);
  return word;
}
std::uint64_t load64(In at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  return word;
}
void store32(Out words, int at, std::uint32_t word) {
  std::memcpy(words + static_cast<std::ptrdiff_t>(at) * 4, &word, 4);
}
/// Copies a float16 of the stored block to its place among those of the 32 outputs.
void copy_half(In from, Out halves, int output) { std::memcpy(halves + 2 * output, from, 2); }

/// The even bytes of eight.
std::uint32_t even_bytes(std::uint64_t x) {
  x &= 0x00ff00ff00ff00ffU;
  x = (x | (x >> 8)) & 0x0000ffff0000ffffU;
  return static_cast<std::uint32_t>(x | (x >> 16));
}

/// 32 nibbles of a group into words [4][output]. Inputs 0 to 15 are those of `first` shifted right
/// by first_shift, 16 to 31 those of `second`.
void put_nibbles(In first, int first_shift, In second, int second_shift, Out words, int output) {
  for (int octet = 0; octet < 4; ++octet) {
    In eight = (octet < 2 ? first : second) + octet % 2 * 8;
    const int shift = octet < 2 ? first_shift : second_shift;
    const std::uint64_t nibbles = (load64(eight) >> shift) & 0x0f0f0f0f0f0f0f0fU;
    store32(words, octet * kBlock + output, even_bytes(nibbles | (nibbles >> 4)));
  }
}

/// The bits of n_octets x 8 inputs that lie above the nibbles, from bytes shifted right and masked
/// (one bit or two), as one word.
std::uint32_t high_bits(In bytes, int shift, std::uint64_t mask, int n_octets, int n_bits) {
  std::uint32_t word = 0;
  for (int octet = 0; octet < n_octets; ++octet) {
    const std::uint64_t eight = (load64(bytes + 8 * octet) >> shift) & mask;
    word |= even_bytes(eight) << (2 * octet * n_bits);
    word |= even_bytes(eight >> 8) << ((2 * octet + 1) * n_bits);
  }
  return word;
}

// [input][32] values of kBytes each; place(l) is where output l lies among them.
template <int kBytes, typename Place>
void put_values(std::span<const std::byte* const, kBlock> rows, int n_in, Out out,
                const Place& place) {
  constexpr int kInputs = 64;  // at a time, so that what is written stays in the first cache
  for (int first = 0; first < n_in; first += kInputs) {
    const int n = std::min(kInputs, n_in - first);
    for (int l = 0; l < kBlock; ++l) {
      if (rows[static_cast<std::size_t>(l)] == nullptr) continue;
      const std::byte* from =
          rows[static_cast<std::size_t>(l)] + static_cast<std::ptrdiff_t>(first) * kBytes;
      Out to = out + (static_cast<std::ptrdiff_t>(first) * kBlock + place(l)) * kBytes;
      for (int i = 0; i < n; ++i)
        std::memcpy(to + static_cast<std::ptrdiff_t>(i) * kBlock * kBytes, from + i * kBytes,
                    kBytes);
    }
  }
}

void put_q8_0(In b, int l, Out out) {
  copy_half(b, out, l);
  for (int word = 0; word < 8; ++word)
    store32(out + 2 * kBlock, word * kBlock + l, load32(b + 2 + 4 * word) ^ 0x80808080U);
}

void put_q4_0(In b, int l, Out out) {
  copy_half(b, out, l);
  put_nibbles(b + 2, 0, b + 2, 4, out + 2 * kBlock, l);
}

void put_q4_1(In b, int l, Out out) {
  copy_half(b, out, l);
  copy_half(b + 2, out + 2 * kBlock, l);
  put_nibbles(b + 4, 0, b + 4, 4, out + 4 * kBlock, l);
}

/// Fifth bits stored in the order of the inputs: pairs of bits, four to a byte, change rows for
/// columns.
std::uint32_t transpose_pairs(std::uint32_t x) {
  std::uint32_t t = (x ^ (x >> 6)) & 0x00cc00ccU;
  x ^= t ^ (t << 6);
  t = (x ^ (x >> 12)) & 0x0000f0f0U;
  return x ^ t ^ (t << 12);
}

void put_q5_0(In b, int l, Out out) {
  copy_half(b, out, l);
  put_nibbles(b + 6, 0, b + 6, 4, out + 2 * kBlock, l);
  store32(out + 2 * kBlock + kGroup * kBlock / 2, l, transpose_pairs(load32(b + 2)));
}

void put_q5_1(In b, int l, Out out) {
  copy_half(b, out, l);
  copy_half(b + 2, out + 2 * kBlock, l);
  put_nibbles(b + 8, 0, b + 8, 4, out + 4 * kBlock, l);
  store32(out + 4 * kBlock + kGroup * kBlock / 2, l, transpose_pairs(load32(b + 4)));
}

/// The scale and the minimum, 6 bits each, of a group of Q4_K and Q5_K.
void put_six(In b, int group, int l, Out out) {
  const int j = group % 4;
  const int scale = group < 4 ? b[j] & 63 : (b[j + 8] & 15) | ((b[j] >> 6) << 4);
  const int minimum = group < 4 ? b[j + 4] & 63 : (b[j + 8] >> 4) | ((b[j + 4] >> 6) << 4);
  out[l] = static_cast<std::uint8_t>(scale);
  out[kBlock + l] = static_cast<std::uint8_t>(minimum);
}

void put_q4_k(In b, int l, Out out) {
  copy_half(b, out, l);
  copy_half(b + 2, out + 2 * kBlock, l);
  out += 4 * kBlock;
  for (int group = 0; group < 8; ++group) {
    put_six(b + 4, group, l, out);
    In quants = b + 16 + group / 2 * 32;
    const int shift = group % 2 * 4;
    put_nibbles(quants, shift, quants + 16, shift, out + 2 * kBlock, l);
    out += 2 * kBlock + kGroup * kBlock / 2;
  }
}

void put_q5_k(In b, int l, Out out) {
  copy_half(b, out, l);
  copy_half(b + 2, out + 2 * kBlock, l);
  out += 4 * kBlock;
  for (int group = 0; group < 8; ++group) {
    put_six(b + 4, group, l, out);
    In quants = b + 48 + group / 2 * 32;
    const int shift = group % 2 * 4;
    put_nibbles(quants, shift, quants + 16, shift, out + 2 * kBlock, l);
    out += 2 * kBlock + kGroup * kBlock / 2;
    store32(out, l, high_bits(b + 16, group, 0x0101010101010101U, 4, 1));
    out += 4 * kBlock;
  }
}

void put_q6_k(In b, int l, Out out) {
  copy_half(b + 208, out, l);
  out += 2 * kBlock;
  for (int group = 0; group < 8; ++group) {
    const int part = group / 4;
    const int row = group % 4;
    for (int half = 0; half < 2; ++half) out[half * kBlock + l] = b[192 + 2 * group + half];
    In low = b + part * 64 + row % 2 * 32;
    const int shift = row / 2 * 4;
    put_nibbles(low, shift, low + 16, shift, out + 2 * kBlock, l);
    out += 2 * kBlock + kGroup * kBlock / 2;
    In high = b + 128 + part * 32;
    for (int half = 0; half < 2; ++half)
      store32(out, half * kBlock + l,
              high_bits(high + 16 * half, 2 * row, 0x0303030303030303U, 2, 2));
    out += 8 * kBlock;
  }
}

template <typename Put>
void put_quants(WeightType type, std::span<const std::byte* const, kBlock> rows, int n_in, Out out,
                const Put& put) {
  const BlockShape stored = block_shape(type);
  const PackedShape packed = packed_shape(type);
  for (int i = 0; i < n_in / stored.n_values; ++i)
    for (int l = 0; l < kBlock; ++l)
      if (rows[static_cast<std::size_t>(l)] != nullptr)
        put(reinterpret_cast<In>(rows[static_cast<std::size_t>(l)]) +
                static_cast<std::ptrdiff_t>(i) * stored.n_bytes,
            l, out + static_cast<std::ptrdiff_t>(i) * packed.n_bytes);
}

}  // namespace

void pack_block(WeightType type, std::span<const std::byte* const, kBlock> rows, int n_in,
                std::byte* block) {
  const auto out = reinterpret_cast<Out>(block);
  const auto in_order = [](int l) { return l; };
  const auto in_pairs = [](int l) { return l % (kBlock / 2) * 2 + l / (kBlock / 2); };
  switch (type) {
    case WeightType::kF32:
      return put_values<4>(rows, n_in, out, in_order);
    case WeightType::kF16:
      return put_values<2>(rows, n_in, out, in_order);
    case WeightType::kBF16:
      return put_values<2>(rows, n_in, out, in_pairs);
    case WeightType::kQ8_0:
      return put_quants(type, rows, n_in, out, put_q8_0);
    case WeightType::kQ4_0:
      return put_quants(type, rows, n_in, out, put_q4_0);
    case WeightType::kQ4_1:
      return put_quants(type, rows, n_in, out, put_q4_1);
    case WeightType::kQ5_0:
      return put_quants(type, rows, n_in, out, put_q5_0);
    case WeightType::kQ5_1:
      return put_quants(type, rows, n_in, out, put_q5_1);
    case WeightType::kQ4_K:
      return put_quants(type, rows, n_in, out, put_q4_k);
    case WeightType::kQ5_K:
      return put_quants(type, rows, n_in, out, put_q5_k);
    case WeightType::kQ6_K:
      return put_quants(type, rows, n_in, out, put_q6_k);
  }
}

}  // namespace specbench::engine
