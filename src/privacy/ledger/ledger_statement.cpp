#include "privacy/ledger/ledger_statement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sotto::privacy {
namespace {

double delta_of_lines(const std::vector<LedgerBudget>& budgets) {
  double delta = 1;
  for (const LedgerBudget& budget : budgets) {
    if (budget.window == BudgetWindow::lifetime && !budget.category) return budget.delta;
    delta = std::min(delta, budget.delta);
  }
  return delta;
}

// Equal tallies (categories that are always charged together) are accounted for once.
class Lines {
 public:
  Lines(const LedgerBooks& books, double delta) : books_(books), delta_(delta) {}
  SpendingLine line(std::string what, const LedgerBooks::Uses& uses) {
    auto known = std::find_if(known_.begin(), known_.end(),
                              [&](const auto& one) { return one.first->tally == uses.tally; });
    if (known == known_.end()) {
      known = known_.insert(known_.end(), {&uses, spent_as_planned(books_.events(uses), delta_)});
    }
    return {std::move(what), uses.charges, uses.free, known->second};
  }

 private:
  const LedgerBooks& books_;
  double delta_;
  std::vector<std::pair<const LedgerBooks::Uses*, Spent>> known_;
};

}  // namespace

LedgerStatement make_statement(const LedgerBooks& books, const LedgerId& id, const ChainHash& head,
                               const ClockReading& now) {
  const LedgerSettings& settings = books.settings();
  const UtcTime made = books.at(now).time;
  LedgerStatement statement{.id = to_hex(id),
                            .head = to_hex(head),
                            .records = books.records(),
                            .began = books.began(),
                            .latest = books.latest(),
                            .made = made,
                            .clock_ahead = made - now.wall,
                            .settings = settings};
  statement.budgets = books.budget_states(made);
  statement.delta = delta_of_lines(settings.budgets);
  Lines lines(books, statement.delta);
  statement.total = lines.line("everything", books.total());
  constexpr std::array purposes = {ReleasePurpose::training, ReleasePurpose::labels, ReleasePurpose::serving,
                                   ReleasePurpose::evaluation};
  for (const auto purpose : purposes)
    statement.purposes.push_back(lines.line(std::string(name(purpose)), books.purpose(purpose)));
  for (const auto window : {BudgetWindow::day, BudgetWindow::month}) {
    WindowStatement& told = statement.windows.emplace_back();
    told.window = window;
    told.total = lines.line(fmt::format("in this {}", name(window)), books.total_in(window, made));
    for (const auto purpose : purposes)
      told.purposes.push_back(
          lines.line(std::string(name(purpose)), books.purpose_in(window, purpose, made)));
  }
  for (const TrainingRound& round : books.rounds()) {
    const std::string campaign = to_hex(round.campaign);
    const auto known = std::find_if(statement.campaigns.begin(), statement.campaigns.end(),
                                    [&](const CampaignStatement& one) { return one.campaign == campaign; });
    if (known == statement.campaigns.end())
      statement.campaigns.push_back({campaign, 1});
    else
      ++known->rounds;
  }
  const auto& categories = settings.sensitivity.categories();
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const auto category = static_cast<CategoryId>(i);
    const LedgerBooks::Uses& uses = books.category(category);
    if (!settings.sensitivity.is_sensitive(category) && uses.charges == 0) continue;
    statement.categories.push_back(lines.line(categories[i], uses));
  }
  for (const PrivacyEvent& event : books.events(books.total())) {
    statement.releases.push_back(fmt::format("{} × {}", event.count, describe(event.mechanism)));
  }
  return statement;
}

Result<LedgerStatement> read_statement(const std::filesystem::path& path, const ClockReading& now,
                                       AnchorStore* anchor) {
  SOTTO_CHECK(validate(now));
  // Before the ledger, which may grow meanwhile.
  std::optional<LedgerAnchor> noted;
  if (anchor != nullptr) {
    SOTTO_TRY(const auto stored, anchor->load());
    if (!stored) return bad_input("there is no anchor for {}", path.string());
    SOTTO_TRY(noted, decode_anchor(*stored));
  }
  SOTTO_TRY(const std::string content, read_log_file(path, ledger_format));
  auto statement = [&]() -> Result<LedgerStatement> {
    SOTTO_TRY(LogReader reader, LogReader::open(ledger_format, content));
    LedgerId id;
    std::copy_n(reader.opening().begin(), id.size(), id.begin());
    std::vector<std::string> bodies;
    std::vector<ChainHash> hashes;
    std::string_view body;
    while (true) {
      SOTTO_TRY(const bool more, reader.next(body));
      if (!more) break;
      bodies.emplace_back(body);
      ChainHash& hash = hashes.emplace_back();
      std::copy_n(reader.link().begin(), hash.size(), hash.begin());
    }
    if (noted) SOTTO_CHECK(check_anchor(*noted, id, hashes));
    SOTTO_TRY(const LedgerBooks books, LedgerBooks::replay(bodies));
    LedgerStatement made = make_statement(books, id, hashes.back(), now);
    made.torn_bytes = reader.torn_bytes();
    made.anchored = noted.has_value();
    return made;
  }();
  if (!statement) return tl::unexpected(std::move(statement).error().in(path.string()));
  return statement;
}

