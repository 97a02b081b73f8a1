#include "cli/run_audit.h"

#include <algorithm>

#include "privacy/mechanisms/choice_release.h"
#include "secagg/vectors/audited_sums.h"

namespace sotto::cli {

Result<privacy::PrivacyDatasheet> datasheet_of(const fs::path& run) {
  const fs::path file = run / "privacy.json";
  if (!fs::exists(file)) {
    if (!fs::exists(run / "run.json")) return bad_input("{} holds no run: run.json is missing", run.string());
    return bad_input(
        "{} has no privacy.json: its recipe gives no differential privacy, or the training is not over. "
        "'sotto "
        "privacy account {}' says which",
        run.string(), run.string());
  }
  SOTTO_TRY(const std::string text, read_file(file, 1 << 20));
  auto sheet = privacy::datasheet_from_json(text);
  if (!sheet) return bad_input("{}: {}", file.string(), sheet.error().message);
  return sheet;
}

std::vector<privacy::AuditEntry> audits_of(const privacy::PrivacyDatasheet& sheet) {
  std::vector<privacy::AuditEntry> entries;
  const auto add = [&](std::string name, std::string summary,
                       std::function<Result<privacy::AuditedMechanism>()> make) {
    entries.push_back({.kind = privacy::AuditKind::mechanism,
                       .name = std::move(name),
                       .summary = std::move(summary),
                       .refutation_expected = false,
                       .index = static_cast<std::uint32_t>(entries.size()),
                       .make = std::move(make)});
  };
  for (const privacy::SumRecord& sum : sheet.sums)
    add(fmt::format("sum of {}", sum.of),
        fmt::format("one round of this run: {} devices, {} lost, {} lying", sum.devices, sum.dropped,
                    sum.corrupted),
        [sum] { return secagg::audited_sum(sum); });
  if (sheet.query_choices && sheet.epsilon_query)
    add("query", fmt::format("one of {} prototypes by k-ary randomised response", *sheet.query_choices),
        [choices = *sheet.query_choices, epsilon = *sheet.epsilon_query] {
          return privacy::subject::chosen_by_response(epsilon, choices);
        });
  return entries;
}

std::uint64_t affordable_samples(const privacy::PrivacyDatasheet& sheet) {
  constexpr std::uint64_t most_shares = 8'000'000, least = 1'000;
  std::uint64_t devices = 1;
  for (const privacy::SumRecord& sum : sheet.sums) devices = std::max(devices, sum.devices);
  return std::clamp<std::uint64_t>(most_shares / devices, least, privacy::AuditSettings{}.samples);
}

}  // namespace sotto::cli
