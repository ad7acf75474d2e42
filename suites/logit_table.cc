#include "suites/logit_table.h"

#include <cmath>
#include <limits>

#include "suites/keyed_numbers.h"

namespace specbench::suites {

namespace {

using Row = std::vector<float>;

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

void forbid_others(Row& row, std::size_t id) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (i != id) row[i] = kImpossible;
}

// Forbids ids at random, never the one named.
void forbid_some(Row& row, std::size_t kept, KeyedNumbers& numbers) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (numbers.uniform() < 0.4 && i != kept) row[i] = kImpossible;
}

void make_nasty(Row& target, Row& draft, KeyedNumbers& numbers) {
  const std::size_t n = target.size();
  const auto any = [&] {
    return static_cast<std::size_t>(numbers.uniform() * static_cast<double>(n));
  };
  switch (static_cast<int>(numbers.uniform() * 6)) {
    case 0:
      forbid_some(target, any(), numbers);
      forbid_some(draft, any(), numbers);
      break;
    case 1:
      for (std::size_t i = 0; i < n; ++i) (i % 2 == 0 ? target : draft)[i] = kImpossible;
      break;
    case 2:
      forbid_others(target, any());
      break;
    case 3:
      forbid_others(draft, any());
      break;
    case 4:
      draft = target;
      break;
    default:
      break;  // both random
  }
}

}  // namespace

LogitTable::LogitTable(Tables kind, int n_ids, std::uint64_t seed) : n_ids_(n_ids) {
  const int n_states = kPositions * n_ids;
  for (int state = 0; state < n_states; ++state) {
    KeyedNumbers numbers(seed, static_cast<std::uint32_t>(state));
    const auto row = [&] {
      Row logits(static_cast<std::size_t>(n_ids));
      for (float& logit : logits) {
        const double x = 4.0 * (numbers.uniform() - 0.5);
        logit = static_cast<float>(kind == Tables::kTied ? std::round(x) : x);
      }
      return logits;
    };
    Row target = row();
    Row draft = row();
    Row deeper(target.size());
    for (std::size_t i = 0; i < deeper.size(); ++i) deeper[i] = (target[i] + draft[i]) / 2;
    if (kind == Tables::kMixed) make_nasty(target, draft, numbers);
    targets_.push_back(std::move(target));
    drafts_.push_back(std::move(draft));
    deeper_.push_back(std::move(deeper));
  }
}

std::size_t LogitTable::state(std::span<const engine::TokenId> text) const {
  const int pos = static_cast<int>(text.size()) % kPositions;
  return static_cast<std::size_t>(pos * n_ids_ + text.back());
}

}  // namespace specbench::suites
