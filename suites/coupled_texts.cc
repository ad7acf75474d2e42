#include "suites/coupled_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/coins.h"
#include "engine/decode.h"
#include "suites/round_outcomes.h"

namespace specbench::suites {

using engine::Law;
using engine::TokenId;

namespace {

using Text = std::vector<TokenId>;

class CoupledTexts {
 public:
  CoupledTexts(const EnumerationCase& one, const RuleUnderTest& rule)
      : case_(one),
        steps_(rule.steps),
        accept_(steps_.accept != nullptr ? steps_.accept : engine::accept_coupled),
        table_(one.tables, one.n_ids, one.seed),
        eos_{one.n_ids - 1},
        rooms_(4 * kMaxEnumerated, one.n_ids) {}

  /// What autoregressive decoding emits.
  Text due(std::uint32_t request) {
    Text text{0};
    while (!is_done(text)) {
      logits_ = table_.target(table_.state(text));
      const Law law = engine::law_of_row(logits_.data(), case_.n_ids, case_.params, past(text, 0),
                                         {}, rooms_.room(0));
      text.push_back(
          engine::coupled_draw(law, case_.seed, request, static_cast<std::uint32_t>(text.size())));
    }
    return text;
  }

  Text emitted(std::uint32_t request) {
    Text text{0};
    for (int n_before = -1; !is_done(text);) n_before = add_round(text, request, n_before);
    return text;
  }

 private:
  bool is_done(const Text& text) const {
    const bool has_ended = case_.stop->ends_at_eos && text.size() > 1 && text.back() == eos_[0];
    return has_ended || static_cast<int>(text.size()) > case_.g + 2;
  }

  engine::RowPast past(const Text& text, std::size_t n_drafted) const {
    const std::span<const TokenId> all = text;
    return {all.first(1), all.subspan(1, text.size() - 1 - n_drafted), all.last(n_drafted), eos_};
  }

  Law law(const Text& text, const std::vector<float>& logits, engine::RowPlace place, int room) {
    logits_ = logits;
    return steps_.law(logits_.data(), case_.n_ids, case_.params,
                      past(text, static_cast<std::size_t>(place.row)), place, rooms_.room(room));
  }

  // Whether another token follows: the stop rule's branch of the token that the noise gives.
  bool draft_one(Text& text, std::uint32_t request, std::uint32_t first_pos) {
    const int row = static_cast<int>(laws_.size());
    Law draft_law = law(text, table_.draft(table_.state(text)), {row, row, true}, row);
    std::vector<Branch> branches;
    case_.stop->draft({draft_law, draft_law}, branches);
    if (branches.front().token < 0) return false;
    const TokenId id =
        steps_.draft(draft_law, rooms_.room(4 * kMaxEnumerated - 1), engine::DraftDraw::kCoupled,
                     {case_.seed, request, first_pos, static_cast<std::uint32_t>(text.size()),
                      engine::Purpose::kDraft, 0});
    laws_.push_back(draft_law);
    text.push_back(id);
    return std::none_of(branches.begin(), branches.end(),
                        [&](const Branch& b) { return b.token == id && b.is_last; });
  }

  // Returns how many drafted tokens stood.
  int add_round(Text& text, std::uint32_t request, int n_before) {
    const auto n_committed = static_cast<std::ptrdiff_t>(text.size());
    const int n_emitted = static_cast<int>(text.size()) - 1;
    const int room = case_.stop->has_room ? case_.g + 2 - n_emitted : 2 * kMaxEnumerated;
    const int g =
        std::min(kMaxEnumerated, steps_.n_wanted(case_.stop->n_wanted(case_.g, n_before), room));
    laws_.clear();
    while (static_cast<int>(laws_.size()) < g &&
           draft_one(text, request, static_cast<std::uint32_t>(n_committed))) {
    }
    const Text drafted(text.begin() + n_committed, text.end());
    const int n = static_cast<int>(drafted.size());
    std::vector<Law> targets;
    for (int i = 0; i <= n; ++i) {
      const Text so_far(text.begin(), text.begin() + n_committed + i);
      targets.push_back(
          law(so_far, table_.target(table_.state(so_far)), {i, n, false}, kMaxEnumerated + i));
    }
    const engine::Acceptance a =
        accept_({drafted, laws_, targets},
                steps_.coins({case_.seed, request, static_cast<int>(n_committed), n, 0}),
                rooms_.room(4 * kMaxEnumerated - 2));
    const int n_stood = std::clamp(a.n_accepted, 0, n);
    text.resize(static_cast<std::size_t>(n_committed));
    for (int i = 0; i < n_stood && !is_done(text); ++i)
      text.push_back(drafted[static_cast<std::size_t>(i)]);
    if (!is_done(text)) text.push_back(std::clamp(a.final_token, 0, case_.n_ids - 1));
    return n_stood;
  }

  const EnumerationCase case_;
  const engine::Steps steps_;
  const engine::AcceptRule accept_;
  const LogitTable table_;
  const Text eos_;
  engine::LawBuffer rooms_;
  std::vector<float> logits_;
  std::vector<Law> laws_;
};

}  // namespace

EnumerationResult compare_coupled_texts(const EnumerationCase& one, const RuleUnderTest& rule) {
  CoupledTexts texts(one, rule);
  EnumerationResult result;
  int n_off = 0;
  for (std::uint32_t request = 0; request < kCoupledTexts; ++request) {
    const Text due = texts.due(request);
    const Text emitted = texts.emitted(request);
    if (emitted == due) continue;
    if (n_off++ == 0)
      result.worst = fmt::format("request {} emitted {}, {} is due", request,
                                 fmt::join(emitted, " "), fmt::join(due, " "));
  }
  result.l1 = static_cast<double>(n_off) / kCoupledTexts;
  return result;
}

}  // namespace specbench::suites
