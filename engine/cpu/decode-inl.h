// Packed weights to float32 in registers, for every quantised type (packed_matrix.h): what
// dequantize() gives. Included once for each vector target (Highway's foreach_target),
// hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_DECODE_INL_H_
#undef SPECBENCH_ENGINE_CPU_DECODE_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_DECODE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/unpack-inl.h"
#include "engine/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

// A weight is scale x quant + offset: an exact product, one rounding at the most. Quants are taken
// from where they lie in their word, 2^(k step) times their value, so that the scale of place k is
// 2^-(k step) times the weight's: all exact.
// (Taking quants as fractions of floats, which saves the conversion, was slower: 22 against 26 GB/s
// of Q8_0.)
struct Scales {
  V scale[4];
  V offset;
};
template <int kStep>
HWY_INLINE Scales scales_of(V scale, V offset) {
  const F32 d;
  constexpr float kFactor = 1.0F / (1 << kStep);
  const V second = hn::Mul(scale, hn::Set(d, kFactor));
  const V third = hn::Mul(scale, hn::Set(d, kFactor * kFactor));
  return {{scale, second, third, hn::Mul(scale, hn::Set(d, kFactor * kFactor * kFactor))}, offset};
}

// The words of one vector of outputs and 8 inputs; what they hold depends on the type.
struct Words {
  W a, b;
};

// Codec<T>: kInputs under kBytes; kSet inputs share Scales; load() gives the words of the octet-th
// 8 inputs of a set, weight<I>() one of their weights.
template <WeightType T>
struct Codec;

// What is common to the types with 32 inputs under one float16 or two.
template <WeightType T>
struct GroupQuant {
  static constexpr int kInputs = kGroup, kBytes = packed_shape(T).n_bytes, kSet = kGroup;
};
template <int kStep, int kMiddle>
HWY_INLINE Scales middle_scales(Bytes group, int l) {
  const V scale = load_halves(group + 2 * l);
  return scales_of<kStep>(scale, hn::Mul(scale, hn::Set(F32(), static_cast<float>(-kMiddle))));
}
template <int kStep>
HWY_INLINE Scales minimum_scales(Bytes group, int l) {
  return scales_of<kStep>(load_halves(group + 2 * l), load_halves(group + 2 * (kBlock + l)));
}

template <>
struct Codec<WeightType::kQ8_0> : GroupQuant<WeightType::kQ8_0> {
  static HWY_INLINE Scales scales(Bytes super, int, int l) {
    return middle_scales<8, 128>(super, l);
  }
  static HWY_INLINE Words load(Bytes super, int, int octet, int l) {
    Bytes words = super + 2 * kBlock;
    return {load_words(words, 2 * octet * kBlock + l),
            load_words(words, (2 * octet + 1) * kBlock + l)};
  }
  template <int I>
  static HWY_INLINE V weight(const Words& w, const Scales& s) {
    const W words = I < 4 ? w.a : w.b;
    if constexpr (I % 4 == 3)
      return hn::MulAdd(top_bits<24>(words), s.scale[0], s.offset);
    else
      return hn::MulAdd(masked_bits<I % 4 * 8, 8>(words), s.scale[I % 4], s.offset);
  }
};

// What the types of four bits share: a word of 8 nibbles, its upper half shifted down.
HWY_INLINE Words nibble_words(Bytes words, int octet, int l) {
  const W eight = load_words(words, octet * kBlock + l);
  return {eight, hn::ShiftRight<16>(eight)};
}
template <int I>
HWY_INLINE V nibble_weight(const Words& w, const Scales& s) {
  return hn::MulAdd(masked_bits<I % 4 * 4, 4>(I < 4 ? w.a : w.b), s.scale[I % 4], s.offset);
}

template <>
struct Codec<WeightType::kQ4_0> : GroupQuant<WeightType::kQ4_0> {
  static HWY_INLINE Scales scales(Bytes super, int, int l) { return middle_scales<4, 8>(super, l); }
  static HWY_INLINE Words load(Bytes super, int, int octet, int l) {
    return nibble_words(super + 2 * kBlock, octet, l);
  }
  template <int I>
  static HWY_INLINE V weight(const Words& w, const Scales& s) {
    return nibble_weight<I>(w, s);
  }
};

template <>
struct Codec<WeightType::kQ4_1> : GroupQuant<WeightType::kQ4_1> {
  static HWY_INLINE Scales scales(Bytes super, int, int l) { return minimum_scales<4>(super, l); }
  static HWY_INLINE Words load(Bytes super, int, int octet, int l) {
    return nibble_words(super + 4 * kBlock, octet, l);
  }
  template <int I>
  static HWY_INLINE V weight(const Words& w, const Scales& s) {
    return nibble_weight<I>(w, s);
  }
};

// Nibbles and the bits above them as bytes of the even and of the odd inputs; above kBits a byte
// holds others' as well.
template <int kBits>
HWY_INLINE Words join(W nibbles, W high, int octet) {
  const U32 du;
  const auto low = hn::Set(du, 0x0f0f0f0fU);
  const W above = hn::ShiftRightSame(high, octet * 2 * (kBits - 4));
  return {select_bits(low, nibbles, hn::ShiftLeft<4>(above)),
          select_bits(low, hn::ShiftRight<4>(nibbles), hn::ShiftLeft<8 - kBits>(above))};
}
template <int kBits, int I>
HWY_INLINE V joined_weight(const Words& w, const Scales& s) {
  return hn::MulAdd(masked_bits<I / 2 * 8, kBits>(I % 2 == 0 ? w.a : w.b), s.scale[I / 2],
                    s.offset);
}

