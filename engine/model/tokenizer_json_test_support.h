// For tests of tokenizer.json: small documents, one of each kind, as text.
#pragma once

#include <cstdint>
#include <string>

#include "engine/model/byte_alphabet.h"

namespace specbench::engine::testing {

/// Members of a vocabulary: the tokens of the 256 bytes, numbered from `first` on.
inline std::string byte_members(std::string (*spelled)(std::uint8_t), int first) {
  std::string members;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = spelled(static_cast<std::uint8_t>(byte));
    const bool is_escaped = text == "\"" || text == "\\";
    members += (is_escaped ? "\"\\" : "\"") + text + "\":" + std::to_string(first + byte) + ",";
  }
  return members;
}

/// The 256 bytes in order, then "ab" = 256 and the special "<x>" = 257.
inline std::string small_json() {
  return R"({"added_tokens":[{"id":257,"content":"<x>","special":true,"normalized":false}],
      "normalizer":null,
      "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},
      "model":{"type":"BPE","merges":["a b"],"vocab":{)" +
         byte_members(byte_symbol, 0) + R"("ab":256}}})";
}

/// Characters: "<unk>" = 0, the bytes from 1 on, then "a" = 257, "b" = 258, "ab" = 259.
inline std::string characters_json() {
  return R"({"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"_"},
          {"type":"Replace","pattern":{"String":" "},"content":"_"}]},
      "pre_tokenizer":null,
      "decoder":{"type":"Sequence","decoders":[
          {"type":"Replace","pattern":{"String":"_"},"content":" "},{"type":"ByteFallback"},
          {"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},
      "model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","merges":["a b"],
          "vocab":{"<unk>":0,)" +
         byte_members(byte_token, 1) + R"("a":257,"b":258,"ab":259}}})";
}

inline std::string unigrams_json() {
  return R"({"pre_tokenizer":{"type":"Metaspace","replacement":"_"},
      "decoder":{"type":"Metaspace","replacement":"_"},
      "model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1.5],["_a",-2]]}})";
}

}  // namespace specbench::engine::testing
