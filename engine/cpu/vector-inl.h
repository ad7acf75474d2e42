// The vector types of the cpu kernels, up to 16 floats, whatever the target has, and exact widening
// of what is stored narrower.
// Included once for each vector target (Highway's foreach_target), hence the toggled guard.
#if defined(SPECBENCH_ENGINE_CPU_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECBENCH_ENGINE_CPU_VECTOR_INL_H_
#undef SPECBENCH_ENGINE_CPU_VECTOR_INL_H_
#else
#define SPECBENCH_ENGINE_CPU_VECTOR_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, 16>;
using U32 = hn::RebindToUnsigned<F32>;
using I32 = hn::RebindToSigned<F32>;
using F16 = hn::Rebind<hwy::float16_t, F32>;
using V = hn::Vec<F32>;
using W = hn::Vec<U32>;  ///< words: a lane each
constexpr int kLanes = static_cast<int>(hn::MaxLanes(F32()));

// The machine has multiply-adds, which round once, and converts float16. (kernels.cc leaves out the
// x86 targets that have not, but for Highway's emulation.)
constexpr bool kHasMultiplyAdd = HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;

// kLanes neighbouring float16, NaN and infinities included.
HWY_INLINE V load_halves(const void* HWY_RESTRICT at) {
  const F32 d;
  if constexpr (kHasMultiplyAdd) {
    return hn::PromoteTo(d, hn::LoadU(F16(), static_cast<const hwy::float16_t*>(at)));
  } else {
    // The emulation takes an infinity for a number.
    const U32 du;
    const hn::Rebind<std::uint16_t, F32> du16;
    const auto bits = hn::PromoteTo(du, hn::LoadU(du16, static_cast<const std::uint16_t*>(at)));
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffU));
    // The exponents' biases differ by 112; the product is exact, subnormal numbers included.
    const auto finite = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112F));
    const auto is_special = hn::Gt(magnitude, hn::Set(du, 0x7bffU));
    const auto value =
        hn::Or(hn::BitCast(du, finite), hn::IfThenElseZero(is_special, hn::Set(du, 0x7f800000U)));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000U)));
    return hn::BitCast(d, hn::Or(value, sign));
  }
}

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