namespace {

std::string shown(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.4g}", epsilon) : std::string("no bound");
}

std::string sensitivity_in_words(const SensitivitySettings& sensitivity) {
  std::vector<std::string_view> open;
  const auto& categories = sensitivity.categories();
  for (std::size_t i = 0; i < categories.size(); ++i) {
    if (!sensitivity.is_sensitive(static_cast<CategoryId>(i))) open.push_back(categories[i]);
  }
  if (open.empty()) return fmt::format("all {} categories", categories.size());
  return fmt::format("{} of {} categories; not sensitive: {}", categories.size() - open.size(),
                     categories.size(), fmt::join(open, ", "));
}

std::string to_line(const SpendingLine& line) {
  return fmt::format("  {:<24} {:>8} {:>8} {:>10}  {}\n", line.what, line.charges, line.free,
                     shown(line.spent.epsilon), line.spent.method);
}

// Nothing where the two agree within the hour.
std::string clock_in_words(std::chrono::seconds ahead) {
  const double hours = std::chrono::duration<double, std::ratio<3600>>(ahead).count();
  if (std::abs(hours) < 1) return {};
  return fmt::format(
      "{:.1f} hours {} the wall clock; where that one is right, --mend-clock sets it at the price of this "
      "and "
      "the next day and month",
      std::abs(hours), hours > 0 ? "ahead of" : "behind");
}

}  // namespace

std::string to_text(const LedgerStatement& statement) {
  const LedgerSettings& settings = statement.settings;
  std::string text = fmt::format(
      "Ledger {}\n"
      "  made       {}\n"
      "  covers     {} to {}, {} records\n"
      "  chain      verified{}\n"
      "  head       {}\n"
      "  protects   one {}, {}, against the server; requests {}\n"
      "  sensitive  {}\n",
      statement.id, to_text(statement.made), to_text(statement.began), to_text(statement.latest),
      statement.records, statement.anchored ? ", continues its anchor" : "", statement.head,
      name(settings.unit), name(settings.adjacency), name(settings.order),
      sensitivity_in_words(settings.sensitivity));
  if (const std::string clock = clock_in_words(statement.clock_ahead); !clock.empty()) {
    text += "  clock      " + clock + "\n";
  }
  if (statement.torn_bytes > 0) {
    text += fmt::format("  unfinished {} bytes of a record that was never receipted\n", statement.torn_bytes);
  }
  text += fmt::format("\nBudgets\n  {:<18} {:>7} {:>8} {:>8} {:>8} {:>8}  {:<17} {}\n", "per", "charges",
                      "delta", "epsilon", "spent", "left", "method", "frees up");
  constexpr std::size_t day_columns = 10;  // windows end at midnight
  for (const BudgetState& state : statement.budgets) {
    text +=
        fmt::format("  {:<18} {:>7} {:>8g} {:>8g} {:>8} {:>8}  {:<17} {}\n",
                    describe(state.budget, settings.sensitivity), state.charges, state.budget.delta,
                    state.budget.epsilon, shown(state.spent.epsilon), shown(state.left()), state.spent.method,
                    state.window.end ? to_text(*state.window.end).substr(0, day_columns) : "never");
  }
  text += fmt::format("\nTold since the beginning, epsilon at delta {:g}\n  {:<24} {:>8} {:>8} {:>10}  {}\n",
                      statement.delta, "", "charges", "free", "epsilon", "method");
  text += to_line(statement.total);
  for (const SpendingLine& line : statement.purposes) text += to_line(line);
  for (const WindowStatement& told : statement.windows) text += to_line(told.total);
  text += "\nAbout\n";
  for (const SpendingLine& line : statement.categories) text += to_line(line);
  if (!statement.releases.empty()) {
    text +=
        fmt::format("\nReleases, restated for one {}, {}\n", name(settings.unit), name(settings.adjacency));
    for (const std::string& release : statement.releases) text += "  " + release + "\n";
  }
  if (!statement.campaigns.empty()) text += "\nCampaigns of training\n";
  for (const CampaignStatement& one : statement.campaigns)
    text += fmt::format("  {}  {} rounds\n", one.campaign, one.rounds);
  return text;
}

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
                 {"closed", state.closed.has_value()},
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
                 {"clock_ahead_seconds", statement.clock_ahead.count()},
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
                 {"windows", json::array()},
                 {"campaigns", json::array()},
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
  for (const auto& told : statement.windows) {
    json window = to_object(told.total, "what");
    window["window"] = name(told.window);
    for (const auto& line : told.purposes) window["purposes"].push_back(to_object(line, "purpose"));
    object["windows"].push_back(std::move(window));
  }
  for (const auto& one : statement.campaigns)
    object["campaigns"].push_back({{"campaign", one.campaign}, {"rounds", one.rounds}});
  for (const auto& line : statement.categories) object["categories"].push_back(to_object(line, "category"));
  return object.dump();
}

}  // namespace sotto::privacy
