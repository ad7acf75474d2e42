// Stop strings: where they are found, and what decoding does when they fall inside a round.
#include "engine/stop_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/model/tokenizer.h"
#include "engine/processors_test_support.h"

namespace specbench::engine {
namespace {

using testing::Case;
using testing::decode;
using testing::Decoded;
using testing::ending;
using testing::endless;
using testing::plain;
using testing::requests;
using testing::Texts;
using testing::with_everything;

using Stops = std::vector<std::string>;

/// The embedded model's: ids 0 to 255 are the bytes, 4095 the end of a text.
const Tokenizer& austen() {
  static const Tokenizer tokenizer =
      Tokenizer::from_json_file(SPECBENCH_SOURCE_DIR "/engine/models/austen-10m/tokenizer.json");
  return tokenizer;
}

std::vector<TokenId> bytes(const std::string& text) {
  std::vector<TokenId> ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

/// How many tokens are out when the first stop string is complete; -1: never.
int stopped_after(const std::vector<TokenId>& ids, const Stops& stops) {
  for (std::size_t n = 1; n <= ids.size(); ++n)
    if (completes_stop(std::span(ids).first(n), stops, austen())) return static_cast<int>(n);
  return -1;
}

TEST(StopTexts, AreFoundWhereTheirLastTokenCompletesThem) {
  EXPECT_EQ(stopped_after(bytes("one, two"), {","}), 4);
  EXPECT_EQ(stopped_after(bytes("one, two"), {"e, t"}), 6);
  EXPECT_EQ(stopped_after(bytes("one, two"), {"one, two"}), 8);
  EXPECT_EQ(stopped_after(bytes("one, two"), {"one, two!"}), -1);
  EXPECT_EQ(stopped_after(bytes("one, two"), {"o"}), 1);
  EXPECT_EQ(stopped_after({}, {"o"}), -1);
}

// "It was a truth that Mr. Bennet" as the tokenizer cuts it.
TEST(StopTexts, BeginAndEndInsideTokens) {
  const std::vector<TokenId> ids{1029, 304, 258, 1896, 333, 360, 46, 1208};
  ASSERT_EQ(text_of(ids, austen()), "It was a truth that Mr. Bennet");
  ASSERT_EQ(text_of(std::span(ids).first(4), austen()), "It was a truth");
  EXPECT_EQ(stopped_after(ids, {"t was a tr"}), 4);  // inside the first token, inside the fourth
  EXPECT_EQ(stopped_after(ids, {"rut"}), 4);         // inside one token
  EXPECT_EQ(stopped_after(ids, {"h that M"}), 6);
  EXPECT_EQ(stopped_after(ids, {"Mr. Be"}), 8);
}

TEST(StopTexts, WithItselfAStringMayOverlap) {
  EXPECT_EQ(stopped_after(bytes("aab"), {"ab"}), 3);
  EXPECT_EQ(stopped_after(bytes("aaab"), {"aab"}), 4);
  EXPECT_EQ(stopped_after(bytes("abacabab"), {"abab"}), 8);
}

TEST(StopTexts, OfSeveralTheFirstCompleteOneEndsTheText) {
  EXPECT_EQ(stopped_after(bytes("one, two"), {"two", "ne"}), 3);
  EXPECT_EQ(stopped_after(bytes("one, two"), {"ne, two", "wo", ", t"}), 6);
  EXPECT_EQ(stopped_after(bytes("one, two"), {"x", "y"}), -1);
  EXPECT_EQ(stopped_after(bytes("one, two"), {}), -1);
}

TEST(StopTexts, OfManyBytesACharacterIsFoundWholeAndInPart) {
  EXPECT_EQ(stopped_after(bytes("caf\xc3\xa9 \xf0\x9f\x8e\xa9"), {"\xc3\xa9"}), 5);
  EXPECT_EQ(stopped_after(bytes("caf\xc3\xa9 \xf0\x9f\x8e\xa9"), {"\xf0\x9f\x8e\xa9"}), 10);
  EXPECT_EQ(stopped_after(bytes("caf\xc3\xa8 \xf0\x9f\x8e\xa9"), {"\xc3\xa9"}), -1);
  EXPECT_EQ(stopped_after(bytes("\xc3\xa9"), {"\xa9"}), 2);
}

// A string that was complete before (below min_tokens) does not stop what follows.
TEST(StopTexts, WhatEarlierTokensCompletedIsPast) {
  const auto ids = bytes("a,b,c");
  EXPECT_TRUE(completes_stop(std::span(ids).first(2), Stops{","}, austen()));
  EXPECT_FALSE(completes_stop(std::span(ids).first(3), Stops{","}, austen()));
  EXPECT_TRUE(completes_stop(std::span(ids).first(4), Stops{","}, austen()));
}

TEST(StopTexts, AnEmptyStringNeverStops) {
  EXPECT_EQ(stopped_after(bytes("one"), {""}), -1);
  EXPECT_EQ(stopped_after(bytes("one"), {"", "e"}), 3);
  EXPECT_EQ(first_stop("one", Stops{""}), 3U);
}

// A padded vocabulary: the model has ids of which the tokenizer knows nothing.
TEST(StopTexts, IdsTheTokenizerLacksHaveNoBytes) {
  EXPECT_EQ(text_of(std::vector<TokenId>{97, 4096, 98, 100000}, austen()), "ab");
  EXPECT_EQ(stopped_after({97, 4096, 98}, {"ab"}), 3);
  EXPECT_EQ(stopped_after({97, 98, 4096}, {"b"}), 2);
  EXPECT_FALSE(completes_stop(std::vector<TokenId>{97, 98, 4096}, Stops{"b"}, austen()));
}

TEST(FirstStop, CutsAtTheSmallestPlace) {
  EXPECT_EQ(first_stop("one, two", Stops{","}), 3U);
  EXPECT_EQ(first_stop("one, two", Stops{"two", "e, t"}), 2U);
  EXPECT_EQ(first_stop("one, two", Stops{"one"}), 0U);
  EXPECT_EQ(first_stop("one, two", Stops{"three"}), 8U);
  EXPECT_EQ(first_stop("", Stops{"a"}), 0U);
  EXPECT_EQ(first_stop("one", {}), 3U);
}

TEST(FirstStop, LeavesOutWhatEndsInThePast) {
  EXPECT_EQ(first_stop("a,b,c", Stops{","}, 1), 1U);
  EXPECT_EQ(first_stop("a,b,c", Stops{","}, 2), 3U);
  EXPECT_EQ(first_stop("a,b,c", Stops{",b,"}, 3), 1U);  // begins in the past, ends behind it
  EXPECT_EQ(first_stop("a,b,c", Stops{",b,"}, 4), 5U);
}

/// By plain search: how many tokens of two letters are out when a stop string is complete.
std::size_t tokens_until(const std::string& text, const std::string& stop, std::size_t min_tokens) {
  for (std::size_t at = text.find(stop); at != std::string::npos; at = text.find(stop, at + 1)) {
    const std::size_t n = (at + stop.size() + 1) / 2;
    if (n >= min_tokens) return n;
  }
  return text.size() / 2;
}

/// The cache of lane 0 is the one that a fresh prefill of all tokens but the newest writes.
void expect_fresh_cache(const Model& model, const Backend& backend, std::vector<TokenId> tokens) {
  tokens.pop_back();
  const ModelConfig& c = model.config;
  const auto fresh = make_backend("cpu", model, testing::backend_options(1, 1));
  fresh->reset(0, 1);
  fresh->forward(testing::rows_of(0, 0, tokens, 0), 0, c.n_layers);
  const auto size = static_cast<std::size_t>(c.n_kv_heads * c.head_dim);
  std::vector<float> key(size), value(size), fresh_key(size), fresh_value(size);
  for (int layer = 0; layer < c.n_layers; ++layer) {
    ASSERT_EQ(backend.kv().at(0, layer), static_cast<int>(tokens.size()));
    for (int pos = 0; pos < static_cast<int>(tokens.size()); ++pos) {
      backend.read_kv(0, layer, pos, key, value);
      fresh->read_kv(0, layer, pos, fresh_key, fresh_value);
      ASSERT_EQ(key, fresh_key) << layer << " " << pos;
      ASSERT_EQ(value, fresh_value) << layer << " " << pos;
    }
  }
}

/// Decodes with one stop string, against the text without; true if it fell inside a block, with
/// accepted tokens behind it.
bool stop_cuts_a_block(const Case& s, const Request& request, const std::vector<TokenId>& whole) {
  const std::string text = endless().tokenizer.decode(whole);
  const std::size_t n =
      tokens_until(text, s.stops[0], static_cast<std::size_t>(s.sampling.min_tokens));
  const std::vector<TokenId> want(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
  const Decoded r = decode(endless(), {request}, s);
  EXPECT_EQ(r.tokens().front(), want) << s.verifier << " " << s.stops[0];
  EXPECT_EQ(decode(endless(), {request}, plain(s)).tokens().front(), want);
  std::vector<TokenId> all = request.prompt;
  all.insert(all.end(), want.begin(), want.end());
  expect_fresh_cache(endless(), *r.backend, all);
  if (r.log.rounds.empty()) return false;
  const auto& last = r.log.rounds.back();
  EXPECT_EQ(last.stop, r.completions[0].stop);
  EXPECT_EQ(last.emitted.size(), static_cast<std::size_t>(last.n_accepted + (last.is_cut ? 0 : 1)));
  for (std::size_t i = 0; i + 1 < r.log.rounds.size(); ++i) EXPECT_FALSE(r.log.rounds[i].is_cut);
  return last.is_cut && last.stop == StopReason::kStopText && last.n_accepted < last.n_verdict;
}

TEST(DecodeStopTexts, CutWhereverTheyFallAndWhateverIsDrafted) {
  const Request request{1, {5, 6, 7}, 25};
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    Case s;
    s.verifier = verifier;
    s.sampling.temperature = *verifier == 'g' ? 0.0 : 0.5;
    const auto whole = decode(endless(), {request}, s).tokens().front();
    const std::string text = endless().tokenizer.decode(whole);
    ASSERT_EQ(text.size(), 2 * whole.size());
    int n_inside = 0;
    s.drafter = "layer-skip";
    for (std::size_t at = 0; at + 5 <= text.size(); at += 3)
      for (const std::size_t length : {2U, 5U})
        for (const int k : {2, 12}) {
          s.k = k;
          s.stops = {text.substr(at, length)};
          n_inside += stop_cuts_a_block(s, request, whole) ? 1 : 0;
        }
    EXPECT_GT(n_inside, 0) << verifier;
  }
}

// S1 for stop strings: noticed at the end of a round only, the text goes on behind it.
TEST(DecodeStopTexts, SeesOneInsideABlockThatIsIgnored) {
  for (const char* verifier : {"greedy", "one-hot", "coupled"}) {
    Case s = with_everything(verifier, "layer-skip");
    s.k = 12;
    s.stops = {"a", "c", "e"};  // likely ones: some fall inside a block under every rule
    const Texts want = decode(ending(), requests(), plain(s)).tokens();
    s.steps.stop = [](StopReason due, bool is_last) {
      return is_last || due != StopReason::kStopText ? due : StopReason::kNone;
    };
    EXPECT_NE(decode(ending(), requests(), s).tokens(), want) << verifier;
  }
}

TEST(DecodeStopTexts, AreIgnoredBeforeMinTokens) {
  const Request request{1, {5, 6, 7}, 25};
  Case s;
  s.verifier = "coupled";
  const auto whole = decode(endless(), {request}, s).tokens().front();
  s.drafter = "layer-skip";
  s.k = 12;
  s.stops = {endless().tokenizer.decode(std::span(whole).subspan(8, 2)).substr(1, 2)};
  for (const int min_tokens : {0, 9, 10, 11, 25}) {
    s.sampling.min_tokens = min_tokens;  // there is no EOS, so the law is untouched
    (void)stop_cuts_a_block(s, request, whole);
    const std::size_t n = decode(endless(), {request}, s).tokens().front().size();
    if (min_tokens == 10) {
      EXPECT_EQ(n, 10U);  // complete with the tenth token: exactly enough
    }
    if (min_tokens == 11) {
      EXPECT_GT(n, 10U);
    }
  }
}

TEST(DecodeStopTexts, MayEndWithThePrefillsToken) {
  const Request request{1, {5, 6, 7}, 25};
  Case s;
  s.sampling.temperature = 0.0;
  const TokenId first = decode(endless(), {request}, s).tokens().front().front();
  s.drafter = "layer-skip";
  for (const std::size_t from : {0U, 1U}) {  // the whole token, or its end
    s.stops = {endless().tokenizer.decode({&first, 1}).substr(from)};
    const Decoded r = decode(endless(), {request, request}, s);
    EXPECT_EQ(r.tokens(), (Texts{{first}, {first}}));
    EXPECT_EQ(r.completions[0].stop, StopReason::kStopText);
    EXPECT_EQ(r.log.prefills[0].stop, StopReason::kStopText);
    EXPECT_TRUE(r.log.rounds.empty());
  }
}

// Only what was emitted is searched.
TEST(DecodeStopTexts, DoNotBeginInThePrompt) {
  const Request request{1, {5, 6, 7}, 25};
  Case s;
  s.sampling.temperature = 0.0;
  const auto whole = decode(endless(), {request}, s).tokens().front();
  const std::vector<TokenId> edge{7, whole[0]};
  const std::string across = endless().tokenizer.decode(edge).substr(0, 3);
  ASSERT_EQ(endless().tokenizer.decode(whole).find(across), std::string::npos);
  s.stops = {across};
  s.drafter = "layer-skip";
  EXPECT_EQ(decode(endless(), {request}, s).tokens().front(), whole);
}

}  // namespace
}  // namespace specbench::engine
