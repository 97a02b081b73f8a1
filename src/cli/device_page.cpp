// The page of a device: what it has told, to whom, and what is left. Names no item and no click.

#include <algorithm>
#include <cmath>

#include "cli/command.h"
#include "cli/privacy_page.h"
#include "privacy/ledger/ledger.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::cli {

namespace {

using privacy::LedgerStatement;
using privacy::SpendingLine;
using report::ReportTable;
using report::TableCell;

std::string epsilon_in_cell(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.4g}", epsilon) : std::string("no bound");
}

const char* purpose_in_words(std::string_view purpose) {
  return purpose == "training"     ? "taking part in training"
         : purpose == "labels"     ? "labels for training"
         : purpose == "evaluation" ? "measuring versions"
                                   : "questions for recommendations";
}

bool knows_its_past(const LedgerStatement& told) {
  return std::none_of(told.budgets.begin(), told.budgets.end(), [](const privacy::BudgetState& state) {
    return state.closed == privacy::ClosingReason::past_unknown;
  });
}

std::string device_in_one_paragraph(const LedgerStatement& told) {
  const SpendingLine& total = told.total;
  std::string text;
  if (total.charges == 0)
    text = fmt::format("Nothing that protects something was told from here since {}. ",
                       privacy::to_text(told.began));
  else if (!std::isfinite(total.spent.epsilon))
    text = "What was told from here has no bound at this delta. ";
  else
    text = fmt::format(
        "{} {} left this device since {}. Whoever received all of them, knows everything else and "
        "wavers between "
        "two stories about this person's entire history, is right about which is true at most {} (a coin: "
        "50). ",
        total.charges, total.charges == 1 ? "release" : "releases", privacy::to_text(told.began),
        odds_in_words(right_at_most(total.spent.epsilon, told.delta)));
  if (total.free > 0)
    text += fmt::format("{} further answers were made from what is called not sensitive alone. ", total.free);
  if (!knows_its_past(told))
    text +=
        "The ledger cannot show its whole past: what was told before it began is not in these numbers, and "
        "its budgets "
        "count as spent. ";
  return text;
}

ReportTable device_charges(const LedgerStatement& told) {
  ReportTable table;
  for (const char* heading : {"what was charged", "charges", "this day", "this month", "lifetime"})
    table.columns.push_back({heading});
  const auto add = [&](const std::string& what, const SpendingLine& day, const SpendingLine& month,
                       const SpendingLine& ever) {
    table.rows.push_back({TableCell::words(what), TableCell::words(fmt::format("{}", ever.charges)),
                          TableCell::words(epsilon_in_cell(day.spent.epsilon)),
                          TableCell::words(epsilon_in_cell(month.spent.epsilon)),
                          TableCell::words(epsilon_in_cell(ever.spent.epsilon))});
  };
  const auto& day = told.windows[0];
  const auto& month = told.windows[1];
  for (std::size_t i = 0; i < told.purposes.size(); ++i)
    if (told.purposes[i].charges > 0 ||
        (told.purposes[i].what != "labels" && told.purposes[i].what != "evaluation"))
      add(purpose_in_words(told.purposes[i].what), day.purposes[i], month.purposes[i], told.purposes[i]);
  add("together", day.total, month.total, told.total);
  table.caption = fmt::format(
      "Epsilon against the servers that received it, at delta {:g}; day and month are those of {}. Each cell "
      "is added "
      "up for itself by the best theorem that applies, so 'together' may be less than the sum of the lines "
      "above it.",
      told.delta, privacy::to_text(told.made));
  return table;
}

ReportTable device_budgets(const LedgerStatement& told) {
  ReportTable table;
  for (const char* heading : {"budget", "epsilon", "delta", "spent", "left", "frees up"})
    table.columns.push_back({heading});
  for (const privacy::BudgetState& state : told.budgets)
    table.rows.push_back(
        {TableCell::words(describe(state.budget, told.settings.sensitivity)),
         TableCell::words(fmt::format("{:g}", state.budget.epsilon)),
         TableCell::words(fmt::format("{:g}", state.budget.delta)),
         TableCell::words(epsilon_in_cell(state.spent.epsilon)),
         TableCell::words(epsilon_in_cell(state.left())),
         TableCell::words(state.window.end ? privacy::to_text(*state.window.end) : "never")});
  table.caption =
      "The ledger refuses what would exceed any of them. Spent is counted by the rule that also holds "
      "against servers "
      "that choose each request after seeing the answers before, so it may be more than above.";
  return table;
}

