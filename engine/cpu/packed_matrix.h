// A weight matrix as the kernels stream it: blocks of 32 outputs, inside a block the inputs in
// order, every weight in the type it is stored in. Packing changes places, never values: what a
// packed weight stands for is dequantize()'s float32, bit for bit but for the sign of a zero.
//
// What a block holds for its 32 outputs, l being the output:
//   F32, F16   for each input: [l]
//   BF16       for each input: 16 words of 32 bits, l in the low half and 16 + l in the high one
//   Q8_0       for each group of 32 inputs: f16 scale[l]; words [8][l], byte j of word s being
//              input 4 s + j, plus 128
//   Q4_0       for each group: f16 scale[l]; nibbles
//   Q4_1       for each group: f16 scale[l]; f16 minimum[l]; nibbles
//   Q5_0, Q5_1 the same as Q4_0 and Q4_1, each group followed by its fifth bits
//   Q4_K       for each 256 inputs: f16 scale of scales[l]; f16 scale of minima[l]; for each group:
//              u8 scale[l]; u8 minimum[l]; nibbles
//   Q5_K       the same, each group followed by its fifth bits
//   Q6_K       for each 256 inputs: f16 scale of scales[l]; for each group: s8 scale[2][l] of its
//              halves; nibbles; sixth and fifth bits
//   nibbles    words [4][l], one for 8 inputs, the first of them in the lowest nibble; masked, a
//              word is the bytes of the even inputs, and shifted by four, of the odd ones
//   fifth bits words [l]: bit 8 j + t goes with byte j of the t-th masked word of the group
//   sixth and fifth bits: words [2][l] of 16 inputs each: bits 8 j + 2 t and above likewise
#pragma once

#include <cstddef>
#include <span>

#include "engine/cpu/aligned.h"
#include "engine/model/matrix.h"

namespace specbench::engine {

inline constexpr int kBlock = 32;  ///< outputs of a block
inline constexpr int kGroup = 32;  ///< inputs that share a scale (Q6_K: 16)

/// Bytes of a block for every n_inputs inputs: multiples of 64 (F16, BF16: 64 each).
struct PackedShape {
  int n_inputs = 1;
  int n_bytes = 4 * kBlock;
};
constexpr PackedShape packed_shape(WeightType type) {
  constexpr int kHalves = 2 * kBlock;  // a float16 an output
  constexpr int kNibbles = kGroup * kBlock / 2;
  constexpr int kFifthBits = kGroup * kBlock / 8;
  switch (type) {
    case WeightType::kF32:
      return {1, 4 * kBlock};
    case WeightType::kF16:
    case WeightType::kBF16:
      return {1, 2 * kBlock};
    case WeightType::kQ8_0:
      return {kGroup, kHalves + kGroup * kBlock};
    case WeightType::kQ4_0:
      return {kGroup, kHalves + kNibbles};
    case WeightType::kQ4_1:
      return {kGroup, 2 * kHalves + kNibbles};
    case WeightType::kQ5_0:
      return {kGroup, kHalves + kNibbles + kFifthBits};
    case WeightType::kQ5_1:
      return {kGroup, 2 * kHalves + kNibbles + kFifthBits};
    case WeightType::kQ4_K:
      return {8 * kGroup, 2 * kHalves + 8 * (2 * kBlock + kNibbles)};
    case WeightType::kQ5_K:
      return {8 * kGroup, 2 * kHalves + 8 * (2 * kBlock + kNibbles + kFifthBits)};
    case WeightType::kQ6_K:
      return {8 * kGroup, kHalves + 8 * (2 * kBlock + kNibbles + 2 * kFifthBits)};
  }
  return {};
}

/// Memory for packed matrices, one behind the other in the order they are read: together they lie
/// on huge pages, even where each is small.
class PackedRoom {
 public:
  explicit PackedRoom(std::size_t n_bytes) : bytes_(n_bytes) {}
  /// Zeros. Throws std::bad_alloc where fewer are left.
  std::byte* take(std::size_t n_bytes);

 private:
  AlignedBytes bytes_;
  std::size_t n_taken_ = 0;
};

/// A view of what lies in a PackedRoom.
struct PackedMatrix {
  WeightType type = WeightType::kF32;
  int n_out = 0;
  int n_in = 0;
  std::byte* data = nullptr;

  int n_blocks() const { return (n_out + kBlock - 1) / kBlock; }
  std::size_t block_bytes() const {
    const PackedShape shape = packed_shape(type);
    return static_cast<std::size_t>(n_in / shape.n_inputs) *
           static_cast<std::size_t>(shape.n_bytes);
  }
  std::size_t n_bytes() const { return static_cast<std::size_t>(n_blocks()) * block_bytes(); }
  const std::byte* block(int b) const { return data + static_cast<std::size_t>(b) * block_bytes(); }
};

std::size_t packed_bytes(WeightType type, int n_out, int n_in);

/// Writes 32 outputs as one block. rows: n_in stored weights each; null: zeros. `out` is zero.
void pack_block(WeightType type, std::span<const std::byte* const, kBlock> rows, int n_in,
                std::byte* out);

/// Stacks matrices of one type and width: outputs in the order given.
PackedMatrix pack_stacked(std::span<const Matrix* const> parts, int n_threads, PackedRoom& room);

/// Blocks of 16 gate outputs and the 16 up outputs that belong to them; n_out counts both, padded
/// to whole blocks. Where their types differ, both become F32.
PackedMatrix pack_gate_up(const Matrix& gate, const Matrix& up, int n_threads, PackedRoom& room);
WeightType gate_up_type(const Matrix& gate, const Matrix& up);
int gate_up_outputs(const Matrix& gate);

}  // namespace specbench::engine
