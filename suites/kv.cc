#include "suites/kv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "engine/error.h"
#include "suites/cache_audit.h"
#include "suites/cancellable.h"
#include "suites/forced_drafter.h"

namespace specbench::suites {

using engine::TokenId;
using results::CheckStatus;

namespace {

constexpr int kTextTokens = 40;
constexpr int kLanes = 3;
constexpr int kPrompts = 5;  // more than lanes: every lane takes several prompts in a row
constexpr std::size_t kRaggedTries = 6;  // tokens declared to be EOS until every way has been seen

/// Everything the cases share: prompts with their greedy continuations, and a model whose EOS the
/// cases choose. A case that was interrupted gives no check.
class KvSuite {
 public:
  KvSuite(const Context& context, const engine::Steps& steps)
      : context_(context), steps_(steps), drafter_(open_drafter(context)) {
    (void)decode_options(context);  // a verifier that does not exist is heard of now
    model_.name = context.model.name;
    model_.config = context.model.config;
    model_.config.eos.clear();
    model_.weights = context.model.weights;
    length_ = longest_sequence(context, kTextTokens) + 1;
    for (int i = 0; i < kPrompts; ++i) {
      const Prompt& prompt = context.prompts[static_cast<std::size_t>(i) % context.prompts.size()];
      requests_.push_back({static_cast<std::uint32_t>(i), prompt.ids, kTextTokens});
    }
    fresh_ = open(1, 0);
    Cancellable observer(*context.stop);
    const auto baseline = engine::decode_autoregressive(*fresh_, requests_, greedy(0), observer);
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      texts_.push_back(requests_[i].prompt);
      texts_[i].insert(texts_[i].end(), baseline[i].tokens.begin(), baseline[i].tokens.end());
    }
  }

  /// Accept counts 0..g in turn, several prompts in a row, ragged.
  std::optional<results::Check> every_accept_count(int g, int k) {
    const CacheAudit audit = decode({.g = g, .k = k}, requests_);
    if (audit.was_cancelled) return {};
    for (int n = 0; n <= g; ++n)
      if (static_cast<int>(audit.accept_counts.size()) <= n ||
          audit.accept_counts[static_cast<std::size_t>(n)] == 0)
        return results::Check{name("accept-count", g, k), CheckStatus::kFailed,
                              fmt::format("No round accepted {} tokens.", n)};
    return passed(name("accept-count", g, k), audit);
  }

  /// max_tokens from 1 to two blocks and one token: every amount of room left.
  std::optional<results::Check> every_room(int g, int k) {
    std::int64_t n_audits = 0;
    for (int room = 1; room <= 2 * (g + 1) + 1; ++room) {
      std::vector<engine::Request> requests = requests_;
      for (engine::Request& request : requests) request.max_tokens = room;
      const CacheAudit audit =
          decode({.g = g, .k = k, .accept_all = true, .audit_every = 4}, requests);
      if (audit.was_cancelled) return {};
      if (audit.n_emitted != std::int64_t{room} * kPrompts)
        return results::Check{name("room", g, k), CheckStatus::kFailed,
                              fmt::format("--max-tokens {} gave {} tokens over {} prompts.", room,
                                          audit.n_emitted, kPrompts)};
      n_audits += audit.n_audits;
    }
    return results::Check{
        name("room", g, k), CheckStatus::kPassed,
        fmt::format("max_tokens 1..{} are met exactly; {} caches equal a fresh prefill.",
                    2 * (g + 1) + 1, n_audits)};
  }

