// The two ways the engine can fail. It never prints, aborts or exits.
#pragma once

#include <stdexcept>

namespace specbench::engine {

/// A file, option or prompt that cannot be used. The sentence says what was wrong, which value, and
/// what to do. The command line turns it into exit code 4.
class InputError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A broken invariant of decoding (cache lengths, positions, counts, laws): the run found a fault
/// of the engine. The sentence names round, sequence, layer and both values. Exit code 1.
class StateViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace specbench::engine
