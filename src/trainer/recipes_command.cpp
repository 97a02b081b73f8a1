#include "recipes/recipe.h"
#include "trainer/commands.h"

namespace sotto::trainer {

namespace {

Status list_all(const Output& output) {
  for (const auto& entry : recipes::recipes()) {
    output.event({{"name", entry.name},
                  {"summary", entry.summary},
                  {"guarantee", entry.guarantee},
                  {"dp", entry.differentially_private}});
    output.text(fmt::format("{:<20} ", entry.name),
                fmt::format("{}{}", entry.summary, entry.differentially_private ? "" : " (no DP)"));
  }
  output.text("\n'sotto recipes NAME' shows what one guarantees and its settings.");
  return {};
}

Status show_one(const std::string& name, const std::vector<std::string>& assignments, bool sample,
                const Output& output) {
  SOTTO_TRY(const recipes::RecipeEntry* entry, recipes::find_recipe(name));
  const auto recipe = entry->make();
  SettingsTable table;
  SOTTO_CHECK(recipes::bind_settings(*recipe, table, assignments));
  if (sample) {
    output.event({{"name", entry->name}, {"sample_config", table.to_sample_toml()}});
    output.text(table.to_sample_toml());
    return {};
  }
  output.event({{"name", entry->name},
                {"summary", entry->summary},
                {"guarantee", entry->guarantee},
                {"dp", entry->differentially_private},
                {"settings", table.to_json()}});
  output.text("", fmt::format("{}: {}\n\nGuarantee: {}\n\nSettings (--set key=value, or a TOML file with "
                              "--config), what is allowed in brackets:\n\n",
                              entry->name, entry->summary, entry->guarantee));
  for (const auto& row : table.rows())
    output.text(fmt::format("{:<24} ", fmt::format("{}={}", row.name, row.default_value)),
                fmt::format("{}{}", row.help, row.allowed.empty() ? "" : fmt::format(" [{}]", row.allowed)));
  return {};
}

}  // namespace

void add_recipes_command(CLI::App& app, Invocation& invocation) {
  struct Arguments {
    std::string name;
    std::vector<std::string> assignments;
    bool sample = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, "recipes");
  command->add_option("name", arguments->name, "Recipe to show");
  command->add_option("--set", arguments->assignments,
                      "model=NAME: the settings of a recipe with that model");
  command->add_flag("--sample-config", arguments->sample, "Print a commented TOML file with the defaults");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] {
      return arguments->name.empty()
                 ? list_all(invocation.output)
                 : show_one(arguments->name, arguments->assignments, arguments->sample, invocation.output);
    };
  });
}

}  // namespace sotto::trainer
