// Faults of the acceptance test and of the token at a rejection.
#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/coins.h"
#include "suites/mutants/plant.h"

namespace specbench::suites::plant {

namespace {

bool stands(const Proposal& p, const RoundCoins& coins, std::size_t i) {
  const TokenId id = p.drafted[i];
  return coins.accept[i] * p.draft_laws[i].prob(id) < p.target_laws[i].prob(id);
}

/// weights(id) for every id, as a law in `room`.
template <typename Weight>
Law law_by(int n_ids, const LawRoom& room, const Weight& weight) {
  for (int id = 0; id < engine::padded_size(n_ids); ++id)
    room.weights[id] = id < n_ids ? weight(id) : 0.0;
  return {room.weights, room.chunk_sums, engine::sum_chunks(room.weights, n_ids, room.chunk_sums),
          n_ids, -1};
}

/// Token rejection with the right acceptance test and a residual law of its own.
template <typename ResidualOf>
Acceptance with_residual(const Proposal& p, const RoundCoins& coins, const ResidualOf& residual) {
  return engine::reject_first(
      p, coins, [&](std::size_t i) { return stands(p, coins, i); }, residual);
}

/// Token rejection with the right residual law and an acceptance test of its own.
template <typename Stands>
Acceptance with_test(const Proposal& p, const RoundCoins& coins, const LawRoom& room,
                     const Stands& test) {
  return engine::reject_first(p, coins, test, [&](std::size_t i) {
    return engine::residual_law(p.target_laws[i], p.draft_laws[i], room);
  });
}

TokenId likeliest(const Law& law) {
  if (law.is_point()) return law.point;
  return static_cast<TokenId>(std::max_element(law.weights, law.weights + law.n_ids) - law.weights);
}

/// Ten mantissa bits, as in half precision.
double half(double x) {
  return static_cast<double>(std::bit_cast<float>(
      (std::bit_cast<std::uint32_t>(static_cast<float>(x)) + 0x1000U) & 0xffffe000U));
}

/// Walks a float sum of probabilities; where it never exceeds u, the last id of all.
TokenId draw_through_the_end(const Law& law, double u) {
  if (law.is_point()) return law.point;
  float sum = 0.0F;
  for (int id = 0; id < law.n_ids; ++id) {
    sum += static_cast<float>(law.prob(id));
    if (static_cast<double>(sum) > u) return id;
  }
  return law.n_ids - 1;
}

}  // namespace

Acceptance r1(const Proposal& p, const RoundCoins& coins, const LawRoom&) {
  return with_residual(p, coins, [&](std::size_t i) { return p.target_laws[i]; });
}

Acceptance r2(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_residual(p, coins, [&](std::size_t i) {
    return law_by(p.target_laws[i].n_ids, room,
                  [&](TokenId id) { return id == p.drafted[i] ? 0.0 : p.target_laws[i].prob(id); });
  });
}

Acceptance r3(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_residual(p, coins, [&](std::size_t i) {
    return law_by(p.target_laws[i].n_ids, room, [&](TokenId id) {
      return std::exp(std::max(0.0, p.target_laws[i].prob(id) - p.draft_laws[i].prob(id)));
    });
  });
}

Acceptance r4(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_residual(p, coins, [&](std::size_t) {
    return engine::residual_law(p.target_laws[0], p.draft_laws[0], room);
  });
}

Acceptance r5(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  Acceptance a = engine::accept_token(p, coins, room);
  const auto n = static_cast<std::size_t>(a.n_accepted);
  a.final_token =
      a.source == engine::Source::kBonus
          ? draw_through_the_end(p.target_laws[n], coins.bonus)
          : draw_through_the_end(engine::residual_law(p.target_laws[n], p.draft_laws[n], room),
                                 coins.residual[n]);
  return a;
}

Acceptance r6(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  Acceptance a = engine::accept_token(p, coins, room);
  if (a.residual_was_empty) a.final_token = 0;
  return a;
}

Acceptance r7(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_residual(p, coins, [&](std::size_t i) {
    return law_by(p.target_laws[i].n_ids, room, [&](TokenId id) {
      return half(std::max(0.0, p.target_laws[i].prob(id) - p.draft_laws[i].prob(id)));
    });
  });
}

Acceptance r8(const Proposal& p, const RoundCoins& coins, const LawRoom&) {
  return with_residual(p, coins, [&](std::size_t i) { return p.target_laws[i + 1]; });
}

Acceptance r9(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  Acceptance a = engine::accept_block(p, coins, room);
  if (a.source != engine::Source::kResidual) return a;
  const auto n = static_cast<std::size_t>(a.n_accepted);
  const Law residual = engine::residual_law(p.target_laws[n], p.draft_laws[n], room);
  a.final_token =
      engine::draw(residual.total > 0.0 ? residual : p.target_laws[n], coins.residual[n]);
  return a;
}

Acceptance r10(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_residual(p, coins, [&](std::size_t i) {
    return law_by(p.target_laws[i].n_ids, room, [&](TokenId id) {
      return std::fabs(p.target_laws[i].prob(id) - p.draft_laws[i].prob(id));
    });
  });
}

Acceptance a1(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_test(p, coins, room, [](std::size_t) { return true; });
}

Acceptance a2(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_test(p, coins, room, [&](std::size_t i) {
    const TokenId id = p.drafted[i];
    return coins.accept[i] * p.draft_laws[i].prob(id) <= p.target_laws[i].prob(id);
  });
}

Acceptance a3(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_test(p, coins, room, [&](std::size_t i) {
    return p.target_laws[i].prob(p.drafted[i]) >
           0.3 * p.target_laws[i].prob(likeliest(p.target_laws[i]));
  });
}

Acceptance a4(const Proposal& p, const RoundCoins&, const LawRoom&) {
  for (std::size_t i = 0;; ++i) {
    const TokenId best = likeliest(p.target_laws[i]);
    if (i == p.drafted.size()) return {static_cast<int>(i), best, engine::Source::kBonus, false};
    if (p.drafted[i] != best) return {static_cast<int>(i), best, engine::Source::kResidual, false};
  }
}

Acceptance a6(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_test(p, coins, room, [&](std::size_t i) { return i == 0 || stands(p, coins, i); });
}

Acceptance a10(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_test(p, coins, room, [&](std::size_t i) {
    const TokenId id = p.drafted[i];
    return coins.accept[i] * p.target_laws[i].prob(id) < p.draft_laws[i].prob(id);
  });
}

Acceptance a11(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  return with_test(p, coins, room, [&](std::size_t i) {
    const TokenId id = p.drafted[i];
    const Law& neighbour = p.draft_laws[(i + 1) % p.drafted.size()];
    return coins.accept[i] * neighbour.prob(id) < p.target_laws[i].prob(id);
  });
}

Acceptance b4(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  Acceptance a = engine::accept_token(p, coins, room);
  const std::size_t n = p.drafted.size();
  if (n > 0 && a.source == engine::Source::kBonus)
    a.final_token = engine::draw(p.target_laws[n - 1], coins.bonus);
  return a;
}

Acceptance n2(const Proposal& p, const RoundCoins& coins, const LawRoom& room) {
  Acceptance a = engine::accept_token(p, coins, room);
  if (a.source != engine::Source::kResidual) return a;
  const auto n = static_cast<std::size_t>(a.n_accepted);
  const Law residual = engine::residual_law(p.target_laws[n], p.draft_laws[n], room);
  a.final_token =
      engine::coupled_draw(residual.total > 0.0 ? residual : p.target_laws[n], coins.seed,
                           coins.request, coins.first_pos + static_cast<std::uint32_t>(n));
  return a;
}

}  // namespace specbench::suites::plant
