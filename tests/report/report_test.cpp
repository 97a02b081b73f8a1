#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "report/well_formed.h"

namespace sotto::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> void_tags = {"meta"};

ReportTable small_table() {
  return {{{"system"}, {"AUC", Better::higher}, {"bytes", Better::lower}, {"seconds"}},
          {{TableCell::words("random"),
            TableCell::number(0.5, 3),
            TableCell::number(std::numeric_limits<double>::quiet_NaN(), 0),
            {}},
           {TableCell::words("federated"), TableCell::number(0.64, 3), TableCell::number(100, 0),
            TableCell::number(31, 1)},
           {TableCell::words("central"), TableCell::number(0.66, 3), TableCell::number(200, 0),
            TableCell::number(12, 1)}},
          "Ties are averaged."};
}

TEST(HtmlReport, IsOneWellFormedDocumentWithItsPartsInOrder) {
  HtmlReport report("Demo", "seed 1");
  Plot plot;
  plot.series = {{"", SeriesStyle::line, {0, 1}, {0, 1}, {}}};
  report.paragraph("First.")
      .facts({{"users", "100"}, {"items", "50"}})
      .heading("Results")
      .table(small_table())
      .plot(plot, "A curve.")
      .privacy_note("No differential privacy.")
      .details("Settings", [](ReportSection& inner) { inner.preformatted("rounds = 3").paragraph("inside"); })
      .paragraph("Last.");
  const std::string html = report.html();
  EXPECT_THAT(html, ::testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(markup_problem(html, void_tags), "");
  std::size_t at = 0;
  for (const char* part :
       {"<title>Demo</title>", "<h1>Demo</h1>", "seed 1", "First.", "<dt>users</dt><dd>100</dd>",
        "<h2>Results</h2>", "<table>", "Ties are averaged.", "<figure><svg", "<figcaption>A curve.",
        "class=\"privacy\"", "<details><summary>Settings", "rounds = 3", "inside", "</details>", "Last.",
        "</html>"}) {
    const std::size_t found = html.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
}

TEST(HtmlReport, LoadsNothingFromOutside) {
  HtmlReport report("Demo");
  Plot plot;
  report.plot(plot).table(small_table());
  const std::string html = report.html();
  for (const char* outside : {"<script", "<link", "<img", "@import", "url(", "src=", "href="}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
  EXPECT_EQ(occurrences(html, "http"),
            occurrences(html, "http-equiv") + occurrences(html, "http://www.w3.org/2000/svg"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(HtmlReport, EscapesTextEverywhere) {
  const std::string evil = "<script>alert('x')</script>\"&";
  HtmlReport report(evil, evil);
  report.paragraph(evil)
      .heading(evil)
      .facts({{evil, evil}})
      .table({{{evil}}, {{TableCell::words(evil)}}, evil})
      .plot(Plot{.title = evil}, evil)
      .privacy_note(evil)
      .preformatted(evil)
      .details(evil, [&](ReportSection& inner) { inner.paragraph(evil); });
  EXPECT_THAT(report.html(), Not(HasSubstr("<script")));
  EXPECT_EQ(markup_problem(report.html(), void_tags), "");
}

TEST(ReportTable, EmphasisesTheBestValueInEachDirection) {
  HtmlReport report("t");
  report.table(small_table());
  const std::string html = report.html();
  EXPECT_THAT(html, HasSubstr("<strong>0.660</strong>"));
  EXPECT_THAT(html, HasSubstr("<strong>100</strong>"));
  EXPECT_EQ(occurrences(html, "<td class=\"number\"><strong>"), 2U);  // seconds have no better end
}

TEST(ReportTable, EmphasisesAllTiedBestAndNothingWhenAlone) {
  const auto html_of = [](std::vector<std::vector<TableCell>> rows) {
    HtmlReport report("t");
    report.table({{{"AUC", Better::higher}}, std::move(rows), ""});
    return report.html();
  };
  EXPECT_EQ(
      occurrences(html_of({{TableCell::number(1, 1)}, {TableCell::number(1, 1)}, {TableCell::number(0, 1)}}),
                  "<strong>"),
      2U);
  EXPECT_EQ(occurrences(html_of({{TableCell::number(1, 1)}}), "<strong>"), 0U);
}

TEST(ReportTable, AlignsNumbersToTheRight) {
  HtmlReport report("t");
  report.table(small_table());
  const std::string html = report.html();
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\">system</th>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" class=\"number\">AUC</th>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">–</td>"));  // a number that does not exist
}

TEST(ReportTable, FillsShortRowsAndCutsLongOnes) {
  HtmlReport report("t");
  report.table(
      {{{"a"}, {"b"}},
       {{TableCell::words("x")}, {TableCell::words("1"), TableCell::words("2"), TableCell::words("3")}},
       ""});
  const std::string html = report.html();
  EXPECT_EQ(occurrences(html, "<td>"), 4U);
  EXPECT_THAT(html, Not(HasSubstr("<td>3</td>")));
}

}  // namespace
}  // namespace sotto::report
