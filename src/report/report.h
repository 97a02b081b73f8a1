#pragma once
// Builds a self-contained HTML report: no scripts, no external resources, system fonts, light and dark,
// printable. All text given is plain text and escaped.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/plot.h"

namespace sotto::report {

enum class Better { neither, higher, lower };

struct TableColumn {
  std::string heading;
  Better better = Better::neither;  // the best value of the column is emphasised (all of them when tied)
};

// Text, or a number with its text; numbers are aligned to the right.
struct TableCell {
  std::string text;
  std::optional<double> value;

  static TableCell words(std::string text) { return {std::move(text), std::nullopt}; }
  static TableCell number(double value, int decimals);  // "–" when it is not finite
};

struct ReportTable {
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;  // short rows are filled up with empty cells, long ones cut
  std::string caption;
};

// A run of content. Values are appended in order; not thread-safe.
class ReportSection {
 public:
  ReportSection& heading(std::string_view text);
  ReportSection& paragraph(std::string_view text);
  ReportSection& list(const std::vector<std::string>& items);
  ReportSection& facts(const std::vector<std::pair<std::string, std::string>>& key_values);
  ReportSection& table(const ReportTable& table);
  ReportSection& plot(const Plot& plot, std::string_view caption = "");
  ReportSection& privacy_note(std::string_view text);  // what holds, against whom
  ReportSection& preformatted(std::string_view text);  // settings, commands
  // Content behind a line that opens on a click.
  ReportSection& details(std::string_view summary, const std::function<void(ReportSection&)>& fill);

 protected:
  std::string body_;
};

class HtmlReport : public ReportSection {
 public:
  explicit HtmlReport(std::string title, std::string subtitle = "");
  std::string html() const;  // the whole document, UTF-8

 private:
  std::string title_, subtitle_;
};

}  // namespace sotto::report
