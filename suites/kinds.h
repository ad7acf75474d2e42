// The kind of a test or check: what it looks at, without its case, position, size or setting. What
// a kill matrix has as columns and a diagnosis compares.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "suites/findings.h"

namespace specbench::suites {

/// "narrow.opposed/V16/g3.rejected[1]" is "narrow.rejected"; "wide.V4096.all.p/q.ks" is
/// "wide.all.p/q"; "setting.T07.replay.law" and "real.replay.law" are "replay.law";
/// "real.rejected.id.chi2" is "real.rejected.id"; "enumeration.token/V3/g2" is "enumeration".
std::string kind_of(std::string_view id);

/// Kinds of everything that failed, and of everything that was looked at.
std::set<std::string> failed_kinds(const Findings& findings);
std::set<std::string> seen_kinds(const Findings& findings);

}  // namespace specbench::suites
