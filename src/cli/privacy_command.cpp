#include <chrono>
#include <cmath>
#include <memory>

#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/folded.h"
#include "privacy/accounting/claims.h"
#include "privacy/accounting/plan.h"
#include "privacy/ledger/ledger.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::cli {

namespace {

constexpr std::size_t text_behind_names = 13;  // the column in which it begins

nlohmann::json to_json(const privacy::Guarantee& guarantee) {
  // JSON has no infinity: null says that nothing holds.
  return {{"epsilon",
           std::isfinite(guarantee.epsilon) ? nlohmann::json(guarantee.epsilon) : nlohmann::json(nullptr)},
          {"epsilon_lower", or_null(guarantee.epsilon_lower)},
          {"delta", guarantee.delta},
          {"adjacency", privacy::name(guarantee.adjacency)},
          {"unit", privacy::name(guarantee.unit)},
          {"sampling", guarantee.sampling},
          {"adversary", privacy::name(guarantee.adversary)},
          {"method", privacy::name(guarantee.method)},
          {"notes", guarantee.notes}};
}

std::string to_text(const privacy::Guarantee& guarantee) {
  std::string text =
      std::isfinite(guarantee.epsilon) ? fmt::format("epsilon {:.6g}", guarantee.epsilon) : "epsilon none";
  if (guarantee.epsilon_lower)
    text += fmt::format(" (the tight value is at least {:.6g})", *guarantee.epsilon_lower);
  text += fmt::format(
      " at delta {:g}\n  against    {}\n  unit       {}, {}\n  sampling   {}\n  method     {}\n",
      guarantee.delta,
      guarantee.adversary == privacy::Adversary::server ? "the server, who sees the cohort"
                                                        : "everyone who sees the published models",
      privacy::name(guarantee.unit), privacy::name(guarantee.adjacency), guarantee.sampling,
      privacy::name(guarantee.method));
  for (const auto& note : guarantee.notes) text += fmt::format("  note       {}\n", note);
  return text;
}

// A run that has no plan: it says itself what its recipe guarantees.
Status account_without_plan(const fs::path& run, const Output& output) {
  const fs::path file = run / "run.json";
  if (!fs::exists(file))
    return bad_input("{} holds neither a plan (privacy.toml) nor a run (run.json)", run.string());
  SOTTO_TRY(const std::string text, read_file(file, 1 << 20));
  std::string recipe, guarantee;
  try {
    const auto description = nlohmann::json::parse(text);
    recipe = description.at("recipe");
    guarantee = description.at("guarantee");
    if (description.at("differentially_private"))
      return bad_input("{} has lost its privacy.toml: nothing can be said about its epsilon", run.string());
  } catch (const nlohmann::json::exception&) {
    return bad_input("{} does not say what its recipe guarantees: 'sotto recipes' does", file.string());
  }
  output.event({{"epsilon", nullptr}, {"recipe", recipe}, {"guarantee", guarantee}});
  output.text(fmt::format("epsilon none: {} gives no differential privacy", recipe));
  output.text("  ", guarantee);
  return {};
}

// Whether the noise of a run follows from its seed, so that nothing of what its plan says holds.
Result<bool> is_simulation(const fs::path& run) {
  const fs::path file = run / "run.json";
  if (!fs::exists(file)) return false;
  SOTTO_TRY(const std::string text, read_file(file, 1 << 20));
  const auto description = nlohmann::json::parse(text, nullptr, false);
  if (!description.is_object() || !description.contains("reproducible") ||
      !description["reproducible"].is_boolean())
    return bad_input("{} does not say whether its noise was secret: was the folder changed by hand?",
                     file.string());
  return description["reproducible"].get<bool>();
}

void add_account(CLI::App& privacy, Invocation& invocation) {
  struct Arguments {
    std::string file;
    privacy::PrivacyPlan plan;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> flags;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = privacy.add_subcommand("account", "What is the epsilon of this plan?");
  command->add_option("plan", arguments->file,
                      "TOML plan, or a run's folder with privacy.toml; flags override it");
  arguments->plan.bind(arguments->table);
  arguments->flags = std::make_unique<SettingsFlags>(*command, arguments->table);
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      fs::path plan = arguments->file;
      bool simulation = false;
      if (fs::is_directory(plan)) {
        if (!fs::exists(plan / "privacy.toml")) return account_without_plan(plan, invocation.output);
        SOTTO_TRY(simulation, is_simulation(plan));
        plan /= "privacy.toml";
      }
      if (!plan.empty()) SOTTO_CHECK(arguments->table.load_toml(plan));
      SOTTO_CHECK(arguments->flags->apply());
      end_at_interrupt();
      SOTTO_TRY(const privacy::PlanAnswer answer, privacy::account(arguments->plan));
      nlohmann::json event = to_json(answer.published);
      event["server"] = answer.server ? to_json(*answer.server) : nlohmann::json(nullptr);
      event["simulation"] = simulation;
      invocation.output.event(event);
      if (simulation)
        invocation.output.text("simulation: no ε holds for these files; with secret noise it would be");
      invocation.output.text(folded_rows(to_text(answer.published), text_behind_names));
      if (answer.server) invocation.output.text(folded_rows(to_text(*answer.server), text_behind_names));
      return {};
    };
  });
}

