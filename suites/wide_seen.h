// What rounds over a large vocabulary showed: probability integral transforms by class and order,
// rare tokens, coincidences. Tests nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/decode.h"
#include "stats/pit_accumulator.h"
#include "stats/z_test.h"
#include "suites/wide_cases.h"

namespace specbench::suites {

inline constexpr int kWideDrafted = 3;     ///< tokens of a round on fixed laws
inline constexpr int kVaryingDrafted = 1;  ///< and on new laws at every position
inline constexpr double kTailMass = 1e-3;  ///< of the rarest ids, at most
inline constexpr std::size_t kCollisionBatch =
    512;  ///< tokens whose coincidences are counted together

enum class Kind : std::size_t { kAll, kAccepted, kRejected, kBonus };
inline constexpr std::size_t kKinds = 4;
inline constexpr std::array<const char*, kKinds> kKindNames = {"all", "accepted", "rejected",
                                                               "bonus"};

inline OutcomeLaw law_of(Kind kind) {
  if (kind == Kind::kAccepted) return OutcomeLaw::kAccepted;
  return kind == Kind::kRejected ? OutcomeLaw::kResidual : OutcomeLaw::kTarget;
}

/// Counts of one thread; all integers, so that it does not matter which thread played what.
struct WideCounts {
  struct Stream {
    std::array<stats::PitAccumulator, kOrders> pits;  ///< [Order]
    std::int64_t n_forbidden = 0;
    engine::TokenId forbidden = -1;  ///< the smallest
  };
  std::array<Stream, kKinds> streams;  ///< [Kind]
  std::int64_t n_tokens = 0, n_tail = 0;
  std::int64_t n_batches = 0, n_collisions = 0;

  void forbid(Kind kind, engine::TokenId id);
  void merge(const WideCounts& other);
};

struct WideSeen {
  WideCounts counts;
  stats::AcceptBits bits;  ///< token rule on fixed laws
};

/// Both play until n_tokens are emitted, a few more. Same seed, same result, whatever the number of
/// threads.
WideSeen play_fixed_laws(const WideLaws& wide, const engine::Verifier& verifier,
                         std::int64_t n_tokens, std::uint64_t seed, const engine::Steps& steps,
                         int n_threads);
/// By the token rule, with laws made from logits that are moved at random from position to
/// position.
WideSeen play_varying_laws(const WideLogits& logits, std::int64_t n_tokens, std::uint64_t seed,
                           const engine::Steps& steps, int n_threads);

}  // namespace specbench::suites
