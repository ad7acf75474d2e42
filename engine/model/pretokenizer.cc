#include "engine/model/pretokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>
#include <utility>

#include "engine/error.h"
#include "engine/model/input_file.h"
#include "engine/model/utf8.h"

namespace specbench::engine {

const char* const kGpt2Pattern =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

constexpr std::size_t kMaxPatternBytes = 1 << 16;
constexpr std::uint32_t kMaxMatchHeapKib = 256 << 10;

std::string pcre2_words(int code) {
  std::array<PCRE2_UCHAR, 256> words{};
  pcre2_get_error_message(code, words.data(), words.size());
  return reinterpret_cast<const char*>(words.data());
}

/// The pattern with \s and \S spelled as Unicode's White_Space, which is what Oniguruma takes them
/// for; PCRE2's own \s also holds U+180E. Escapes that the two engines read differently (\w, \b,
/// \h, ...) are refused.
std::string translate(const std::string& pattern, const std::string& shown) {
  constexpr std::string_view kSameInBoth = "dDpPrntfeax0123456789";
  std::string translated;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.compare(i, 2, "&&") == 0) {
      throw InputError(shown + " intersects character classes (&&), which is not supported.");
    }
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      translated += pattern[i];
      continue;
    }
    const char escaped = pattern[++i];
    const bool is_letter_or_digit = (escaped >= '0' && escaped <= '9') ||
                                    (escaped >= 'a' && escaped <= 'z') ||
                                    (escaped >= 'A' && escaped <= 'Z');
    if (escaped == 's') {
      translated += "\\p{White_Space}";
    } else if (escaped == 'S') {
      translated += "\\P{White_Space}";
    } else if (!is_letter_or_digit || kSameInBoth.find(escaped) != std::string_view::npos) {
      translated += {'\\', escaped};
    } else {
      throw InputError(
          shown + " uses the escape \\" + escaped +
          ", which is not supported; \\s \\S \\d \\D \\p \\P and escaped characters are.");
    }
  }
  return translated;
}

std::shared_ptr<const pcre2_code> compile(const SplitRule& rule, const std::string& shown) {
  if (rule.pattern.empty() || rule.pattern.size() > kMaxPatternBytes) {
    throw InputError(shown + " is " + std::to_string(rule.pattern.size()) +
                     " bytes long; expected 1 to " + std::to_string(kMaxPatternBytes) + ".");
  }
  const std::string text = rule.is_literal ? rule.pattern : translate(rule.pattern, shown);
  const std::uint32_t options =
      rule.is_literal ? PCRE2_UTF | PCRE2_LITERAL : PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options,
                                   &error, &offset, nullptr);
  if (code == nullptr) {
    throw InputError(shown + " is not a pattern PCRE2 can use: " + pcre2_words(error) + ".");
  }
  // Where the machine has no just-in-time compiler the interpreter runs: slower, same pieces.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return {code, [](const pcre2_code* c) { pcre2_code_free(const_cast<pcre2_code*>(c)); }};
}

/// One search of `rule` after another over one text.
class Matcher {
 public:
  Matcher(const pcre2_code* code, std::string_view text, const std::string& shown)
      : code_(code),
        text_(text),
        shown_(shown),
        context_(pcre2_match_context_create(nullptr), pcre2_match_context_free),
        data_(pcre2_match_data_create(1, nullptr), pcre2_match_data_free) {
    if (!context_ || !data_) throw std::bad_alloc();
    pcre2_set_heap_limit(context_.get(), kMaxMatchHeapKib);
  }

  /// First match at or after `from`; false where there is none.
  bool find(std::size_t from, std::size_t& begin, std::size_t& end) {
    int found = match(from, PCRE2_NO_UTF_CHECK);
    // The JIT's stack is small; the interpreter keeps its frames on the heap.
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = match(from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
    if (found == PCRE2_ERROR_NOMATCH) return false;
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(data_.get());
    if (found < 0 || bounds[0] < from || bounds[1] < bounds[0]) {
      throw InputError(
          shown_ + " cannot be matched against a text of " + std::to_string(text_.size()) +
          " bytes: " + (found < 0 ? pcre2_words(found) : "a match ends before it begins") + ".");
    }
    begin = bounds[0];
    end = bounds[1];
    return true;
  }

 private:
  int match(std::size_t from, std::uint32_t options) {
    return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), from,
                       options, data_.get(), context_.get());
  }

  const pcre2_code* code_;
  std::string_view text_;
  const std::string& shown_;
  std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> context_;
  std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data_;
};

}  // namespace

PreTokenizer::PreTokenizer(const std::vector<SplitRule>& rules, const std::string& file) {
  for (const SplitRule& rule : rules) {
    std::string shown = file + ": pre_tokenizer pattern " + quote(rule.pattern);
    auto code = compile(rule, shown);
    rules_.push_back({std::move(code), std::move(shown)});
  }
}

std::vector<std::string_view> PreTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> pieces;
  if (!text.empty()) pieces.push_back(text);
  for (const Rule& rule : rules_) {
    std::vector<std::string_view> finer;
    for (const std::string_view piece : pieces) apply(rule, piece, finer);
    pieces = std::move(finer);
  }
  return pieces;
}

void PreTokenizer::apply(const Rule& rule, std::string_view text,
                         std::vector<std::string_view>& pieces) {
  Matcher matcher(rule.code.get(), text, rule.shown);
  std::size_t cut = 0;   // end of the last piece
  std::size_t from = 0;  // where the next search begins
  bool has_matched = false;
  std::size_t begin = 0;
  std::size_t end = 0;
  while (from <= text.size() && matcher.find(from, begin, end)) {
    if (begin == end && has_matched && end == cut) {
      // An empty match where the last match ended: step over one character, as Oniguruma's iterator
      // does.
      const std::size_t step = character_length(text.substr(from));
      from += step == 0 ? 1 : step;
      continue;
    }
    if (begin > cut) pieces.push_back(text.substr(cut, begin - cut));
    if (end > begin) pieces.push_back(text.substr(begin, end - begin));
    cut = from = end;
    has_matched = true;
  }
  if (cut < text.size()) pieces.push_back(text.substr(cut));
}

}  // namespace specbench::engine
