// How each fault is planted. Every function is a correct step but for the one thing its name says.
#pragma once

#include "suites/faults.h"

namespace specbench::suites::plant {

template <auto Rule>
Faults rule() {
  Faults faults;
  faults.steps.accept = Rule;
  return faults;
}
template <auto Coins>
Faults coins() {
  Faults faults;
  faults.steps.coins = Coins;
  return faults;
}
template <auto LawOf>
Faults law() {
  Faults faults;
  faults.steps.law = LawOf;
  return faults;
}
template <auto Draft>
Faults draft() {
  Faults faults;
  faults.steps.draft = Draft;
  return faults;
}
template <auto Rows>
Faults rows() {
  Faults faults;
  faults.steps.rows = Rows;
  return faults;
}
template <auto Kept>
Faults kept() {
  Faults faults;
  faults.steps.kept_entries = Kept;
  return faults;
}
template <auto Emitted>
Faults emitted() {
  Faults faults;
  faults.steps.emitted = Emitted;
  return faults;
}
template <auto Report>
Faults report() {
  Faults faults;
  faults.steps.report = Report;
  return faults;
}

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
