#include "suites/kv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/error.h"
#include "suites/forced_drafter.h"
#include "suites/tally.h"

namespace specbench::suites {

using engine::TokenId;
using results::CheckStatus;

namespace {

constexpr int kTextTokens = 40;
constexpr int kLanes = 3;
constexpr int kPrompts = 5;  // more than lanes: every lane takes several prompts in a row

/// Follows every sequence and, after every trim, compares the cache with a fresh prefill of the
/// same tokens, bit for bit.
class CacheAudit final : public Tally {
 public:
  CacheAudit(const engine::Backend& backend, engine::Backend& fresh,
             std::span<const engine::Request> requests, int audit_every)
      : backend_(backend), fresh_(fresh), audit_every_(audit_every) {
    for (const engine::Request& request : requests) tokens_.push_back(request.prompt);
  }

  void prefill(const engine::Prefill& prefill) override {
    Tally::prefill(prefill);
    tokens_[prefill.request].push_back(prefill.token);
  }

  void round(const engine::Round& round) override {
    Tally::round(round);
    std::vector<TokenId>& tokens = tokens_[round.request];
    tokens.insert(tokens.end(), round.emitted.begin(), round.emitted.end());
    const auto drafted = static_cast<std::size_t>(round.n_drafted());
    if (accept_counts.size() <= drafted) accept_counts.resize(drafted + 1);
    ++accept_counts[static_cast<std::size_t>(round.n_verdict)];
    if (n_seen_++ % audit_every_ == 0) audit(round, tokens);
  }

  std::int64_t n_audits = 0;
  std::int64_t n_entries = 0;
  std::vector<std::int64_t> accept_counts;  ///< rounds by drafted tokens accepted

 private:
  void audit(const engine::Round& round, std::span<const TokenId> tokens) {
    const engine::ModelConfig& c = backend_.config();
    std::vector<engine::Row> rows;
    for (int pos = 0; pos + 1 < static_cast<int>(tokens.size()); ++pos)
      rows.push_back({0, pos, tokens[static_cast<std::size_t>(pos)], pos});
    fresh_.reset(0, round.request);
    fresh_.forward(rows, 0, c.n_layers);
    const auto width = static_cast<std::size_t>(c.n_kv_heads * c.head_dim);
    std::vector<float> key(width), value(width), fresh_key(width), fresh_value(width);
    for (int layer = 0; layer < c.n_layers; ++layer) {
      for (const engine::Row& row : rows) {
        backend_.read_kv(round.lane, layer, row.pos, key, value);
        fresh_.read_kv(0, layer, row.pos, fresh_key, fresh_value);
        if (std::memcmp(key.data(), fresh_key.data(), width * sizeof(float)) != 0 ||
            std::memcmp(value.data(), fresh_value.data(), width * sizeof(float)) != 0)
          throw engine::StateViolation(fmt::format(
              "KV cache after round {} of request {}, lane {}, layer {}: the entry at position {} "
              "is not what a fresh prefill of the same tokens writes.",
              round.index, round.request, round.lane, layer, row.pos));
      }
    }
    ++n_audits;
    n_entries += static_cast<std::int64_t>(rows.size()) * c.n_layers;
  }

  const engine::Backend& backend_;
  engine::Backend& fresh_;
  int audit_every_;
  std::int64_t n_seen_ = 0;
  std::vector<std::vector<TokenId>> tokens_;  ///< [request]
};

/// Everything the cases share: prompts with their greedy continuations, and a model whose EOS the
/// cases choose.
class KvSuite {
 public:
  KvSuite(const Context& context, const engine::Steps& steps) : context_(context), steps_(steps) {
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
    engine::Observer observer;
    const auto baseline = engine::decode_autoregressive(*fresh_, requests_, greedy(0), observer);
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      texts_.push_back(requests_[i].prompt);
      texts_[i].insert(texts_[i].end(), baseline[i].tokens.begin(), baseline[i].tokens.end());
    }
  }

  /// Accept counts 0..g in turn, several prompts in a row, ragged.
  results::Check every_accept_count(int g, int k) {
    CacheAudit audit = decode(g, k, kTextTokens, false, 1);
    for (int n = 0; n <= g; ++n)
      if (static_cast<int>(audit.accept_counts.size()) <= n ||
          audit.accept_counts[static_cast<std::size_t>(n)] == 0)
        return {name("accept-count", g, k), CheckStatus::kFailed,
                fmt::format("No round accepted {} tokens.", n)};
    return passed(name("accept-count", g, k), audit);
  }

  /// max_tokens from 1 to two blocks and one token: every amount of room left.
  results::Check every_room(int g, int k) {
    std::int64_t n_audits = 0;
    for (int room = 1; room <= 2 * (g + 1) + 1; ++room) {
      const CacheAudit audit = decode(g, k, room, true, 4);
      if (audit.n_emitted != std::int64_t{room} * kPrompts)
        return {name("room", g, k), CheckStatus::kFailed,
                fmt::format("--max-tokens {} gave {} tokens over {} prompts.", room,
                            audit.n_emitted, kPrompts)};
      n_audits += audit.n_audits;
    }
    return {name("room", g, k), CheckStatus::kPassed,
            fmt::format("max_tokens 1..{} are met exactly; {} caches equal a fresh prefill.",
                        2 * (g + 1) + 1, n_audits)};
  }

