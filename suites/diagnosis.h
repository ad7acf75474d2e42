// Names the known faults that a failed run looks like: those whose row of the kill matrix, which
// the selftest writes, is nearest to what failed. Says what it resembles, never what it is.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "results/record.h"

namespace specbench::suites {

/// What one planted fault made fail.
struct Signature {
  std::string id;
  std::string fault;
  std::set<std::string> kinds;
};

/// The rows of a selftest's record (its tables "kill_matrix" and "mutants"), and the kinds it
/// looked at ("kill_matrix_kinds"). Throws std::invalid_argument if the record lacks one of them.
struct KillMatrix {
  std::vector<Signature> signatures;
  std::set<std::string> kinds;
};
KillMatrix kill_matrix_of(const results::Record& record);

/// The kill matrix that belongs to this build, in data_directory(); empty if it cannot be read.
KillMatrix load_kill_matrix();

/// How well a signature explains what failed, over the kinds that both runs looked at: the log of
/// the likelihood if a kind of the signature fails with probability .9 and another with .03.
double resemblance(const Signature& signature, const std::set<std::string>& failed,
                   const std::set<std::string>& seen, const KillMatrix& matrix);

/// "looks like: ..., or ..." with at most three faults, best first; a sentence that none is near if
/// none explains at least half of what failed. Empty if nothing failed or the matrix is empty.
std::string diagnose(const std::set<std::string>& failed, const std::set<std::string>& seen,
                     const KillMatrix& matrix);

}  // namespace specbench::suites
