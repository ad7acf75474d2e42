// For fuzz programs (*_fuzz.cc): what must hold of every input, and one input cut into the several
// files that a reader asks for. ci/test fuzzes for seconds; longer, keeping what is new in FOLDER:
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/gguf_fuzz -max_total_time=1800 -rss_limit_mb=1024 -malloc_limit_mb=512 -timeout=10
//     FOLDER engine/model/fuzz/gguf
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"
#include "engine/model/model.h"

namespace specbench::engine::testing {

/// Ends the program, which libFuzzer reports together with the input.
inline void must(bool holds) {
  if (!holds) __builtin_trap();
}

/// One line, one sentence, of a length that a person reads.
inline bool is_sentence(std::string_view text) {
  constexpr std::size_t kLongest = 1200;
  return text.ends_with('.') && text.size() <= kLongest &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Runs `read`: it must come to its end or refuse with InputError, in a sentence. Whether it came
/// to its end.
template <typename Read>
bool reads_or_refuses(const Read& read) {
  try {
    read();
    return true;
  } catch (const InputError& refusal) {
    must(is_sentence(refusal.what()));
    return false;
  }
}

/// `input` cut at lines that hold "%%" alone; always n parts, the missing ones empty.
inline std::vector<std::string_view> parts_of(std::string_view input, std::size_t n) {
  constexpr std::string_view kCut = "\n%%\n";
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < n) {
    const std::size_t end = input.find(kCut);
    parts.push_back(input.substr(0, end));
    input = end == std::string_view::npos ? "" : input.substr(end + kCut.size());
  }
  parts.push_back(input);
  return parts;
}

/// What the rest of the engine takes for granted of a config.
inline void check_config(const ModelConfig& config) {
  must(config.vocab_size > 0 && config.width > 0 && config.n_layers > 0 && config.ffn_width > 0);
  must(config.n_heads > 0 && config.n_kv_heads > 0 && config.n_heads % config.n_kv_heads == 0);
  must(config.head_dim > 0 && config.head_dim % 2 == 0 && config.max_positions > 0);
  must(config.norm_eps > 0 && config.norm_eps <= 1);
  must(std::isfinite(config.rope_theta) && config.rope_theta >= 1);
  must(std::isfinite(config.rope_magnitude) && config.rope_magnitude > 0);
  const auto n_frequencies = config.rope_frequencies.size();
  must(n_frequencies == 0 || n_frequencies == static_cast<std::size_t>(config.head_dim) / 2);
  for (const double frequency : config.rope_frequencies)
    must(std::isfinite(frequency) && frequency > 0);
  must(config.n_tokens >= 0 && config.n_tokens < config.vocab_size);
  const auto is_token = [&](TokenId id) { return id >= 0 && id < config.vocab_size; };
  must(!config.bos || is_token(*config.bos));
  must(std::all_of(config.eos.begin(), config.eos.end(), is_token));
}

/// Every id that a text gives is one of the tokenizer's and has bytes.
inline void check_encoding(const Tokenizer& tokenizer, std::string_view text) {
  (void)reads_or_refuses([&] {
    const std::vector<TokenId> ids = tokenizer.encode(text);
    for (const TokenId id : ids) must(id >= 0 && id < tokenizer.size());
    (void)tokenizer.decode(ids);
  });
}

}  // namespace specbench::engine::testing
