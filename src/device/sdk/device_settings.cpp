#include "device/sdk/device_settings.h"

#include <algorithm>

#include "base/settings.h"

namespace sotto::device {

void TrainingSettings::bind(SettingsTable& table) {
  table
      .add("training_epsilon", epsilon, {1e-6, 1e6},
           "What all rounds of one campaign may cost at most, against the server")
      .add("training_delta", delta, {1e-12, 0.1}, "delta of that at most")
      .add("least_group", least_group, {2, 1'000'000}, "Devices that must sum together")
      .add("least_corrupted", least_corrupted, {0, 0.9}, "Share of a group that may belong to the server")
      .add_choice("server_model", server, {"semi-honest", "active"}, "What a sum must withstand")
      .add("least_security_bits", security_bits, {1, 128}, "Of a group, against an unlucky draw of it")
      .add("least_witnesses", least_witnesses, {0, 16}, "Witnesses that must have cosigned the log")
      .add("most_upload_bytes", most_upload_bytes, {1, 1'000'000'000}, "Of one round")
      .add("most_training_seconds", most_seconds, {1, 86'400}, "Of one round")
      .add("train_only_idle", only_idle, "While nobody uses the device, as far as its host knows")
      .add("train_only_unmetered", only_unmetered, "Where bytes cost nothing, as far as its host knows")
      .add("train_only_charging", only_charging, "While it charges, as far as its host knows");
}

TrainingPolicy TrainingSettings::policy() const {
  return {.epsilon = epsilon,
          .delta = delta,
          .group = static_cast<std::uint64_t>(least_group),
          .corrupted = least_corrupted,
          .server = server == "active" ? secagg::ServerModel::active : secagg::ServerModel::semi_honest,
          .witnesses = static_cast<std::uint64_t>(least_witnesses),
          .upload_bytes = static_cast<std::uint64_t>(most_upload_bytes),
          .training_seconds = static_cast<std::uint64_t>(most_seconds),
          .security_bits = security_bits};
}

void LogSettings::bind(SettingsTable& table) {
  table
      .add("log_key", key,
           "Public key of the log that packs and guides must be in, 64 hexadecimal digits; empty: of none")
      .add("log_witnesses", witnesses, "Public keys of that log's witnesses, with commas between them")
      .add("log_witnesses_needed", witnesses_needed, {0, 16}, "Of these must have cosigned it");
}

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

void DeviceSettings::bind(SettingsTable& table) {
  table.add_choice(
      "ranking", ranking, {"private", "blind", "popular", "local"},
      "Ask privately, ask by encrypted questions, ask for the public list, or rank the pack without asking");
  query.bind(table);
  table.add("day_epsilon", day_epsilon, {0, 1e6}, "Budget per day; 0 for none")
      .add("month_epsilon", month_epsilon, {0, 1e6}, "Budget per month; 0 for none")
      .add("lifetime_epsilon", lifetime_epsilon, {0, 1e6}, "Budget for ever; 0 for none")
      .add("budget_delta", budget_delta, {1e-12, 1e-3}, "Delta of the budgets")
      .add(
          "not_sensitive", not_sensitive,
          "Categories whose clicks may be told exactly, where reads is unprotected; with commas between them")
      .add("clicks_per_category", clicks_per_category, {1, 10'000}, "Clicks kept on the device, newest first")
      .add("pages", pages, {1, 1'000'000}, "Pages that were shown, kept to train on, newest first")
      .add("rows", rows, {1, 1'000'000}, "Items that were used or rated, kept to train on, newest first")
      .add("keep_days", keep_days, {1, 73'000}, "Clicks, pages and rows that are older are deleted")
      .add("blocked_items", blocked_items, "Never shown: ids with commas between them")
      .add("blocked_categories", blocked_categories, "Never shown: names with commas between them")
      .add("languages", languages, "Only these are shown, with commas between them; empty for any")
      .add("most_per_category", most_per_category, {0, 1000},
           "Items of one category on a page, as long as there are others; 0 for any number");
  log.bind(table);
  training.bind(table);
}

}  // namespace sotto::device
