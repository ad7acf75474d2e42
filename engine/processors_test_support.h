// For tests of decoding with processors and stop strings: two small models with a tokenizer, and
// one call that decodes with everything that can be asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/decode_test_support.h"
#include "engine/model/byte_alphabet.h"
#include "engine/model/test_files.h"

namespace specbench::engine::testing {

using Texts = std::vector<std::vector<TokenId>>;

/// Ids 0 to 60 spell two letters each ("aa", "ab", ..), the bytes come behind.
inline Tokenizer two_letters() {
  std::string vocab;
  const auto add = [&](const std::string& symbol, int id) {
    vocab += vocab.empty() ? "\"" : ", \"";
    for (const char c : symbol)
      vocab += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    vocab += "\": " + std::to_string(id);
  };
  for (int id = 0; id < 61; ++id)
    add({static_cast<char>('a' + id / 8), static_cast<char>('a' + id % 8)}, id);
  for (int byte = 0; byte < 256; ++byte)
    add(byte_symbol(static_cast<std::uint8_t>(byte)), 61 + byte);
  const ScratchFolder folder;
  return Tokenizer::from_json_file(folder.write(
      "tokenizer.json",
      R"({"added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "ByteLevel",)"
      R"( "add_prefix_space": false, "use_regex": true}, "model": {"type": "BPE", "vocab": {)" +
          vocab + R"(}, "merges": []}})"));
}

inline std::unique_ptr<Model> make_small(std::vector<TokenId> eos) {
  auto model = random_model(small_shape(), 17);
  model->config.eos = std::move(eos);
  model->tokenizer = two_letters();
  return model;
}

/// Without an end, and with two.
inline const Model& endless() {
  static const std::unique_ptr<Model> model = make_small({});
  return *model;
}
inline const Model& ending() {
  static const std::unique_ptr<Model> model = make_small({7, 20});
  return *model;
}

struct Case {
  std::string verifier = "token";
  std::string drafter;  ///< empty: autoregressive
  int k = 3, g = 4;
  SamplingParams sampling{};
  std::vector<std::string> stops{};
  std::uint64_t seed = 1;
  int n_lanes = 1, n_threads = 1, n_slots = 512;
  Steps steps{};
};

inline Decoded decode(const Model& model, const std::vector<Request>& requests, const Case& s) {
  Decoded result;
  result.backend = make_backend("cpu", model, backend_options(s.n_lanes, s.n_threads, s.n_slots));
  DecodeOptions options;
  options.sampling = s.sampling;
  options.verifier = &find_verifier(s.verifier, options.sampling);
  options.draft_tokens = s.drafter.empty() ? 0 : s.g;
  options.seed = s.seed;
  options.stop_texts = s.stops;
  options.tokenizer = &model.tokenizer;
  options.steps = s.steps;
  if (s.drafter.empty()) {
    result.completions = decode_autoregressive(*result.backend, requests, options, result.log);
    return result;
  }
  const auto drafter = make_drafter(s.drafter, s.k, model.config);
  result.completions = decode_speculative(*result.backend, *drafter, requests, options, result.log);
  return result;
}

inline Case plain(Case s) {
  s.drafter.clear();
  s.steps = {};
  s.n_lanes = s.n_threads = 1;
  return s;
}

/// Everything on; both ends are likely, so that min_tokens matters.
inline SamplingParams everything(double temperature) {
  SamplingParams p;
  p.temperature = temperature;
  p.logit_bias = {{7, 1.5}, {20, 1.0}, {5, 1.5}, {9, -2.0}};
  p.banned = {3, 11, 12};
  p.min_tokens = 6;
  p.repetition_penalty = 1.3;
  p.presence_penalty = 0.4;
  p.frequency_penalty = 0.2;
  return p;
}

inline Case with_everything(const std::string& verifier, const std::string& drafter) {
  Case s;
  s.verifier = verifier;
  s.drafter = drafter;
  s.sampling = everything(verifier == "greedy" ? 0.0 : 1.0);
  s.stops = {"ab", "hca", "ef"};
  return s;
}

inline std::vector<Request> requests(int n = 11) { return some_requests(n, endless().config, 30); }

}  // namespace specbench::engine::testing
