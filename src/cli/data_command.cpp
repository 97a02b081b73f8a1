#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/folded.h"
#include "data/describe.h"
#include "data/importers/importers.h"
#include "data/newsroom/newsroom.h"
#include "data/views.h"

namespace sotto::cli {

namespace {

nlohmann::json to_json(const data::DatasetCounts& counts) {
  return {{"users", counts.users},
          {"items", counts.items},
          {"interactions", counts.interactions},
          {"impressions", counts.impressions},
          {"clicks", counts.clicks}};
}

nlohmann::json to_json(const data::Distribution& values) {
  return {{"mean", values.mean},
          {"median", values.median},
          {"ninety_percent", values.ninety_percent},
          {"largest", values.largest}};
}

constexpr std::size_t summary_head = 24;  // columns of the names in a summary

void say_made(const std::string& name, const data::DatasetCounts& counts, const std::string& out,
              const std::vector<std::string>& notes, const Output& output) {
  output.text("", fmt::format("{}: {} users, {} items, {} interactions, {} impressions, {} clicks -> {}",
                              name, counts.users, counts.items, counts.interactions, counts.impressions,
                              counts.clicks, out));
  for (const auto& note : notes) output.text("note: ", note);
}

void add_import(CLI::App& data, Invocation& invocation) {
  struct Arguments {
    std::string kind, source, out;
    data::ImportSettings settings;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> flags;
    std::vector<std::string> assignments;
  };
  auto arguments = std::make_shared<Arguments>();
  std::string kinds;
  for (const auto& importer : data::importers())
    kinds += fmt::format("\n  {:<10} {}", importer.kind, importer.help);
  CLI::App* command =
      data.add_subcommand("import", "Import a published data set in its own format. Kinds:" + kinds);
  command->add_option("kind", arguments->kind, "Which format")->required();
  command
      ->add_option("source", arguments->source,
                   "Folder (or file) as published; .xz, .gz and .zst are read as they are")
      ->required();
  command->add_option("--out", arguments->out, "Folder to create")->required();
  command->add_option("--set", arguments->assignments, "key=value, the same settings as the flags below")
      ->allow_extra_args(false);
  arguments->settings.bind(arguments->table);
  arguments->flags = std::make_unique<SettingsFlags>(*command, arguments->table);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      SOTTO_CHECK(arguments->flags->apply());
      for (const auto& assignment : arguments->assignments)
        SOTTO_CHECK(arguments->table.set_assignment(assignment));
      SOTTO_TRY(const auto summary, data::import_dataset(arguments->kind, arguments->source, arguments->out,
                                                         arguments->settings));
      auto event = to_json(summary.counts);
      event.update({{"event", "done"},
                    {"name", summary.name},
                    {"rows", summary.rows},
                    {"malformed", summary.malformed_rows},
                    {"notes", summary.notes}});
      invocation.output.event(event);
      say_made(summary.name, summary.counts, arguments->out, summary.notes, invocation.output);
      if (summary.malformed_rows)
        invocation.output.text(
            fmt::format("{} malformed rows left out, for example:", summary.malformed_rows));
      for (const auto& example : summary.malformed_examples) invocation.output.text("  " + example);
      return {};
    };
  });
}

void add_view(CLI::App& data, Invocation& invocation) {
  struct Arguments {
    std::string source, view, out;
    bool replace = false;
    data::ViewSettings settings;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> flags;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = data.add_subcommand(
      "view", "The same data with its behaviour in another form, for recipes that train on that form");
  command->add_option("source", arguments->source, "Data set folder")->required();
  command->add_option("--view", arguments->view, fmt::format("One of: {}", fmt::join(data::view_names, ", ")))
      ->required();
  command->add_option("--out", arguments->out, "Folder to create")->required();
  command->add_flag("--replace", arguments->replace, "Replace an existing output folder");
  arguments->settings.bind(arguments->table);
  arguments->flags = std::make_unique<SettingsFlags>(*command, arguments->table);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      SOTTO_CHECK(arguments->flags->apply());
      SOTTO_TRY(const auto summary, data::write_view(arguments->source, arguments->view, arguments->settings,
                                                     arguments->out, arguments->replace));
      auto event = to_json(summary.counts);
      event.update({{"event", "done"}, {"name", summary.name}, {"notes", summary.notes}});
      invocation.output.event(event);
      say_made(summary.name, summary.counts, arguments->out, summary.notes, invocation.output);
      return {};
    };
  });
}