std::vector<std::string> what_left_the_device(const LedgerStatement& told) {
  constexpr std::size_t most_lines = 12;
  std::vector<std::string> list;
  for (const std::string& release : told.releases) list.push_back(release + ".");
  for (const auto& one : told.campaigns)
    list.push_back(fmt::format("{} rounds of the campaign {}.", one.rounds, one.campaign));
  if (list.size() > most_lines) {
    const std::size_t more = list.size() - most_lines;
    list.resize(most_lines);
    list.push_back(fmt::format("And {} more kinds: 'sotto privacy ledger' lists them.", more));
  }
  if (told.total.free > 0) {
    std::vector<std::string> open;
    const auto& sensitivity = told.settings.sensitivity;
    for (std::size_t i = 0; i < sensitivity.categories().size(); ++i)
      if (!sensitivity.is_sensitive(static_cast<privacy::CategoryId>(i)))
        open.push_back(sensitivity.categories()[i]);
    list.push_back(
        fmt::format("{} exact answers about clicks in categories called not sensitive: {}.", told.total.free,
                    open.empty() ? std::string("none any more") : fmt::format("{}", fmt::join(open, ", "))));
  }
  if (list.empty()) list.emplace_back("Nothing about its person.");
  list.emplace_back(
      "Requests for public files, the same for everybody: packs, versions of the model, the log.");
  return list;
}

std::string device_page(const fs::path& folder, const LedgerStatement& told) {
  report::HtmlReport page("What this device has told", fs::absolute(folder).lexically_normal().string());
  page.privacy_note(device_in_one_paragraph(told));
  page.facts({{"ledger", told.id},
              {"covers", fmt::format("{} to {}, {} records", privacy::to_text(told.began),
                                     privacy::to_text(told.latest), told.records)},
              {"this page", fmt::format("made {} by sotto {}", privacy::to_text(told.made), SOTTO_VERSION)},
              {"what is hidden", fmt::format("everything of one {}, {}, against the servers",
                                             name(told.settings.unit), name(told.settings.adjacency))}});
  page.heading("What was charged");
  page.table(device_charges(told));
  page.heading("What may still be told");
  page.table(device_budgets(told));
  page.heading("What left this device");
  page.list(what_left_the_device(told));
  page.heading("What servers see");
  page.list(
      {"Of a round of training: that this device took part, and when; what it sent is masked, and counts in "
       "a sum "
       "with noise.",
       "Of a question: one noisy answer per period, drawn once and repeated until the period is over.",
       "Of everything: the network address and the time."});
  page.heading("What is not protected");
  page.list({"This folder: whoever can read it has the history itself. It is for its owner alone.",
             "What is opened: fetching an article or a film tells whoever hands it out.",
             "What other programs on this machine tell.",
             "A ledger that was deleted together with its anchor: a new one begins with its budgets spent, "
             "and does not "
             "know what was told before."});
  page.heading("Fingerprints");
  page.paragraph(
      "Every record names the one before it by its hash; all of them were verified for this page. Keep the "
      "newest, and "
      "a later page can be held to it.");
  page.facts({{"newest record", told.head}});
  return page.html();
}

}  // namespace

Result<PrivacyPage> page_of_device(const fs::path& folder) {
  SOTTO_TRY(const LedgerStatement told,
            privacy::read_statement(folder / privacy::ledger_file_name, privacy::read_system_clocks()));
  const auto bounded = [](const SpendingLine& line) {
    return std::isfinite(line.spent.epsilon) ? nlohmann::json(line.spent.epsilon) : nlohmann::json(nullptr);
  };
  nlohmann::json event = {{"event", "report"},
                          {"of", "device"},
                          {"ledger", told.id},
                          {"records", told.records},
                          {"head", told.head},
                          {"epsilon", bounded(told.total)},
                          {"delta", told.delta},
                          {"unit", privacy::name(told.settings.unit)},
                          {"adjacency", privacy::name(told.settings.adjacency)},
                          {"epsilon_training", bounded(told.purposes[0])},
                          {"epsilon_queries", bounded(told.purposes[2])},
                          {"epsilon_day", bounded(told.windows[0].total)},
                          {"epsilon_month", bounded(told.windows[1].total)},
                          {"charges", told.total.charges}};
  return PrivacyPage{.html = device_page(folder, told), .event = std::move(event)};
}

}  // namespace sotto::cli
