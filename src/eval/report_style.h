#pragma once
// The look of a report.

#include <string_view>

namespace sotto {

inline constexpr std::string_view report_style = R"(:root {
  color-scheme: light dark;
  --text: #1c1e21; --page: #ffffff; --soft: #5d6570; --line: #d9dde2; --band: #f5f7f9; --accent: #1a6fc4; --guard: #1a9e77;
}
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --page: #15181c; --soft: #9aa4b0; --line: #333a42; --band: #1d2228; --accent: #6db3f5; --guard: #35c496; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
p { margin: .6rem 0; max-width: 46rem; }
.subtitle { color: var(--soft); margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .6rem; margin: 1rem 0; }
dl div { background: var(--band); border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .75rem; }
dt { color: var(--soft); font-size: .82rem; }
dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; min-width: 50%; font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; text-align: left; color: var(--soft); font-size: .9rem; padding-top: .4rem; }
th, td { padding: .38rem .85rem; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-size: .85rem; font-weight: 600; border-bottom-width: 2px; }
tbody tr:hover { background: var(--band); }
.number { text-align: right; }
td strong { color: var(--accent); }
figure { margin: 1.2rem 0; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .3rem; max-width: 46rem; }
.privacy { border-left: 4px solid var(--guard); background: var(--band); padding: .6rem 1rem; margin: 1rem 0; border-radius: 0 .4rem .4rem 0; }
.privacy strong { color: var(--guard); }
.privacy p { margin: .2rem 0 0; }
pre { background: var(--band); border: 1px solid var(--line); border-radius: .4rem; padding: .75rem 1rem; overflow-x: auto; font-size: .85rem; }
details { margin: 1rem 0; border: 1px solid var(--line); border-radius: .4rem; padding: .4rem 1rem; }
summary { cursor: pointer; font-weight: 600; }
@media print {
  :root { --text: #000; --page: #fff; --soft: #444; --line: #bbb; --band: #f7f7f7; --accent: #000; --guard: #000; }
  main { max-width: none; padding: 0; }
  figure, table, dl, .privacy { break-inside: avoid; }
  h2 { break-after: avoid; }
}
)";

}  // namespace sotto
