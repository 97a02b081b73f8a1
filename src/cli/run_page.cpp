// The page of a trained run.

#include <algorithm>
#include <cmath>

#include "base/chain_hash.h"
#include "cli/command.h"
#include "cli/privacy_page.h"
#include "cli/run_audit.h"
#include "privacy/accounting/plan.h"
#include "serving/mechanism_choice.h"
#include "serving/run_privacy.h"
#include "serving/served_run_settings.h"

namespace sotto::cli {

namespace {

using report::HtmlReport;
using report::ReportTable;
using report::TableCell;

constexpr std::uint64_t largest_description = 1 << 20, largest_model = std::uint64_t{8} << 30;

struct GuessBounds {
  double server = 1, published = 1;
};
GuessBounds guess_bounds(const privacy::PrivacyDatasheet& sheet,
                         const std::optional<privacy::PrivacyPlan>& plan) {
  GuessBounds bounds;
  if (sheet.epsilon_server) bounds.server = right_at_most(*sheet.epsilon_server, sheet.delta);
  if (sheet.epsilon_published) bounds.published = right_at_most(*sheet.epsilon_published, sheet.delta);
  if (!plan) return bounds;
  for (const double delta : guessing_deltas()) {
    privacy::PrivacyPlan asked = *plan;
    asked.delta = delta;
    const auto answer = privacy::account(asked);
    if (!answer) continue;
    bounds.published = std::min(bounds.published, right_at_most(answer->published.epsilon, delta));
    if (answer->server)
      bounds.server = std::min(bounds.server, right_at_most(answer->server->epsilon, delta));
  }
  return bounds;
}

// All that the page is made from. What is optional is not there in runs that never had it.
struct RunFacts {
  privacy::PrivacyDatasheet sheet;
  std::optional<privacy::PrivacyPlan> plan;
  nlohmann::json description;  // run.json
  std::string ended;           // UTC
  std::optional<double> own_query_epsilon;
  bool open_queries = false;  // sent as they are
  serving::DemandCharges demand;
  std::vector<std::pair<std::string, std::string>> hashes;  // file and BLAKE2b-256
};

// The sheet may not promise more than the plan beside it gives.
Status check_against_plan(const privacy::PrivacyDatasheet& sheet,
                          const std::optional<privacy::PrivacyPlan>& plan, const fs::path& run) {
  if (!plan) return {};
  SOTTO_TRY(const auto accounted, privacy::account(*plan));
  constexpr double digits = 0.99;  // of two ways to add the same up
  const auto promises_more = [&](const std::optional<double>& said, double holds) {
    return said && *said < digits * holds;
  };
  if (promises_more(sheet.epsilon_published, accounted.published.epsilon) ||
      (accounted.server && promises_more(sheet.epsilon_server, accounted.server->epsilon)))
    return bad_input(
        "{} promises more than the plan in privacy.toml gives ({:.4g} of what is published): one of them was "
        "changed by hand. Put back what the training wrote",
        (run / "privacy.json").string(), accounted.published.epsilon);
  return {};
}

// As the training wrote it down; times of files change when a folder is copied.
Result<std::string> end_of_training(const fs::path& run) {
  if (!fs::exists(run / "result.json")) return std::string("not recorded");
  SOTTO_TRY(const std::string text, read_file(run / "result.json", largest_description));
  const auto result = nlohmann::json::parse(text, nullptr, false);
  if (!result.is_object() || !result.contains("ended") || !result.at("ended").is_string())
    return std::string("not recorded");
  return result.at("ended").get<std::string>();
}

Result<RunFacts> facts_of(const fs::path& run) {
  RunFacts facts;
  SOTTO_TRY(facts.sheet, datasheet_of(run));
  SOTTO_TRY(const std::string text, read_file(run / "run.json", largest_description));
  facts.description = nlohmann::json::parse(text, nullptr, false);
  if (!facts.description.is_object())
    return bad_input("{} is not a run's description: was it changed by hand?", (run / "run.json").string());
  if (fs::exists(run / "privacy.toml")) {
    SettingsTable table;
    facts.plan.emplace().bind(table);
    SOTTO_CHECK(table.load_toml(run / "privacy.toml"));
  }
  SOTTO_CHECK(check_against_plan(facts.sheet, facts.plan, run));
  SOTTO_TRY(facts.ended, end_of_training(run));
  SOTTO_TRY(facts.open_queries, asks_without_noise(facts.sheet, run));
  SOTTO_TRY(facts.demand, serving::demand_charges(run));
  for (const char* file : {"privacy.toml", "privacy.json", "settings.toml", "best.sotto"}) {
    if (!fs::exists(run / file)) {
      if (std::string_view(file) == "privacy.toml" && facts.sheet.sums.empty()) continue;
      return bad_input("{} is gone: a report names the hashes of a run's plan and model. Put it back",
                       (run / file).string());
    }
    SOTTO_TRY(const std::string bytes, read_file(run / file, largest_model));
    SOTTO_TRY(const ChainHash hash, chain_hash({bytes}));
    facts.hashes.emplace_back(file, to_hex(hash));
  }
  return facts;
}

std::string text_of(const nlohmann::json& description, const char* key, const char* otherwise) {
  const auto value = description.find(key);
  return value != description.end() && value->is_string() ? value->get<std::string>()
                                                          : std::string(otherwise);
}

std::string epsilon_or_none(const std::optional<double>& epsilon) {
  return epsilon ? fmt::format("{:.4g}", *epsilon) : "none";
}

std::string in_one_paragraph(const RunFacts& facts, const GuessBounds& guesses) {
  const auto& sheet = facts.sheet;
  if (sheet.reproducible)
    return "This is a simulation: its noise follows from a seed that is written in its files, and whoever "
           "has "
           "the seed can take the noise away again. No epsilon holds for it. Train without --reproducible "
           "before anything is published; the numbers below are what would hold then.";
  std::string text;
  if (sheet.epsilon_server && *sheet.epsilon_server > serving::largest_meaningful_epsilon)
    text += fmt::format(
        "Against the operator of the server epsilon is {:.4g}: so large a number hides nothing, and is no "
        "protection. ",
        *sheet.epsilon_server);
  else if (sheet.epsilon_server)
    text += fmt::format(
        "What the operator of the server, who picks and sees who takes part, can learn about any one person "
        "from the whole training is bounded: if it wavers between two stories about somebody's entire "
        "history, "
        "it is right about which is true at most {} (a coin: 50). ",
        odds_in_words(guesses.server));
  else
    text += "Nothing is promised against the operator of the server: it may learn what a person read. ";
  if (sheet.epsilon_published && *sheet.epsilon_published > serving::largest_meaningful_epsilon)
    text += fmt::format("For everyone else, who sees what is published, it is {:.4g}: no protection either. ",
                        *sheet.epsilon_published);
  else if (sheet.epsilon_published)
    text += fmt::format("For everyone else, who sees what is published, it is at most {}. ",
                        odds_in_words(guesses.published));
  else
    text += "Nothing is promised against others who see the published model. ";
  if (facts.open_queries)
    text +=
        "Its questions are sent as they are, without noise: the server reads from them what it likes, and "
        "nothing holds for training and questions together. ";
  else if (sheet.epsilon_query && *sheet.epsilon_query > 0)
    text += fmt::format(
        "Every private question of a device adds epsilon {:.4g}{} to what the server may learn.",
        *sheet.epsilon_query, sheet.delta_query > 0 ? fmt::format(" at delta {:g}", sheet.delta_query) : "");
  else if (sheet.epsilon_query)
    text += "Recommending tells the server nothing as long as devices rank by themselves. ";
  if (!sheet.epsilon_query || *sheet.epsilon_query == 0)
    text +=
        "Where it is served by prototypes ('sotto serve --epsilon E'), every question adds E, which is not "
        "in the sums below: make the report with --query-epsilon E.";
  return text;
}

ReportTable guarantees(const RunFacts& facts, const GuessBounds& guesses) {
  const privacy::PrivacyDatasheet& sheet = facts.sheet;
  ReportTable table;
  for (const char* heading : {"against", "epsilon", "delta", "what is hidden", "right guesses, at most"})
    table.columns.push_back({heading});
  const std::string hidden = fmt::format("everything of one {}, {}", name(sheet.unit), name(sheet.adjacency));
  const auto row = [&](const char* whom, const std::optional<double>& epsilon, double guess) {
    table.rows.push_back({TableCell::words(whom), TableCell::words(epsilon_or_none(epsilon)),
                          TableCell::words(epsilon ? fmt::format("{:g}", sheet.delta) : "–"),
                          TableCell::words(epsilon ? hidden : "nothing"),
                          TableCell::words(epsilon ? odds_in_words(guess) : "–")});
  };
  row("the server, who sees who takes part", sheet.epsilon_server, guesses.server);
  row("everyone who sees what is published", sheet.epsilon_published, guesses.published);
  if (facts.demand.releases > 0) {  // which served packs are made with
    const auto together = sheet.epsilon_published
                              ? std::optional(*sheet.epsilon_published + facts.demand.epsilon)
                              : std::nullopt;
    row("everyone who sees what is served, demand included", together,
        together ? right_at_most(*together, sheet.delta) : 1);
  }
  if (sheet.epsilon_claimed)
    table.rows.push_back({TableCell::words("(the paper's own claim)"),
                          TableCell::words(epsilon_or_none(sheet.epsilon_claimed)), TableCell::words("–"),
                          TableCell::words("as the paper prints it"), TableCell::words("–")});
  table.caption =
      "Epsilon and delta of the whole training. Guesses: between two histories of one person that are "
      "equally "
      "likely at first, by somebody who knows everything else.";
  return table;
}

// What one person pays against the server. Epsilons and deltas of independent releases add up.
struct Price {
  double epsilon = 0, delta = 0;
};
// Nothing: no bound holds.
struct Spending {
  std::optional<Price> once, per_day = Price{};

