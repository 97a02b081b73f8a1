#include "device/device.h"

#include <algorithm>

#include "base/temporary_sibling.h"
#include "base/utf8.h"
#include "device/sdk/device_state.h"
#include "device/wire/pack_codec.h"
#include "device/wire/server_calls.h"
#include "privacy/ledger/ledger_statement.h"
#include "rounds/model_version.h"

namespace sotto::device {

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

ImpressionLimits page_limits(const DeviceSettings& settings) {
  return {static_cast<std::size_t>(settings.pages), std::chrono::days(settings.keep_days)};
}

RowLimits row_limits(const DeviceSettings& settings) {
  return {static_cast<std::size_t>(settings.rows), std::chrono::days(settings.keep_days)};
}

}  // namespace

Status remove_file(const fs::path& path) {
  remove_temporary_siblings(path);
  std::error_code problem;
  fs::remove(path, problem);
  if (problem) return failed("cannot remove {}: {}", path.string(), problem.message());
  return {};
}

Device::State::State(fs::path where, DeviceSettings wanted, DeviceEnvironment around, privacy::Ledger book,
                     HistoryStore clicks, ImpressionStore shown, RowStore used, LogWatch watch)
    : folder(std::move(where)),
      settings(std::move(wanted)),
      environment(std::move(around)),
      random(environment.simulated != nullptr ? privacy::DeviceRandom::simulated(*environment.simulated)
                                              : privacy::DeviceRandom(secure)),
      ledger(std::move(book)),
      history(std::move(clicks)),
      pages(std::move(shown)),
      rows(std::move(used)),
      blind(folder, random),
      log(std::move(watch)) {}

Status Device::State::adopt(std::string_view bytes, bool store) {
  SOTTO_TRY(auto pack, decode_pack(bytes));
  SOTTO_TRY(auto version, sotto::device::pack_version(bytes));
  SOTTO_TRY(auto user_model, make_user_model(pack));
  SOTTO_CHECK(follow(ledger, settings, pack.categories, now()));
  SOTTO_CHECK(history.follow_labels(installed ? &installed->pack : nullptr, pack, now().wall));
  if (store) SOTTO_CHECK(write_file_atomically(path_of(file_names::pack), bytes));
  mechanism.reset();
  installed = std::make_shared<const Installed>(std::move(pack), std::move(version), std::move(user_model));
  if (settings.ranking == "blind") blind.follow(installed->pack);
  return {};
}

Status Device::State::forget_old() {
  const privacy::UtcTime time = now().wall;
  SOTTO_CHECK(history.forget_before(time - std::chrono::days(settings.keep_days)));
  SOTTO_CHECK(rows.forget_old(time));
  return pages.forget_old(time);
}

Result<Device> Device::open(const fs::path& folder, const DeviceSettings& settings,
                            DeviceEnvironment environment) {
  SOTTO_CHECK(make_private_folder(folder));
  const privacy::ClockReading now = environment.clock ? environment.clock() : privacy::read_system_clocks();
  SOTTO_TRY(auto ledger, open_ledger(folder / privacy::ledger_file_name, settings, now,
                                     {environment.anchor, environment.first_use}));
  SOTTO_CHECK(follow(ledger, settings, {}, now));
  SOTTO_TRY(auto history, HistoryStore::open(folder / file_names::history,
                                             static_cast<std::size_t>(settings.clicks_per_category)));
  SOTTO_TRY(auto pages, ImpressionStore::open(folder / file_names::pages, page_limits(settings)));
  SOTTO_TRY(auto rows, RowStore::open(folder / file_names::rows, row_limits(settings)));
  SOTTO_TRY(auto log, LogWatch::open(folder / file_names::served_log, settings.log));
  auto state = std::make_unique<State>(folder, settings, std::move(environment), std::move(ledger),
                                       std::move(history), std::move(pages), std::move(rows), std::move(log));
  SOTTO_CHECK(state->forget_old());
  SOTTO_CHECK(state->read_agreements());
  std::error_code unreadable;
  if (fs::exists(state->path_of(file_names::pack), unreadable)) {
    SOTTO_TRY(const std::string bytes, read_file(state->path_of(file_names::pack), max_pack_bytes));
    SOTTO_CHECK(state->adopt(bytes, false));
  }
  return Device(std::move(state));
}

Status Device::install(std::string_view pack) { return state_->adopt(pack, true); }

Talk<Status> Device::State::demand_logged(Exchange& exchange, std::string_view pack) {
  if (!log.is_demanded()) co_return Status();
  co_return co_await log.demand(exchange, {rounds::LeafKind::pack, rounds::blob_hash(pack)});
}

