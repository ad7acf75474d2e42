#include "suites/two_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "engine/decode.h"
#include "suites/law_oracle.h"
#include "suites/round_outcomes.h"

namespace specbench::suites {

using engine::Law;
using engine::TokenId;

namespace {

using Text = std::vector<TokenId>;    // the prompt's one token, then what was emitted
using Joint = std::vector<double>;    // [n_ids ^ length], the first token most significant
using RoundLaw = std::vector<Joint>;  // [n accepted]: law of the n + 1 tokens of a round
using Sink = std::function<void(const Outcome&, double prob)>;

constexpr int kRounds = 2;

CoinUse coins_of(const RuleUnderTest& rule) {
  // A rule in the verifier's place may be of another shape. Taken from the first coin on, a block
  // rule is measured as rightly, only more slowly.
  return {rule.verifier == "block", rule.verifier == "block" && rule.steps.accept == nullptr,
          rule.verifier == "one-hot"};
}

class TwoRounds {
 public:
  TwoRounds(const EnumerationCase& one, const RuleUnderTest& rule);
  EnumerationResult compare();

 private:
  // Laws of rows.
  engine::RowPast past(const Text& text, std::size_t n_drafted) const;
  Law draft_law(const Text& text, const std::vector<float>& logits, const engine::LawRoom& room);
  const std::vector<double>& due_law(const Text& text);
  std::vector<int> key(const Text& text, std::initializer_list<int> more) const;

  // One round.
  int n_wanted(const Text& text, int n_before) const;
  bool has_ended(const Text& text) const;
  void draft(Text& text, int g, double prob, const AcceptCoins& accept, const Sink& sink);
  void verify(const Text& text, double prob, const AcceptCoins& accept, const Sink& sink);
  RoundLaw round_law(Text text, int g, const AcceptCoins& accept);

  // Rounds joined: law of the next `length` tokens behind a text.
  const Joint& plain(const Text& text, int length);
  const Joint& continuation(const Text& text, int length, int n_before, int round);
  void add_round(const RoundLaw& law, const Text& text, int length, int round, double prob,
                 Joint& out);
  Joint with_shared_coins(Text text, int length);
  std::size_t power(int exponent) const;
  EnumerationResult compare(const Joint& emitted, const Joint& due) const;