  // A delta of 1 allows everything.
  std::optional<Price> after(double days) const {
    if (!once || !per_day) return std::nullopt;
    const Price sum{once->epsilon + days * per_day->epsilon, once->delta + days * per_day->delta};
    return sum.delta < 1 ? std::optional(sum) : std::nullopt;
  }
};
std::optional<Price> paid_for_training(const privacy::PrivacyDatasheet& sheet) {
  return sheet.epsilon_server ? std::optional(Price{*sheet.epsilon_server, sheet.delta}) : std::nullopt;
}
// Questions of a day.
std::optional<Price> asked_in_a_day(const RunFacts& facts, int queries_per_day) {
  if (facts.open_queries && queries_per_day > 0) return std::nullopt;
  return Price{facts.sheet.epsilon_query.value_or(0) * queries_per_day,
               facts.sheet.delta_query * queries_per_day};
}
constexpr double day = 1, month = 31, ten_years = 3652;

Spending spending(const RunFacts& facts, int queries_per_day) {
  Spending all{paid_for_training(facts.sheet), asked_in_a_day(facts, queries_per_day)};
  if (all.once) all.once->epsilon += facts.demand.epsilon;
  return all;
}

ReportTable charges(const RunFacts& facts, int queries_per_day) {
  const auto& sheet = facts.sheet;
  ReportTable table;
  for (const char* heading :
       {"what is charged", "once", "in a day", "in a month (31 days)", "in a lifetime (ten years)"})
    table.columns.push_back({heading});
  const auto add = [&](const std::string& what, const std::string& once, const Spending& line,
                       double Price::*part) {
    std::vector<TableCell> row = {TableCell::words(what), TableCell::words(once)};
    for (const double days : {day, month, ten_years}) {
      const auto spent = line.after(days);
      row.push_back(TableCell::words(spent ? fmt::format("{:.4g}", (*spent).*part) : "none holds"));
    }
    table.rows.push_back(std::move(row));
  };
  add("taking part in this training", epsilon_or_none(sheet.epsilon_server),
      {paid_for_training(sheet), Price{}}, &Price::epsilon);
  if (facts.demand.releases > 0)
    add(fmt::format("demand, released {} times", facts.demand.releases),
        fmt::format("{:.4g}", facts.demand.epsilon), {Price{facts.demand.epsilon, 0}, Price{}},
        &Price::epsilon);
  if (sheet.epsilon_query || facts.open_queries)
    add(fmt::format("questions, {} a day", queries_per_day), epsilon_or_none(sheet.epsilon_query),
        {Price{}, asked_in_a_day(facts, queries_per_day)}, &Price::epsilon);
  add("together, epsilon", "", spending(facts, queries_per_day), &Price::epsilon);
  add("together, delta", "", spending(facts, queries_per_day), &Price::delta);
  table.caption = fmt::format(
      "Epsilon against the server, and the delta that it holds at: {:g} of the training{}. Releases are "
      "added "
      "up. A device's ledger refuses what exceeds its own budgets for a day, a month and a lifetime: with "
      "one "
      "these columns end there. A simulation charges nobody.",
      sheet.delta,
      sheet.delta_query > 0 ? fmt::format(", {:g} of every question", sheet.delta_query) : std::string());
  return table;
}

std::string run_page(const fs::path& run, const RunFacts& facts, const std::vector<AuditLine>& audits,
                     const PageWishes& wishes, int queries_per_day) {
  const auto& sheet = facts.sheet;
  const GuessBounds guesses = guess_bounds(sheet, facts.plan);
  HtmlReport page(fmt::format("Privacy of a trained recommender: {}", sheet.recipe),
                  fmt::format("{}{}", sheet.reproducible ? "SIMULATION, no epsilon holds. " : "",
                              fs::absolute(run).lexically_normal().string()));
  page.privacy_note(in_one_paragraph(facts, guesses));
  page.facts({{"data set", text_of(facts.description, "dataset", "not recorded")},
              {"its fingerprint", text_of(facts.description, "fingerprint", "not recorded") +
                                      " (a checksum: finds mistakes, not forgery)"},
              {"training ended", facts.ended},
              {"by version", text_of(facts.description, "version", "not recorded")},
              {"recipe, mode", fmt::format("{}, {}", sheet.recipe, sheet.mode)},
              {"noise", sheet.reproducible ? "from a seed: a simulation" : "secret"}});
  page.heading("What holds, against whom");
  page.table(guarantees(facts, guesses));
  page.heading("What is charged");
  page.table(charges(facts, queries_per_day));
  page.heading("How");
  std::vector<std::string> how = {"Mechanism: " + sheet.mechanism + ".",
                                  "Who takes part: " + sheet.sampling + ".",
                                  "Added up: " + sheet.composition + "."};
  if (wishes.query_epsilon)
    how.push_back(fmt::format(
        "Questions: {} at epsilon {:g}, as was stated when this page was made; the run itself was tested "
        "with "
        "{}.",
        fmt::format("one of {} prototypes, told by randomised response,", sheet.query_choices.value_or(0)),
        *wishes.query_epsilon,
        facts.own_query_epsilon.value_or(0) > 0 ? fmt::format("epsilon {:.4g}", *facts.own_query_epsilon)
                                                : "devices that rank by themselves"));
  page.list(how);
  page.heading("What the server sees");
  page.list(sheet.server_sees);
  page.heading("What is not protected");
  page.list(sheet.not_protected);
  add_audits(page, audits, sheet, "run");
  page.heading("Fingerprints");
  page.paragraph("BLAKE2b-256 of the run's files.");
  page.facts(facts.hashes);
  return page.html();
}

// Questions to a server with prototypes, told by randomised response, in place of what the run was tested
// with.
Status set_query(RunFacts& facts, double epsilon) {
  SOTTO_TRY(const auto served, serving::serving_mechanism_for(epsilon));
  privacy::PrivacyDatasheet& sheet = facts.sheet;
  facts.own_query_epsilon = sheet.epsilon_query;
  sheet.epsilon_query = epsilon;
  sheet.delta_query = 0;
  facts.open_queries = false;
  if (served.prototypes > 0)
    sheet.query_choices = served.prototypes;
  else if (!sheet.query_choices)  // what a pack has unless it is told otherwise
    sheet.query_choices = static_cast<std::uint64_t>(serving::ServedRunSettings{}.prototypes);
  return {};
}

}  // namespace

Result<PrivacyPage> page_of_run(const fs::path& run, const PageWishes& wishes) {
  if (!wishes.operator_key.empty() || !wishes.authorities.empty())
    return bad_input("--operator-key and --authorities are for the report of a coordinator, and {} is none",
                     run.string());
  const int queries_per_day = wishes.queries_per_day.value_or(1);
  SOTTO_TRY(RunFacts facts, facts_of(run));
  if (wishes.query_epsilon) SOTTO_CHECK(set_query(facts, *wishes.query_epsilon));
  SOTTO_TRY(const auto audits, audit_for_page(facts.sheet, run));
  const bool simulation = facts.sheet.reproducible;
  const auto unless_simulated = [&](const std::optional<double>& epsilon) {
    return simulation ? nlohmann::json(nullptr) : or_null(epsilon);
  };
  const auto charged = [&](double days, double Price::*part) {
    const auto spent = spending(facts, queries_per_day).after(days);
    return unless_simulated(spent ? std::optional((*spent).*part) : std::nullopt);
  };
  return PrivacyPage{.html = run_page(run, facts, audits, wishes, queries_per_day),
                     .event = {{"event", "report"},
                               {"of", "run"},
                               {"epsilon", unless_simulated(facts.sheet.epsilon_server)},
                               {"epsilon_published", unless_simulated(facts.sheet.epsilon_published)},
                               {"delta", facts.sheet.delta},
                               {"epsilon_query", or_null(facts.sheet.epsilon_query)},
                               {"delta_query", facts.sheet.delta_query},
                               {"epsilon_day", charged(day, &Price::epsilon)},
                               {"delta_day", charged(day, &Price::delta)},
                               {"epsilon_month", charged(month, &Price::epsilon)},
                               {"delta_month", charged(month, &Price::delta)},
                               {"epsilon_ten_years", charged(ten_years, &Price::epsilon)},
                               {"delta_ten_years", charged(ten_years, &Price::delta)},
                               {"simulation", simulation},
                               {"audits", to_json(audits)}},
                     .refuted = any_refuted(audits)};
}

}  // namespace sotto::cli
