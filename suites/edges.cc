#include "suites/edges.h"

#include <stdexcept>

#include "engine/decode.h"
#include "suites/edge_cases.h"

namespace specbench::suites {

namespace {

results::Check run(const EdgeCase& edge, const EdgeSubject& subject) {
  std::string fault;
  try {
    fault = edge.fault(subject);
  } catch (const std::logic_error& error) {  // StateViolation and InputError
    fault = error.what();
  }
  const auto status = fault.empty() ? results::CheckStatus::kPassed : results::CheckStatus::kFailed;
  return {"edges." + edge.name, status, fault.empty() ? edge.meaning : fault};
}

}  // namespace

std::vector<results::Check> check_edges(std::string_view verifier, const engine::Steps& steps) {
  engine::SamplingParams params;
  params.temperature = verifier == "greedy" ? 0.0 : 1.0;
  const EdgeSubject subject{
      verifier, steps,
      steps.accept != nullptr ? steps.accept : engine::find_verifier(verifier, params).accept};
  std::vector<results::Check> checks;
  for (const auto& edges : {rule_edges(), draw_edges(), law_edges(), coin_edges()})
    for (const EdgeCase& edge : edges)
      if (edge.applies(subject)) checks.push_back(run(edge, subject));
  return checks;
}

}  // namespace specbench::suites
