#include "suites/samples.h"

namespace specbench::suites {

void save_samples(const harness::Series& series, int process, results::Record& record) {
  record.phase_names = series.phase_names;
  for (const harness::Sample& s : series.samples) {
    results::SampleRow row;
    row.arm = series.arm_names[static_cast<std::size_t>(s.arm)];
    row.process = process;
    row.case_index = s.case_index;
    row.block = s.block;
    row.order = s.order;
    row.is_warmup = s.is_warmup;
    row.wall_ns = s.wall_ns;
    row.first_token_ns = s.first_token_ns;
    row.decode_ns = s.decode_ns;
    row.phase_ns = s.phase_ns;
    row.chunk_end_ns = s.chunk_end_ns;
    row.chunk_tokens = s.chunk_tokens;
    row.n_tokens = s.n_tokens;
    row.fingerprint = s.fingerprint;
    row.mark = s.mark;
    record.samples.push_back(std::move(row));
  }
}

}  // namespace specbench::suites