void add_info(CLI::App& data, Invocation& invocation) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command = data.add_subcommand("info", "What a data set holds");
  command->add_option("data", *folder, "Data set folder")->required();
  command->callback([folder, &invocation] {
    invocation.action = [folder, &invocation]() -> Status {
      end_at_interrupt();  // it keeps nothing
      SOTTO_TRY(const auto dataset, data::Dataset::open(*folder));
      const data::DatasetSummary summary = data::describe(dataset);
      auto event = to_json(summary.counts);
      event.update({{"name", summary.name},
                    {"origin", summary.origin},
                    {"history_length", to_json(summary.history_length)},
                    {"impression_size", to_json(summary.impression_size)},
                    {"clicks_per_impression", to_json(summary.clicks_per_impression)},
                    {"interactions_per_user", to_json(summary.interactions_per_user)},
                    {"title_words", to_json(summary.title_words)},
                    {"unseen_test_share", summary.unseen_test_share},
                    {"public_items", summary.public_items},
                    {"training_non_clicks", data::name(summary.training_non_clicks)},
                    {"split_origin", data::name(summary.split_origin)},
                    {"tied_share", summary.tied_share},
                    {"undeclared_columns", summary.undeclared_columns},
                    {"categories", summary.categories},
                    {"subcategories", summary.subcategories},
                    {"entities", summary.entities}});
      const char* names[] = {"train", "validation", "test"};
      for (std::size_t split = 0; split < 3; ++split)
        event["splits"][names[split]] = {{"impressions", summary.splits[split].impressions},
                                         {"users", summary.splits[split].users},
                                         {"clicks", summary.splits[split].clicks}};
      invocation.output.event(event);
      invocation.output.text(folded_rows(data::to_text(summary), summary_head));
      return {};
    };
  });
}

void add_generate(CLI::App& data, Invocation& invocation) {
  struct Arguments {
    std::string out;
    bool replace = false;
    data::NewsroomSettings settings;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> flags;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* generate = data.add_subcommand("generate", "Generate a data set");
  generate->require_subcommand(1);
  CLI::App* command = generate->add_subcommand(
      "newsroom", "Simulated readers of a simulated newsroom, in MIND's format (docs/newsroom.md)");
  command->add_option("--out", arguments->out, "Folder to create")->required();
  command->add_flag("--replace", arguments->replace, "Replace an existing output folder");
  arguments->settings.bind(arguments->table);
  arguments->flags = std::make_unique<SettingsFlags>(*command, arguments->table);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      SOTTO_CHECK(arguments->flags->apply());
      SOTTO_TRY(const auto report,
                data::generate_newsroom(arguments->settings, arguments->out, arguments->replace));
      auto event = to_json(report);
      event["event"] = "done";
      invocation.output.event(event);
      const auto& oracle = report.oracle;
      invocation.output.text(
          "",
          fmt::format("newsroom: {} users, {} items, {} impressions, {} clicks -> {}", report.counts.users,
                      report.counts.items, report.counts.impressions, report.counts.clicks, arguments->out));
      invocation.output.text(fmt::format("{:.0f} % of test candidates were never seen in training",
                                         100 * report.shape.unseen_share));
      invocation.output.text(
          "", fmt::format(
                  "test AUC: best possible {:.2f} %, true themes of the history {:.2f} %, true interest by "
                  "category {:.2f} %, popularity {:.2f} %, random {:.2f} %",
                  100 * oracle.best.auc, 100 * oracle.history.auc, 100 * oracle.category.auc,
                  100 * oracle.popularity.auc, 100 * oracle.random.auc));
      return {};
    };
  });
}

}  // namespace

void add_data_command(CLI::App& app, Invocation& invocation) {
  CLI::App* data = app.add_subcommand("data", "Generate, import, view or describe data");
  data->require_subcommand(1);
  add_generate(*data, invocation);
  add_import(*data, invocation);
  add_view(*data, invocation);
  add_info(*data, invocation);
}

}  // namespace sotto::cli
