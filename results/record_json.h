// The record as JSON and back. Same record, same bytes; no NaN or infinity is ever written. Schema:
// schema.md, schema.json. Knows text only; files are record_file.h's.
#pragma once

#include <string>
#include <string_view>

#include "results/record.h"

namespace specbench::results {

// The oldest reader that understands what is written here.
inline constexpr int kMinReaderVersion = 2;

// Fixed key order; sections and rows have a line each; a final newline; every sample in the text.
// The version written is always kSchemaVersion. Doubles come back bit for bit. A number that is not
// finite becomes null and a line in `notes` says where. Bytes that are not UTF-8 become U+FFFD.
// Throws std::invalid_argument for keys that are not unique and rows of the wrong length.
std::string to_json(const Record& record);

// Reads a record whose min_reader_version (absent: its schema_version) is at most kSchemaVersion;
// Record::schema_version is the one found. Unknown fields are ignored. Throws std::invalid_argument
// with one sentence for text cut short, not JSON, too deeply nested, with a key twice, for later
// readers, with a field missing or of the wrong type, and for a record whose samples are in a file.
Record from_json(std::string_view text);

}  // namespace specbench::results
