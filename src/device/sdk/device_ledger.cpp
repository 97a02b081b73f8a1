#include "device/sdk/device_ledger.h"

#include <algorithm>
#include <charconv>

#include "privacy/ledger/ledger_record.h"

namespace sotto::device {

namespace {
constexpr double nothing = 1e-9;  // ε for which no release exists
}  // namespace

Result<privacy::LedgerSettings> ledger_settings(const DeviceSettings& settings,
                                                std::vector<std::string> known,
                                                const std::vector<std::string>& pack_categories) {
  const auto add = [&](std::string_view category) {
    if (std::find(known.begin(), known.end(), category) == known.end()) known.emplace_back(category);
  };
  add(uncategorised);
  for (const std::string& category : pack_categories) add(category);
  // A person may decide about a category before the first pack names it.
  const std::vector<std::string> not_sensitive = listed(settings.not_sensitive);
  for (const std::string& category : not_sensitive) add(category);
  if (std::find(not_sensitive.begin(), not_sensitive.end(), uncategorised) != not_sensitive.end()) {
    return bad_input("items without a category are always sensitive");
  }
  SOTTO_TRY(auto sensitivity, privacy::SensitivitySettings::create(std::move(known), not_sensitive));
  std::vector<privacy::LedgerBudget> budgets;
  const auto budget = [&](privacy::BudgetWindow window, double epsilon) {
    if (epsilon > 0) budgets.push_back({window, std::nullopt, epsilon, settings.budget_delta});
  };
  budget(privacy::BudgetWindow::day, settings.day_epsilon);
  budget(privacy::BudgetWindow::month, settings.month_epsilon);
  budget(privacy::BudgetWindow::lifetime, settings.lifetime_epsilon);
  // Who tells nothing needs no budget; the ledger wants one all the same.
  // (An encrypted question is charged ε = 0.)
  const bool tells = settings.ranking == "private" && settings.query.reads_everything();
  if (!tells && budgets.empty()) budget(privacy::BudgetWindow::lifetime, nothing);
  return privacy::LedgerSettings{privacy::Unit::user, privacy::Adjacency::replace_one,
                                 privacy::RequestOrder::adaptive, std::move(sensitivity), std::move(budgets)};
}

Result<privacy::Ledger> open_ledger(const fs::path& path, const DeviceSettings& settings,
                                    const privacy::ClockReading& now, const privacy::LedgerOptions& options) {
  std::error_code unreadable;
  if (fs::exists(path, unreadable) || unreadable) return privacy::Ledger::open(path, now, options);
  SOTTO_TRY(const auto wanted, ledger_settings(settings, {}, {}));
  return privacy::Ledger::create(path, wanted, now, options);
}

Status follow(privacy::Ledger& ledger, const DeviceSettings& settings,
              const std::vector<std::string>& pack_categories, const privacy::ClockReading& now) {
  const privacy::LedgerSettings before = ledger.settings();
  SOTTO_TRY(const auto after, ledger_settings(settings, before.sensitivity.categories(), pack_categories));
  // The time is the same in both, so equal bytes are equal settings.
  if (encode(privacy::SettingsRecord{now.wall, before}) == encode(privacy::SettingsRecord{now.wall, after}))
    return {};
  return ledger.change_settings(after, now);
}

std::chrono::seconds phase_of(const privacy::Ledger& ledger, std::chrono::seconds period) {
  std::uint64_t number = 0;
  const std::string id = ledger.id();
  std::from_chars(id.data(), id.data() + std::min<std::size_t>(id.size(), 16), number, 16);
  return std::chrono::seconds(number % static_cast<std::uint64_t>(period.count()));
}

}  // namespace sotto::device
