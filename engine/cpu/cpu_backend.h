// The fast backend of the host: packed float32 weights read once per step for all rows, vector
// kernels chosen at run time, OpenMP threads.
#pragma once

#include <vector>

#include "engine/cpu/kernels.h"

namespace specbench::engine {

class CpuBackend final : public HostBackend {
 public:
  CpuBackend(const Model& model, BackendOptions options);
  std::string_view name() const override { return "cpu"; }

 protected:
  void run_layers(std::span<const Row> rows, int first, int last) override;
  void run_head(std::span<const Row> rows, float* out) override;

 private:
  Job job_for(std::span<const Row> rows);

  std::vector<PackedLayer> layers_;
  PackedMatrix head_;
  RopeTables rope_;
  AlignedFloats packed_, query_key_value_, gated_, thread_scratch_;
  std::size_t thread_scratch_size_;
  Barrier barrier_;
};

}  // namespace specbench::engine
