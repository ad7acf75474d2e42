// How each fault is planted. Every function is a correct step but for the one thing its name says.
#pragma once

#include "suites/faults.h"

namespace specbench::suites::plant {

/// The one step `Member` of engine::Steps replaced.
template <auto Member, auto Step>
Faults planted() {
  Faults faults;
  faults.steps.*Member = Step;
  return faults;
}

template <auto Step>
constexpr auto rule = planted<&engine::Steps::accept, Step>;
template <auto Step>
constexpr auto coins = planted<&engine::Steps::coins, Step>;
template <auto Step>
constexpr auto law = planted<&engine::Steps::law, Step>;
template <auto Step>
constexpr auto draft = planted<&engine::Steps::draft, Step>;
template <auto Step>
constexpr auto judged = planted<&engine::Steps::judged, Step>;
template <auto Step>
constexpr auto rows = planted<&engine::Steps::rows, Step>;
template <auto Step>
constexpr auto logits = planted<&engine::Steps::logits, Step>;
template <auto Step>
constexpr auto kept = planted<&engine::Steps::kept_entries, Step>;
template <auto Step>
constexpr auto emitted = planted<&engine::Steps::emitted, Step>;
template <auto Step>
constexpr auto stop = planted<&engine::Steps::stop, Step>;
template <auto Step>
constexpr auto reset = planted<&engine::Steps::reset, Step>;
template <auto Step>
constexpr auto report = planted<&engine::Steps::report, Step>;

using engine::Acceptance;
using engine::CoinKey;
using engine::DraftDraw;
using engine::LaneDraft;
using engine::Law;
using engine::LawRoom;
using engine::Proposal;
using engine::Round;
using engine::RoundCoins;
using engine::RoundEnd;
using engine::RoundKey;
using engine::Row;
using engine::RowPast;
using engine::RowPlace;
using engine::SamplingParams;
using engine::TokenId;

// The rule (mutants/rules.cc).
Acceptance r1(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r2(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r3(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r4(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r5(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r6(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r7(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r8(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r9(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance r10(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance a1(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance a2(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance a3(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance a4(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance a6(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance a10(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance a11(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance b4(const Proposal&, const RoundCoins&, const LawRoom&);
Acceptance n2(const Proposal&, const RoundCoins&, const LawRoom&);

// The coins (mutants/coins.cc).
RoundCoins a5(const RoundKey&);
RoundCoins a7(const RoundKey&);
RoundCoins n1(const RoundKey&);
RoundCoins n3(const RoundKey&);
RoundCoins n4(const RoundKey&);
RoundCoins n5(const RoundKey&);
RoundCoins n6(const RoundKey&);
RoundCoins n7(const RoundKey&);
RoundCoins n8(const RoundKey&);
RoundCoins n9(const RoundKey&);

// The laws and the draft (mutants/laws.cc).
Law a8(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
Law q4(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
Law q5(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
Law q6(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
Law q7(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
Law q8(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
Law q10(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
Law b3(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
Law s3(float*, int, const SamplingParams&, const RowPast&, const RowPlace&, const LawRoom&);
TokenId q1(Law&, const LawRoom&, DraftDraw, const CoinKey&);
TokenId q2(Law&, const LawRoom&, DraftDraw, const CoinKey&);
TokenId q3(Law&, const LawRoom&, DraftDraw, const CoinKey&);
TokenId d1(Law&, const LawRoom&, DraftDraw, const CoinKey&);
TokenId d2(Law&, const LawRoom&, DraftDraw, const CoinKey&);
TokenId n2_draft(Law&, const LawRoom&, DraftDraw, const CoinKey&);
void q9(std::span<LaneDraft>);

// State, stops and counters (mutants/state.cc).
void b1(std::vector<TokenId>&, const Round&);
void b2(std::vector<TokenId>&, const Round&);
int k1(const RoundEnd&);
int k2(const RoundEnd&);
int k4(const RoundEnd&);
int k7(const RoundEnd&);
void k3(std::vector<Row>&, bool, std::span<const LaneDraft>);
void k5(std::vector<Row>&, bool, std::span<const LaneDraft>);
void k6(std::vector<Row>&, bool, std::span<const LaneDraft>);
void p1(std::vector<Row>&, bool, std::span<const LaneDraft>);
void p3(float*, std::span<const Row>, int);
void k8(engine::Backend&, int, std::uint32_t);
void m1(Round&);
void m2(Round&);
engine::StopReason s1(engine::StopReason, bool);
engine::StopReason s2(engine::StopReason, bool);
int s2_wanted(int, int);
engine::StopReason s4(engine::StopReason, bool);
int p2(int pos, int n_held);

}  // namespace specbench::suites::plant
