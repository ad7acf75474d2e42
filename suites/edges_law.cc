// Rows of logits with a known law: by steps.law against the law by definition (law_oracle.h), for
// every kind of row, and rows that must be refused.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/error.h"
#include "suites/edge_cases.h"
#include "suites/keyed_numbers.h"
#include "suites/law_oracle.h"

namespace specbench::suites {

using engine::Law;
using engine::RowPast;
using engine::RowPlace;
using engine::SamplingParams;
using engine::TokenId;

namespace {

constexpr double kMaxLawError = 1e-12;  // some thousand roundings of a double
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool is_sampled(const EdgeSubject& subject) { return !subject.is_greedy(); }

// A draft's rows, the plain step's, and those of a verification of three drafts.
constexpr RowPlace kPlaces[] = {{0, 0, true},  {1, 1, true},  {2, 2, true},  {0, 0, false},
                                {0, 3, false}, {1, 3, false}, {2, 3, false}, {3, 3, false}};

std::string place_name(const RowPlace& place) {
  if (place.is_draft) return fmt::format("draft row {}", place.row);
  if (place.n_drafted == 0) return "a plain step";
  return place.is_bonus() ? "the bonus row" : fmt::format("verification row {}", place.row);
}

// Every place with a past of its own: `n_emitted` tokens out, then the drafts before the row.
struct Past {
  std::vector<TokenId> prompt{1, 2, 2, 6}, emitted{3, 4, 3, 9, 2}, drafted{5, 6, 5}, eos;
  RowPast at(const RowPlace& place, std::size_t n_emitted) const {
    return {prompt, std::span(emitted).first(n_emitted),
            std::span(drafted).first(static_cast<std::size_t>(place.row)), eos};
  }
};

std::vector<float> random_logits(int n, KeyedNumbers& numbers) {
  std::vector<float> logits(static_cast<std::size_t>(n));
  for (float& x : logits)
    x = numbers.uniform() < 0.05 ? -kInf : static_cast<float>(8.0 * (numbers.uniform() - 0.5));
  logits[5] = 3.5F;  // of the ids in the past one is likely, another impossible
  logits[9] = -kInf;
  return logits;
}

std::string unlike(const std::vector<float>& logits, const SamplingParams& params,
                   const RowPast& past, const RowPlace& place, const EdgeSubject& subject) {
  const int n = static_cast<int>(logits.size());
  const std::vector<double> due = oracle_law(logits, params, past);
  engine::LawBuffer room(1, n);
  std::vector<float> row = logits;
  const Law law = subject.steps.law(row.data(), n, params, past, place, room.room(0));
  for (TokenId id = 0; id < n; ++id) {
    const double p = due[static_cast<std::size_t>(id)];
    if (!(std::fabs(law.prob(id) - p) <= kMaxLawError))
      return fmt::format("On {} of {} ids token {} has probability {:.15g}; {:.15g} is due.",
                         place_name(place), n, id, law.prob(id), p);
  }
  return "";
}

// All places, two vocabularies, with few and many tokens out.
std::string unlike_anywhere(const std::vector<SamplingParams>& all, const EdgeSubject& subject) {
  KeyedNumbers numbers(106);
  for (const SamplingParams& params : all)
    for (const int n : {37, 300})
      for (const RowPlace& place : kPlaces)
        for (const std::size_t n_emitted : {0U, 2U, 5U}) {
          Past past;
          past.eos = {n - 1, 5};
          const std::string fault =
              unlike(random_logits(n, numbers), params, past.at(place, n_emitted), place, subject);
          if (!fault.empty()) return fault;
        }
  return "";
}

// Q4, Q10, B3: one temperature and one order of filters on every row.
std::string filters(const EdgeSubject& subject) {
  std::vector<SamplingParams> all;
  for (const double temperature : {0.6, 1.0, 1.7})
    for (const auto& [top_k, top_p, min_p] :
         {std::tuple(0, 1.0, 0.0), std::tuple(7, 1.0, 0.0), std::tuple(0, 0.8, 0.0),
          std::tuple(0, 1.0, 0.1), std::tuple(12, 0.9, 0.05)}) {
      SamplingParams params;
      params.temperature = temperature;
      params.top_k = top_k;
      params.top_p = top_p;
      params.min_p = min_p;
      all.push_back(params);
    }
  return unlike_anywhere(all, subject);
}

// Q7, Q8, S3: bias, bans, min_tokens and penalties on every row, the whole past in each.
std::string processors(const EdgeSubject& subject) {
  SamplingParams base;
  base.temperature = subject.is_greedy() ? 0.0 : 0.8;
  std::vector<SamplingParams> all(7, base);
  all[0].logit_bias = {{0, 2.5}, {5, -1.5}, {9, 4.0}};
  all[1].banned = {5, 7, 11};
  all[2].min_tokens = 4;
  all[3].repetition_penalty = 1.3;
  all[4].presence_penalty = 0.9;
  all[5].frequency_penalty = 0.6;
  all[6].logit_bias = {{5, 1.5}};
  all[6].banned = {11};
  all[6].min_tokens = 3;
  all[6].repetition_penalty = 1.2;
  all[6].presence_penalty = 0.3;
  all[6].frequency_penalty = 0.2;
  all[6].top_k = 9;
  all[6].top_p = 0.9;
  all[6].min_p = 0.02;
  return unlike_anywhere(all, subject);
}

// Q5: greedy rows are point masses, wherever they stand and whatever stands beside them.
std::string greedy_rows(const EdgeSubject& subject) {
  SamplingParams params;
  params.temperature = 0.0;
  SamplingParams filtered = params;
  filtered.top_k = 3;
  filtered.min_p = 0.5;
  return unlike_anywhere({params, filtered}, subject);
}

// A8 and ties at the edge of the kept set: the smallest id.
std::string ties(const EdgeSubject& subject) {
  const struct {
    std::vector<float> logits;
    double temperature;
    int top_k;
    double top_p;
    std::vector<TokenId> kept;
  } rows[] = {
      {{1, 7, 7, -kInf, 7}, 0.0, 0, 1.0, {1}},      {{-0.0F, 0.0F, -0.0F}, 0.0, 0, 1.0, {0}},
      {{0, 5, 1, 5, 1, 1}, 1.0, 3, 1.0, {1, 2, 3}}, {{-0.0F, 0.0F, -0.0F}, 1.0, 2, 1.0, {0, 1}},
      {{1, 1, 1, 1}, 1.0, 0, 0.5, {0, 1}},          {{1, 1, 1, 1}, 1.0, 3, 0.4, {0, 1}}};
  for (const auto& row : rows) {
    SamplingParams params;
    params.temperature = row.temperature;
    params.top_k = row.top_k;
    params.top_p = row.top_p;
    const int n = static_cast<int>(row.logits.size());
    std::vector<float> logits = row.logits;
    engine::LawBuffer room(1, n);
    const Law law = subject.steps.law(logits.data(), n, params, {}, {}, room.room(0));
    std::vector<TokenId> kept;
    for (TokenId id = 0; id < n; ++id)
      if (law.prob(id) > 0.0) kept.push_back(id);
    if (kept != row.kept)
      return fmt::format(
          "Of logits {} at temperature {}, top-k {}, top-p {}, ids {} stay; {} are "
          "due.",
          fmt::join(row.logits, " "), row.temperature, row.top_k, row.top_p, fmt::join(kept, " "),
          fmt::join(row.kept, " "));
  }
  return "";
}

std::string not_finite(const EdgeSubject& subject) {
  for (const double temperature : {0.0, 1.0})
    for (const std::vector<float>& row :
         {std::vector<float>{1, kNan, 2}, {kNan, 1, 2}, {1, 2, kInf}, {-kInf, -kInf, -kInf}})
      for (const RowPlace& place : kPlaces) {
        SamplingParams params;
        params.temperature = temperature;
        std::vector<float> logits = row;
        engine::LawBuffer room(1, 3);
        try {
          (void)subject.steps.law(logits.data(), 3, params, {}, place, room.room(0));
        } catch (const engine::StateViolation&) {
          continue;
        }
        return fmt::format("Logits {} on {} at temperature {} were not refused.",
                           fmt::join(row, " "), place_name(place), temperature);
      }
  return "";
}

// All but one id impossible: certain, for every coin.
std::string single_possible(const EdgeSubject& subject) {
  for (const int n : {2, 300}) {
    SamplingParams params;
    params.temperature = subject.is_greedy() ? 0.0 : 0.7;
    std::vector<float> logits(static_cast<std::size_t>(n), -kInf);
    logits[1] = -3.0F;
    engine::LawBuffer room(1, n);
    const Law law = subject.steps.law(logits.data(), n, params, {}, {}, room.room(0));
    for (const double u : {0.0, 0.5, kLastCoin})
      if (law.prob(1) != 1.0 || engine::draw(law, u) != 1)
        return fmt::format("Token 1 of {}, alone possible, has probability {} and coin {} drew {}.",
                           n, law.prob(1), u, engine::draw(law, u));
  }
  return "";
}

// Q6: the sums that draws walk by are those of the row's own weights.
std::string own_sums(const EdgeSubject& subject) {
  KeyedNumbers numbers(107);
  for (const RowPlace& place : kPlaces) {
    const int n = 300;
    std::vector<float> logits = random_logits(n, numbers);
    engine::LawBuffer room(1, n);
    const Law law = subject.steps.law(logits.data(), n, {}, {}, place, room.room(0));
    if (law.is_point()) return "A row sampled at temperature 1 became a point mass.";
    double sums[2];
    const double total = engine::sum_chunks(law.weights, n, sums);
    if (total != law.total || sums[0] != law.chunk_sums[0] || sums[1] != law.chunk_sums[1])
      return fmt::format("The weights of {} sum to {:.17g}; the law says {:.17g}.",
                         place_name(place), total, law.total);
    for (int id = n; id < engine::padded_size(n); ++id)
      if (law.weights[id] != 0.0)
        return fmt::format("Padding id {} of {} has weight {}.", id, n, law.weights[id]);
  }
  return "";
}

}  // namespace

std::vector<EdgeCase> law_edges() {
  return {
      {"filters",
       "720 rows of draft, verification, bonus and plain steps have the law of one temperature, "
       "top-k, top-p and min-p to 1e-12.",
       filters, is_sampled},
      {"processors",
       "336 rows of draft, verification, bonus and plain steps have the law of bias, bans, "
       "min_tokens and penalties over their whole past to 1e-12.",
       processors},
      {"greedy-rows", "96 rows at temperature 0 are point masses at their argmax.", greedy_rows},
      {"ties", "Equal logits at the argmax, top-k and top-p edge: the smallest ids stay.", ties},
      {"not-finite", "Rows with NaN, with +inf or of -inf alone are refused wherever they stand.",
       not_finite},
      {"single-possible", "The only possible id has probability 1 and every coin draws it.",
       single_possible},
      {"own-sums", "The sums of each row are those of its own weights.", own_sums},
  };
}

}  // namespace specbench::suites
