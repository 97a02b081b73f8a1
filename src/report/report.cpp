#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/markup.h"

namespace sotto::report {

namespace {

// The look of a report.
constexpr std::string_view report_style = R"(:root {
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
ul { margin: .6rem 0; padding-left: 1.2rem; max-width: 46rem; }
.subtitle { color: var(--soft); margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .6rem; margin: 1rem 0; }
dl div { background: var(--band); border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .75rem; }
dt { color: var(--soft); font-size: .82rem; }
dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; min-width: 50%; font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; text-align: left; color: var(--soft); font-size: .9rem; padding-top: .4rem; }
th, td { padding: .38rem .85rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: break-word; }
th { color: var(--soft); font-size: .85rem; font-weight: 600; border-bottom-width: 2px; }
tbody tr:hover { background: var(--band); }
.number { text-align: right; white-space: nowrap; }
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
  body { font-size: 9.5pt; line-height: 1.35; }
  main { max-width: none; padding: 0; }
  h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 1rem 0 .3rem; }
  p, ul { max-width: none; margin: .3rem 0; }
  dl { gap: .3rem; margin: .5rem 0; } dl div { padding: .2rem .5rem; }
  th, td, .number { white-space: normal; padding: .18rem .5rem; overflow-wrap: anywhere; }
  figure, table, dl, .privacy { break-inside: avoid; }
  h2 { break-after: avoid; }
}
)";

// The best finite value of a column, if the column has an order and something to compare.
std::optional<double> best_value(const ReportTable& table, std::size_t column) {
  const Better better = table.columns[column].better;
  if (better == Better::neither) return std::nullopt;
  std::optional<double> best;
  std::size_t compared = 0;
  for (const auto& row : table.rows) {
    if (column >= row.size() || !row[column].value || !std::isfinite(*row[column].value)) continue;
    const double value = *row[column].value;
    ++compared;
    if (!best || (better == Better::higher ? value > *best : value < *best)) best = value;
  }
  return compared > 1 ? best : std::nullopt;
}

bool is_numeric(const ReportTable& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return column < row.size() && row[column].value.has_value(); });
}

std::string paragraph_of(std::string_view text, std::string_view css_class) {
  return fmt::format("<p{}>{}</p>\n",
                     css_class.empty() ? std::string() : fmt::format(" class=\"{}\"", css_class),
                     escape_markup(text));
}

}  // namespace

TableCell TableCell::number(double value, int decimals) {
  if (!std::isfinite(value)) return {"–", value};
  return {fmt::format("{:.{}f}", value, std::clamp(decimals, 0, 15)), value};
}

ReportSection& ReportSection::heading(std::string_view text) {
  body_ += fmt::format("<h2>{}</h2>\n", escape_markup(text));
  return *this;
}

ReportSection& ReportSection::paragraph(std::string_view text) {
  body_ += paragraph_of(text, "");
  return *this;
}

ReportSection& ReportSection::privacy_note(std::string_view text) {
  body_ +=
      fmt::format("<aside class=\"privacy\"><strong>Privacy</strong>{}</aside>\n", paragraph_of(text, ""));
  return *this;
}

ReportSection& ReportSection::preformatted(std::string_view text) {
  body_ += fmt::format("<pre>{}</pre>\n", escape_markup(text));
  return *this;
}

ReportSection& ReportSection::list(const std::vector<std::string>& items) {
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", escape_markup(item));
  body_ += "</ul>\n";
  return *this;
}

ReportSection& ReportSection::facts(const std::vector<std::pair<std::string, std::string>>& key_values) {
  body_ += "<dl>\n";
  for (const auto& [key, value] : key_values) {
    body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(key), escape_markup(value));
  }
  body_ += "</dl>\n";
  return *this;
}

ReportSection& ReportSection::table(const ReportTable& table) {
  body_ += "<div class=\"scroll\"><table>\n";
  if (!table.caption.empty()) body_ += fmt::format("<caption>{}</caption>\n", escape_markup(table.caption));
  std::vector<std::string_view> classes;
  std::vector<std::optional<double>> best;
  body_ += "<thead><tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    classes.push_back(is_numeric(table, c) ? " class=\"number\"" : "");
    best.push_back(best_value(table, c));
    body_ += fmt::format("<th scope=\"col\"{}>{}</th>", classes[c], escape_markup(table.columns[c].heading));
  }
  body_ += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    body_ += "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableCell cell = c < row.size() ? row[c] : TableCell{};
      const bool is_best = best[c] && cell.value && *cell.value == *best[c];
      body_ += fmt::format("<td{}>{}{}{}</td>", classes[c], is_best ? "<strong>" : "",
                           escape_markup(cell.text), is_best ? "</strong>" : "");
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
  return *this;
}

ReportSection& ReportSection::plot(const Plot& plot, std::string_view caption) {
  body_ += "<figure>" + to_svg(plot);
  if (!caption.empty()) body_ += fmt::format("<figcaption>{}</figcaption>", escape_markup(caption));
  body_ += "</figure>\n";
  return *this;
}

ReportSection& ReportSection::details(std::string_view summary,
                                      const std::function<void(ReportSection&)>& fill) {
  ReportSection inner;
  fill(inner);
  body_ +=
      fmt::format("<details><summary>{}</summary>\n", escape_markup(summary)) + inner.body_ + "</details>\n";
  return *this;
}

HtmlReport::HtmlReport(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

std::string HtmlReport::html() const {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  // Nothing can be loaded and nothing can run, whatever a title may have smuggled in.
  page +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n";
  page += fmt::format("<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
                      escape_markup(title_), report_style);
  page += fmt::format("<header><h1>{}</h1>{}</header>\n", escape_markup(title_),
                      subtitle_.empty() ? std::string() : paragraph_of(subtitle_, "subtitle"));
  page += body_;
  page += "</main>\n</body>\n</html>\n";
  return page;
}

}  // namespace sotto::report
