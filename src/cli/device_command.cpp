#ifdef SOTTO_HAVE_NET

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "base/chain_hash.h"
#include "base/interrupt.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/device_folder.h"
#include "cli/key_files.h"
#include "cli/token_files.h"
#include "data/dataset.h"
#include "device/device.h"
#include "device/history/history_store.h"
#include "device/rounds/round_calls.h"
#include "device/sdk/device_json.h"
#include "device/wire/server_calls.h"
#include "fleet/readers.h"
#include "privacy/ledger/ledger_statement.h"
#include "transport/http_transport.h"

namespace sotto::cli {

namespace {

struct DeviceArguments {
  std::string store, anchor, server, authorities, token, operator_key, recovery_key, data, item, log_key;
  std::vector<std::string> clicked, assignments;
  std::uint64_t user = 0;
  std::optional<std::string> blocked_items, blocked_categories, languages;
  std::optional<std::int64_t> most_per_category;
  std::int64_t rounds = 1, count = 10, wait_seconds = 600;
  bool yes = false, everything = false;
};

Result<device::Device> device_of(const DeviceArguments& given) {
  SOTTO_TRY(const auto settings, read_settings(given.store));
  return open_device(given.store, settings, given.anchor);
}

std::string where_anchored(const DeviceAnchor& anchor) {
  return fmt::format("its ledger's anchor is {}{}", anchor.file.string(),
                     anchor.was_there ? ", which remembers a device in this folder: the budgets begin spent, "
                                        "as if it had told everything already"
                                      : "");
}

net::HttpClientSettings client_settings(const DeviceArguments& given) {
  net::HttpClientSettings settings;
  settings.url = given.server;
  settings.authorities = given.authorities;
  settings.timeout = std::chrono::seconds(60);
  return settings;
}

Status need_server(const DeviceArguments& given) {
  if (given.server.empty()) return bad_input("name the server: --server URL");
  return {};
}

bool ask_on_terminal(const device::ConsentTerms& terms) {
  std::cerr << fmt::format("{} asks for your consent.\n  for        {}\n", terms.service, terms.purpose);
  if (terms.training) {
    const device::TrainingPolicy& limits = terms.training_limits;
    std::cerr << fmt::format(
        "  training   What you read stays here. What is sent is part of a sum with at least {} others, with "
        "noise.\n"
        "             All rounds of a campaign may cost epsilon {:g} at most; every round is charged to the "
        "ledger.\n",
        limits.group.value - 1, limits.epsilon.value);
  }
  if (terms.asking) {
    const device::AskingLimits& limits = terms.asking_limits;
    std::cerr << fmt::format("  asking     Questions to a server, ranked {}", limits.ranking);
    if (limits.ranking == "private")
      std::cerr << fmt::format("; an answer costs epsilon {:g}, at most one in {:g} hours", limits.epsilon,
                               limits.refresh_hours);
    std::cerr << ".\n";
  }
  std::cerr << "  You can withdraw at any time ('sotto device withdraw').\nAgree? [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

// Asks, unless the person was asked elsewhere.
Result<bool> ask_person(device::Device& device, const device::ConsentTerms& terms, bool yes) {
  if (!yes && !ask_on_terminal(terms)) return false;
  SOTTO_CHECK(device.agree(terms));
  return true;
}

// For recommendations alone; enrol makes one that trains too.
Status make_device(const DeviceArguments& given, const Output& output) {
  if (fs::exists(settings_file(given.store)))
    return bad_input("{} is a device already: what it may do is in {}", given.store,
                     settings_file(given.store).string());
  device::DeviceSettings settings = first_settings();
  SettingsTable table;
  settings.bind(table);
  for (const std::string& assignment : given.assignments) SOTTO_CHECK(table.set_assignment(assignment));
  if (!given.log_key.empty()) {
    SOTTO_TRY(const auto owner, read_public_key(given.log_key));
    settings.log.key = to_hex(owner);
  }
  SOTTO_TRY(const DeviceAnchor anchor, anchor_of(given.store, given.anchor));
  SOTTO_CHECK(begin_device(given.store, settings, anchor, !fs::exists(given.store)));
  output.event({{"event", "done"},
                {"ranking", settings.ranking},
                {"settings", settings_file(given.store).string()},
                {"anchor", anchor.file.string()},
                {"known_before", anchor.was_there}});
  output.text(fmt::format("a device that ranks {}: what it may cost and do is in {}",
                          settings.ranking == "local"     ? "by itself and asks nothing"
                          : settings.ranking == "private" ? "what it asked for privately"
                                                          : "what it asked for",
                          settings_file(given.store).string()));
  output.text(where_anchored(anchor));
  return {};
}

Result<device::Device> device_to_enrol(const DeviceArguments& given, bool first_use, const Output& output) {
  if (fs::exists(settings_file(given.store))) return device_of(given);
  SOTTO_TRY(const DeviceAnchor anchor, anchor_of(given.store, given.anchor));
  SOTTO_TRY(auto device, begin_device(given.store, first_settings(), anchor, first_use));
  output.text(where_anchored(anchor));
  return device;
}

Status enrol(const DeviceArguments& given, const Output& output) {
  SOTTO_CHECK(need_server(given));
  if (given.token.empty() || given.operator_key.empty())
    return bad_input(
        "enrolling needs --token FILE (a line of the operator's tokens) and --operator-key FILE");
  SOTTO_TRY(const auto operator_key, read_public_key(given.operator_key));
  SOTTO_TRY(const auto tokens, read_tokens(given.token));
  if (tokens.size() != 1)
    return bad_input("{} holds {} tokens, and a device is given one", given.token, tokens.size());
  SOTTO_TRY(const auto token, rounds::open_token(tokens.front()));
  std::optional<rounds::IdentityKey> recovery;
  if (!given.recovery_key.empty()) {
    SOTTO_TRY(recovery, read_public_key(given.recovery_key));
  }
  SOTTO_TRY(auto network, transport::HttpTransport::create(client_settings(given)));
  SOTTO_TRY(const auto campaign, carry(device::fetch_campaign(), network, device::no_pause));
  SOTTO_TRY(auto device, device_to_enrol(given, token.token.first_use, output));
  SOTTO_TRY(const device::DeviceSettings settings, read_settings(given.store));
  const bool asks = settings.ranking != "local";
  SOTTO_TRY(const bool agreed, ask_person(device,
                                          device.terms(given.server, campaign.campaign.purpose,
                                                       {.training = true, .asking = asks}),
                                          given.yes));
  if (agreed)
    SOTTO_CHECK(device.enrol(network, tokens.front(), rounds::OperatorKeys(operator_key, recovery)));
  output.event({{"event", "done"}, {"enrolled", agreed}});
  output.text(
      agreed ? fmt::format("enrolled; what it may cost and do is in {}", settings_file(given.store).string())
             : "not enrolled: the campaign was fetched, to be shown here, and nothing else was sent");
  return {};
}

// An ordinary reader's past, to try a device out with.
Status import_reader(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(const auto dataset, data::Dataset::open(given.data));
  if (given.user >= dataset.user_count())
    return bad_input("--user is {}, and {} has {} users: 0 to {}", given.user, dataset.name(),
                     dataset.user_count(), dataset.user_count() - 1);
  SOTTO_TRY(auto device, device_of(given));
  fleet::Memory memory = fleet::memory_of(dataset, static_cast<data::UserId>(given.user));
  // As if it had just happened: what is old is let go.
  const auto now = privacy::read_system_clocks().wall;
  for (auto& one : memory.impressions) one.time = now;
  for (auto& row : memory.rows.rows) row.time = now;
  const std::size_t pages = memory.impressions.size(), rows = memory.rows.rows.size();
  SOTTO_CHECK(device.add_pages(std::move(memory.impressions)));
  SOTTO_CHECK(device.set_profile(std::move(memory.rows.profile)));
  SOTTO_CHECK(device.add_rows(std::move(memory.rows.rows)));
  output.event({{"event", "done"}, {"impressions", pages}, {"rows", rows}});
  output.text(rows > 0 ? fmt::format("{} rows of reader {} are on this device", rows, given.user)
                       : fmt::format("{} pages of reader {} are on this device", pages, given.user));
  return {};
}

Status train(const DeviceArguments& given, const Output& output) {
  SOTTO_CHECK(need_server(given));
  SOTTO_TRY(auto device, device_of(given));
  SOTTO_TRY(auto network, transport::HttpTransport::create(client_settings(given)));
  const device::RoundHooks hooks{[] { return interrupted(); },
                                 [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }};
  std::int64_t done = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(given.wait_seconds);
  while (done < given.rounds && !interrupted()) {
    SOTTO_TRY(const device::Participation part, device.take_part(network, hooks));
    using Outcome = device::Participation::Outcome;
    if (part.outcome != Outcome::no_round) {
      output.event({{"event", "round"},
                    {"outcome", device::name(part.outcome)},
                    {"reason", part.refusal ? std::string(device::name(*part.refusal)) : ""},
                    {"why", part.why},
                    {"number", part.number},
                    {"evaluates", part.evaluates},
                    {"charged", part.was_charged},
                    {"bytes_up", part.bytes_up},
                    {"bytes_down", part.bytes_down}});
      output.text(fmt::format("{} {}: {}{}{}{}", part.evaluates ? "measuring version" : "round", part.number,
                              device::name(part.outcome), part.why.empty() ? "" : ", because ", part.why,
                              part.was_charged ? "; charged" : "; not charged"));
    }
    if (part.outcome == Outcome::took_part && !part.evaluates) ++done;
    if (part.outcome == Outcome::refused && !part.evaluates &&
        part.refusal != device::RoundRefusalReason::charged_before)
      return bad_input("this device does not take part: {}", part.why);
    if (std::chrono::steady_clock::now() > until)
      return failed("{} of {} rounds after {} s", done, given.rounds, given.wait_seconds);
    // As long as the coordinator wants, and never beyond the time that was given.
    auto again = std::chrono::steady_clock::now();
    if (part.outcome != Outcome::took_part || part.come_back)
      again = std::min(again + part.come_back.value_or(std::chrono::milliseconds(500)), until);
    while (!interrupted() && std::chrono::steady_clock::now() < again)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  output.event({{"event", "done"}, {"rounds", done}});
  return {};
}

Status recommend(const DeviceArguments& given, const Output& output) {
  SOTTO_CHECK(need_server(given));
  SOTTO_TRY(auto settings, read_settings(given.store));
  settings.blocked_items = given.blocked_items.value_or(settings.blocked_items);
  settings.blocked_categories = given.blocked_categories.value_or(settings.blocked_categories);
  settings.languages = given.languages.value_or(settings.languages);
  settings.most_per_category = given.most_per_category.value_or(settings.most_per_category);
  SOTTO_TRY(auto opened, open_device(given.store, settings, given.anchor));
  const auto& before = opened.consent();
  if (settings.ranking != "local" && !(before && before->terms.asking)) {
    // What was agreed to for training stays agreed to.
    const bool trains = before && before->terms.training;
    SOTTO_TRY(const bool agreed,
              ask_person(opened,
                         opened.terms(given.server, trains ? before->terms.purpose : "Recommendations",
                                      {.training = trains, .asking = true}),
                         given.yes));
    if (!agreed) output.text("not agreed: ranked on this device, nothing is asked");
  }
  SOTTO_TRY(auto network, transport::HttpTransport::create(client_settings(given)));
  SOTTO_TRY(const bool fetched, opened.refresh(network));
  static_cast<void>(fetched);
  for (const std::string& item : given.clicked) SOTTO_CHECK(opened.click(item));
  SOTTO_TRY(const auto page, opened.recommend(network, static_cast<std::size_t>(given.count)));
  for (const auto& item : page.items) {
    output.event({{"event", "item"}, {"id", item.item}, {"score", item.score}});
    output.text(fmt::format("{:<24} {:.4f}", item.item, item.score));
  }
  output.event({{"event", "done"}, {"source", device::name(page.source)}, {"note", page.note}});
  output.text(
      fmt::format("from: {}{}{}", device::name(page.source), page.note.empty() ? "" : "; ", page.note));
  return {};
}

// An article as GET /v1/items/{id} has it.
Result<device::Device::OpenedItem> article_of(const device::ServerAnswer& answer, const std::string& id) {
  if (answer.status != 200)
    return failed("the server answers {}: {}", answer.status, device::error_text(answer));
  const auto body = nlohmann::json::parse(answer.body, nullptr, false);
  const auto is_number = [](const nlohmann::json& one) { return one.is_number(); };
  if (!body.is_object() || body.value("id", nlohmann::json()) != id || !body.contains("vector") ||
      !body["vector"].is_array() || !std::all_of(body["vector"].begin(), body["vector"].end(), is_number))
    return bad_input("what the server says of {} is no article with a vector", id);
  device::Device::OpenedItem opened{id, body["vector"].get<std::vector<float>>(), ""};
  if (body.contains("category") && body["category"].is_string()) opened.category = body["category"];
  return opened;
}

// Of an item that the pack holds nobody hears; of one of the guide the server that hands it out does.
Status open_item(const DeviceArguments& given, const Output& output) {
  SOTTO_CHECK(need_server(given));
  SOTTO_TRY(auto device, device_of(given));
  SOTTO_TRY(auto network, transport::HttpTransport::create(client_settings(given)));
  SOTTO_TRY(const bool fetched, device.refresh(network));
  static_cast<void>(fetched);
  bool told = false;
  if (auto clicked = device.click(given.item); !clicked) {
    if (clicked.error().kind != ErrorKind::bad_input) return clicked;
    told = true;
    SOTTO_TRY(const auto answer, network.send(device::item_call(given.item)));
    SOTTO_TRY(const auto opened, article_of(answer, given.item));
    SOTTO_CHECK(device.click(opened));
  }
  output.event({{"event", "done"}, {"item", given.item}, {"asked_for", told}});
  output.text(told ? fmt::format("{} was fetched: the server knows that it was opened. What it says of its "
                                 "reader stays here",
                                 given.item)
                   : fmt::format("{} stays here", given.item));
  return {};
}

// So that the next question only waits for its answer. Keys live in memory, so what a process leaves behind
// is the guide; the keys of a question that it asks itself are made before the person waits.
Status prepare(const DeviceArguments& given, const Output& output) {
  SOTTO_CHECK(need_server(given));
  SOTTO_TRY(auto device, device_of(given));
  SOTTO_TRY(auto network, transport::HttpTransport::create(client_settings(given)));
  SOTTO_TRY(const bool fetched, device.refresh(network));
  const auto begin = std::chrono::steady_clock::now();
  SOTTO_CHECK(device.prepare(network));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  output.event({{"event", "done"}, {"new_pack", fetched}, {"seconds", taken.count()}});
  output.text(
      fmt::format("ready to ask: guide and keys took {:.3f} s. Keys are never kept: the process that "
                  "asks makes its own",
                  taken.count()));
  return {};
}

// What its operator might call by another name to get clicks on it for nothing: for the person to judge.
void show_label_changes(const std::vector<device::LabelChange>& changes, const Output& output) {
  constexpr std::size_t most_shown = 10;
  if (changes.empty()) return;
  output.text(
      fmt::format("the operator calls {} item{} something else than before; what was clicked of {} stays "
                  "as protected as the most sensitive name asks for",
                  changes.size(), changes.size() == 1 ? "" : "s", changes.size() == 1 ? "it" : "them"));
  const auto named = [](const std::string& category) {
    return category.empty() ? std::string("without a category") : printable(category);
  };
  const std::size_t shown = std::min(changes.size(), most_shown);
  for (auto change = changes.rbegin(); change != changes.rbegin() + static_cast<std::ptrdiff_t>(shown);
       ++change)
    output.text(fmt::format("  {}: {}, before {} (seen on {})", printable(change->item), named(change->after),
                            named(change->before), privacy::to_text(change->time)));
  if (changes.size() > shown)
    output.text(fmt::format("  and {} earlier ones: see --json", changes.size() - shown));
}

Status status(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(const auto opened, device_of(given));
  const auto& consent = opened.consent();
  const auto operator_key = opened.enrolled_with();
  const std::vector<device::LabelChange> changes = opened.label_changes();
  output.event({{"event", "done"},
                {"enrolled", operator_key.has_value()},
                {"service", consent ? nlohmann::json(consent->terms.service) : nlohmann::json(nullptr)},
                {"purpose", consent ? nlohmann::json(consent->terms.purpose) : nlohmann::json(nullptr)},
                {"operator", operator_key ? nlohmann::json(to_hex(*operator_key)) : nlohmann::json(nullptr)},
                {"impressions", opened.pages().size()},
                {"rows", opened.rows().rows.size()},
                {"clicks", opened.clicks()},
                {"label_changes", device::to_json(changes)},
                {"pack", opened.pack_version()}});
  output.text(consent ? fmt::format("agreed on {} with {}: {}{}{}", privacy::to_text(consent->given),
                                    consent->terms.service, consent->terms.purpose,
                                    consent->terms.training ? "; trains" : "",
                                    consent->terms.asking ? "; asks" : "")
                      : "nothing is agreed to: it asks nothing and trains for nobody");
  output.text(operator_key ? "takes part in training" : "takes part nowhere");
  output.text(fmt::format("{} pages, {} rows and {} clicks are kept here", opened.pages().size(),
                          opened.rows().rows.size(), opened.clicks()));
  show_label_changes(changes, output);
  return {};
}

Status ledger(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(auto opened, device_of(given));
  SOTTO_TRY(const auto statement, opened.statement());
  if (output.json)
    output.event({{"event", "done"}, {"statement", nlohmann::json::parse(privacy::to_json(statement))}});
  else
    output.text(privacy::to_text(statement));
  return {};
}

Status withdraw(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(auto opened, device_of(given));
  SOTTO_CHECK(opened.withdraw());
  output.event({{"event", "done"}, {"enrolled", false}});
  output.text("withdrawn: consent and key are gone, and nothing is sent from here any more");
  return {};
}

Status export_all(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(auto opened, device_of(given));
  SOTTO_TRY(const std::string all, opened.export_all());
  if (output.json)
    output.event({{"event", "done"}, {"device", nlohmann::json::parse(all)}});
  else
    output.text(nlohmann::json::parse(all).dump(2));
  return {};
}

// The ledger says what was told, and that cannot be untold: it goes only where everything does.
Status forget(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(auto opened, device_of(given));
  SOTTO_TRY(const DeviceAnchor anchor, anchor_of(given.store, given.anchor));
  if (!given.item.empty()) {
    if (given.everything)
      return bad_input("--item forgets one item, and --everything all: leave out one of them");
    SOTTO_CHECK(opened.forget_item(given.item));
    output.event({{"event", "done"}, {"item", given.item}});
    output.text(fmt::format("forgotten: what was read of {}. What was told before stays told", given.item));
    return {};
  }
  if (given.everything) {
    SOTTO_CHECK(device::Device::erase(std::move(opened)));
  } else {
    SOTTO_CHECK(opened.withdraw());
    SOTTO_CHECK(opened.forget_reading());
  }
  output.event({{"event", "done"}});
  output.text(given.everything
                  ? fmt::format("forgotten: {} is gone, and the ledger with it. The anchor {} stays: a "
                                "device that is made here again begins with its budgets spent",
                                given.store, anchor.file.string())
                  : "forgotten: pages, rows, clicks, answers and key. The ledger stays: it says "
                    "what was told before");
  return {};
}

}  // namespace

void add_device_command(CLI::App& app, Invocation& invocation) {
  auto given = std::make_shared<DeviceArguments>();
  CLI::App* command = app.add_subcommand("device", "One reader's device: takes part, and is recommended to");
  command->require_subcommand(1);
  command->add_option("--store", given->store, "Folder of the device")->required();
  command->add_option("--anchor", given->anchor,
                      "File that remembers how far the ledger has come, outside of the folder; usually in "
                      "$XDG_STATE_HOME or ~/.local/state");
  command->add_option("--server", given->server, "Address of the coordinator; of the server, to recommend");
  command->add_option("--authorities", given->authorities, "PEM file of certificates to trust, for https");
  const auto add = [&](const char* name, const char* help,
                       Status (*act)(const DeviceArguments&, const Output&)) {
    CLI::App* one = command->add_subcommand(name, help);
    one->fallthrough();
    one->callback([given, act, &invocation] {
      invocation.action = [given, act, &invocation] { return act(*given, invocation.output); };
    });
    return one;
  };
  CLI::App* making =
      add("new", "A device that is recommended to, and takes part in no training", make_device);
  making
      ->add_option("--set", given->assignments,
                   "key=value of its settings, such as ranking=private and epsilon=3; may be repeated")
      ->allow_extra_args(false);
  making->add_option("--log-key", given->log_key,
                     "Public key file of the log that packs and guides must be in, to be pinned");
  CLI::App* enrolling = add("enrol", "Ask its person, and make the device known to a coordinator", enrol);
  enrolling->add_option("--token", given->token, "File with the operator's token for this device");
  enrolling->add_option("--operator-key", given->operator_key,
                        "Public key file of the operator, to be pinned");
  enrolling->add_option("--recovery-key", given->recovery_key,
                        "Public recovery key file of the operator, to be pinned beside it");
  const auto add_yes = [&](CLI::App* one) {
    one->add_flag("--yes", given->yes, "The person was asked elsewhere, and agreed");
  };
  add_yes(enrolling);
  CLI::App* importing =
      add("import", "Put a reader of a data set on the device, to try it out", import_reader);
  importing->add_option("--data", given->data, "Data set")->required();
  importing->add_option("--user", given->user, "Number of the reader, from 0")->required();
  CLI::App* training = add("train", "Take part in rounds as they come", train);
  training->add_option("--rounds", given->rounds, "So many")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  training->add_option("--wait-seconds", given->wait_seconds, "For rounds to come, at most")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{86'400}));
  CLI::App* recommending = add("recommend", "A page for this reader", recommend);
  recommending->add_option("--count", given->count, "Items")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}));
  recommending
      ->add_option("--click", given->clicked, "An item that was opened just now; stays here; may be repeated")
      ->allow_extra_args(false);
  add_yes(recommending);
  recommending->add_option("--blocked-items", given->blocked_items,
                           "On this page, in place of the setting: ids with commas between them");
  recommending->add_option("--blocked-categories", given->blocked_categories,
                           "On this page, in place of the setting: names with commas between them");
  recommending->add_option("--languages", given->languages,
                           "On this page, in place of the setting: with commas between them");
  recommending
      ->add_option("--most-per-category", given->most_per_category,
                   "On this page, in place of the setting; 0 for any number")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1000}));
  CLI::App* opening = add("open", "An item is opened: the device learns from it", open_item);
  opening->add_option("item", given->item, "Its id, of the pack or of the guide")->required();
  add("prepare", "Fetch pack and guide and make keys, before a blind question is asked", prepare);
  add("status", "What is kept here, and where the device takes part", status);
  add("ledger", "What this device has told, and what is left of its budgets", ledger);
  add("withdraw", "Stop asking and taking part", withdraw);
  add("export", "Everything that is kept here about its person", export_all);
  CLI::App* forgetting = add("forget", "Delete what was read, answers and key; the ledger stays", forget);
  forgetting->add_flag("--everything", given->everything, "The folder as a whole, and the ledger with it");
  forgetting->add_option("--item", given->item, "What was read of this item alone; consent and key stay");
}

}  // namespace sotto::cli

#endif
