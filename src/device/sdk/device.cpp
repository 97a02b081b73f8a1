#include "device/sdk/device.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/random.h"
#include "base/settings.h"
#include "device/device.h"
#include "device/history/history_store.h"
#include "device/query/query_mechanism.h"
#include "device/sdk/blind_ranking.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"
#include "privacy/ledger/ledger_record.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::device {

namespace {
constexpr double nothing = 1e-9;  // ε for which no release exists
}  // namespace

Result<privacy::LedgerSettings> ledger_settings(const DeviceSettings& settings,
                                                std::vector<std::string> known,
                                                const std::vector<std::string>& pack_categories) {
  const auto add = [&](std::string_view category) {
    if (std::find(known.begin(), known.end(), category) == known.end()) known.emplace_back(category);
  };
  add(uncategorised);
  for (const std::string& category : pack_categories) add(category);
  // A person may decide about a category before the first pack names it.
  for (const std::string& category : settings.not_sensitive) add(category);
  if (std::find(settings.not_sensitive.begin(), settings.not_sensitive.end(), uncategorised) !=
      settings.not_sensitive.end()) {
    return bad_input("items without a category are always sensitive");
  }
  SOTTO_TRY(auto sensitivity, privacy::SensitivitySettings::create(std::move(known), settings.not_sensitive));
  std::vector<privacy::LedgerBudget> budgets;
  const auto budget = [&](privacy::BudgetWindow window, double epsilon) {
    if (epsilon > 0) budgets.push_back({window, std::nullopt, epsilon, settings.budget_delta});
  };
  budget(privacy::BudgetWindow::day, settings.day_epsilon);
  budget(privacy::BudgetWindow::month, settings.month_epsilon);
  budget(privacy::BudgetWindow::lifetime, settings.lifetime_epsilon);
  // Who tells nothing needs no budget; the ledger wants one all the same.
  // (An encrypted question is charged ε = 0.)
  const bool tells = settings.ranking == "private" && settings.query.reads_everything();
  if (!tells && budgets.empty()) budget(privacy::BudgetWindow::lifetime, nothing);
  return privacy::LedgerSettings{privacy::Unit::user, privacy::Adjacency::replace_one,
                                 privacy::RequestOrder::adaptive, std::move(sensitivity), std::move(budgets)};
}

Result<privacy::Ledger> open_ledger(const fs::path& path, const DeviceSettings& settings,
                                    const privacy::ClockReading& now, const privacy::LedgerOptions& options) {
  std::error_code unreadable;
  if (fs::exists(path, unreadable) || unreadable) return privacy::Ledger::open(path, now, options);
  SOTTO_TRY(const auto wanted, ledger_settings(settings, {}, {}));
  return privacy::Ledger::create(path, wanted, now, options);
}

Status follow(privacy::Ledger& ledger, const DeviceSettings& settings,
              const std::vector<std::string>& pack_categories, const privacy::ClockReading& now) {
  const privacy::LedgerSettings before = ledger.settings();
  SOTTO_TRY(const auto after, ledger_settings(settings, before.sensitivity.categories(), pack_categories));
  // The time is the same in both, so equal bytes are equal settings.
  if (encode(privacy::SettingsRecord{now.wall, before}) == encode(privacy::SettingsRecord{now.wall, after}))
    return {};
  return ledger.change_settings(after, now);
}

std::chrono::seconds phase_of(const privacy::Ledger& ledger, std::chrono::seconds period) {
  std::uint64_t number = 0;
  const std::string id = ledger.id();
  std::from_chars(id.data(), id.data() + std::min<std::size_t>(id.size(), 16), number, 16);
  return std::chrono::seconds(number % static_cast<std::uint64_t>(period.count()));
}

