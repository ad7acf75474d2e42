// The report's own style, script and licence text, embedded so that one file is enough. The script
// must put a record's strings into the page as text or into a canvas only, never as markup.
#pragma once

namespace specbench::results {

extern const char kReportStyle[];
// Draws every chart of the script element "report-data"; then body.dataset.drawn is their number
// and body.dataset.ms the time since navigation began. What went wrong shows in the element
// "errors".
extern const char kReportScript[];
// The licence Chart.js 3.9 is under.
extern const char kChartLicence[];

}  // namespace specbench::results
