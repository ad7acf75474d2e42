// The record as JSON and back. Same record, same bytes; no NaN or infinity is ever written. Schema:
// schema.md.
#pragma once

#include <string>
#include <string_view>

#include "results/record.h"

namespace specbench::results {

// Fixed key order; sections and rows have a line each; a final newline. Doubles come back
// bit for bit. A number that is not finite becomes null and a line in `notes` says where. Bytes
// that are not UTF-8 become U+FFFD. Throws std::invalid_argument for keys that are not unique and
// rows of the wrong length.
std::string to_json(const Record& record);

// Throws std::invalid_argument with one sentence for text cut short, not JSON, too deeply nested,
// with a key twice, of another schema version, with a field missing or of the wrong type. Unknown
// fields are ignored.
Record from_json(std::string_view text);

}  // namespace specbench::results