void add_ledger(CLI::App& privacy, Invocation& invocation) {
  struct Arguments {
    std::string ledger, anchor;
    bool mend_clock = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = privacy.add_subcommand("ledger", "What a device has told, and what is left");
  command->add_option("ledger", arguments->ledger, "a ledger file, or a device's folder that holds one")
      ->required();
  command->add_option("--anchor", arguments->anchor, "also check that the ledger continues this anchor");
  command->add_flag(
      "--mend-clock", arguments->mend_clock,
      "first set the ledger's clock to the system's, which you state is right; this and the next "
      "day and month then count as spent");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation]() -> Status {
      fs::path file(arguments->ledger);
      std::error_code ignored;
      if (fs::is_directory(file, ignored)) file /= privacy::ledger_file_name;
      const privacy::ClockReading now = privacy::read_system_clocks();
      if (arguments->mend_clock) {
        SOTTO_TRY(privacy::Ledger ledger, privacy::Ledger::open(file, now));
        SOTTO_CHECK(ledger.mend_clock(now));
      }
      std::shared_ptr<privacy::AnchorStore> anchor;
      if (!arguments->anchor.empty()) anchor = privacy::anchor_file(arguments->anchor);
      SOTTO_TRY(const privacy::LedgerStatement statement, privacy::read_statement(file, now, anchor.get()));
      if (invocation.output.json) invocation.output.event(nlohmann::json::parse(to_json(statement)));
      invocation.output.text(folded_rows(to_text(statement), text_behind_names));
      return {};
    };
  });
}

Status print_tables(const Output& output) {
  end_at_interrupt();
  SOTTO_TRY(const std::vector<privacy::PaperCell> cells, privacy::privrec_tables());
  output.text(fmt::format("{:>5} {:>10} {:>7} {:>9} {:>10} {:>9} {:>9}  {}", "table", "cohort", "delta",
                          "paper", "reproduced", "per round", "best", "method"));
  for (const auto& cell : cells) {
    output.event({{"table", cell.table},
                  {"cohort", cell.cohort},
                  {"population", cell.population},
                  {"delta", cell.delta},
                  {"paper", cell.paper},
                  {"reproduced", cell.reproduced},
                  {"per_round", cell.per_round},
                  {"best", cell.best},
                  {"method", privacy::name(cell.best_method)},
                  {"computed", cell.computed}});
    output.text(fmt::format("{:>5} {:>10} {:>7g} {:>9.4f} {:>10.4f} {:>9.4f} {:>9.4f}  {}", cell.table,
                            fmt::format("{}/{}", cell.cohort, cell.population), cell.delta, cell.paper,
                            cell.reproduced, cell.per_round, cell.best, privacy::name(cell.best_method)));
  }
  output.text(
      "",
      "\nAgainst everyone but the server; unit user, replace-one. The paper cuts after four digits and "
      "so does 'reproduced'. 'per round' is the same bound composed 1000 times, 'best' the smallest "
      "epsilon we can prove.");
  return {};
}

std::string epsilon_text(const std::optional<double>& epsilon) {
  return epsilon ? fmt::format("{:.4g}", *epsilon) : std::string("none");
}

Status print_claims(const Output& output) {
  end_at_interrupt();
  SOTTO_TRY(std::vector<privacy::Claim> claims, privacy::paper_claims());
  SOTTO_TRY(std::vector<privacy::Claim> own, privacy::own_claims());
  std::move(own.begin(), own.end(), std::back_inserter(claims));
  for (const auto& claim : claims) {
    output.event({{"system", claim.system},
                  {"release", claim.release},
                  {"claimed", or_null(claim.claimed_epsilon)},
                  {"holds", or_null(claim.true_epsilon)},
                  {"delta", claim.delta},
                  {"unit", privacy::name(claim.unit)},
                  {"adversary", privacy::name(claim.adversary)},
                  {"why", claim.why}});
    output.text("", fmt::format("{}: {}", claim.system, claim.release));
    output.text(
        "  ", fmt::format("claimed {}, holds {}{} (per {}, against {})", epsilon_text(claim.claimed_epsilon),
                          epsilon_text(claim.true_epsilon),
                          claim.delta > 0 ? fmt::format(" at delta {:g}", claim.delta) : "",
                          privacy::name(claim.unit),
                          claim.adversary == privacy::Adversary::server ? "the server" : "everyone else"));
    for (const auto& line : claim.why) output.text("    ", line);
  }
  return {};
}

}  // namespace

void add_privacy_command(CLI::App& app, Invocation& invocation) {
  CLI::App* privacy =
      app.add_subcommand("privacy", "Epsilon of a plan; the papers' tables; claimed against true");
  privacy->require_subcommand(1);
  add_account(*privacy, invocation);
  add_privacy_audit_command(*privacy, invocation);
  add_privacy_report_command(*privacy, invocation);
  add_ledger(*privacy, invocation);
  privacy->add_subcommand("tables", "Tables 3 and 4 of DP-PrivRec, reproduced and corrected")
      ->callback(
          [&invocation] { invocation.action = [&invocation] { return print_tables(invocation.output); }; });
  privacy->add_subcommand("claims", "What each paper and each of our recipes claims, what holds, and why")
      ->callback(
          [&invocation] { invocation.action = [&invocation] { return print_claims(invocation.output); }; });
}

}  // namespace sotto::cli
