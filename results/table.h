// Text for a terminal: aligned tables and the page that sums a record up. Returns strings, prints
// nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.h"

namespace specbench::results {

inline constexpr std::size_t kPageWidth = 100;

// To `digits` significant digits, no exponent between 1e-4 and 1e7: 0.01230, 1.830, 12346; whole
// numbers below 1e7 in full: 3. "nan", "inf", "-inf".
std::string format_number(double value, int digits = 4);
// "-" for an absent one.
std::string format_number(std::optional<double> value, int digits = 4);
std::string format_value(const Value& value, int digits = 4);

// Columns a terminal uses: UTF-8 code points, wide ones twice, combining ones and escapes that set
// a colour not at all.
std::size_t display_width(std::string_view text);

struct TextColumn {
  std::string title;
  bool is_right_aligned = false;
};

// Columns two spaces apart, a rule under the titles, no trailing spaces, each line ends in a
// newline. Rows shorter than the columns are filled with empty cells; longer ones are a
// programmer's error. Cells keep their full text: where a line would pass kPageWidth, the last
// column (if on the left) is broken into lines.
std::string render_table(const std::vector<TextColumn>& columns,
                         const std::vector<std::vector<std::string>>& rows);

// Columns all of whose cells are numbers or absent stand on the right. With colour, cells that are
// a status (PASS, FAIL, INCONCLUSIVE, VOID) stand in its colour.
std::string render_table(const NamedTable& table, bool has_colour = false);

// Breaks at spaces so that no line is wider than `width` unless a word is; later lines are indented
// by `indent`.
std::string wrap(std::string_view text, std::size_t width = kPageWidth, std::size_t indent = 0);

// Verdict first, then metrics with interval and unit, checks that did not pass and the count of
// those that did, tests, tables, one line of environment. With colour, the verdict and every status
// are green (passed), red (failed) or yellow (inconclusive, void, interrupted); whether the output
// is a terminal and NO_COLOR is unset is the caller's to know.
std::string render_record(const Record& record, bool has_colour = false);

}  // namespace specbench::results
