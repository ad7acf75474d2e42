// Packed words, bytes and bits to floats in registers: what decode-inl.h is made of.
// Included once for each vector target (Highway's foreach_target), hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_UNPACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_UNPACK_INL_H_
#undef SPECBENCH_ENGINE_CPU_UNPACK_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_UNPACK_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

using Bytes = const std::uint8_t*;
constexpr int kVectors = kBlock / kLanes;  // of the outputs of a block

// First output of vector v of a block: v and v + 1 (v even) are the two halves of BF16's words.
constexpr int column(int v) { return v / 2 * kLanes + v % 2 * (kBlock / 2); }

HWY_INLINE W load_words(Bytes words, int at) {
  return hn::Load(U32(), reinterpret_cast<const std::uint32_t*>(words) + at);
}

// NV vectors (from v, both even) of one input's weights in F32, F16 or BF16.
template <WeightType T, int NV>
HWY_INLINE void load_weights(Bytes input, int v, V* HWY_RESTRICT weights) {
  const F32 d;
  if constexpr (T == WeightType::kBF16) {
#pragma GCC unroll 4
    for (int p = 0; p < NV / 2; ++p) {
      const W words = load_words(input, (v / 2 + p) * kLanes);
      weights[2 * p] = hn::BitCast(d, hn::ShiftLeft<16>(words));
      weights[2 * p + 1] = hn::BitCast(d, hn::And(words, hn::Set(U32(), 0xffff0000U)));
    }
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < NV; ++i) {
      if constexpr (T == WeightType::kF16)
        weights[i] = load_halves(input + 2 * column(v + i));
      else
        weights[i] = hn::Load(d, reinterpret_cast<const float*>(input) + column(v + i));
    }
  }
}

HWY_INLINE V bytes_to_floats(const std::uint8_t* at) {
  return hn::ConvertTo(F32(), hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<std::uint8_t, F32>(), at)));
}
HWY_INLINE V signed_bytes_to_floats(const std::uint8_t* at) {
  return hn::ConvertTo(F32(),
                       hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<std::int8_t, F32>(),
                                                      reinterpret_cast<const std::int8_t*>(at))));
}

// Bits [kFrom, kFrom + kBits) of a word as a float, 2^kFrom times their value: no shift, which
// their scale makes good. Not the topmost bit of a word, which is a sign.
template <int kFrom, int kBits>
HWY_INLINE V masked_bits(W words) {
  constexpr std::uint32_t kMask = ((1U << kBits) - 1U) << kFrom;
  static_assert(kFrom + kBits < 32);
  return hn::ConvertTo(F32(), hn::BitCast(I32(), hn::And(words, hn::Set(U32(), kMask))));
}
// Those from kFrom to the top, as their value.
template <int kFrom>
HWY_INLINE V top_bits(W words) {
  return hn::ConvertTo(F32(), hn::BitCast(I32(), hn::ShiftRight<kFrom>(words)));
}

// The bits of `yes` where the mask has ones, else those of `no`.
HWY_INLINE W select_bits(W mask, W yes, W no) {
#if HWY_TARGET <= HWY_AVX3
  return W{_mm512_ternarylogic_epi32(mask.raw, yes.raw, no.raw, 0xca)};
#else
  return hn::Or(hn::And(mask, yes), hn::AndNot(mask, no));
#endif
}

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
