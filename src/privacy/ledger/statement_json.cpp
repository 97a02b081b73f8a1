#include <cmath>
#include <nlohmann/json.hpp>

#include "privacy/ledger/ledger_statement.h"

namespace sotto {
namespace {

using nlohmann::json;

// JSON has no infinity: null says that no bound holds.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json to_object(const SpendingLine& line, const char* key) {
  return {{key, line.what},
          {"charges", line.charges},
          {"free", line.free},
          {"epsilon", number(line.spent.epsilon)},
          {"method", line.spent.method}};
}

json to_object(const BudgetState& state, const SensitivitySettings& sensitivity) {
  json object = {{"window", name(state.budget.window)},
                 {"category", nullptr},
                 {"epsilon", state.budget.epsilon},
                 {"delta", state.budget.delta},
                 {"charges", state.charges},
                 {"spent", number(state.spent.epsilon)},
                 {"left", state.left()},
                 {"method", state.spent.method},
                 {"from", nullptr},
                 {"frees_up", nullptr}};
  if (state.budget.category) object["category"] = sensitivity.categories()[*state.budget.category];
  if (state.window.end) {
    object["from"] = to_text(state.window.begin);
    object["frees_up"] = to_text(*state.window.end);
  }
  return object;
}

}  // namespace

std::string to_json(const LedgerStatement& statement) {
  const LedgerSettings& settings = statement.settings;
  json object = {{"ledger", statement.id},
                 {"head", statement.head},
                 {"records", statement.records},
                 {"torn_bytes", statement.torn_bytes},
                 {"chain", "verified"},
                 {"anchored", statement.anchored},
                 {"began", to_text(statement.began)},
                 {"latest", to_text(statement.latest)},
                 {"made", to_text(statement.made)},
                 {"unit", name(settings.unit)},
                 {"adjacency", name(settings.adjacency)},
                 {"adversary", name(Adversary::server)},
                 {"requests", name(settings.order)},
                 {"delta", statement.delta},
                 {"releases", statement.releases},
                 {"total", to_object(statement.total, "what")},
                 {"not_sensitive", json::array()},
                 {"budgets", json::array()},
                 {"purposes", json::array()},
                 {"categories", json::array()}};
  const auto& categories = settings.sensitivity.categories();
  for (std::size_t i = 0; i < categories.size(); ++i) {
    if (!settings.sensitivity.is_sensitive(static_cast<CategoryId>(i))) {
      object["not_sensitive"].push_back(categories[i]);
    }
  }
  for (const auto& state : statement.budgets) {
    object["budgets"].push_back(to_object(state, settings.sensitivity));
  }
  for (const auto& line : statement.purposes) object["purposes"].push_back(to_object(line, "purpose"));
  for (const auto& line : statement.categories) object["categories"].push_back(to_object(line, "category"));
  return object.dump();
}

}  // namespace sotto
