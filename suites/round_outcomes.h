// The exact law of what a verification rule does with one proposal: the measure of the coin sets of
// each outcome. The rule is a black box; only that its outcome changes at few points of each coin,
// and never forth and back between two of them, is used; and that an accept coin near 1 refuses.
#pragma once

#include <array>
#include <vector>

#include "engine/accept.h"

namespace specbench::suites {

inline constexpr int kMaxEnumerated = 4;  ///< drafted tokens of a round

/// A coin uniform on [begin, end).
struct Interval {
  double begin = 0.0, end = 1.0;
};
using AcceptCoins = std::array<Interval, kMaxEnumerated>;

struct Outcome {
  int n_accepted = 0;
  engine::TokenId final_token = -1;
  double prob = 0.0;
  AcceptCoins accept{};  ///< the accept coins that lead to it
};

/// Which coins a rule looks at.
struct CoinUse {
  bool is_block = false;       ///< its thresholds are the block rule's
  bool is_descending = false;  ///< the last accept coin decides first
  bool has_targets = false;    ///< the target is drawn at every row (one-hot rule)
};

class RoundMeasure {
 public:
  /// `room` is what the rule may use. `hints` may be wrong, never the result: where a coin's
  /// predicted thresholds are not the rule's, they are found by bisection.
  RoundMeasure(engine::AcceptRule rule, CoinUse use, const engine::LawRoom& room)
      : rule_(rule), use_(use), room_(room) {}

  /// Outcomes with their probabilities, the accept coins uniform on the given intervals and all
  /// others on [0, 1). The reference is valid until the next call. Throws StateViolation where the
  /// rule accepts more than there is, or emits an id that is none or impossible under the target.
  const std::vector<Outcome>& measure(const engine::Proposal& proposal, const AcceptCoins& accept);

 private:
  struct Mark {  // the outcome from a value of a coin on
    double begin;
    int n_accepted;
    engine::TokenId final_token;
    bool is_as(const Mark& o) const {
      return n_accepted == o.n_accepted && final_token == o.final_token;
    }
  };
  enum class Kind { kAccept, kTarget, kFinal };
  struct Coin {
    Kind kind;
    std::size_t row;
  };

  void list_coins();
  void list_thresholds();
  void split(std::size_t coin, double prob, const Mark& here);
  void find_marks(const Coin& coin, const Interval& range, const Mark& at_top,
                  std::vector<Mark>& marks);
  void bisect(const Coin& coin, const Mark& low, const Mark& high, std::vector<Mark>& marks);
  void predict(const Coin& coin, const Mark& here, std::vector<double>& hints) const;
  void set(const Coin& coin, double value);
  Mark evaluate(const Coin& coin, double value);

  engine::AcceptRule rule_;
  CoinUse use_;
  engine::LawRoom room_;
  const engine::Proposal* proposal_ = nullptr;
  engine::RoundCoins coins_;
  AcceptCoins accept_{};
  std::vector<Coin> order_;
  std::array<double, kMaxEnumerated> threshold_{};  ///< predicted, of each accept coin
  std::array<double, kMaxEnumerated + 1> share_{};  ///< P_i of the block rule; 1 for the others
  std::vector<std::vector<Mark>> marks_;            ///< of each coin being split
  std::vector<double> hints_;
  std::vector<Outcome> outcomes_;
};

}  // namespace specbench::suites
