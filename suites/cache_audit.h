// Watches the key/value cache of a decoding run: after a trim it must equal what a fresh prefill of
// the same tokens writes, bit for bit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/backend.h"
#include "suites/tally.h"

namespace specbench::suites {

/// How EOS came up in rounds: each is a place where a stop can go wrong.
struct EosWays {
  std::int64_t n_first = 0;      ///< from the prefill
  std::int64_t n_accepted = 0;   ///< drafted and accepted
  std::int64_t n_corrected = 0;  ///< in place of a refused token
  std::int64_t n_bonus = 0;      ///< behind a wholly accepted draft
  std::int64_t n_refused = 0;    ///< drafted and refused: no stop
  bool has_all() const { return n_accepted > 0 && n_corrected > 0 && n_refused > 0; }
};

/// Follows every sequence and, after every trim, compares the cache with a fresh prefill of the
/// same tokens, bit for bit.
class CacheAudit final : public Tally {
 public:
  CacheAudit(const engine::Backend& backend, engine::Backend& fresh,
             std::span<const engine::Request> requests, int audit_every,
             const std::atomic<bool>& stop)
      : backend_(backend), fresh_(fresh), audit_every_(audit_every), stop_(stop) {
    for (const engine::Request& request : requests) tokens_[request.id] = request.prompt;
  }

  bool is_cancelled() override { return was_cancelled = was_cancelled || stop_; }

  void prefill(const engine::Prefill& prefill) override {
    Tally::prefill(prefill);
    tokens_[prefill.request].push_back(prefill.token);
    eos.n_first += is_eos(prefill.token) ? 1 : 0;
  }

  void round(const engine::Round& round) override {
    Tally::round(round);
    std::vector<engine::TokenId>& tokens = tokens_[round.request];
    tokens.insert(tokens.end(), round.emitted.begin(), round.emitted.end());
    const auto drafted = static_cast<std::size_t>(round.n_drafted());
    if (accept_counts.size() <= drafted) accept_counts.resize(drafted + 1);
    ++accept_counts[static_cast<std::size_t>(round.n_verdict)];
    count_eos(round);
    if (n_seen_++ % audit_every_ == 0) audit(round, tokens);
  }

  std::int64_t n_audits = 0;
  std::int64_t n_entries = 0;
  std::vector<std::int64_t> accept_counts;  ///< rounds by drafted tokens accepted
  EosWays eos;
  bool was_cancelled = false;  ///< what was decoded is a part: it proves and disproves nothing

 private:
  bool is_eos(engine::TokenId token) const {
    const std::vector<engine::TokenId>& ids = backend_.config().eos;
    return std::find(ids.begin(), ids.end(), token) != ids.end();
  }

  void count_eos(const engine::Round& round);
  void audit(const engine::Round& round, std::span<const engine::TokenId> tokens);

  const engine::Backend& backend_;
  engine::Backend& fresh_;
  int audit_every_;
  std::int64_t n_seen_ = 0;
  const std::atomic<bool>& stop_;
  std::map<std::uint32_t, std::vector<engine::TokenId>> tokens_;  ///< by request
};

}  // namespace specbench::suites