  const EnumerationCase case_;
  const engine::Steps steps_;
  const bool is_any_;
  const LogitTable table_;
  const std::vector<TokenId> eos_;
  engine::LawBuffer rooms_;
  RoundMeasure measure_;
  std::vector<float> logits_;
  std::vector<TokenId> drafted_;  // of the draft under way
  std::vector<Law> draft_laws_, target_laws_;
  std::map<std::vector<int>, std::vector<double>> due_laws_;
  std::map<std::vector<int>, RoundLaw> rounds_;
  std::map<std::vector<int>, Joint> plains_, continuations_;
};

// Rooms of laws: one draft and one deeper law a row, one target law a row, the residual.
int deeper_room(int row) { return kMaxEnumerated + row; }
int target_room(int row) { return 2 * kMaxEnumerated + row; }
constexpr int kResidualRoom = 3 * kMaxEnumerated + 1;

TwoRounds::TwoRounds(const EnumerationCase& one, const RuleUnderTest& rule)
    : case_(one),
      steps_(rule.steps),
      is_any_(rule.verifier == "one-hot" || rule.verifier == "greedy"),
      table_(one.tables, one.n_ids, one.seed),
      eos_{one.n_ids - 1},
      rooms_(kResidualRoom + 1, one.n_ids),
      measure_(rule.steps.accept != nullptr
                   ? rule.steps.accept
                   : engine::find_verifier(rule.verifier, one.params).accept,
               coins_of(rule), rooms_.room(kResidualRoom)) {}

engine::RowPast TwoRounds::past(const Text& text, std::size_t n_drafted) const {
  const std::span<const TokenId> all = text;
  return {all.first(1), all.subspan(1, text.size() - 1 - n_drafted), all.last(n_drafted), eos_};
}

Law TwoRounds::draft_law(const Text& text, const std::vector<float>& logits,
                         const engine::LawRoom& room) {
  logits_ = logits;
  const int row = static_cast<int>(drafted_.size());
  return steps_.law(logits_.data(), case_.n_ids, case_.params, past(text, drafted_.size()),
                    {row, row, true}, room);
}

// What everything that a law behind the text depends on tells apart. Processors see all of it.
std::vector<int> TwoRounds::key(const Text& text, std::initializer_list<int> more) const {
  std::vector<int> key(more);
  if (case_.params.has_processors())
    key.insert(key.end(), text.begin(), text.end());
  else
    key.push_back(static_cast<int>(table_.state(text)));
  return key;
}

const std::vector<double>& TwoRounds::due_law(const Text& text) {
  auto [it, is_new] = due_laws_.try_emplace(key(text, {}));
  if (is_new)
    it->second = oracle_law(table_.target(table_.state(text)), case_.params, past(text, 0));
  return it->second;
}

int TwoRounds::n_wanted(const Text& text, int n_before) const {
  const int g = case_.stop->n_wanted(case_.g, n_before);
  const int n_emitted = static_cast<int>(text.size()) - 1;
  // Without max_tokens there is room for everything.
  const int room = case_.stop->has_room ? case_.g + 2 - n_emitted : 2 * kMaxEnumerated;
  return std::min(kMaxEnumerated, steps_.n_wanted(g, room));
}

bool TwoRounds::has_ended(const Text& text) const {
  return case_.stop->ends_at_eos && text.size() > 1 && text.back() == eos_.front();
}

void TwoRounds::draft(Text& text, int g, double prob, const AcceptCoins& accept, const Sink& sink) {
  const int row = static_cast<int>(drafted_.size());
  if (row >= g) return verify(text, prob, accept, sink);
  const std::size_t state = table_.state(text);
  const Law law = draft_law(text, table_.draft(state), rooms_.room(row));
  const Law deeper = draft_law(text, table_.deeper(state), rooms_.room(deeper_room(row)));
  std::vector<Branch> branches;
  case_.stop->draft({law, deeper, is_any_}, branches);
  for (const Branch& branch : branches) {
    if (!(branch.prob > 0.0)) continue;
    if (branch.token < 0) {
      verify(text, prob * branch.prob, accept, sink);
      continue;
    }
    drafted_.push_back(branch.token);
    draft_laws_.push_back(branch.reported);
    text.push_back(branch.token);
    draft(text, branch.is_last ? 0 : g, prob * branch.prob, accept, sink);
    text.pop_back();
    draft_laws_.pop_back();
    drafted_.pop_back();
  }
}

void TwoRounds::verify(const Text& text, double prob, const AcceptCoins& accept, const Sink& sink) {
  const std::size_t n = drafted_.size();
  const std::size_t n_committed = text.size() - n;
  target_laws_.clear();
  for (std::size_t i = 0; i <= n; ++i) {
    const Text so_far(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n_committed + i));
    const int row = static_cast<int>(i);
    logits_ = table_.target(table_.state(so_far));
    target_laws_.push_back(steps_.law(logits_.data(), case_.n_ids, case_.params, past(so_far, i),
                                      {row, static_cast<int>(n), false},
                                      rooms_.room(target_room(row))));
  }
  for (const Outcome& outcome : measure_.measure({drafted_, draft_laws_, target_laws_}, accept))
    sink(outcome, prob * outcome.prob);
}

std::size_t TwoRounds::power(int exponent) const {
  std::size_t product = 1;
  for (int i = 0; i < exponent; ++i) product *= static_cast<std::size_t>(case_.n_ids);
  return product;
}

RoundLaw TwoRounds::round_law(Text text, int g, const AcceptCoins& accept) {
  RoundLaw law;
  for (int n = 0; n <= g; ++n) law.emplace_back(power(n + 1));
  draft(text, g, 1.0, accept, [&](const Outcome& outcome, double prob) {
    std::size_t code = 0;
    for (int i = 0; i < outcome.n_accepted; ++i)
      code = code * power(1) + static_cast<std::size_t>(drafted_[static_cast<std::size_t>(i)]);
    code = code * power(1) + static_cast<std::size_t>(outcome.final_token);
    law[static_cast<std::size_t>(outcome.n_accepted)][code] += prob;
  });
  return law;
}

const Joint& TwoRounds::plain(const Text& text, int length) {
  auto [it, is_new] = plains_.try_emplace(key(text, {length}));
  Joint& out = it->second;
  if (!is_new) return out;
  out.assign(power(length), 0.0);
  if (length == 0) {
    out[0] = 1.0;
  } else if (has_ended(text)) {
    out.back() = 1.0;  // a text that ended is filled up with EOS, the last id
  } else {
    const std::vector<double>& due = due_law(text);
    Text longer = text;
    longer.push_back(0);
    for (std::size_t id = 0; id < due.size(); ++id) {
      longer.back() = static_cast<TokenId>(id);
      const Joint& rest = plain(longer, length - 1);
      for (std::size_t i = 0; i < rest.size(); ++i) out[id * rest.size() + i] = due[id] * rest[i];
    }
  }
  return out;
}

// Adds prob x (law of the round, then what follows it) to the law of the next `length` tokens.
void TwoRounds::add_round(const RoundLaw& law, const Text& text, int length, int round, double prob,
                          Joint& out) {
  for (std::size_t n = 0; n < law.size(); ++n) {
    for (std::size_t code = 0; code < law[n].size(); ++code) {
      if (!(law[n][code] > 0.0)) continue;
      Text longer = text;
      std::size_t prefix = 0;
      int taken = 0;
      for (int i = static_cast<int>(n); i >= 0 && taken < length && !has_ended(longer); --i) {
        const std::size_t id = code / power(i) % power(1);
        longer.push_back(static_cast<TokenId>(id));
        prefix = prefix * power(1) + id;
        ++taken;
      }
      const Joint& rest = continuation(longer, length - taken, static_cast<int>(n), round + 1);
      const double share = prob * law[n][code];
      for (std::size_t i = 0; i < rest.size(); ++i)
        out[prefix * rest.size() + i] += share * rest[i];
    }
  }
}

const Joint& TwoRounds::continuation(const Text& text, int length, int n_before, int round) {
  if (length == 0 || has_ended(text) || round == kRounds) return plain(text, length);
  const int g = n_wanted(text, n_before);
  auto [it, is_new] = continuations_.try_emplace(key(text, {length, g, round}));
  if (!is_new) return it->second;
  auto [law, is_new_law] = rounds_.try_emplace(key(text, {g}));
  if (is_new_law) law->second = round_law(text, g, {});
  it->second.assign(power(length), 0.0);
  add_round(law->second, text, length, round, 1.0, it->second);
  return it->second;
}

// N6: the accept coins of the second round are those of the first at the same positions, so it must
// be measured once for each set of them that leads to it.
Joint TwoRounds::with_shared_coins(Text text, int length) {
  struct Emission {
    std::vector<TokenId> tokens;
    Outcome outcome;
    double prob;
  };
  std::vector<Emission> emissions;
  const int g = n_wanted(text, -1);
  draft(text, g, 1.0, {}, [&](const Outcome& outcome, double prob) {
    emissions.push_back({{drafted_.begin(), drafted_.begin() + outcome.n_accepted}, outcome, prob});
    emissions.back().tokens.push_back(outcome.final_token);
  });
  Joint out(power(length));
  for (const Emission& first : emissions) {
    Text longer = text;
    std::size_t prefix = 0;
    for (const TokenId id : first.tokens) {
      longer.push_back(id);
      prefix = prefix * power(1) + static_cast<std::size_t>(id);
    }
    AcceptCoins coins{};
    std::copy(first.outcome.accept.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                 first.tokens.size(), coins.size())),
              first.outcome.accept.end(), coins.begin());
    const int rest_length = length - static_cast<int>(first.tokens.size());
    Joint rest(power(rest_length));
    add_round(round_law(longer, n_wanted(longer, first.outcome.n_accepted), coins), longer,
              rest_length, 1, 1.0, rest);
    for (std::size_t i = 0; i < rest.size(); ++i)
      out[prefix * rest.size() + i] += first.prob * rest[i];
  }
  return out;
}

EnumerationResult TwoRounds::compare(const Joint& emitted, const Joint& due) const {
  EnumerationResult result;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < due.size(); ++i) {
    const double off = std::fabs(emitted[i] - due[i]);
    result.l1 += off;
    if (off > std::fabs(emitted[worst] - due[worst])) worst = i;
  }
  std::string text;
  for (std::size_t place = due.size() / power(1), rest = worst; place > 0; place /= power(1)) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", rest / place);
    rest %= place;
  }
  result.worst = fmt::format("text {} has probability {:.12g}, {:.12g} is due", text,
                             emitted[worst], due[worst]);
  return result;
}

EnumerationResult TwoRounds::compare() {
  const Text prompt{0};
  const int length = case_.g + 2;
  const Joint& due = plain(prompt, length);
  if (case_.shares_accept_coins) return compare(with_shared_coins(prompt, length), due);
  return compare(continuation(prompt, length, -1, 0), due);
}

}  // namespace

EnumerationResult compare_two_rounds(const EnumerationCase& one, const RuleUnderTest& rule) {
  return TwoRounds(one, rule).compare();
}

}  // namespace specbench::suites
