#ifdef SOTTO_HAVE_NET

#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>

#include "base/chain_hash.h"
#include "base/interrupt.h"
#include "cli/command.h"
#include "cli/key_files.h"
#include "cli/token_files.h"
#include "data/dataset.h"
#include "device/device.h"
#include "device/sdk/training.h"
#include "fleet/readers.h"
#include "privacy/ledger/ledger_statement.h"
#include "transport/http_rounds.h"
#include "transport/http_transport.h"

namespace sotto::cli {

namespace {

// What the owner of a device decides, in device.toml in its folder: written by 'enrol', changed by hand.
struct OwnerSettings {
  device::DeviceSettings device;
  double training_epsilon = 8, training_delta = 1e-5, least_corrupted = 0.05;
  std::int64_t least_group = 20, least_witnesses = 0, most_upload_bytes = 1 << 20,
               most_training_seconds = 120;
  std::string server = "semi-honest";

  void bind(SettingsTable& table) {
    device.bind(table);
    table
        .add("training_epsilon", training_epsilon, {1e-6, 1e6},
             "What all rounds of one campaign may cost at most, against the server")
        .add("training_delta", training_delta, {1e-12, 0.1}, "delta of that at most")
        .add("least_group", least_group, {2, 1'000'000}, "Devices that must sum together")
        .add("least_corrupted", least_corrupted, {0, 0.9}, "Share of a group that may belong to the server")
        .add_choice("server_model", server, {"semi-honest", "active"}, "What a sum must withstand")
        .add("least_witnesses", least_witnesses, {0, 16}, "Witnesses that must have cosigned the log")
        .add("most_upload_bytes", most_upload_bytes, {1, 1'000'000'000}, "Of one round")
        .add("most_training_seconds", most_training_seconds, {1, 86'400}, "Of one round");
  }
  device::TrainingPolicy policy() const {
    return {.epsilon = training_epsilon,
            .delta = training_delta,
            .group = static_cast<std::uint64_t>(least_group),
            .corrupted = least_corrupted,
            .server = server == "active" ? secagg::ServerModel::active : secagg::ServerModel::semi_honest,
            .witnesses = static_cast<std::uint64_t>(least_witnesses),
            .upload_bytes = static_cast<std::uint64_t>(most_upload_bytes),
            .training_seconds = static_cast<std::uint64_t>(most_training_seconds)};
  }
};

struct DeviceArguments {
  std::string store, server, authorities, token, operator_key, data, item;
  std::uint64_t user = 0;
  std::int64_t rounds = 1, count = 10, wait_seconds = 600;
  bool yes = false;
};

fs::path settings_file(const std::string& store) { return fs::path(store) / "device.toml"; }

// Defaults that are safe to ask with; a person changes them in the file.
OwnerSettings first_settings() {
  OwnerSettings settings;
  settings.device.ranking = "local";
  settings.device.lifetime_epsilon = 10;
  settings.device.budget_delta = 1e-5;
  return settings;
}

Result<OwnerSettings> read_settings(const std::string& store) {
  OwnerSettings settings = first_settings();
  if (!fs::exists(settings_file(store)))
    return bad_input("{} is no device: 'sotto device --store DIR enrol' makes one", store);
  SettingsTable table;
  settings.bind(table);
  SOTTO_CHECK(table.load_toml(settings_file(store)));
  return settings;
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

bool ask_on_terminal(const device::ConsentQuestion& question) {
  std::cerr << fmt::format(
      "{} asks this device to take part in training.\n"
      "  operator {}\n"
      "  What you read stays here. What is sent is part of a sum with at least {} others, with noise.\n"
      "  All rounds of a campaign may cost epsilon {:g} at most; every round is charged to the ledger.\n"
      "  You can withdraw at any time ('sotto device withdraw').\n"
      "Take part? [y/N] ",
      question.service, to_hex(question.operator_key), question.policy.group.value - 1,
      question.policy.epsilon.value);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
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
  if (!token.is_signed_by(operator_key))
    return bad_input("the token is not signed by {}: it is of another service", given.operator_key);
  const bool is_new = !fs::exists(settings_file(given.store));
  OwnerSettings settings = first_settings();
  if (!is_new) {
    SOTTO_TRY(settings, read_settings(given.store));
  }
  device::DeviceEnvironment environment;
  environment.first_use = is_new && token.token.first_use;
  SOTTO_TRY(auto opened, device::Device::open(given.store, settings.device, environment));
  if (is_new) {
    SettingsTable table;
    settings.bind(table);
    SOTTO_CHECK(write_file_atomically(settings_file(given.store), table.to_toml(), FileReaders::owner));
  }
  SOTTO_TRY(auto training, device::DeviceTraining::open(given.store));
  SOTTO_TRY(auto network, transport::HttpRounds::create(client_settings(given)));
  SOTTO_TRY(const bool agreed, training.enrol(network, tokens.front(), operator_key, given.server,
                                              settings.policy(), privacy::read_system_clocks().wall,
                                              given.yes ? [](const device::ConsentQuestion&) { return true; }
                                                        : ask_on_terminal));
  output.event({{"event", "done"}, {"enrolled", agreed}});
  output.text(
      agreed ? fmt::format("enrolled; what it may cost and do is in {}", settings_file(given.store).string())
             : "not enrolled: nothing was sent");
  return {};
}

// An ordinary reader's past, to try a device out with.
Status import_reader(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(const auto dataset, data::Dataset::open(given.data));
  if (given.user >= dataset.user_count())
    return bad_input("--user is {}, and {} has {} users: 0 to {}", given.user, dataset.name(),
                     dataset.user_count(), dataset.user_count() - 1);
  SOTTO_CHECK(read_settings(given.store));
  device::ImpressionLimits limits;
  limits.age = std::chrono::days(365 * 200);
  SOTTO_TRY(auto training, device::DeviceTraining::open(given.store, limits));
  auto shown = fleet::shown_to(dataset, static_cast<data::UserId>(given.user));
  // As if it had just happened: what is old is let go.
  const auto now = privacy::read_system_clocks().wall;
  for (auto& one : shown) one.time = now;
  const std::size_t count = shown.size();
  SOTTO_CHECK(training.impressions().add(std::move(shown), now));
  output.event({{"event", "done"}, {"impressions", count}});
  output.text(fmt::format("{} pages of reader {} are on this device", count, given.user));
  return {};
}

Status train(const DeviceArguments& given, const Output& output) {
  SOTTO_CHECK(need_server(given));
  SOTTO_TRY(const OwnerSettings settings, read_settings(given.store));
  const auto clock = [] { return privacy::read_system_clocks(); };
  SOTTO_TRY(auto ledger, privacy::Ledger::open(fs::path(given.store) / privacy::ledger_file_name, clock()));
  SOTTO_TRY(auto training, device::DeviceTraining::open(given.store));
  SOTTO_TRY(auto network, transport::HttpRounds::create(client_settings(given)));
  device::SecretDraws draws;
  std::int64_t done = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(given.wait_seconds);
  while (done < given.rounds && !interrupted()) {
    SOTTO_TRY(const device::Participation part,
              training.take_part(
                  network, {ledger, clock, settings.policy(), draws, [] { return interrupted(); },
                            [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }}));
    using Outcome = device::Participation::Outcome;
    if (part.outcome != Outcome::no_round) {
      output.event({{"event", "round"},
                    {"outcome", device::name(part.outcome)},
                    {"reason", part.refusal ? std::string(device::name(*part.refusal)) : ""},
                    {"why", part.why},
                    {"number", part.number},
                    {"charged", part.was_charged},
                    {"bytes_up", part.bytes_up},
                    {"bytes_down", part.bytes_down}});
      output.text(fmt::format("round {}: {}{}{}{}", part.number, device::name(part.outcome),
                              part.why.empty() ? "" : ", because ", part.why,
                              part.was_charged ? "; charged" : "; not charged"));
    }
    if (part.outcome == Outcome::took_part) ++done;
    if (part.outcome == Outcome::refused && part.refusal != device::RoundRefusalReason::charged_before)
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
  SOTTO_TRY(const OwnerSettings settings, read_settings(given.store));
  SOTTO_TRY(auto opened, device::Device::open(given.store, settings.device));
  SOTTO_TRY(auto network, transport::HttpTransport::create(client_settings(given)));
  SOTTO_TRY(const bool fetched, opened.refresh(network));
  static_cast<void>(fetched);
  if (!given.item.empty()) SOTTO_CHECK(opened.click(given.item));
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

Status status(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(const OwnerSettings settings, read_settings(given.store));
  SOTTO_TRY(auto opened, device::Device::open(given.store, settings.device));
  SOTTO_TRY(auto training, device::DeviceTraining::open(given.store));
  const auto& consent = training.consent();
  output.event(
      {{"event", "done"},
       {"enrolled", consent.has_value()},
       {"service", consent ? nlohmann::json(consent->service) : nlohmann::json(nullptr)},
       {"operator", consent ? nlohmann::json(to_hex(consent->operator_key)) : nlohmann::json(nullptr)},
       {"impressions", training.impressions().impressions().size()},
       {"clicks", opened.clicks()},
       {"pack", opened.pack_version()}});
  output.text(
      consent ? fmt::format("takes part at {} since {}", consent->service, privacy::to_text(consent->given))
              : "takes part nowhere");
  output.text(fmt::format("{} pages and {} clicks are kept here", training.impressions().impressions().size(),
                          opened.clicks()));
  return {};
}

Status ledger(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(const OwnerSettings settings, read_settings(given.store));
  SOTTO_TRY(auto opened, device::Device::open(given.store, settings.device));
  SOTTO_TRY(const auto statement, opened.statement());
  if (output.json)
    output.event({{"event", "done"}, {"statement", nlohmann::json::parse(privacy::to_json(statement))}});
  else
    output.text(privacy::to_text(statement));
  return {};
}

Status withdraw(const DeviceArguments& given, const Output& output) {
  SOTTO_CHECK(read_settings(given.store));
  SOTTO_TRY(auto training, device::DeviceTraining::open(given.store));
  SOTTO_CHECK(training.withdraw());
  output.event({{"event", "done"}, {"enrolled", false}});
  output.text("withdrawn: the key is gone, and nothing is sent from here any more");
  return {};
}

// Everything but the ledger, which says what was told, and cannot be untold.
Status forget(const DeviceArguments& given, const Output& output) {
  SOTTO_TRY(const OwnerSettings settings, read_settings(given.store));
  {
    SOTTO_TRY(auto opened, device::Device::open(given.store, settings.device));
    SOTTO_CHECK(opened.forget_clicks());
    SOTTO_TRY(auto training, device::DeviceTraining::open(given.store));
    SOTTO_CHECK(training.withdraw());
    SOTTO_CHECK(training.impressions().clear());
  }
  std::error_code problem;
  for (const char* name : {"history.sotto", "answers.sotto", "public-log.sotto", "items.sotto", "pack.sotto"})
    fs::remove(fs::path(given.store) / name, problem);
  output.event({{"event", "done"}});
  output.text("forgotten: pages, clicks, answers and key. The ledger stays: it says what was told before");
  return {};
}

}  // namespace

void add_device_command(CLI::App& app, Invocation& invocation) {
  auto given = std::make_shared<DeviceArguments>();
  CLI::App* command = app.add_subcommand("device", "One reader's device: takes part, and is recommended to");
  command->require_subcommand(1);
  command->add_option("--store", given->store, "Folder of the device")->required();
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
  CLI::App* enrolling = add("enrol", "Ask its person, and make the device known to a coordinator", enrol);
  enrolling->add_option("--token", given->token, "File with the operator's token for this device");
  enrolling->add_option("--operator-key", given->operator_key,
                        "Public key file of the operator, to be pinned");
  enrolling->add_flag("--yes", given->yes, "The person was asked elsewhere, and agreed");
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
  recommending->add_option("--click", given->item, "An item that was opened just now; stays here");
  add("status", "What is kept here, and where the device takes part", status);
  add("ledger", "What this device has told, and what is left of its budgets", ledger);
  add("withdraw", "Stop taking part", withdraw);
  add("forget", "Delete what was read, answers and key; the ledger stays", forget);
}

}  // namespace sotto::cli

#endif