// The octet-th 8 inputs of a group of nibbles followed by fifth bits.
HWY_INLINE Words five_bit_words(Bytes nibbles, int octet, int l) {
  return join<5>(load_words(nibbles, octet * kBlock + l),
                 load_words(nibbles + kGroup * kBlock / 2, l), octet);
}

template <>
struct Codec<WeightType::kQ5_0> : GroupQuant<WeightType::kQ5_0> {
  static HWY_INLINE Scales scales(Bytes super, int, int l) {
    return middle_scales<8, 16>(super, l);
  }
  static HWY_INLINE Words load(Bytes super, int, int octet, int l) {
    return five_bit_words(super + 2 * kBlock, octet, l);
  }
  template <int I>
  static HWY_INLINE V weight(const Words& w, const Scales& s) {
    return joined_weight<5, I>(w, s);
  }
};

template <>
struct Codec<WeightType::kQ5_1> : GroupQuant<WeightType::kQ5_1> {
  static HWY_INLINE Scales scales(Bytes super, int, int l) { return minimum_scales<8>(super, l); }
  static HWY_INLINE Words load(Bytes super, int, int octet, int l) {
    return five_bit_words(super + 4 * kBlock, octet, l);
  }
  template <int I>
  static HWY_INLINE V weight(const Words& w, const Scales& s) {
    return joined_weight<5, I>(w, s);
  }
};

// What is common to the types with 256 inputs under one float16.
template <int kHeaderBytes, int kGroupBytes>
struct KQuant {
  static constexpr int kInputs = 256, kBytes = kHeaderBytes + 8 * kGroupBytes;
  static HWY_INLINE Bytes group(Bytes super, int g) {
    return super + kHeaderBytes + g * kGroupBytes;
  }
};

// Q4_K and Q5_K: scale and minimum of a group are small integers times those of the 256.
template <int kStep>
HWY_INLINE Scales six_bit_scales(Bytes super, Bytes group, int l) {
  const V scale = load_halves(super + 2 * l);
  const V minimum = load_halves(super + 2 * (kBlock + l));
  return scales_of<kStep>(hn::Mul(scale, bytes_to_floats(group + l)),
                          hn::Neg(hn::Mul(minimum, bytes_to_floats(group + kBlock + l))));
}

template <>
struct Codec<WeightType::kQ4_K> : KQuant<128, 576> {
  static constexpr int kSet = kGroup;
  static HWY_INLINE Scales scales(Bytes super, int set, int l) {
    return six_bit_scales<4>(super, group(super, set), l);
  }
  static HWY_INLINE Words load(Bytes super, int set, int octet, int l) {
    return nibble_words(group(super, set) + 2 * kBlock, octet, l);
  }
  template <int I>
  static HWY_INLINE V weight(const Words& w, const Scales& s) {
    return nibble_weight<I>(w, s);
  }
};

template <>
struct Codec<WeightType::kQ5_K> : KQuant<128, 704> {
  static constexpr int kSet = kGroup;
  static HWY_INLINE Scales scales(Bytes super, int set, int l) {
    return six_bit_scales<8>(super, group(super, set), l);
  }
  static HWY_INLINE Words load(Bytes super, int set, int octet, int l) {
    return five_bit_words(group(super, set) + 2 * kBlock, octet, l);
  }
  template <int I>
  static HWY_INLINE V weight(const Words& w, const Scales& s) {
    return joined_weight<5, I>(w, s);
  }
};

template <>
struct Codec<WeightType::kQ6_K> : KQuant<64, 832> {
  static constexpr int kSet = kGroup / 2;
  static HWY_INLINE Scales scales(Bytes super, int set, int l) {
    const V scale = hn::Mul(load_halves(super + 2 * l),
                            signed_bytes_to_floats(group(super, set / 2) + set % 2 * kBlock + l));
    return scales_of<8>(scale, hn::Mul(scale, hn::Set(F32(), -32.0F)));
  }
  static HWY_INLINE Words load(Bytes super, int set, int octet, int l) {
    Bytes nibbles = group(super, set / 2) + 2 * kBlock;
    Bytes high = nibbles + kGroup * kBlock / 2;
    return join<6>(load_words(nibbles, (set % 2 * 2 + octet) * kBlock + l),
                   load_words(high, set % 2 * kBlock + l), octet);
  }
  template <int I>
  static HWY_INLINE V weight(const Words& w, const Scales& s) {
    return joined_weight<6, I>(w, s);
  }
};

template <WeightType T>
constexpr bool kHasItsShape = Codec<T>::kInputs == packed_shape(T).n_inputs&& Codec<T>::kBytes ==
                              packed_shape(T).n_bytes;
static_assert(kHasItsShape<WeightType::kQ4_K> && kHasItsShape<WeightType::kQ5_K> &&
              kHasItsShape<WeightType::kQ6_K>);

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
