// The fast backend of the host: weights packed in the types they are stored in and read once per
// step for all rows, vector kernels chosen at run time, OpenMP threads.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/cpu/memory.h"
#include "engine/cpu/packed_weights.h"

namespace specbench::engine {

class CpuBackend final : public HostBackend {
 public:
  /// Packs the weights where no pool has them, and gives mapped ones back to the system. Throws
  /// InputError where there is not the memory (BackendOptions::memory_limit_bytes).
  CpuBackend(const Model& model, const BackendOptions& options);
  std::string_view name() const override { return "cpu"; }

 protected:
  void run_layers(std::span<const Row> rows, int first, int last) override;
  void run_head(std::span<const Row> rows, float* out) override;

 private:
  void find_runs(std::span<const Row> rows);
  Job job_for(std::span<const Row> rows);

  std::shared_ptr<const PackedWeights> weights_;
  RopeTables rope_;
  StepFloats sizes_;
  AlignedFloats packed_, query_key_value_, gated_, split_, thread_scratch_;
  std::vector<RowRun> runs_;  ///< of the step under way
  Barrier barrier_;
};

}  // namespace specbench::engine
