#include "suites/findings.h"

#include <array>

namespace specbench::suites {

std::string violation_kind(const std::string& sentence) {
  // Words of the sentences of engine/kv_lengths.cc, engine/batch.cc and engine/sampling.cc.
  constexpr std::array<std::pair<const char*, const char*>, 10> kWords = {
      {{"must be consecutive", "positions"},
       {"had passed the layer above", "layer-order"},
       {"trimmed to", "trim"},
       {"the committed tokens need", "cache-length"},
       {"were due", "emitted"},
       {"tokens emitted,", "max-tokens"},
       {"went on behind EOS", "eos"},
       {"probability zero", "support"},
       {"sums to", "law-sum"},
       {"not finite", "not-finite"}}};
  for (const auto& [words, kind] : kWords)
    if (sentence.find(words) != std::string::npos) return kind;
  return "other";
}

results::Check violated(const std::string& part, const std::string& sentence) {
  return {part + ".state." + violation_kind(sentence), results::CheckStatus::kFailed, sentence};
}

}  // namespace specbench::suites
