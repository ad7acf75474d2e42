// Cuts a text into the pieces that byte-pair merges may not cross, by the patterns of
// tokenizer.json. Removes nothing: the pieces, put together, are the text. PCRE2 10.42 knows
// Unicode 14, Hugging Face's Oniguruma Unicode 16: the 9,392 characters added since are letters or
// digits there and symbols here. On every other code point the two were found to cut alike.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;  // PCRE2's compiled pattern; its header stays out of ours

namespace specbench::engine {

/// GPT-2's pattern, which ByteLevel with use_regex applies.
extern const char* const kGpt2Pattern;

/// One cut: what the pattern matches and what lies between two matches become pieces.
struct SplitRule {
  std::string pattern;
  bool is_literal = false;  ///< the pattern is plain text, not a regular expression
};

class PreTokenizer {
 public:
  PreTokenizer() = default;  ///< no rules: the whole text is one piece

  /// Rules apply in turn, each to the pieces of the one before. Throws InputError, naming `file`,
  /// on a pattern that PCRE2 does not take, or that would mean something else to it than to Hugging
  /// Face's regex engine (Oniguruma).
  PreTokenizer(const std::vector<SplitRule>& rules, const std::string& file);

  /// Pieces of `text`, which must be valid UTF-8; none is empty. Throws InputError if a pattern
  /// backtracks beyond PCRE2's limits.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct Rule {
    std::shared_ptr<const pcre2_real_code_8> code;
    std::string shown;  ///< file and pattern, for messages
  };

  static void apply(const Rule& rule, std::string_view text, std::vector<std::string_view>& pieces);

  std::vector<Rule> rules_;
};

}  // namespace specbench::engine
