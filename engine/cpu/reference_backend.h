// The specification: plain loops, one row at a time, every sum in double. Slow, and kept for ever.
#pragma once

#include "engine/cpu/host_backend.h"

namespace specbench::engine {

class ReferenceBackend final : public HostBackend {
 public:
  ReferenceBackend(const Model& model, BackendOptions options);
  std::string_view name() const override { return "reference"; }

 protected:
  void run_layers(std::span<const Row> rows, int first, int last) override;
  void run_head(std::span<const Row> rows, float* out) override;

 private:
  void run_layer(const Row& row, int layer);
  RopeTables rope_;
};

/// y[o] = sum_i w[o][i] x[i].
std::vector<float> matmul_reference(const Matrix& w, std::span<const float> x);
/// y = x / sqrt(mean(x^2) + eps) * gain.
std::vector<float> rmsnorm_reference(std::span<const float> x, std::span<const float> gain,
                                     double eps);
/// Rotates the halves (x[i], x[i + half]) of one head by the angles of a position.
void rope_reference(std::span<float> head, const RopeTables& rope, int pos);
/// One query head over n keys and values of head_dim floats each, row-major: softmax(q k /
/// sqrt(head_dim)) v.
std::vector<float> attention_reference(std::span<const float> query, std::span<const float> keys,
                                       std::span<const float> values, int n);
/// silu(gate) * up.
std::vector<float> swiglu_reference(std::span<const float> gate, std::span<const float> up);

}  // namespace specbench::engine