  /// EOS as the j-th token of a block, for every j: a token of the known text is declared to be
  /// EOS.
  results::Check every_eos_index(int g, int k) {
    std::int64_t n_found = 0;
    for (int j = 0; j <= g; ++j) {
      const auto found = find_eos(g, j);
      if (!found) continue;  // no text has a first occurrence there
      model_.config.eos = {found->token};
      const CacheAudit audit = decode(g, k, kTextTokens, true, 1, found->request);
      model_.config.eos.clear();
      if (audit.n_emitted != found->n_emitted)
        return {name("eos", g, k), CheckStatus::kFailed,
                fmt::format("EOS as token {} of a block: {} tokens were emitted, {} were due.", j,
                            audit.n_emitted, found->n_emitted)};
      ++n_found;
    }
    return {
        name("eos", g, k), n_found > g / 2 ? CheckStatus::kPassed : CheckStatus::kInconclusive,
        fmt::format(
            "EOS ended the text at {} of {} places of a block; the caches equal a fresh prefill.",
            n_found, g + 1)};
  }

  /// The drafter of the options at temperature 1: what production does.
  results::Check sampled() {
    engine::DecodeOptions options = decode_options(context_, "one-hot");
    options.sampling = {};
    options.verifier = &engine::find_verifier("token", options.sampling);
    options.steps = steps_;
    const auto backend = open(kLanes, options.draft_tokens);
    const auto drafter = open_drafter(context_);
    CacheAudit audit(*backend, *fresh_, requests_, 3);
    engine::decode_speculative(*backend, *drafter, requests_, options, audit);
    return passed("kv.sampled", audit);
  }

 private:
  struct EosPlace {
    std::uint32_t request;
    TokenId token;
    std::int64_t n_emitted;  ///< up to and with it
  };

  std::unique_ptr<engine::Backend> open(int batch, int g) const {
    engine::BackendOptions options;
    options.n_lanes = batch;
    options.max_length = length_;
    options.n_slots = std::max(length_, batch * (g + 1));
    options.n_threads = context_.options.threads;
    options.poison = true;
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

  /// Decodes all requests (or one), audits every n-th cache, and checks ids and counters.
  CacheAudit decode(int g, int k, int max_tokens, bool accept_all, int audit_every,
                    std::optional<std::uint32_t> only = {}) {
    std::vector<engine::Request> requests;
    for (const engine::Request& request : requests_)
      if (!only || request.id == *only)
        requests.push_back({request.id, request.prompt, max_tokens});
    const auto backend = open(kLanes, g);
    ForcedDrafter drafter(texts_, model_.config.vocab_size, k, g, accept_all);
    CacheAudit audit(*backend, *fresh_, requests_, audit_every);
    const auto completions =
        engine::decode_speculative(*backend, drafter, requests, greedy(g), audit);
    for (const engine::Completion& completion : completions) {
      const std::vector<TokenId>& text = texts_[completion.request];
      const auto begin =
          text.begin() + static_cast<std::ptrdiff_t>(requests_[completion.request].prompt.size());
      if (!std::equal(completion.tokens.begin(), completion.tokens.end(), begin))
        throw engine::StateViolation(
            fmt::format("Request {}: the text differs from greedy decoding without a draft.",
                        completion.request));
    }
    check_work(*backend, audit, requests);
    return audit;
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

  // Everything is accepted, so the emitted tokens 1, 2, .. fill blocks of g + 1.
  std::optional<EosPlace> find_eos(int g, int j) const {
    for (const engine::Request& request : requests_) {
      const std::span<const TokenId> emitted =
          std::span(texts_[request.id]).subspan(request.prompt.size());
      for (std::size_t t = 1 + static_cast<std::size_t>(j); t < emitted.size();
           t += static_cast<std::size_t>(g) + 1) {
        const auto before = emitted.first(t);
        if (std::find(before.begin(), before.end(), emitted[t]) == before.end())
          return EosPlace{request.id, emitted[t], static_cast<std::int64_t>(t) + 1};
      }
    }
    return {};
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
  engine::Model model_;  ///< the context's weights; its EOS changes from case to case
  int length_ = 0;
  std::vector<engine::Request> requests_;
  std::vector<std::vector<TokenId>> texts_;  ///< prompt and greedy continuation
  std::unique_ptr<engine::Backend> fresh_;
};

}  // namespace

void run_kv(const Context& context, results::Record& record, const engine::Steps& steps) {
  KvSuite suite(context, steps);
  const int n_layers = context.model.config.n_layers;
  const int draft_layers = std::min(context.options.draft_layers, n_layers);
  for (const int g : {1, 2, 4, 8}) {
    for (const int k : {0, draft_layers, n_layers}) {
      if (*context.stop) break;
      context.progress->show(fmt::format("kv: g = {}, reused layers = {}", g, k), 0, 0);
      record.checks.push_back(suite.every_accept_count(g, k));
      record.checks.push_back(suite.every_room(g, k));
      record.checks.push_back(suite.every_eos_index(g, k));
    }
  }
  if (!*context.stop) record.checks.push_back(suite.sampled());
  const auto failed =
      std::count_if(record.checks.begin(), record.checks.end(),
                    [](const results::Check& c) { return c.status == CheckStatus::kFailed; });
  record.exit_code = failed > 0 ? kFailed : *context.stop ? kInconclusive : kPassed;
  record.verdict =
      failed > 0 ? fmt::format("FAILED: {} of {} state checks.", failed, record.checks.size())
                 : fmt::format("PASSED: lengths, contents and counters held in {} state checks.",
                               record.checks.size());
}

}  // namespace specbench::suites