  /// EOS as the j-th token of a block, for every j: a token of the known text is declared to be
  /// EOS.
  std::optional<results::Check> every_eos_index(int g, int k) {
    int n_found = 0;
    for (int j = 0; j <= g; ++j) {
      const auto place = find_eos(g, j);
      if (!place) continue;  // no text has a token of its own so far in
      model_.config.eos = {place->token};
      const CacheAudit audit = decode({.g = g, .k = k, .accept_all = true}, {&place->request, 1});
      model_.config.eos.clear();
      if (audit.was_cancelled) return {};
      if (audit.n_emitted != place->n_emitted)
        return results::Check{
            name("eos", g, k), CheckStatus::kFailed,
            fmt::format("EOS as token {} of a block: {} tokens were emitted, {} were due.", j,
                        audit.n_emitted, place->n_emitted)};
      ++n_found;
    }
    return results::Check{
        name("eos", g, k), n_found == g + 1 ? CheckStatus::kPassed : CheckStatus::kInconclusive,
        fmt::format("EOS ended the text at {} of {} places of a block; the caches equal a fresh "
                    "prefill.",
                    n_found, g + 1)};
  }

  /// EOS anywhere in a ragged batch: all requests together, accept counts in turn, EOS drafted
  /// where it is not due. Goes on to other tokens until EOS was accepted, corrected to, and
  /// refused.
  std::optional<results::Check> ragged_eos(int g, int k) {
    EosWays ways;
    std::vector<TokenId> tokens = shared_tokens();
    tokens.resize(std::min(tokens.size(), kRaggedTries));
    for (const TokenId token : tokens) {
      model_.config.eos = {token};
      const CacheAudit audit = decode({.g = g, .k = k, .lure = token}, requests_);
      model_.config.eos.clear();
      if (audit.was_cancelled) return {};
      add(audit.eos, ways);
      if (ways.has_all()) break;
    }
    return results::Check{
        name("eos-ragged", g, k),
        ways.has_all() ? CheckStatus::kPassed : CheckStatus::kInconclusive,
        fmt::format("Every text ended with its first EOS: {} accepted, {} in place of a refused "
                    "token, {} as bonus, {} from the prefill; {} drafted and refused ended none.",
                    ways.n_accepted, ways.n_corrected, ways.n_bonus, ways.n_first, ways.n_refused)};
  }

  /// The drafter of the options at temperature 1: what production does.
  std::optional<results::Check> sampled() {
    engine::DecodeOptions options;
    options.verifier = &engine::find_verifier("token", options.sampling);
    options.draft_tokens = context_.options.draft_tokens;
    options.seed = context_.options.seed;
    options.steps = steps_;
    const auto backend = open(kLanes, options.draft_tokens);
    CacheAudit audit(*backend, *fresh_, requests_, 3, *context_.stop);
    engine::decode_speculative(*backend, *drafter_, requests_, options, audit);
    if (audit.was_cancelled) return {};
    return passed("kv.sampled", audit);
  }

 private:
  struct EosPlace {
    engine::Request request;  ///< its prompt takes in as much of the text as moves EOS to its place
    TokenId token;
    std::int64_t n_emitted;  ///< up to and with it
  };

  struct Case {
    int g = 1;  ///< drafted tokens of a round
    int k = 0;  ///< reused layers
    bool accept_all = false;
    int audit_every = 1;
    TokenId lure = -1;  ///< drafted where it is wrong; -1: none
  };

  std::unique_ptr<engine::Backend> open(int batch, int g) const {
    engine::BackendOptions options;
    options.n_lanes = batch;
    options.max_length = length_;
    options.n_slots = std::max(length_, batch * (g + 1));
    options.n_threads = context_.options.threads;
    options.poison = true;
    set_kv_and_memory(context_, options);
    return engine::make_backend(context_.options.backend, model_, options);
  }

  engine::DecodeOptions greedy(int g) const {
    engine::DecodeOptions options;
    options.sampling.temperature = 0.0;
    options.verifier = &engine::find_verifier("greedy", options.sampling);
    options.draft_tokens = g;
    options.steps = steps_;
    return options;
  }

