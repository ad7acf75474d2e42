#include "suites/wide_seen.h"

#include <algorithm>
#include <cmath>

#include "engine/coins.h"
#include "engine/parallel.h"
#include "stats/collisions.h"
#include "suites/narrow_play.h"

namespace specbench::suites {

void WideCounts::forbid(Kind kind, engine::TokenId id) {
  Stream& stream = streams[static_cast<std::size_t>(kind)];
  stream.forbidden = stream.n_forbidden++ == 0 ? id : std::min(stream.forbidden, id);
}

void WideCounts::merge(const WideCounts& other) {
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Stream& from = other.streams[k];
    for (std::size_t o = 0; o < kOrders; ++o) streams[k].pits[o].merge(from.pits[o]);
    if (from.n_forbidden == 0) continue;
    forbid(static_cast<Kind>(k), from.forbidden);
    streams[k].n_forbidden += from.n_forbidden - 1;
  }
  n_tokens += other.n_tokens;
  n_tail += other.n_tail;
  n_batches += other.n_batches;
  n_collisions += other.n_collisions;
}

namespace {

constexpr std::size_t kOneHotDrafts = 4;  // different drafted ids of the one-hot rule, by position

/// Plays all chunks until each has emitted its part of n_tokens. play(chunk, quota, counts, bits)
/// plays one.
template <typename PlayChunk>
WideSeen play_chunks(std::int64_t n_tokens, int n_threads, const PlayChunk& play) {
  const std::int64_t quota = (n_tokens + kPlayChunks - 1) / kPlayChunks;
  std::vector<WideCounts> parts(static_cast<std::size_t>(n_threads));
  std::vector<stats::AcceptBits> bits(kPlayChunks);
  engine::parallel_for(n_threads, n_threads, [&](int t) {
    for (int chunk = kPlayChunks * t / n_threads; chunk < kPlayChunks * (t + 1) / n_threads;
         ++chunk)
      play(chunk, quota, parts[static_cast<std::size_t>(t)], bits[static_cast<std::size_t>(chunk)]);
  });
  WideSeen seen{std::move(parts[0]), {}};
  for (std::size_t t = 1; t < parts.size(); ++t) seen.counts.merge(parts[t]);
  for (const stats::AcceptBits& part : bits) seen.bits.merge(part);
  return seen;
}

double verification_coin(const PlayedRound& round, std::size_t i) {
  return engine::uniform(
      {round.draft.seed, round.draft.request, 0,
       static_cast<std::uint32_t>(round.first_pos()) + static_cast<std::uint32_t>(i),
       engine::Purpose::kVerification, 0});
}

Kind kind_of_token(const PlayedRound& round, std::size_t i) {
  if (i < round.n_accepted()) return Kind::kAccepted;
  return i < round.n_drafted() ? Kind::kRejected : Kind::kBonus;
}

/// Sorts the rounds of one chunk on fixed laws.
class FixedNoter {
 public:
  FixedNoter(const WideLaws& laws, bool has_classes, WideCounts& counts, stats::AcceptBits& bits)
      : laws_(laws), has_classes_(has_classes), counts_(counts), bits_(bits) {
    batch_.reserve(kCollisionBatch);
  }
  std::int64_t n_tokens() const { return n_tokens_; }

  void note(const PlayedRound& round) {
    for (std::size_t i = 0; i <= round.n_accepted(); ++i) {
      const engine::TokenId id = round.token(i);
      const double coin = verification_coin(round, i);
      note_token(id, coin);
      if (has_classes_) add(kind_of_token(round, i), id, coin);
    }
    if (!has_classes_) return;
    for (std::size_t i = 0; i <= round.n_accepted() && i < round.n_drafted(); ++i) {
      const double p = round.laws.targets[i].prob(round.draft.drafted[i]);
      const double q = round.draft.laws[i].prob(round.draft.drafted[i]);
      bits_.add(i < round.n_accepted(), p < q ? p / q : (p > 0.0 ? 1.0 : 0.0));
    }
  }

