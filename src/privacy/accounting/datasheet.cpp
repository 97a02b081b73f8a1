#include "privacy/accounting/datasheet.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sotto {

namespace {

std::string shown(const std::optional<double>& epsilon) {
  return epsilon ? fmt::format("{:.4g}", *epsilon) : "none";
}

std::string listed(std::string_view title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += fmt::format("  {:<16} {}\n", &line == lines.data() ? title : "", line);
  return text;
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::string to_text(const PrivacyDatasheet& sheet) {
  std::string text = fmt::format("privacy of {} ({} mode)\n", sheet.recipe, sheet.mode);
  text += fmt::format("  {:<16} {} against the server, {} of what is published, at delta {:g}\n", "epsilon",
                      shown(sheet.epsilon_server), shown(sheet.epsilon_published), sheet.delta);
  if (sheet.epsilon_claimed)
    text += fmt::format("  {:<16} {}\n", "paper claims", shown(sheet.epsilon_claimed));
  if (sheet.epsilon_query)
    text += fmt::format("  {:<16} {} each, on top of the training; the device's ledger charges both\n",
                        "queries", shown(sheet.epsilon_query));
  text += fmt::format("  {:<16} one {}, {}\n", "unit", name(sheet.unit), name(sheet.adjacency));
  text += fmt::format("  {:<16} {}\n", "mechanism", sheet.mechanism);
  text += fmt::format("  {:<16} {}\n", "sampling", sheet.sampling);
  text += fmt::format("  {:<16} {}\n", "composition", sheet.composition);
  return text + listed("the server sees", sheet.server_sees) + listed("not protected", sheet.not_protected);
}

std::string to_json(const PrivacyDatasheet& sheet) {
  return nlohmann::json{{"recipe", sheet.recipe},
                        {"mode", sheet.mode},
                        {"epsilon", or_null(sheet.epsilon_server)},
                        {"epsilon_published", or_null(sheet.epsilon_published)},
                        {"epsilon_claimed", or_null(sheet.epsilon_claimed)},
                        {"epsilon_query", or_null(sheet.epsilon_query)},
                        {"delta", sheet.delta},
                        {"unit", name(sheet.unit)},
                        {"adjacency", name(sheet.adjacency)},
                        {"mechanism", sheet.mechanism},
                        {"sampling", sheet.sampling},
                        {"composition", sheet.composition},
                        {"server_sees", sheet.server_sees},
                        {"not_protected", sheet.not_protected}}
      .dump();
}

}  // namespace sotto
