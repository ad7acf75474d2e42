#include "results/report_assets.h"

namespace specbench::results {

extern const char kReportStyle[] = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1b1f24; --muted: #626b76; --grid: #dfe3e8;
  --a: #0b62a4; --b: #c2570c; --c: #1a7f4b; --d: #7b4fa3;
  --good: #15703f; --bad: #b3261e; --doubt: #8a5a00; --plain: #59626d; --on: #ffffff;
  --gain: 21, 128, 72; --loss: 214, 96, 10;
}
@media (prefers-color-scheme: dark) {
  :root:not(.paper) {
    --page: #12151a; --card: #1b2027; --text: #e6e9ed; --muted: #98a2ae; --grid: #343c46;
    --a: #6cb6ff; --b: #f0a050; --c: #5fd39a; --d: #c9a0f0;
    --good: #5fd39a; --bad: #ff8f86; --doubt: #f0c050; --plain: #98a2ae; --on: #12151a;
    --gain: 70, 200, 130; --loss: 240, 140, 60;
  }
}
:root.paper { color-scheme: light; --page: #ffffff; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1120px; padding: 16px; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 22px; margin: 8px 0 12px; }
h2 { font-size: 18px; margin: 0 0 4px; }
h3 { font-size: 15px; margin: 14px 0 4px; color: var(--muted); }
h4 { font-size: 14px; margin: 12px 0 4px; }
p { margin: 6px 0; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 0 0 14px; font-size: 14px; }
a { color: var(--a); }
section { background: var(--card); border: 1px solid var(--grid); border-radius: 8px;
  padding: 14px 16px; margin: 0 0 14px; }
.about, .missing { color: var(--muted); }
.missing { font-style: italic; }
#errors { background: var(--bad); color: var(--on); padding: 10px; white-space: pre-wrap; }
#errors[hidden] { display: none; }
.verdict { border-left: 8px solid var(--plain); padding: 4px 0 4px 14px; margin: 10px 0; }
.verdict .word { font-size: 30px; font-weight: 700; line-height: 1.2; margin: 0; }
.verdict .word span { font-size: 15px; font-weight: 400; color: var(--muted); }
.verdict.good { border-color: var(--good); } .verdict.good .word { color: var(--good); }
.verdict.bad { border-color: var(--bad); } .verdict.bad .word { color: var(--bad); }
.verdict.doubt { border-color: var(--doubt); } .verdict.doubt .word { color: var(--doubt); }
.figures { display: flex; flex-wrap: wrap; gap: 6px 24px; margin: 8px 0 0; }
.figures dt { color: var(--muted); font-size: 13px; } .figures dd { margin: 0; font-weight: 600; }
.badge { display: inline-block; padding: 0 7px; border-radius: 4px; font-size: 12px; font-weight: 700;
  color: var(--on); background: var(--plain); white-space: nowrap; }
.badge.good { background: var(--good); } .badge.bad { background: var(--bad); }
.badge.doubt { background: var(--doubt); }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 18px; }
.pair > div { min-width: 0; }
.chart { contain: strict; position: relative; width: 100%; margin: 6px 0; }
.scroll { overflow-x: auto; max-width: 100%; margin: 8px 0; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 3px 10px 3px 0; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid var(--muted); }
tbody tr { border-bottom: 1px solid var(--grid); }
.n { display: block; text-align: right; font-variant-numeric: tabular-nums; }
.heat th, .heat td { padding: 6px 10px; text-align: center; border: 2px solid var(--card); }
.heat td { min-width: 96px; }
.heat small { display: block; font-size: 12px; line-height: 1.35; }
.heat .gain { background: rgba(var(--gain), var(--depth)); }
.heat .loss { background: rgba(var(--loss), var(--depth)); }
.heat .best { outline: 3px solid var(--text); outline-offset: -3px; }
.heat em { font-style: normal; font-weight: 700; font-size: 12px; }
.kills { font-size: 12px; line-height: 1; }
.kills th, .kills td { padding: 1px 0; text-align: center; min-width: 13px; }
.kills tr > :first-child { position: sticky; left: 0; background: var(--card); text-align: left;
  padding-right: 8px; font-weight: 400; white-space: nowrap; }
.kills .id { vertical-align: bottom; } .kills .missed { background: var(--bad); color: var(--on); }
.kills .id span { writing-mode: vertical-rl; transform: rotate(180deg); padding: 3px 0; }
.kills td { color: var(--a); border-left: 1px solid var(--grid); }
.kills th:last-child { padding-left: 6px; }
.kills td:last-child { color: var(--text); padding-left: 6px; text-align: right; }
.kills tr.next > * { border-top: 1px solid var(--muted); }
.columns { display: grid; grid-template-columns: 1fr 1fr; gap: 4px 28px; }
.columns > div { min-width: 0; }
dl { display: grid; grid-template-columns: minmax(120px, 210px) 1fr; gap: 1px 12px; margin: 4px 0; font-size: 14px; }
dt { color: var(--muted); overflow-wrap: anywhere; } dd { margin: 0; overflow-wrap: anywhere; }
.figures { display: flex; }
pre { background: var(--page); border: 1px solid var(--grid); border-radius: 6px; padding: 10px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--a); }
@media (max-width: 720px) {
  body { padding: 8px; }
  section { padding: 10px; }
  .pair, .columns { grid-template-columns: minmax(0, 1fr); }
  .verdict .word { font-size: 24px; }
  .verdict .word span { display: block; }
}
@media print {
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 12px; }
  nav { display: none; }
  section { border: 0; border-top: 1px solid var(--grid); border-radius: 0; padding: 8px 0; }
  .chart, .heat, .verdict, tr { break-inside: avoid; }
  h2, h3, h4, .about { break-after: avoid; break-inside: avoid; }
  .chart canvas { max-width: 100%; }
  .scroll { overflow: visible; }
  .kills { font-size: 8px; } .kills th, .kills td { min-width: 8px; padding: 0; }
  .kills tr > :first-child { position: static; }
  table, dl { font-size: 11px; }
}
)css";

extern const char kChartLicence[] = R"txt(Chart.js, inlined below, is under the MIT licence.

Copyright (c) 2014-2022 Chart.js Contributors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.)txt";

}  // namespace specbench::results