 private:
  void note_token(engine::TokenId id, double coin) {
    const Standing& at = laws_.standing(OutcomeLaw::kTarget, id);
    add(Kind::kAll, id, coin);
    ++n_tokens_;
    ++counts_.n_tokens;
    if (at.below[static_cast<std::size_t>(Order::kTarget)] + at.mass <= kTailMass) ++counts_.n_tail;
    if (at.mass * static_cast<double>(kCollisionBatch) <= stats::kMaxExpectedInTail)
      batch_.push_back(id);
    if (n_tokens_ % static_cast<std::int64_t>(kCollisionBatch) == 0) end_batch();
  }

  void add(Kind kind, engine::TokenId id, double coin) {
    const Standing& at = laws_.standing(law_of(kind), id);
    if (!(at.mass > 0.0)) return counts_.forbid(kind, id);
    auto& pits = counts_.streams[static_cast<std::size_t>(kind)].pits;
    for (std::size_t o = 0; o < kOrders; ++o)
      pits[o].add(std::min(1.0, at.below[o] + coin * at.mass));
  }

  void end_batch() {
    std::sort(batch_.begin(), batch_.end());
    for (std::size_t begin = 0; begin < batch_.size();) {
      std::size_t end = begin;
      while (end < batch_.size() && batch_[end] == batch_[begin]) ++end;
      const auto n = static_cast<std::int64_t>(end - begin);
      counts_.n_collisions += n * (n - 1) / 2;
      begin = end;
    }
    batch_.clear();
    ++counts_.n_batches;
  }

  const WideLaws& laws_;
  bool has_classes_;
  WideCounts& counts_;
  stats::AcceptBits& bits_;
  std::int64_t n_tokens_ = 0;
  std::vector<engine::TokenId> batch_;  ///< rare ids of the batch so far
};

}  // namespace

WideSeen play_fixed_laws(const WideLaws& wide, const engine::Verifier& verifier,
                         std::int64_t n_tokens, std::uint64_t seed, const engine::Steps& steps,
                         int n_threads) {
  const bool is_token = verifier.accept == engine::accept_token;
  const std::vector<engine::Law> targets(kWideDrafted + 1, wide.target);
  const std::vector<engine::Law> residuals(kWideDrafted, wide.residual);
  std::vector<engine::Law> drafts(kOneHotDrafts + kWideDrafted, wide.draft);
  if (verifier.draft_draw == engine::DraftDraw::kArgmax) {
    const auto ids = wide.likeliest_drafts(kOneHotDrafts);
    for (std::size_t i = 0; i < drafts.size(); ++i)
      drafts[i] = {nullptr, nullptr, 1.0, wide.n_ids(), ids[i % kOneHotDrafts]};
  }
  const auto laws_of = [&](std::size_t, int first_pos) {
    const std::size_t first = static_cast<std::size_t>(first_pos) % kOneHotDrafts;
    return RoundLaws{targets, std::span(drafts).subspan(first, kWideDrafted), residuals};
  };
  return play_chunks(
      n_tokens, n_threads,
      [&](int chunk, std::int64_t quota, WideCounts& counts, stats::AcceptBits& bits) {
        FixedNoter noter(wide, is_token, counts, bits);
        Player player(chunk, kWideDrafted, wide.n_ids(), seed, verifier, steps);
        while (noter.n_tokens() < quota)
          player.step(laws_of, [&](const PlayedRound& round) { noter.note(round); });
      });
}

namespace {

/// Laws of the rows of one chunk, new at every position, each made once: what a round leaves of its
/// target laws is the next one's first.
class VaryingLaws {
 public:
  VaryingLaws(const WideLogits& logits, int chunk, std::uint64_t seed)
      : logits_(logits),
        chunk_(chunk),
        seed_(seed),
        buffer_(static_cast<int>(kRows) * (2 * kVaryingDrafted + 1), logits.n_ids()),
        rows_(kRows) {}

