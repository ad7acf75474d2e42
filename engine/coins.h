// Keyed random numbers. A coin depends on its key and never on how many came before, so that
// results depend neither on batch nor on order and every failure replays. Philox 4x32-10 (Salmon et
// al. 2011) by Random123.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>

#include "engine/law.h"
#include "engine/types.h"

namespace specbench::engine {

/// What a coin is for. Two purposes never share a coin.
enum class Purpose : std::uint32_t {
  kDraft = 1,     ///< drawing a drafted token
  kAccept = 2,    ///< the acceptance test of a drafted token
  kResidual = 3,  ///< the token emitted at a rejection
  kBonus = 4,     ///< the token emitted when all were accepted; also every plain step
  kTarget = 5,    ///< one-hot rule: the target's own draw at a position; its key has no round
  kCoupled = 6,   ///< coupled noise of a position; its key has no round, its index is the id
  kVerification =
      7,  ///< streams of the tests themselves (randomised probability integral transform)
};

struct CoinKey {
  std::uint64_t seed = 0;
  std::uint32_t request = 0;
  std::uint32_t round_pos =
      0;                  ///< first position of the round; 0 where the rule leaves the round out
  std::uint32_t pos = 0;  ///< absolute position the coin is for
  Purpose purpose = Purpose::kDraft;
  std::uint32_t index = 0;  ///< below 2^24
};

inline std::array<std::uint64_t, 2> coin_words(const CoinKey& key) {
  const r123::Philox4x32::ctr_type counter = {
      {key.request, key.round_pos, key.pos,
       (static_cast<std::uint32_t>(key.purpose) << 24) | key.index}};
  const r123::Philox4x32::key_type seed = {
      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}};
  const auto words = r123::Philox4x32()(counter, seed);
  return {(static_cast<std::uint64_t>(words[1]) << 32) | words[0],
          (static_cast<std::uint64_t>(words[3]) << 32) | words[2]};
}

/// Uniform on [0, 1) with 53 bits.
inline double uniform_of_word(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}
inline double uniform(const CoinKey& key) { return uniform_of_word(coin_words(key)[0]); }

/// Exponential noise (mean 1) from one word, never zero: -log of a uniform on the open interval
/// with 52 bits.
inline double exponential_of_word(std::uint64_t word) {
  return minus_log_fixed((static_cast<double>(word >> 12) + 0.5) * 0x1p-52);
}

/// Coupled draw at a position: argmax of log prob + Gumbel(seed, request, pos, id), the smallest id
/// at a tie. With the Gumbel noise written as -log E, E exponential, this is the argmax of weight /
/// E, which needs no second logarithm. Key: seed, request, pos. Two neighbouring ids share one
/// Philox block.
inline TokenId coupled_draw(const Law& law, std::uint64_t seed, std::uint32_t request,
                            std::uint32_t pos) {
  if (law.is_point()) return law.point;
  TokenId best = -1;
  double best_score = 0.0;
  for (int id = 0; id < law.n_ids; id += 2) {
    const bool has_second = id + 1 < law.n_ids && law.weights[id + 1] > 0.0;
    if (!has_second && !(law.weights[id] > 0.0))
      continue;  // the noise of an impossible id is never looked at
    const auto words =
        coin_words({seed, request, 0, pos, Purpose::kCoupled, static_cast<std::uint32_t>(id) / 2});
    const double first = law.weights[id] / exponential_of_word(words[0]);
    if (first > best_score) {
      best_score = first;
      best = id;
    }
    const double second = has_second ? law.weights[id + 1] / exponential_of_word(words[1]) : 0.0;
    if (second > best_score) {
      best_score = second;
      best = id + 1;
    }
  }
  return best;
}

}  // namespace specbench::engine
