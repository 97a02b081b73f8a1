#include "cli/privacy_page.h"

#include <algorithm>
#include <cmath>

#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/run_audit.h"

namespace sotto::cli {

using report::ReportTable;
using report::TableCell;

double right_at_most(double epsilon, double delta) { return 1 - (1 - delta) / (1 + std::exp(epsilon)); }

std::span<const double> guessing_deltas() {
  static constexpr double deltas[] = {1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  return deltas;
}

std::string odds_in_words(double right) {
  return right > 0.9995 ? "nearly always" : fmt::format("{:.1f} of 100 times", std::ceil(1000 * right) / 10);
}

Result<std::vector<AuditLine>> audit_for_page(const privacy::PrivacyDatasheet& sheet, const fs::path& run) {
  SOTTO_TRY(const auto entries, audits_of(sheet, run));
  const privacy::AuditSettings settings{.samples = affordable_samples(sheet)};
  std::vector<AuditLine> lines;
  Progress progress("audit", entries.size(), "audits");
  for (const privacy::AuditEntry& entry : entries) {
    if (interrupted()) return failed("interrupted: no report was written");
    SOTTO_TRY(const auto found, privacy::run_audit(entry, settings, entries.size()));
    lines.push_back({entry, std::get<privacy::AuditFinding>(found)});
    progress.advance();
  }
  return lines;
}

void add_audits(report::HtmlReport& page, const std::vector<AuditLine>& lines,
                const privacy::PrivacyDatasheet& sheet, std::string_view whose) {
  page.heading(fmt::format("Audit of this {}'s own mechanism", whose));
  const bool asks = sheet.epsilon_query.value_or(0) > 0;
  const auto of_query = [](const AuditLine& line) { return line.entry.name == "query"; };
  if (asks && std::none_of(lines.begin(), lines.end(), of_query))
    page.paragraph(
        fmt::format("Its questions were not audited: their epsilon of {:.4g} is what the theorem says, and "
                    "the {} does not record what one of them releases.",
                    *sheet.epsilon_query, whose));
  if (lines.empty()) {
    if (!asks)
      page.paragraph(
          fmt::format("None: this {} releases nothing under noise that holds, so there is no claim that an "
                      "audit could refute.",
                      whose));
    return;
  }
  ReportTable table;
  for (const char* heading : {"what was audited", "epsilon of one", "delta", "proved at least", "verdict"})
    table.columns.push_back({heading});
  for (const AuditLine& line : lines) {
    const auto& finding = line.finding;
    table.rows.push_back({TableCell::words(fmt::format("{} ({})", line.entry.name, line.entry.summary)),
                          TableCell::number(finding.claim.epsilon, 3),
                          TableCell::words(fmt::format("{:g}", finding.claim.delta)),
                          TableCell::number(finding.epsilon, 3),
                          TableCell::words(finding.refuted() ? "CLAIM REFUTED" : "not refuted")});
  }
  page.table(table);
  page.paragraph(
      fmt::format("Each line draws the release of one round, or of one question, many times on two "
                  "neighbouring inputs that are "
                  "worst for it, with this {}'s clipping, grid, noise shares and missing devices. What is "
                  "proved holds with "
                  "confidence 0.999999; a lower bound above the claim would refute it. An audit never proves "
                  "a claim: the "
                  "theorems do.",
                  whose));
}

nlohmann::json to_json(const std::vector<AuditLine>& lines) {
  nlohmann::json list = nlohmann::json::array();
  for (const AuditLine& line : lines)
    list.push_back({{"name", line.entry.name},
                    {"claimed", line.finding.claim.epsilon},
                    {"lower", line.finding.epsilon},
                    {"refuted", line.finding.refuted()}});
  return list;
}

bool any_refuted(const std::vector<AuditLine>& lines) {
  return std::any_of(lines.begin(), lines.end(),
                     [](const AuditLine& line) { return line.finding.refuted(); });
}

}  // namespace sotto::cli