  RoundLaws of(std::size_t row, int first_pos) {
    RowLaws& laws = rows_[row];
    const int room = static_cast<int>(row) * (2 * kVaryingDrafted + 1);
    for (int i = 0; i <= kVaryingDrafted; ++i) {
      const int pos = first_pos + i;
      const int place = pos % (kVaryingDrafted + 1);
      const auto at = static_cast<std::size_t>(place);
      if (laws.made_for[at] != pos) {
        laws.made[at] = made(logits_.target(offset_at(row, pos)), room + place);
        laws.made_for[at] = pos;
      }
      laws.targets[static_cast<std::size_t>(i)] = laws.made[at];
      if (i < kVaryingDrafted)
        laws.drafts[static_cast<std::size_t>(i)] =
            made(logits_.draft(offset_at(row, pos)), room + kVaryingDrafted + 1 + i);
    }
    return {laws.targets, laws.drafts};
  }

 private:
  struct RowLaws {
    std::array<engine::Law, kVaryingDrafted + 1> targets, made;  ///< made: by position
    std::array<engine::Law, kVaryingDrafted> drafts;
    std::array<int, kVaryingDrafted + 1> made_for{};
  };
  int offset_at(std::size_t row, int pos) const {
    const auto request = static_cast<std::uint32_t>(static_cast<std::size_t>(chunk_) * kRows + row);
    const double u = engine::uniform(
        {seed_, request, 0, static_cast<std::uint32_t>(pos), engine::Purpose::kVerification, 1});
    return static_cast<int>(u * logits_.n_ids());
  }
  engine::Law made(const float* logits, int room) {
    return engine::make_law(logits, logits_.n_ids(), {}, buffer_.weights(room),
                            buffer_.chunk_sums(room));
  }

  const WideLogits& logits_;
  int chunk_;
  std::uint64_t seed_;
  engine::LawBuffer buffer_;
  std::vector<RowLaws> rows_;
};

// A row without a draft has no order by p/q.
void note_varying(const PlayedRound& round, RowProbs& row, WideCounts& counts) {
  const auto add = [&](Kind kind, engine::TokenId id, const std::array<double, kOrders>& pit) {
    if (std::isnan(pit[0])) return counts.forbid(kind, id);
    auto& pits = counts.streams[static_cast<std::size_t>(kind)].pits;
    for (std::size_t o = 0; o < (row.has_draft() ? kOrders : kOrders - 1); ++o) pits[o].add(pit[o]);
  };
  for (std::size_t i = 0; i <= round.n_accepted(); ++i) {
    row.load(round.laws.targets[i], i < round.n_drafted() ? &round.draft.laws[i] : nullptr);
    const engine::TokenId id = round.token(i);
    const double coin = verification_coin(round, i);
    const auto pit = row.pit(id, OutcomeLaw::kTarget, coin);
    const Kind kind = kind_of_token(round, i);
    add(Kind::kAll, id, pit);
    add(kind, id, kind == Kind::kBonus ? pit : row.pit(id, law_of(kind), coin));
    ++counts.n_tokens;
  }
}

}  // namespace

WideSeen play_varying_laws(const WideLogits& logits, std::int64_t n_tokens, std::uint64_t seed,
                           const engine::Steps& steps, int n_threads) {
  const engine::Verifier& verifier = engine::find_verifier("token", {});
  return play_chunks(n_tokens, n_threads,
                     [&](int chunk, std::int64_t quota, WideCounts& counts, stats::AcceptBits&) {
                       VaryingLaws laws(logits, chunk, seed);
                       Player player(chunk, kVaryingDrafted, logits.n_ids(), seed, verifier, steps);
                       RowProbs row(logits.n_ids());
                       const std::int64_t until = counts.n_tokens + quota;
                       while (counts.n_tokens < until)
                         player.step(
                             [&](std::size_t r, int first_pos) { return laws.of(r, first_pos); },
                             [&](const PlayedRound& round) { note_varying(round, row, counts); });
                     });
}

}  // namespace specbench::suites
