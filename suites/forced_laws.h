// Target laws made a second time, by teacher forcing: whole sequences in one packed pass that knows
// no rounds, drafts or lanes. Where rows are independent of each other, bit for bit, the laws must
// be the same, bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "engine/round.h"
#include "suites/context.h"
#include "suites/generation.h"

namespace specbench::suites {

class ForcedLaws {
 public:
  /// Keeps one sequence in keep_every, chosen by a coin of its own.
  ForcedLaws(const Context& context, const Generation& generation, double keep_every);

  void prefill(const engine::Prefill& prefill);
  void round(const engine::Round& round);

  /// Recomputes what was kept so far and forgets it; a text that was cut off is as good as another.
  void check(engine::Backend& backend);

  std::int64_t n_laws() const { return n_laws_; }
  std::int64_t n_mismatches() const { return n_mismatches_; }
  const std::string& first_mismatch() const { return first_mismatch_; }

 private:
  struct Kept {
    std::uint32_t request = 0;
    std::size_t n_prompt = 0;
    std::vector<engine::TokenId> tokens;    ///< prompt and emitted
    std::vector<std::uint64_t> law_hashes;  ///< of the law each emitted token is held against
  };
  bool is_kept(std::uint32_t request) const;
  void check_sequence(const Kept& kept, engine::Backend& backend);

  const Context& context_;
  const Generation& generation_;
  double keep_every_;
  std::vector<Kept> kept_;
  std::vector<float> logits_;
  std::int64_t n_laws_ = 0, n_mismatches_ = 0;
  std::string first_mismatch_;
};

}  // namespace specbench::suites