  /// Decodes the requests, audits every n-th cache, and checks ids, lengths and counters.
  CacheAudit decode(const Case& c, std::span<const engine::Request> requests) {
    const auto backend = open(kLanes, c.g);
    ForcedDrafter drafter(texts_, model_.config.vocab_size, c.k, c.g, c.accept_all, c.lure);
    CacheAudit audit(*backend, *fresh_, requests, c.audit_every, *context_.stop);
    const auto completions =
        engine::decode_speculative(*backend, drafter, requests, greedy(c.g), audit);
    if (audit.was_cancelled) return audit;
    for (std::size_t i = 0; i < requests.size(); ++i) check_text(requests[i], completions[i]);
    check_work(*backend, audit, requests);
    return audit;
  }

  // What the target says without a draft, up to and with the first EOS, or max_tokens.
  std::span<const TokenId> expected_text(const engine::Request& request) const {
    const auto room = static_cast<std::size_t>(request.max_tokens);
    auto text = std::span(texts_[request.id]).subspan(request.prompt.size());
    text = text.first(std::min(text.size(), room));
    for (std::size_t i = 0; i < text.size(); ++i)
      for (const TokenId eos : model_.config.eos)
        if (text[i] == eos) return text.first(i + 1);
    return text;
  }

  void check_text(const engine::Request& request, const engine::Completion& completion) const {
    const std::span<const TokenId> expected = expected_text(request);
    if (completion.tokens.size() != expected.size())
      throw engine::StateViolation(fmt::format("Request {}: {} tokens were emitted, {} were due.",
                                               request.id, completion.tokens.size(),
                                               expected.size()));
    if (!std::equal(expected.begin(), expected.end(), completion.tokens.begin()))
      throw engine::StateViolation(fmt::format(
          "Request {}: the text differs from greedy decoding without a draft.", request.id));
  }

  // With or without reuse a round of n drafts takes (n + 1) tokens through every layer; the forced
  // drafter uses no head.
  void check_work(const engine::Backend& backend, const CacheAudit& audit,
                  std::span<const engine::Request> requests) const {
    std::int64_t rows = audit.n_drafted + audit.n_rounds;
    std::int64_t head_rows = rows + static_cast<std::int64_t>(requests.size());
    for (const engine::Request& request : requests)
      rows += static_cast<std::int64_t>(request.prompt.size());
    const std::int64_t token_layers = rows * model_.config.n_layers;
    if (backend.work().token_layers != token_layers || backend.work().head_rows != head_rows)
      throw engine::StateViolation(fmt::format(
          "Work: {} token-layers and {} head rows were done, {} and {} are due.",
          backend.work().token_layers, backend.work().head_rows, token_layers, head_rows));
  }

  // Everything is accepted, so the emitted tokens 1, 2, .. fill blocks of g + 1. The last token of
  // a text that is new there becomes EOS; the prompt takes in 0..g tokens of the text until it is
  // the j-th of its block. The texts take turns.
  std::optional<EosPlace> find_eos(int g, int j) const {
    const int block = g + 1;
    for (int i = 0; i < kPrompts; ++i) {
      const engine::Request& whole = requests_[static_cast<std::size_t>((i + j) % kPrompts)];
      const auto text = std::span(texts_[whole.id]).subspan(whole.prompt.size());
      int at = static_cast<int>(text.size()) - 1;
      while (at >= block && !is_new(text, at)) --at;
      if (at < block) continue;
      const int taken = (at - 1 - j + block) % block;
      EosPlace place{whole, text[static_cast<std::size_t>(at)], at - taken + 1};
      const auto head = text.first(static_cast<std::size_t>(taken));
      place.request.prompt.insert(place.request.prompt.end(), head.begin(), head.end());
      place.request.max_tokens -= taken;
      return place;
    }
    return {};
  }

  static bool is_new(std::span<const TokenId> text, int at) {
    const auto end = text.begin() + at;
    return std::find(text.begin(), end, *end) == end;
  }