void DeviceSettings::bind(SettingsTable& table) {
  table.add_choice(
      "ranking", ranking, {"private", "blind", "popular", "local"},
      "Ask privately, ask by encrypted questions, ask for the public list, or rank the pack without asking");
  query.bind(table);
  table.add("day_epsilon", day_epsilon, {0, 1e6}, "Budget per day; 0 for none")
      .add("month_epsilon", month_epsilon, {0, 1e6}, "Budget per month; 0 for none")
      .add("lifetime_epsilon", lifetime_epsilon, {0, 1e6}, "Budget for ever; 0 for none")
      .add("budget_delta", budget_delta, {1e-12, 1e-3}, "Delta of the budgets")
      .add("clicks_per_category", clicks_per_category, {1, 10'000},
           "Clicks kept on the device, newest first");
}

std::string_view name(Recommendations::Source source) {
  switch (source) {
    case Recommendations::Source::fresh_query:
      return "fresh query";
    case Recommendations::Source::repeated_query:
      return "repeated query";
    case Recommendations::Source::expired_query:
      return "expired query";
    case Recommendations::Source::blind_query:
      return "blind query";
    case Recommendations::Source::popular:
      return "popular";
    case Recommendations::Source::local:
      return "local";
  }
  return "unknown";
}

namespace {

// Also when something is written in it, and how much, tells what its owner reads.
Status make_private_folder(const fs::path& folder) {
  std::error_code wrong;
  const bool made = fs::create_directories(folder, wrong);
  if (made && !wrong) fs::permissions(folder, fs::perms::owner_all, wrong);
  if (wrong) return failed("cannot create the folder {}: {}", folder.string(), wrong.message());
  const fs::perms mode = fs::status(folder, wrong).permissions();
  if (wrong) return failed("cannot look at the folder {}: {}", folder.string(), wrong.message());
  if ((mode & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none) return {};
  return bad_input(
      "other people may look into the folder {} (mode {:o}), where the clicks would lie: 'chmod 700' it, or "
      "name one that does not exist yet",
      folder.string(), static_cast<unsigned>(mode & fs::perms::all));
}

// A pack and what is made from it once.
struct Installed {
  Installed(DevicePack given, std::string hash, UserModel made)
      : pack(std::move(given)), version(std::move(hash)), user_model(std::move(made)), reranker(pack) {}
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  const DevicePack pack;
  const std::string version;
  const UserModel user_model;
  const Reranker reranker;
};

}  // namespace

struct Device::State {
  State(fs::path where, DeviceSettings wanted, DeviceEnvironment around, privacy::Ledger book,
        HistoryStore clicks)
      : folder(std::move(where)),
        settings(std::move(wanted)),
        environment(std::move(around)),
        random(environment.simulated != nullptr ? privacy::DeviceRandom::simulated(*environment.simulated)
                                                : privacy::DeviceRandom(secure)),
        ledger(std::move(book)),
        history(std::move(clicks)),
        blind(folder, random) {}

  fs::path pack_path() const { return folder / "pack.sotto"; }
  privacy::ClockReading now() const {
    return environment.clock ? environment.clock() : privacy::read_system_clocks();
  }

  Status adopt(std::string_view bytes, bool store) {
    SOTTO_TRY(auto pack, decode_pack(bytes));
    SOTTO_TRY(auto version, sotto::device::pack_version(bytes));
    SOTTO_TRY(auto user_model, make_user_model(pack));
    SOTTO_CHECK(follow(ledger, settings, pack.categories, now()));
    SOTTO_CHECK(history.follow_labels(installed ? &installed->pack : nullptr, pack, now().wall));
    if (store) SOTTO_CHECK(write_file_atomically(pack_path(), bytes));
    mechanism.reset();
    installed = std::make_unique<Installed>(std::move(pack), std::move(version), std::move(user_model));
    if (settings.ranking == "blind") blind.follow(installed->pack);
    return {};
  }

  Reranker::Seen seen() const {
    Reranker::Seen items;
    for (const StoredClick& click : history.clicks()) items.insert(click.item);
    return items;
  }

  // None: the budget is spent.
  Result<std::optional<PaidQuery>> ask(const ReadableHistory& readable) {
    if (!mechanism) {
      SOTTO_TRY(mechanism, QueryMechanism::create(settings.query, installed->pack, environment.mechanisms));
    }
    if (!query) {
      const std::chrono::seconds period(std::llround(settings.query.refresh_hours * 3600));
      SOTTO_TRY(auto opened, PrivateQuery::open(folder / "answers.sotto", ledger, settings.query,
                                                phase_of(ledger, period), random));
      query.emplace(std::move(opened));
    }
    return query->ask(*mechanism, readable, now());
  }

  Result<BlindRanking::Asked> ask_blindly(Transport& transport, std::span<const float> user) {
    SOTTO_CHECK(blind.ensure_guide(transport));
    const std::chrono::seconds period(std::llround(settings.query.refresh_hours * 3600));
    return blind.ask(transport, user, static_cast<std::size_t>(settings.query.wanted), ledger,
                     {period, phase_of(ledger, period)}, now());
  }

  // What the ledger would say to one more answer.
  Result<std::string> why_no_answer() {
    const privacy::Release release = mechanism->release(ledger.settings());
    SOTTO_TRY(const auto refusals, ledger.refusals(release, now()));
    for (const privacy::Refusal& refusal : refusals) {
      if (!refusal.fits_alone)
        return fmt::format(
            "one answer tells more than the whole budget of epsilon {:g} allows: raise the budget, or ask "
            "with "
            "a smaller epsilon than {:g}",
            refusal.state.budget.epsilon, settings.query.epsilon);
    }
    const auto closed = std::find_if(refusals.begin(), refusals.end(), [](const privacy::Refusal& refusal) {
      return refusal.state.closed.has_value();
    });
    if (closed != refusals.end()) {
      return std::string(*closed->state.closed == privacy::ClosingReason::clock_mended
                             ? "the budget counts as spent because the ledger's clock was mended"
                             : "the budget counts as spent because nothing tells what was charged before; on "
                               "first use the host states it");
    }
    return std::string("the budget is spent");
  }

  fs::path folder;
  DeviceSettings settings;
  DeviceEnvironment environment;
  SecureRandom secure;
  privacy::DeviceRandom random;
  privacy::Ledger ledger;
  HistoryStore history;
  BlindRanking blind;
  std::optional<PrivateQuery> query;
  std::unique_ptr<const Installed> installed;
  std::optional<QueryMechanism> mechanism;  // of the installed pack, made when first needed
};

Result<Device> Device::open(const fs::path& folder, const DeviceSettings& settings,
                            DeviceEnvironment environment) {
  SOTTO_CHECK(make_private_folder(folder));
  const privacy::ClockReading now = environment.clock ? environment.clock() : privacy::read_system_clocks();
  SOTTO_TRY(auto ledger, open_ledger(folder / privacy::ledger_file_name, settings, now,
                                     {environment.anchor, environment.first_use}));
  SOTTO_CHECK(follow(ledger, settings, {}, now));
  SOTTO_TRY(auto history, HistoryStore::open(folder / "history.sotto",
                                             static_cast<std::size_t>(settings.clicks_per_category)));
  auto state = std::make_unique<State>(folder, settings, std::move(environment), std::move(ledger),
                                       std::move(history));
  std::error_code unreadable;
  if (fs::exists(state->pack_path(), unreadable)) {
    SOTTO_TRY(const std::string bytes, read_file(state->pack_path(), max_pack_bytes));
    SOTTO_CHECK(state->adopt(bytes, false));
  }
  return Device(std::move(state));
}

Status Device::install(std::string_view pack) { return state_->adopt(pack, true); }

Result<bool> Device::refresh(Transport& transport) {
  SOTTO_TRY(const Transport::Pack fetched, transport.fetch_pack(pack_version()));
  switch (fetched.form) {
    case Transport::Pack::Form::unchanged:
      return false;
    case Transport::Pack::Form::whole:
      SOTTO_CHECK(install(fetched.bytes));
      return true;
    case Transport::Pack::Form::delta:
      break;
  }
  if (!state_->installed) return bad_input("the server sent a delta, but no pack is installed");
  SOTTO_TRY(const std::string old, read_file(state_->pack_path(), max_pack_bytes));
  SOTTO_TRY(const std::string later, apply_delta(old, fetched.bytes));
  SOTTO_CHECK(install(later));
  return true;
}

std::string Device::pack_version() const {
  return state_->installed ? state_->installed->version : std::string();
}

Status Device::click(std::string_view item) {
  if (!state_->installed) return bad_input("no pack is installed: fetch one first");
  return state_->history.add(state_->installed->pack, item, state_->now().wall);
}

Status Device::click(const OpenedItem& item) {
  if (!state_->installed) return bad_input("no pack is installed: fetch one first");
  const DevicePack& pack = state_->installed->pack;
  const auto category = std::find(pack.categories.begin(), pack.categories.end(), item.category);
  const auto number = static_cast<std::uint16_t>(category - pack.categories.begin());
  DevicePack with_item = pack;
  SOTTO_TRY(with_item.items,
            make_items({{item.id, item.vector, 0, category == pack.categories.end() ? no_category : number}},
                       pack.dimension));
  SOTTO_CHECK(check(with_item.items, pack.dimension, pack.categories.size()));
  return state_->history.add(with_item, item.id, state_->now().wall);
}

Status Device::prepare(Transport& transport) {
  if (state_->settings.ranking != "blind")
    return bad_input("only blind questions need keys: set ranking to blind");
  if (!state_->installed) return bad_input("no pack is installed: fetch one first");
  SOTTO_CHECK(state_->blind.ensure_guide(transport));
  return state_->blind.prepare();
}

std::size_t Device::clicks() const { return state_->history.clicks().size(); }
Status Device::forget_clicks() { return state_->history.clear(); }
std::vector<LabelChange> Device::label_changes() const { return state_->history.label_changes(); }

Result<Recommendations> Device::recommend(Transport& transport, std::size_t count) {
  State& state = *state_;
  if (!state.installed) return bad_input("no pack is installed: fetch one first");
  const Installed& installed = *state.installed;
  const ReadableHistory readable =
      state.history.readable(installed.pack, state.ledger.settings().sensitivity);
  const std::vector<float> user = user_vector(installed.user_model, installed.pack, readable);
  const Reranker::Seen seen = state.seen();
  Recommendations result;

  const auto ask_server = [&](const RecommendRequest& request) -> Status {
    SOTTO_TRY(const std::string body, transport.recommend(encode(request)));
    SOTTO_TRY(const RecommendAnswer answer, decode_recommend_answer(body));
    result.items = installed.reranker.rank(answer.items, user, seen, count);
    return {};
  };
  const auto wanted = static_cast<std::uint32_t>(state.settings.query.wanted);

  if (state.settings.ranking == "private") {
    const auto paid = state.ask(readable);
    if (!paid && paid.error().kind == ErrorKind::bad_input) return tl::unexpected(paid.error());
    if (!paid) {
      result.note = paid.error().message;  // a full disk, say: there is still the public list
    } else if (*paid) {
      const PaidQuery& answer = **paid;
      result.source = answer.is_new    ? Recommendations::Source::fresh_query
                      : answer.expired ? Recommendations::Source::expired_query
                                       : Recommendations::Source::repeated_query;
      const Status asked = ask_server(request_of(answer.query, wanted));
      if (asked) return result;
      result.note = asked.error().message;
    } else {
      SOTTO_TRY(result.note, state.why_no_answer());
    }
  }
  if (state.settings.ranking == "blind") {
    const auto asked = state.ask_blindly(transport, user);
    if (asked) {
      result.source =
          asked->is_new ? Recommendations::Source::blind_query : Recommendations::Source::repeated_query;
      result.items = installed.reranker.rank_scored(asked->items, user, seen, count);
      return result;
    }
    result.note = asked.error().message;
  }
  if (state.settings.ranking != "local") {
    RecommendRequest popular;
    popular.model = installed.pack.model;
    popular.query = privacy::PopularQuery{};
    popular.count = wanted;
    result.source = Recommendations::Source::popular;
    const Status asked = ask_server(popular);
    if (asked) return result;
    result.note = asked.error().message;
  }
  result.source = Recommendations::Source::local;
  result.items = installed.reranker.rank_pool(user, seen, count);
  return result;
}

Result<privacy::LedgerStatement> Device::statement() { return state_->ledger.statement(state_->now()); }

Device::Device(std::unique_ptr<State> state) : state_(std::move(state)) {}
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

}  // namespace sotto::device
