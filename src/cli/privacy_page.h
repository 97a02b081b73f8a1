#pragma once
// What the pages of 'sotto privacy report' share: of a trained run, of a coordinator, of a device. A page is
// made in full before anything is written.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/audit/audit_catalogue.h"
#include "report/report.h"

namespace sotto::cli {

struct PageWishes {
  std::optional<int> queries_per_day;   // of a run; nothing: 1
  std::optional<double> query_epsilon;  // of a run, as it is served; nothing: the run's own
  std::string operator_key;  // of a coordinator: file of the key that its campaign must be signed by
  std::string authorities;   // of a coordinator at https://
};

struct PrivacyPage {
  std::string html;
  nlohmann::json event;  // what programs are told; "file" is added
  bool refuted = false;  // an audit proved more than what is claimed
};

Result<PrivacyPage> page_of_run(const fs::path& run, const PageWishes& wishes);
// The folder of a device, which may be in use meanwhile.
Result<PrivacyPage> page_of_device(const fs::path& folder);
#ifdef SOTTO_HAVE_NET
// http://… or https://… of a coordinator, the folder of its store, or postgresql://…
Result<PrivacyPage> page_of_coordinator(const std::string& place, const PageWishes& wishes);
#endif

// An attacker who holds two stories about a person for equally likely, sees what was released and knows all
// else: how often the story it then believes is the true one, at most. Of any (ε, δ) that holds:
// (e^ε + δ) / (1 + e^ε).
double right_at_most(double epsilon, double delta);
// A mechanism holds with many pairs (ε, δ) at once; at large δ they say more about guesses than at the δ that
// is printed. Those to try.
std::span<const double> guessing_deltas();
std::string odds_in_words(double right);  // "63.1 of 100 times"

struct AuditLine {
  privacy::AuditEntry entry;
  privacy::AuditFinding finding;
};
// The audits of a datasheet's own sums and query; run: the folder it is of, if any.
Result<std::vector<AuditLine>> audit_for_page(const privacy::PrivacyDatasheet& sheet,
                                              const fs::path& run = {});
// Heading, table and what it means; a priced query that no line is about is named.
void add_audits(report::HtmlReport& page, const std::vector<AuditLine>& lines,
                const privacy::PrivacyDatasheet& sheet, std::string_view whose);
nlohmann::json to_json(const std::vector<AuditLine>& lines);
bool any_refuted(const std::vector<AuditLine>& lines);

}  // namespace sotto::cli
