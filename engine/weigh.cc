#include "engine/weigh.h"

#include "engine/law.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/weigh.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace specbench::engine::HWY_NAMESPACE {

// Plain loops: inlined here, exp_fixed is compiled and vectorised once for each target.
void weigh_rows(const float* HWY_RESTRICT logits, int n_ids, float largest,
                double inverse_temperature, double* HWY_RESTRICT weights) {
  const auto shift = static_cast<double>(largest);
  for (int id = 0; id < n_ids; ++id)
    weights[id] = exp_fixed((static_cast<double>(logits[id]) - shift) * inverse_temperature);
  for (int id = n_ids; id < padded_size(n_ids); ++id) weights[id] = 0.0;
}

}  // namespace specbench::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specbench::engine {

HWY_EXPORT(weigh_rows);

void weigh(const float* logits, int n_ids, float largest, double inverse_temperature,
           double* weights) {
  HWY_DYNAMIC_DISPATCH(weigh_rows)(logits, n_ids, largest, inverse_temperature, weights);
}

}  // namespace specbench::engine
#endif
