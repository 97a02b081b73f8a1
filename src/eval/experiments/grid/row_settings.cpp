#include "eval/experiments/grid/row_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "recipes/recipe.h"

namespace sotto::eval {

namespace {

std::string key_of(const std::string& assignment) { return assignment.substr(0, assignment.find('=')); }

std::set<std::string> names_of(const SettingsTable& table) {
  std::set<std::string> names;
  for (const auto& row : table.rows()) names.insert(row.name);
  return names;
}

// What the row would not read of all that it is given, the row's own settings included.
std::vector<std::string> unread_by(const recipes::RecipeEntry& entry, const GridRow& row,
                                   const std::vector<std::string>& all, const std::set<std::string>& known) {
  const auto recipe = entry.make();
  SettingsTable table;
  std::vector<std::string> unread;
  if (!recipes::bind_settings(*recipe, table, all)) return unread;
  for (const std::string& assignment : all) {
    const bool own = std::find(row.settings.begin(), row.settings.end(), assignment) != row.settings.end();
    if ((own || known.contains(key_of(assignment))) && !table.set_assignment(assignment)) return unread;
  }
  const auto settings = recipes::unread_settings(table, recipe->conditions());
  if (!settings) return unread;  // row_settings says why
  for (const auto& setting : *settings) unread.push_back(setting.name);
  return unread;
}

// What holds, and against whom, is in the name of every row that chooses it.
constexpr std::array<std::string_view, 5> budgets = {"mode", "epsilon", "against", "training_epsilon",
                                                     "serving_epsilon"};

// The value that the row itself gives a setting it is named after; what only its test reads always is one.
std::optional<std::string> value_in_name(const Grid& grid, const GridRow& row, const std::string& key) {
  const auto last_of = [&](const std::vector<std::string>& settings) {
    std::optional<std::string> value;
    for (const std::string& assignment : settings)
      if (key_of(assignment) == key) value = assignment.substr(key.size() + 1);
    return value;
  };
  if (auto value = last_of(row.at_test)) return value;
  const bool stated = std::find(budgets.begin(), budgets.end(), key) != budgets.end() ||
                      std::find(grid.stated.begin(), grid.stated.end(), key) != grid.stated.end();
  return stated ? last_of(row.settings) : std::nullopt;
}

bool is_same(const std::string& first, const std::string& second) {
  const auto number = [](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return text.empty() || *end != 0 ? NAN : value;
  };
  return first == second || number(first) == number(second);
}

// "--set training_epsilon=4" would train with 4 under a label that says 10.
Status refuse_other_names(const Grid& grid, const GridRow& row, const std::vector<std::string>& given) {
  for (const std::string& assignment : given) {
    const std::string key = key_of(assignment);
    if (key.size() == assignment.size()) continue;
    const auto own = value_in_name(grid, row, key);
    if (!own || is_same(*own, assignment.substr(key.size() + 1))) continue;
    return bad_input(
        "--set {}: this row has {}={} and is named after it; leave it out, or train one run of your own with "
        "'sotto train {} --set {}'",
        assignment, key, *own, row.recipe, assignment);
  }
  return {};
}

Status check_labels(const Grid& grid) {
  std::set<std::pair<std::string, std::string>> labels;
  for (const GridRow& row : grid.rows)
    if (!labels.emplace(row.group, row.label).second)
      return failed("two rows are called '{}' in '{}'", row.label, row.group);
  return {};
}

}  // namespace

Result<RowSettings> row_settings(const Grid& grid, const GridRow& row,
                                 const std::vector<std::string>& given) {
  SOTTO_CHECK(refuse_other_names(grid, row, given));
  SOTTO_TRY(const auto* entry, recipes::find_recipe(row.recipe));
  const auto recipe = entry->make();
  SettingsTable table;
  std::vector<std::string> all = row.takes_shared ? grid.shared : std::vector<std::string>();
  all.insert(all.end(), row.settings.begin(), row.settings.end());
  all.insert(all.end(), given.begin(), given.end());
  SOTTO_CHECK(recipes::bind_settings(*recipe, table, all));
  auto known = names_of(table);
  for (const std::string& name : row.own) known.erase(name);
  RowSettings settings;
  const auto apply = [&](const std::string& assignment) {
    settings.assignments.push_back(assignment);
    return table.set_assignment(assignment);
  };
  // Settings that are not read in this row (a step size of local epochs where there are none) do not reach it
  // from outside; its own must be read.
  for (const std::string& name : unread_by(*entry, row, all, known)) known.erase(name);
  for (const std::string& assignment : grid.shared)
    if (row.takes_shared && known.contains(key_of(assignment))) SOTTO_CHECK(apply(assignment));
  for (const std::string& assignment : row.settings) SOTTO_CHECK(apply(assignment));
  for (const std::string& assignment : given)
    if (known.contains(key_of(assignment))) SOTTO_CHECK(apply(assignment));
  SOTTO_CHECK(recipes::refuse_unread(table, recipe->conditions()));
  settings.complete = table.to_json().dump();
  for (const std::string& assignment : row.at_test) SOTTO_CHECK(table.set_assignment(assignment));
  return settings;
}

Status check_grid(const Grid& grid, const std::vector<std::string>& given) {
  if (grid.rows.empty()) return failed("'{}' has no rows", grid.title);
  SOTTO_CHECK(check_labels(grid));
  std::set<std::string> known(grid.options.begin(), grid.options.end());
  for (const GridRow& row : grid.rows) {
    auto settings = row_settings(grid, row, given);
    if (!settings) return tl::unexpected(std::move(settings).error().in(row.label));
    const auto complete = nlohmann::json::parse(settings->complete);
    for (const auto& [name, value] : complete.items()) known.insert(name);
  }
  for (const std::string& assignment : given) {
    if (assignment.find('=') == std::string::npos)
      return bad_input("'{}' is not of the form key=value", assignment);
    if (known.contains(key_of(assignment))) continue;
    const auto near = nearest(key_of(assignment), {known.begin(), known.end()});
    return bad_input("no recipe of this experiment has a setting '{}'{}", key_of(assignment),
                     near ? fmt::format("; did you mean '{}'?", *near) : "");
  }
  return {};
}

}  // namespace sotto::eval
