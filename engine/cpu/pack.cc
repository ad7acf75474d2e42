// Whole matrices: which stored row is which output of which block.
#include <array>
#include <new>
#include <vector>

#include "engine/cpu/packed_matrix.h"
#include "engine/parallel.h"

namespace specbench::engine {

namespace {

/// Where an output's weights are stored; no matrix: zeros.
struct Source {
  const Matrix* matrix = nullptr;
  int row = 0;
};

/// One block of float32 from rows of any types.
void pack_floats(std::span<const Source, kBlock> sources, int n_in, std::byte* out) {
  const auto width = static_cast<std::size_t>(n_in);
  std::vector<float> values(kBlock * width);
  std::array<const std::byte*, kBlock> rows{};
  for (std::size_t l = 0; l < kBlock; ++l) {
    if (sources[l].matrix == nullptr) continue;
    sources[l].matrix->read_row(sources[l].row, values.data() + l * width);
    rows[l] = reinterpret_cast<const std::byte*>(values.data() + l * width);
  }
  pack_block(WeightType::kF32, rows, n_in, out);
}

/// source_of(output) says what becomes of it.
template <typename SourceOf>
PackedMatrix pack(WeightType type, int n_out, int n_in, int n_threads, PackedRoom& room,
                  const SourceOf& source_of) {
  const PackedMatrix packed{type, n_out, n_in, room.take(packed_bytes(type, n_out, n_in))};
  parallel_for(packed.n_blocks(), n_threads, [&](int b) {
    std::array<Source, kBlock> sources;
    std::array<const std::byte*, kBlock> rows{};
    bool is_as_stored = true;
    for (std::size_t l = 0; l < kBlock; ++l) {
      const Source source = sources[l] = source_of(b * kBlock + static_cast<int>(l));
      if (source.matrix == nullptr) continue;
      rows[l] = source.matrix->row(source.row);
      is_as_stored &= source.matrix->type == type;
    }
    std::byte* const out = packed.data + static_cast<std::size_t>(b) * packed.block_bytes();
    if (is_as_stored)
      pack_block(type, rows, n_in, out);
    else
      pack_floats(sources, n_in, out);
  });
  return packed;
}

}  // namespace

std::byte* PackedRoom::take(std::size_t n_bytes) {
  if (n_bytes > bytes_.size() - n_taken_) throw std::bad_alloc();
  n_taken_ += n_bytes;
  return bytes_.data() + (n_taken_ - n_bytes);
}

std::size_t packed_bytes(WeightType type, int n_out, int n_in) {
  return PackedMatrix{type, n_out, n_in, nullptr}.n_bytes();
}

PackedMatrix pack_stacked(std::span<const Matrix* const> parts, int n_threads, PackedRoom& room) {
  int n_out = 0;
  for (const Matrix* part : parts) n_out += part->n_rows;
  return pack(parts.front()->type, n_out, parts.front()->n_cols, n_threads, room, [&](int output) {
    for (const Matrix* part : parts) {
      if (output < part->n_rows) return Source{part, output};
      output -= part->n_rows;
    }
    return Source{};
  });
}

WeightType gate_up_type(const Matrix& gate, const Matrix& up) {
  // Files that mix types inside a layer do so for other matrices; F32 is exact, if large.
  return gate.type == up.type ? gate.type : WeightType::kF32;
}

int gate_up_outputs(const Matrix& gate) {
  constexpr int kHalf = kBlock / 2;
  return (gate.n_rows + kHalf - 1) / kHalf * kBlock;
}

PackedMatrix pack_gate_up(const Matrix& gate, const Matrix& up, int n_threads, PackedRoom& room) {
  constexpr int kHalf = kBlock / 2;
  return pack(gate_up_type(gate, up), gate_up_outputs(gate), gate.n_cols, n_threads, room,
              [&](int output) {
                const int row = output / kBlock * kHalf + output % kHalf;
                if (row >= gate.n_rows) return Source{};
                return Source{output % kBlock < kHalf ? &gate : &up, row};
              });
}

}  // namespace specbench::engine