  // Tokens that come up in two texts or more, those of most texts first.
  std::vector<TokenId> shared_tokens() const {
    std::map<TokenId, int> n_texts;
    for (const engine::Request& request : requests_) {
      const auto text = std::span(texts_[request.id]).subspan(request.prompt.size());
      for (const TokenId token : std::set<TokenId>(text.begin(), text.end())) ++n_texts[token];
    }
    std::vector<TokenId> tokens;
    for (const auto& [token, n] : n_texts)
      if (n >= 2) tokens.push_back(token);
    std::stable_sort(tokens.begin(), tokens.end(),
                     [&](TokenId a, TokenId b) { return n_texts[a] > n_texts[b]; });
    return tokens;
  }

  static void add(const EosWays& more, EosWays& ways) {
    ways.n_first += more.n_first;
    ways.n_accepted += more.n_accepted;
    ways.n_corrected += more.n_corrected;
    ways.n_bonus += more.n_bonus;
    ways.n_refused += more.n_refused;
  }

  static std::string name(const char* what, int g, int k) {
    return fmt::format("kv.{}/g{}/k{}", what, g, k);
  }
  static results::Check passed(std::string id, const CacheAudit& audit) {
    return {std::move(id), CheckStatus::kPassed,
            fmt::format("{} rounds; {} caches ({} entries) equal a fresh prefill bit for bit.",
                        audit.n_rounds, audit.n_audits, audit.n_entries)};
  }

  const Context& context_;
  engine::Steps steps_;
  std::unique_ptr<engine::Drafter> drafter_;  ///< of the options
  engine::Model model_;  ///< the context's weights; its EOS changes from case to case
  int length_ = 0;
  std::vector<engine::Request> requests_;
  std::vector<std::vector<TokenId>> texts_;  ///< prompt and greedy continuation
  std::unique_ptr<engine::Backend> fresh_;
};

constexpr std::optional<results::Check> (KvSuite::*kCases[])(int g, int k) = {
    &KvSuite::every_accept_count, &KvSuite::every_room, &KvSuite::every_eos_index,
    &KvSuite::ragged_eos};

void run_cases(const Context& context, const engine::Steps& steps, results::Record& record) {
  KvSuite suite(context, steps);
  const auto keep = [&](std::optional<results::Check> check) {
    if (check) record.checks.push_back(*std::move(check));
  };
  const int n_layers = context.model.config.n_layers;
  for (const int g : {1, 2, 4, 8}) {
    for (const int k : std::set{0, context.options.draft_layers, n_layers}) {
      context.progress->show(fmt::format("kv: g = {}, reused layers = {}", g, k), 0, 0);
      for (const auto run_case : kCases)
        if (!*context.stop) keep((suite.*run_case)(g, k));
    }
  }
  if (!*context.stop) keep(suite.sampled());
}

void conclude(bool was_stopped, results::Record& record) {
  const auto count = [&](CheckStatus status) {
    return std::count_if(record.checks.begin(), record.checks.end(),
                         [=](const results::Check& c) { return c.status == status; });
  };
  const auto n = static_cast<std::int64_t>(record.checks.size());
  const std::int64_t n_failed = count(CheckStatus::kFailed), n_passed = count(CheckStatus::kPassed);
  record.exit_code = n_failed > 0 ? kFailed : was_stopped || n_passed < n ? kInconclusive : kPassed;
  if (n_failed > 0)
    record.verdict = fmt::format("FAILED: {} of {} state checks.", n_failed, n);
  else if (n_passed < n)
    record.verdict = fmt::format(
        "INCONCLUSIVE: {} of {} state checks met too few of their cases in these texts; use other "
        "--prompts.",
        n - n_passed, n);
  else if (was_stopped)
    record.verdict = fmt::format("INCONCLUSIVE: stopped after {} state checks, which held.", n);
  else
    record.verdict =
        fmt::format("PASSED: lengths, contents and counters held in {} state checks.", n);
}

}  // namespace

void run_kv(const Context& context, results::Record& record, const engine::Steps& steps) {
  run_cases(context, steps, record);
  conclude(*context.stop, record);
}

}  // namespace specbench::suites
