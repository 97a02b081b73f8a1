#include "eval/experiments/grid/row_settings.h"

#include <nlohmann/json.hpp>
#include <set>

#include "recipes/recipe.h"

namespace sotto {

namespace {

std::string key_of(const std::string& assignment) { return assignment.substr(0, assignment.find('=')); }

std::set<std::string> names_of(const SettingsTable& table) {
  std::set<std::string> names;
  for (const auto& row : table.rows()) names.insert(row.name);
  return names;
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
  SOTTO_TRY(const auto* entry, find_recipe(row.recipe));
  const auto recipe = entry->make();
  SettingsTable table;
  recipe->bind(table);
  auto known = names_of(table);
  for (const std::string& name : row.own) known.erase(name);
  RowSettings settings;
  const auto apply = [&](const std::string& assignment) {
    settings.assignments.push_back(assignment);
    return table.set_assignment(assignment);
  };
  for (const std::string& assignment : grid.shared)
    if (row.takes_shared && known.contains(key_of(assignment))) SOTTO_CHECK(apply(assignment));
  for (const std::string& assignment : row.settings) SOTTO_CHECK(apply(assignment));
  for (const std::string& assignment : given)
    if (known.contains(key_of(assignment))) SOTTO_CHECK(apply(assignment));
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

}  // namespace sotto
