// Faults of the coins: too coarse, shared, reused, or keyed by too little.
#include "engine/coins.h"

#include <cmath>

#include "suites/mutants/plant.h"

namespace specbench::suites::plant {

namespace {

double coin(const RoundKey& key, int i, engine::Purpose purpose) {
  const auto first = static_cast<std::uint32_t>(key.first_pos);
  return engine::uniform(
      {key.seed, key.request, first, first + static_cast<std::uint32_t>(i), purpose, 0});
}

RoundCoins with_key(RoundKey key) { return engine::coins_of_round(key); }

}  // namespace

RoundCoins a5(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (double& u : coins.accept) u = std::floor(u * 101.0) / 101.0;
  return coins;
}

RoundCoins a7(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (double& u : coins.accept) u = std::round(u * 4096.0) / 4096.0;
  return coins;
}

RoundCoins n1(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  coins.residual = coins.accept;
  return coins;
}

RoundCoins n3(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  coins.accept.fill(coins.accept[0]);
  coins.residual.fill(coins.residual[0]);
  return coins;
}

RoundCoins n4(const RoundKey& key) {
  RoundKey shared = key;
  shared.request = 0;
  return with_key(shared);
}

RoundCoins n5(const RoundKey& key) {
  RoundKey by_lane = key;
  by_lane.request = static_cast<std::uint32_t>(key.lane);
  return with_key(by_lane);
}

RoundCoins n6(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (int i = 0; i < key.n_drafted; ++i)
    coins.accept[static_cast<std::size_t>(i)] =
        engine::uniform({key.seed, key.request, 0, static_cast<std::uint32_t>(key.first_pos + i),
                         engine::Purpose::kAccept, 0});
  return coins;
}

RoundCoins n7(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (int i = 0; i < key.n_drafted; ++i)
    coins.accept[static_cast<std::size_t>(i)] = coin(key, i, engine::Purpose::kDraft);
  return coins;
}

RoundCoins n8(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (std::size_t i = 0; i < coins.residual.size(); ++i) coins.residual[i] = 1.0 - coins.accept[i];
  for (double& u : coins.residual) u = u < 1.0 ? u : 0.0;
  return coins;
}

RoundCoins n9(const RoundKey& key) {
  RoundCoins coins = engine::coins_of_round(key);
  for (int i = 0; i < key.n_drafted; ++i)
    coins.residual[static_cast<std::size_t>(i)] = coin(key, i, engine::Purpose::kDraft);
  return coins;
}

}  // namespace specbench::suites::plant