Talk<Result<bool>> Device::State::refresh(Exchange& exchange) {
  const std::string version = installed ? installed->version : std::string();
  SOTTO_CO_TRY(const ServerAnswer answer, co_await exchange.send(pack_call(version)));
  if (answer.status == 304) {
    // It may have been installed before a log was demanded.
    SOTTO_CO_TRY(const std::string same, read_file(path_of(file_names::pack), max_pack_bytes));
    SOTTO_CO_CHECK(co_await demand_logged(exchange, same));
    co_return false;
  }
  if (answer.status != 200) co_return refused("server", answer);
  if (!version.empty()) {
    // The server sends the difference where it can. It says which pack it is for and where it leads, so
    // neither can pass for the other.
    SOTTO_CO_TRY(const std::string old, read_file(path_of(file_names::pack), max_pack_bytes));
    if (const auto later = apply_delta(old, answer.body)) {
      SOTTO_CO_CHECK(co_await demand_logged(exchange, *later));
      SOTTO_CO_CHECK(adopt(*later, true));
      co_return true;
    }
  }
  SOTTO_CO_CHECK(co_await demand_logged(exchange, answer.body));
  SOTTO_CO_CHECK(adopt(answer.body, true));
  co_return true;
}

Conversation<bool> Device::refresh() {
  return Conversation<bool>([this](Exchange& exchange) { return state_->refresh(exchange); });
}
Result<bool> Device::refresh(Transport& transport) { return carry(refresh(), transport, no_pause); }

std::string Device::pack_version() const {
  return state_->installed ? state_->installed->version : std::string();
}

Status Device::click(std::string_view item) {
  if (!state_->installed) return bad_input("no pack is installed: fetch one first");
  SOTTO_CHECK(state_->forget_old());
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
  SOTTO_CHECK(check(with_item.items, pack.dimension, pack.categories.size(), pack.languages.size()));
  return state_->history.add(with_item, item.id, state_->now().wall);
}

std::size_t Device::clicks() const { return state_->history.clicks().size(); }
std::vector<LabelChange> Device::label_changes() const { return state_->history.label_changes(); }

Status Device::add_page(std::vector<std::string> shown, std::vector<std::uint8_t> clicked) {
  StoredImpression page{state_->now().wall, {}, std::move(shown), std::move(clicked)};
  for (const StoredImpression& before : state_->pages.impressions())
    for (std::size_t i = 0; i < before.shown.size(); ++i)
      if (before.clicked[i] == 1) page.history.push_back(before.shown[i]);
  if (page.history.size() > ImpressionLimits::most_items)
    page.history.erase(page.history.begin(), page.history.end() - ImpressionLimits::most_items);
  const StoredImpression kept = page;
  SOTTO_CHECK(state_->pages.add({std::move(page)}, state_->now().wall));
  if (!state_->installed) return {};
  const auto& ids = state_->installed->pack.items.ids;
  for (std::size_t i = 0; i < kept.shown.size(); ++i)
    if (kept.clicked[i] == 1 && std::find(ids.begin(), ids.end(), kept.shown[i]) != ids.end())
      SOTTO_CHECK(click(kept.shown[i]));
  return {};
}

Status Device::add_pages(std::vector<StoredImpression> pages) {
  return state_->pages.add(std::move(pages), state_->now().wall);
}
const std::vector<StoredImpression>& Device::pages() const { return state_->pages.impressions(); }

Status Device::add_row(std::string item, std::optional<float> rating, std::vector<FieldValue> situation) {
  return add_rows({{state_->now().wall, std::move(item), rating, std::move(situation)}});
}
Status Device::add_rows(std::vector<StoredRow> rows) {
  return state_->rows.add(std::move(rows), state_->now().wall);
}
Status Device::set_profile(std::vector<FieldValue> profile) {
  return state_->rows.set_profile(std::move(profile));
}
const StoredRows& Device::rows() const { return state_->rows.stored(); }

Status Device::forget_reading() {
  SOTTO_CHECK(state_->history.clear());
  SOTTO_CHECK(state_->pages.clear());
  SOTTO_CHECK(state_->rows.clear());
  SOTTO_CHECK(state_->blind.forget());
  state_->query.reset();
  return remove_file(state_->path_of(file_names::answers));
}

Status Device::forget_item(std::string_view item) {
  SOTTO_TRY(const bool clicked, state_->history.remove(item));
  SOTTO_TRY(const bool on_a_page, state_->pages.remove_clicked(item));
  SOTTO_TRY(const bool used, state_->rows.remove(item));
  if (clicked || on_a_page || used) return {};
  return bad_input("nothing that was read is about the item \"{}\": 'export' names what is kept",
                   printable(item));
}

Status Device::erase(Device device) {
  const fs::path folder = device.state_->folder;
  device.state_.reset();  // and with it the lock
  std::error_code problem;
  fs::remove_all(folder, problem);
  if (problem) return failed("cannot remove {}: {}", folder.string(), problem.message());
  return {};
}

Result<privacy::LedgerStatement> Device::statement() { return state_->ledger.statement(state_->now()); }

Device::Device(std::unique_ptr<State> state) : state_(std::move(state)) {}
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

}  // namespace sotto::device
