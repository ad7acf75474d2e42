#include "suites/mutants.h"

#include <algorithm>

#include "suites/mutants/plant.h"

namespace specbench::suites {

namespace {

namespace p = plant;

Faults oracle_a9() {
  Faults faults;
  faults.oracle = OracleFault::kResidualIsTarget;
  return faults;
}
Faults gumbel_n2() {
  Faults faults = p::rule<p::n2>();
  faults.steps.draft = p::n2_draft;
  return faults;
}
Faults visible_p2() {
  Faults faults;
  faults.n_visible = p::p2;
  return faults;
}
Faults nothing() { return {}; }
Faults stop_s2() {
  Faults faults;
  faults.steps.stop = p::s2;
  faults.steps.n_wanted = p::s2_wanted;
  return faults;
}

constexpr const char* kOpposed = "opposed/V16/g3";
constexpr const char* kTopK = "top-k-draft/V8/g3";
constexpr const char* kTiny = "tiny-ratio/V16/g3";
constexpr const char* kPositions = "position-distinct/V16/g3";
constexpr const char* kRows = "row-distinct/V16/g3";
constexpr TimingFaults kCold{.no_warmup = true}, kEarly{.prefill_in_decode = true},
    kOtherPath{.other_path = true};

// X: neighbours of the public ones, of the same kinds.
const Mutant kMutants[] = {
    {"R1", "the token at a rejection is drawn from the target itself, nothing subtracted",
     "tutorials", "token", "narrow.rejected", kOpposed, 256, p::rule<p::r1>},
    {"R2",
     "the residual is the target with only the refused token removed, though the draft is soft",
     "EAGLE#20, xllm#2175", "token", "narrow.rejected", kOpposed, 256, p::rule<p::r2>},
    {"R3", "softmax of max(0, p - q) in place of division by its sum", "transformers#28508",
     "token", "narrow.rejected", kOpposed, 256, p::rule<p::r3>},
    {"R4", "the residual of position 0 is used at every position",
     "flashinfer#425, TensorRT-LLM#15098", "token", "narrow.rejected", kPositions, 256,
     p::rule<p::r4>},
    {"R5", "the inverse CDF falls through near u = 1 and returns the last id of all",
     "sglang#22643, iree-turbine#890", "token", "edges.last-coin", "", 0, p::rule<p::r5>},
    {"R6", "an empty residual is not guarded: id 0", "FlagGems#6446", "token",
     "edges.empty-residual", "", 0, p::rule<p::r6>},
    {"R7", "the residual is held in half precision", "-", "token", "replay.decision", "", 0,
     p::rule<p::r7>},
    {"R8", "the correction is drawn one round late, from the next row", "openvino.genai#4190",
     "token", "narrow.rejected", kPositions, 256, p::rule<p::r8>},
    {"R9", "the block rule with the token rule's residual", "vllm-ascend#7807", "block",
     "enumeration", "", 0, p::rule<p::r9>},
    {"R10", "the residual is |p - q|, not clamped at zero", "X", "token", "narrow.rejected",
     kOpposed, 256, p::rule<p::r10>},
    {"A1", "every drafted token is accepted", "vllm-ascend#13730", "token", "narrow.accept-bit",
     kOpposed, 256, p::rule<p::a1>},
    {"A2", "<= in place of <: a token of probability 0 is accepted at u = 0", "sglang#35771",
     "token", "edges.impossible-at-zero", "", 0, p::rule<p::a2>},
    {"A3", "a probability threshold in place of a coin", "fastllm#728", "token",
     "narrow.accept-bit", kOpposed, 256, p::rule<p::a3>},
    {"A4", "argmax verification above temperature 0", "sglang#11721, mlxcel#902", "token",
     "narrow.reached", kOpposed, 256, p::rule<p::a4>},
    {"A5", "the accept coin has 101 levels", "openvino.genai", "token", "narrow.accept-bit", kTiny,
     2048, p::coins<p::a5>},
    {"A6", "the first drafted token is not verified", "lattice#243", "token", "narrow.accept-bit",
     kOpposed, 256, p::rule<p::a6>},
    {"A7", "the coin can be exactly 1", "sglang#30822", "token", "edges.coins-range", "", 0,
     p::coins<p::a7>},
    {"A8", "argmax ties go to the last id", "lattice#280", "greedy", "edges.ties", "", 0,
     p::law<p::a8>},
    {"A9", "the second opinion itself is wrong: its residual is the target", "flashinfer", "token",
     "replay.decision", "", 0, oracle_a9},
    {"A10", "the ratio is upside down: q/p in place of p/q", "X", "token", "narrow.accept-bit",
     kOpposed, 256, p::rule<p::a10>},
    {"A11", "the draft law of the next position is used in the test", "X", "token",
     "narrow.accept-bit", kPositions, 4096, p::rule<p::a11>},
    {"N1", "the accept coin is reused for the residual", "flashinfer#424, sglang#7231", "token",
     "narrow.rejected", kOpposed, 4096, p::coins<p::n1>},
    {"N2", "the draft's Gumbel noise is reused for the recovery", "vllm#54282", "token",
     "narrow.rejected", kOpposed, 20480, gumbel_n2},
    {"N3", "one coin for all positions of a block", "-", "token", "narrow.accept-bit", kOpposed,
     2048, p::coins<p::n3>},
    {"N4", "one coin for all rows of a batch", "TensorRT-LLM#19487, vllm#50440", "token",
     "narrow.rows", kOpposed, 1024, p::coins<p::n4>},
    {"N5", "the result depends on the lane of the batch, not on the request",
     "vllm#6034, TensorRT-LLM#17599", "token", "coins.keys", "", 0, p::coins<p::n5>},
    {"N6", "block-rule coins are keyed by position alone: a later round reuses coins", "-", "block",
     "narrow.next", kTopK, 3072, p::coins<p::n6>},
    {"N7", "the draft's coin is reused for the acceptance test", "X", "token", "narrow.accept-bit",
     kOpposed, 2048, p::coins<p::n7>},
    {"N8", "the residual's coin is 1 minus the accept coin", "X", "token", "narrow.rejected",
     kOpposed, 4096, p::coins<p::n8>},
    {"N9", "the draft's coin is reused for the residual", "X", "token", "narrow.rejected", kOpposed,
     4096, p::coins<p::n9>},
    {"Q1", "the draft is its law's argmax, the soft law is reported", "transformers#32867", "token",
     "narrow.accepted", kOpposed, 256, p::draft<p::q1>},
    {"Q2", "the draft is drawn from the top of its law, the whole law is reported",
     "transformers#47932", "token", "narrow.accepted", kOpposed, 2048, p::draft<p::q2>},
    {"Q3", "the draft is drawn in bfloat16, float32 is reported", "DeepSpec#31", "token",
     "replay.draft", "", 0, p::draft<p::q3>},
    {"Q4", "verification at temperature 1 while the request says .7", "vllm#10198, lattice#388",
     "token", "edges.filters", "", 0, p::law<p::q4>},
    {"Q5", "temperature 0 rows of a mixed batch are divided by zero", "vllm#27077", "token",
     "setting.state.law-sum", "", 0, p::law<p::q5>},
    {"Q6", "a row is normalised over all rows", "mlx-examples#1291", "token", "real.state.law-sum",
     "", 0, p::law<p::q6>},
    {"Q7", "filters, bias and penalties only on the bonus row", "vllm#42744, sglang#10617", "token",
     "edges.filters", "", 0, p::law<p::q7>},
    {"Q8", "the penalties' history lacks the token just accepted", "mlx-lm#990", "token",
     "edges.processors", "", 0, p::law<p::q8>},
    {"Q9", "draft laws stay behind when the batch is permuted", "vllm#41044", "token",
     "narrow.reached.row", kRows, 1024, p::judged<p::q9>},
    {"Q10", "temperature after top-p", "sglang#36173, fastllm#738", "token", "edges.filters", "", 0,
     p::law<p::q10>},
    {"B1", "the bonus is dropped on full acceptance", "lattice#389", "token", "real.state.emitted",
     "", 0, p::emitted<p::b1>},
    {"B2", "the bonus is emitted twice", "imp#683", "token", "real.state.trim", "", 0,
     p::emitted<p::b2>},
    {"B3", "the bonus ignores temperature and filters", "SWIFT, EAGLE#215", "token",
     "edges.filters", "", 0, p::law<p::b3>},
    {"B4", "the bonus is drawn from the row of the last drafted token", "X", "token",
     "narrow.bonus", kPositions, 2048, p::rule<p::b4>},
    {"K1", "the cache is trimmed one entry too few", "many", "token", "real.state.cache-length", "",
     0, p::kept<p::k1>},
    {"K2", "the draft's cache is trimmed by min(rejected + 1, g)", "mlxcel#994", "token",
     "real.state.cache-length", "", 0, p::kept<p::k2>},
    {"K3", "the last drafted token's entries are missing after full acceptance",
     "exllamav2, vllm#9730", "token", "real.state.layer-order", "", 0, p::rows<p::k3>},
    {"K4", "the trim silently does nothing behind a window", "mlx-lm#1109, mlx-lm#1427", "token",
     "real.state.cache-length", "", 0, p::kept<p::k4>},
    {"K5", "rows go on from hidden states of other rows of the round", "-", "token", "replay.law",
     "", 0, p::rows<p::k5>},
    {"K6", "write positions are frozen", "TensorRT-LLM#17110", "token", "real.state.positions", "",
     0, p::rows<p::k6>},
    {"K7", "the trim uses a stale count on an early stop", "mlx-lm#1528", "token",
     "setting.state.cache-length", "", 0, p::kept<p::k7>},
    {"K8", "the cache is not emptied between prompts", "exllamav2", "token", "real.state.positions",
     "", 0, p::reset<p::k8>},
    {"P1", "positions keep counting refused tokens", "LayerSkip PR#28", "token",
     "real.state.positions", "", 0, p::rows<p::p1>},
    {"P2", "rows of a verification see each other", "many", "token", "replay.law", "", 0,
     visible_p2},
    {"P3", "two per cent of the next row's logits leak into a row", "X", "token", "replay.law", "",
     0, p::logits<p::p3>},
    {"S1", "EOS inside a block is ignored", "transformers#47912, sglang#33758", "token",
     "setting.state.eos", "", 0, p::stop<p::s1>},
    {"S2", "max_tokens is overshot", "several", "token", "real.state.max-tokens", "", 0, stop_s2},
    {"S3", "min_tokens only on the bonus row", "several", "token", "edges.processors", "", 0,
     p::law<p::s3>},
    {"S4", "a stop string inside a block is ignored", "X", "token", "equality.greedy-stops", "", 0,
     p::stop<p::s4>},
    {"M1", "accepts behind the first rejection are counted", "vllm#2658, llama.cpp#22506", "token",
     "real.state.emitted", "", 0, p::report<p::m1>},
    {"M2", "tokens behind EOS are counted", "vllm#56101", "token", "setting.state.emitted", "", 0,
     p::report<p::m2>},
    {"D1", "the exit is chosen after looking at the drawn token", "TriForce", "token",
     "narrow.accepted", kOpposed, 1024, p::draft<p::d1>},
    {"D2", "a drawn token of low confidence is dropped and drawn again", "common", "token",
     "narrow.accepted", kOpposed, 2048, p::draft<p::d2>},
    {"M3", "no warm-up", "several", "token", "validity.warmup", "", 0, nothing, nullptr, kCold},
    {"M4", "the device is not synchronised", "LayerSkip", "", "", "", 0, nullptr,
     "the CUDA backend"},
    {"M5", "prefill inside the decode rate", "several", "token", "validity.decode-region", "", 0,
     nothing, nullptr, kEarly},
    {"M6", "the baseline runs on another path", "EAGLE#121", "token", "validity.same-path", "", 0,
     nothing, nullptr, kOtherPath},
};

}  // namespace

std::span<const Mutant> mutants() { return kMutants; }

const Mutant* find_mutant(std::string_view id) {
  const auto at = std::find_if(std::begin(kMutants), std::end(kMutants),
                               [&](const Mutant& mutant) { return mutant.id == id; });
  return at == std::end(kMutants) ? nullptr : &*at;
}

}  // namespace specbench::suites
