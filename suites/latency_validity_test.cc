// The validity of a measurement on typed samples, each check shown failing on its fault.
#include "suites/latency_validity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "suites/latency_test_support.h"

namespace specbench::suites {
namespace {

using results::Check;
using results::CheckStatus;

/// Two arms that decode, two cases, three warm-ups, five blocks; 100 ns of prefill in each run.
harness::Series sound_series() {
  harness::Series series;
  series.arm_names = {"autoregressive", "speculative"};
  series.phase_names = phase_names();
  series.warmups_done = 3;
  series.blocks_done = kWholeBlocks;
  for (int pass = 0; pass < series.warmups_done + series.blocks_done; ++pass)
    for (int c = 0; c < kCases; ++c)
      for (const int arm : {0, 1}) {
        const bool is_warmup = pass < series.warmups_done;
        series.samples.push_back(sample_of(arm, c, is_warmup ? pass : pass - series.warmups_done,
                                           {10, 100, 20, 500, 30, 5}, 11));
        series.samples.back().is_warmup = is_warmup;
      }
  return series;
}

ArmPath typed_path(const std::string& arm) {
  return {arm, "cpu", "AVX2", "F32", 2, 0x1234, "verifier token", "ids", 64, "max_tokens"};
}

CheckStatus status_of(const std::vector<Check>& checks, const std::string& id) {
  for (const Check& check : checks)
    if (check.id == id) return check.status;
  ADD_FAILURE() << id << " is missing";
  return CheckStatus::kSkipped;
}

const char* const kWarmups[] = {"validity.warmup.autoregressive", "validity.warmup.speculative"};
const char* const kRegions[] = {"validity.decode-region.autoregressive",
                                "validity.decode-region.speculative"};

TEST(LatencyValidity, ASoundRunPassesEveryCheck) {
  const std::vector<ArmPath> paths = {typed_path("autoregressive"), typed_path("speculative")};
  const auto checks = check_validity(sound_series(), paths);
  EXPECT_EQ(checks.size(), 5U);
  for (const Check& check : checks)
    EXPECT_EQ(check.status, CheckStatus::kPassed) << check.id << ": " << check.detail;
}

TEST(LatencyValidity, EachTimingFaultFailsItsCheckAndNoOther) {
  harness::Series cold = sound_series(), early = sound_series();
  apply({.no_warmup = true}, cold);
  apply({.prefill_in_decode = true}, early);
  EXPECT_EQ(cold.blocks_done, kWholeBlocks + 3);
  for (const char* id : kWarmups) {
    EXPECT_EQ(status_of(check_warmups(cold), id), CheckStatus::kFailed);
    EXPECT_EQ(status_of(check_warmups(early), id), CheckStatus::kPassed);
  }
  for (const char* id : kRegions) {
    EXPECT_EQ(status_of(check_decode_regions(cold), id), CheckStatus::kPassed);
    EXPECT_EQ(status_of(check_decode_regions(early), id), CheckStatus::kFailed);
  }
}

TEST(LatencyValidity, ApplyingNoFaultChangesNothing) {
  harness::Series series = sound_series();
  apply({.other_path = true}, series);  // nothing that a series shows
  const harness::Series before = sound_series();
  ASSERT_EQ(series.samples.size(), before.samples.size());
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    EXPECT_EQ(series.samples[i].block, before.samples[i].block);
    EXPECT_EQ(series.samples[i].is_warmup, before.samples[i].is_warmup);
    EXPECT_EQ(series.samples[i].decode_ns, before.samples[i].decode_ns);
  }
}

TEST(LatencyValidity, WarmUpsOfOtherTokensAnotherCaseOrBehindTheFirstBlockDoNotCount) {
  const auto broken = [](const std::function<void(harness::Series&)>& change) {
    harness::Series series = sound_series();
    change(series);
    return status_of(check_warmups(series), kWarmups[1]);
  };
  const auto one_warmup = [](harness::Series& series, const auto& change) {
    for (harness::Sample& s : series.samples)
      if (s.is_warmup && s.arm == 1 && s.case_index == 1 && s.block == 2) return change(s);
  };
  EXPECT_EQ(broken([](harness::Series&) {}), CheckStatus::kPassed);
  EXPECT_EQ(broken([&](auto& s) { one_warmup(s, [](auto& one) { one.n_tokens = 10; }); }),
            CheckStatus::kFailed);
  EXPECT_EQ(broken([&](auto& s) { one_warmup(s, [](auto& one) { one.fingerprint = 43; }); }),
            CheckStatus::kFailed);
  EXPECT_EQ(broken([&](auto& s) { one_warmup(s, [](auto& one) { one.case_index = 0; }); }),
            CheckStatus::kFailed);
  EXPECT_EQ(broken([&](auto& s) { one_warmup(s, [](auto& one) { one.arm = 0; }); }),
            CheckStatus::kFailed);
  EXPECT_EQ(broken([](auto& s) { std::reverse(s.samples.begin(), s.samples.end()); }),
            CheckStatus::kFailed);
}

TEST(LatencyValidity, AMeasurementCutOffInTheWarmUpProvesNothing) {
  harness::Series series = sound_series();
  std::erase_if(series.samples, [](const auto& sample) { return !sample.is_warmup; });
  for (const Check& check : check_warmups(series))
    EXPECT_EQ(check.status, CheckStatus::kSkipped) << check.id;
}

TEST(LatencyValidity, SumsThatDoNotAddUpFailInASingleSample) {
  const auto broken = [](const std::function<void(harness::Sample&)>& change) {
    harness::Series series = sound_series();
    for (harness::Sample& sample : series.samples)
      if (sample.arm == 1 && sample.case_index == 0 && sample.block == 4) change(sample);
    return status_of(check_decode_regions(series), kRegions[1]);
  };
  EXPECT_EQ(broken([](auto& s) { ++s.phase_ns[kPhaseVerify]; }), CheckStatus::kFailed);
  EXPECT_EQ(broken([](auto& s) { ++*s.decode_ns; }), CheckStatus::kFailed);
  EXPECT_EQ(broken([](auto& s) { s.first_token_ns.reset(); }), CheckStatus::kFailed);
  EXPECT_EQ(broken([](auto& s) { s.decode_ns.reset(); }), CheckStatus::kFailed);
}

TEST(LatencyValidity, OneCoreLostBehindTheFirstTokenIsForgivenTenAreNot) {
  // The prefill is charged for what passes until the next phase: 5,000 ns without the core.
  const auto lost = [](int n) {
    harness::Series series = sound_series();
    for (harness::Sample& sample : series.samples) {
      if (sample.arm != 0 || n-- <= 0) continue;
      sample.phase_ns[kPhasePrefill] += 5000;
      sample.wall_ns += 5000;
      *sample.decode_ns += 5000;
    }
    return status_of(check_decode_regions(series), kRegions[0]);
  };
  EXPECT_EQ(lost(1), CheckStatus::kPassed);
  EXPECT_EQ(lost(2), CheckStatus::kFailed);  // of 16
}

TEST(LatencyValidity, DecodeTimeMayHoldAHundredthOfPrefillAndNoMore) {
  // First tokens come at 110 ns, behind 10 ns of other work; then there are 555 ns of decoding.
  const auto earlier = [](std::int64_t ns) {
    harness::Series series = sound_series();
    for (harness::Sample& sample : series.samples) {
      *sample.first_token_ns -= ns;
      *sample.decode_ns += ns;
    }
    return status_of(check_decode_regions(series), kRegions[0]);
  };
  EXPECT_EQ(earlier(10), CheckStatus::kPassed);
  EXPECT_EQ(earlier(15), CheckStatus::kPassed);  // 5 of 570
  EXPECT_EQ(earlier(16), CheckStatus::kFailed);  // 6 of 571
}

TEST(LatencyValidity, AnArmWithoutTokensIsSkippedAndAMissingPrefillIsNot) {
  harness::Series series = sound_series();
  for (harness::Sample& sample : series.samples)
    if (sample.arm == 1) sample.n_tokens = 0;
  EXPECT_EQ(status_of(check_decode_regions(series), kRegions[1]), CheckStatus::kSkipped);
  EXPECT_EQ(status_of(check_decode_regions(series), kRegions[0]), CheckStatus::kPassed);
  series.phase_names[kPhasePrefill] = "prompt";
  EXPECT_EQ(status_of(check_decode_regions(series), kRegions[0]), CheckStatus::kFailed);
}

TEST(LatencyValidity, PathsThatDifferInAnyFieldAreTwoPaths) {
  const ArmPath baseline = typed_path("autoregressive");
  const std::pair<const char*, std::function<void(ArmPath&)>> changes[] = {
      {"backend", [](ArmPath& p) { p.backend = "reference"; }},
      {"vector_target", [](ArmPath& p) { p.vector_target = "SSE4"; }},
      {"dtype", [](ArmPath& p) { p.dtype = "BF16"; }},
      {"threads", [](ArmPath& p) { p.threads = 1; }},
      {"weights_hash", [](ArmPath& p) { p.weights_hash ^= 1; }},
      {"sampling", [](ArmPath& p) { p.sampling = "verifier greedy"; }},
      {"token_counting", [](ArmPath& p) { p.token_counting = "ids, uncut"; }},
      {"max_tokens", [](ArmPath& p) { p.max_tokens = 63; }},
      {"stop_rule", [](ArmPath& p) { p.stop_rule = "EOS, max_tokens"; }}};
  for (const auto& [field, change] : changes) {
    ArmPath other = typed_path("speculative");
    EXPECT_EQ(hash_of(baseline), hash_of(other));
    change(other);
    EXPECT_NE(hash_of(baseline), hash_of(other)) << field;
    const std::vector<ArmPath> paths = {baseline, typed_path("speculative-twin"), other};
    const Check check = check_same_path(paths);
    EXPECT_EQ(check.status, CheckStatus::kFailed) << field;
    EXPECT_NE(check.detail.find(std::string(field) + " is "), std::string::npos) << check.detail;
    EXPECT_NE(check.detail.find("'speculative'"), std::string::npos) << check.detail;
  }
}

TEST(LatencyValidity, TheHashIsPrintedAndOneArmIsNoComparison) {
  const std::vector<ArmPath> paths = {typed_path("autoregressive"), typed_path("speculative")};
  EXPECT_NE(check_same_path(paths).detail.find("one path, "), std::string::npos);
  EXPECT_EQ(check_same_path({paths.data(), 1}).status, CheckStatus::kSkipped);
}

}  // namespace
}  // namespace specbench::suites
