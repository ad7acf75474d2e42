// A record as a comment on a pull request: verdict, key figures, what went wrong; the rest folded
// away. For GitHub and GitLab; no raw samples.
#pragma once

#include <string>

#include "results/record.h"

namespace specbench::results {

// Whatever bytes the record holds, they stay text: no HTML, link, mention or new table cell comes
// of them. At most 20 rows of what failed and of what was inconclusive (then how many more). Parts
// that would take the text past 60,000 bytes (a comment may have 65,536) are left out, and it says
// so.
std::string to_markdown(const Record& record);

}  // namespace specbench::results
