// Text of a record made safe for other people's formats. Only for results/export_*: knows no
// record.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace specbench::results {

// Well-formed UTF-8 that XML 1.0 allows: bytes that are none, control characters other than tab,
// line feed and carriage return, and U+FFFE and U+FFFF become U+FFFD, one for each byte.
std::string clean_utf8(std::string_view text);

// clean_utf8 for an XML attribute or text: & < > " ' and line ends as references.
std::string xml_escaped(std::string_view text);

// clean_utf8 as one line of GitHub's Markdown, also in a table's cell: HTML, pipes, emphasis, code,
// links, lists and headings are inert, nobody is mentioned. At most `max_characters` code points,
// then three points.
std::string markdown_escaped(std::string_view text, std::size_t max_characters = 240);

}  // namespace specbench::results
