#include "eval/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eval/markup.h"
#include "eval/report_style.h"

namespace sotto {

namespace {

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

}  // namespace sotto
