#ifdef SOTTO_HAVE_NET

#include <charconv>
#include <chrono>
#include <memory>
#include <thread>

#include "base/chain_hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cli/campaign_trial.h"
#include "cli/command.h"
#include "cli/fold_process.h"
#include "cli/hand_over.h"
#include "cli/key_files.h"
#include "cli/operator_token.h"
#include "cli/starting_model.h"
#include "coordinator/coordinator.h"
#include "data/dataset.h"

namespace sotto::cli {

namespace {

struct CoordinatorArguments {
  coordinator::CoordinatorSettings coordinator;
  std::string campaign, data, key, operator_key, recovery_key, token_file, listen, work, begin_with,
      serving_file;
  std::vector<std::string> key_changes;
  std::vector<std::string> assignments;
  std::int64_t order_seconds = 600, retry_seconds = 2, lease_seconds = 30, drain_seconds = 60;
  std::uint64_t seed = 1;

  // What a file may set too.
  void bind(SettingsTable& table) {
    table
        .add("order_seconds", order_seconds, {5, 86'400},
             "That an order is valid: as long as its groups may take to form")
        .add("retry_seconds", retry_seconds, {1, 3600}, "Between an abandoned order and the next")
        .add(
            "node", coordinator.node,
            "Name of this node among several on one store: one coordinates, the others wait until it is gone")
        .add("lease_seconds", lease_seconds, {2, 3600}, "That a node is waited for which does not answer")
        .add("largest_fall", coordinator.run.largest_fall, {0.0, 1.0},
             "In AUC and beyond the noise: a version that devices measure so much below the best one before "
             "it "
             "is alerted of")
        .add("roll_back_falls", coordinator.run.rolls_back_falls,
             "And that best one is trained on from then on")
        .add("drain_seconds", drain_seconds, {0, 86'400},
             "That a round for which devices may have been charged has to end after SIGTERM");
    coordinator.http.bind(table);
  }
};

// "127.0.0.1:8080", or a port alone.
Status apply_listen(const std::string& listen, net::HttpServerSettings& http) {
  if (listen.empty()) return {};
  const std::size_t colon = listen.rfind(':');
  const std::string port = colon == std::string::npos ? listen : listen.substr(colon + 1);
  std::int64_t number = -1;
  const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (wrong != std::errc() || end != port.data() + port.size() || number < 0 || number > 65'535)
    return bad_input("--listen is '{}', must be HOST:PORT, as 127.0.0.1:8080 (port 0: any free one)", listen);
  if (colon != std::string::npos) http.address = listen.substr(0, colon);
  http.port = number;
  return {};
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

// The campaign and the keys that belong to it.
struct Authority {
  std::string document;
  rounds::Identity key;
};

Result<Authority> open_authority(CoordinatorArguments& given, fs::path& campaign_file) {
  SOTTO_TRY(std::string document, read_file(given.campaign, 1 << 17));
  if (rounds::is_document(rounds::campaign_kind, document)) {
    if (given.key.empty() || given.operator_key.empty())
      return bad_input(
          "a signed campaign needs --key FILE (the coordinator's secret key) and --operator-key FILE (the "
          "operator's public one)");
    SOTTO_TRY(given.coordinator.operator_key, read_public_key(given.operator_key));
    if (!given.recovery_key.empty()) {
      SOTTO_TRY(given.coordinator.recovery_key, read_public_key(given.recovery_key));
    }
    for (const std::string& file : given.key_changes) {
      SOTTO_TRY(std::string change, read_file(file, 1 << 12));
      if (auto opened = rounds::open_key_change(change); !opened)
        return tl::unexpected(std::move(opened).error().in(file));
      given.coordinator.key_changes.push_back(std::move(change));
    }
    SOTTO_TRY(auto key, read_secret_key(given.key));
    campaign_file = given.campaign;
    return Authority{std::move(document), std::move(key)};
  }
  if (!is_loopback(given.coordinator.http.address))
    return bad_input(
        "{} is a draft, which is for trying things out on this machine: listen on 127.0.0.1, or sign it with "
        "'sotto campaign sign'",
        given.campaign);
  if (given.coordinator.store.starts_with("postgresql:"))
    return bad_input("a draft needs a folder to put its keys into: --store DIR");
  SOTTO_TRY(auto trial, trial_campaign(given.campaign, given.coordinator.store));
  warn("a trial: the operator's key lies beside the store, and anybody on this machine gets a token");
  if (given.data.empty()) given.data = trial.data.string();
  given.coordinator.operator_key = trial.operator_key.public_key();
  const auto shared = std::make_shared<rounds::Identity>(std::move(trial.operator_key));
  given.coordinator.trial_token = [shared] { return trial_token(*shared); };
  campaign_file = fs::path(given.coordinator.store) / "trial" / "campaign.sotto";
  return Authority{std::move(trial.document), std::move(trial.coordinator_key)};
}

constexpr std::chrono::milliseconds nap{50};

void say_round(const coordinator::CampaignProgress& progress, const Output& output) {
  output.event({{"event", "round"},
                {"round", progress.rounds_done},
                {"rounds", progress.rounds},
                {"devices", progress.last_round.devices_summed},
                {"groups_failed", progress.last_round.groups_failed},
                {"orders_abandoned", progress.orders.abandoned},
                {"seconds", progress.last_round_seconds}});
  output.text(fmt::format("round {} of {}: {} devices in {:.1f} s", progress.rounds_done, progress.rounds,
                          progress.last_round.devices_summed, progress.last_round_seconds));
}

// Keeps a running coordinator's lease and says what has become of its rounds.
class Attendance {
 public:
  Attendance(coordinator::Coordinator& running, const Output& output) : running_(running), output_(output) {}

  Status look() {
    SOTTO_CHECK(running_.tick());
    return look_at_progress();
  }
  Status look_at_progress() {
    const auto progress = running_.progress();
    if (progress.rounds_done > said_) {
      said_ = progress.rounds_done;
      say_round(progress, output_);
    }
    const auto ended = running_.outcome();
    if (!ended || is_finished_) return {};
    if (!*ended) return *ended;
    is_finished_ = true;
    output_.event({{"event", "finished"}, {"rounds", progress.rounds_done}});
    output_.text("the campaign is finished; its versions are handed out until this is stopped");
    return {};
  }

 private:
  coordinator::Coordinator& running_;
  const Output& output_;
  std::uint64_t said_ = 0;
  bool is_finished_ = false;
};

// Until no device can lose what it was charged for, time is over or a second signal comes.
Status drain(coordinator::Coordinator& running, Attendance& attendance, std::chrono::seconds time,
             const Output& output) {
  running.drain();
  const auto until = std::chrono::steady_clock::now() + time;
  for (bool said = false;
       !running.is_drained() && !interrupted() && std::chrono::steady_clock::now() < until;) {
    if (!std::exchange(said, true)) {
      output.event({{"event", "draining"}, {"seconds", time.count()}});
      output.text(
          fmt::format("the round under way has {} s to end; a second signal ends it at once", time.count()));
    }
    SOTTO_CHECK(attendance.look());
    for (int i = 0; i < 10 && !running.is_drained() && !interrupted(); ++i) std::this_thread::sleep_for(nap);
  }
  set_interrupted(false);
  return {};
}

// Before keys are made and devices are let in.
Status check_folders(const CoordinatorArguments& given) {
  for (const char* other : {"run.json", "dataset.sotto"})
    if (fs::exists(fs::path(given.coordinator.store) / other))
      return bad_input("--store {} has a {}: name a folder of its own for the coordinator",
                       given.coordinator.store, other);
  if (given.data.empty() || fs::exists(fs::path(given.data) / "dataset.sotto")) return {};
  SOTTO_TRY(const auto missing, data::Dataset::open(given.data));  // says what is there instead
  static_cast<void>(missing);
  return {};
}

Status coordinate(CoordinatorArguments given, const Output& output) {
  if (given.coordinator.store.empty())
    return bad_input("name where the coordinator keeps what it must not forget: --store DIR");
  if (given.campaign.empty()) return bad_input("name the campaign: --campaign FILE");
  SOTTO_CHECK(apply_listen(given.listen, given.coordinator.http));
  if (!given.token_file.empty()) {
    SOTTO_TRY(given.coordinator.operator_token, read_operator_token(given.token_file));
  }
  SOTTO_CHECK(check_folders(given));
  fs::path campaign_file;
  SOTTO_TRY(Authority authority, open_authority(given, campaign_file));
  if (given.data.empty()) return bad_input("name the data set with the public items: --data DIR");
  given.coordinator.campaign = authority.document;
  given.coordinator.serving_list = given.serving_file;
  given.coordinator.run.order_time = std::chrono::seconds(given.order_seconds);
  given.coordinator.run.retry_time = std::chrono::seconds(given.retry_seconds);
  given.coordinator.lease = std::chrono::seconds(given.lease_seconds);
  given.coordinator.waits_for_lease = [&output, said = false]() mutable {
    if (!std::exchange(said, true)) {
      output.event({{"event", "waiting"}});
      output.text("another node coordinates; this one waits until it is gone");
    }
    return !interrupted();
  };
  fs::path work = given.work;
  if (work.empty()) {
    if (given.coordinator.store.starts_with("postgresql:"))
      return bad_input("with PostgreSQL the trainer needs a folder of its own: --work DIR");
    work = fs::path(given.coordinator.store) / "trainer";
  }
  prepare_trainer_environment();
  StartingModel first;
  if (!given.begin_with.empty()) {
    SOTTO_TRY(first, starting_model(given.begin_with, authority.document, given.coordinator.store, work,
                                    given.seed));
  }
  FoldProcess folding(
      {campaign_file, given.data, work, given.assignments, given.seed, first.checkpoint, first.items});
  auto started = coordinator::Coordinator::start(given.coordinator, authority.key, folding);
  if (!started && interrupted()) {  // while it waited for another node
    set_interrupted(false);
    return {};
  }
  SOTTO_TRY(const auto running, std::move(started));
  const auto& campaign = running->campaign();
  output.event({{"event", "listening"},
                {"url", running->url()},
                {"campaign", to_hex(campaign.hash)},
                {"recipe", campaign.campaign.recipe},
                {"rounds", campaign.campaign.rounds},
                {"epsilon", campaign.campaign.epsilon},
                {"delta", campaign.campaign.delta},
                {"operator_key", to_hex(given.coordinator.operator_key)},
                {"trial", static_cast<bool>(given.coordinator.trial_token)}});
  // The address last and by itself, so that it can be copied.
  output.text("", fmt::format("coordinating '{}', {} rounds of {} devices, epsilon {:g} at delta {:g}, at {}",
                              campaign.campaign.purpose, campaign.campaign.rounds, campaign.campaign.cohort,
                              campaign.campaign.epsilon, campaign.campaign.delta, running->url()));
  Attendance attendance(*running, output);
  while (!interrupted()) {
    SOTTO_CHECK(attendance.look());
    for (int i = 0; i < 10 && !interrupted(); ++i) std::this_thread::sleep_for(nap);
  }
  set_interrupted(false);  // this is how a server ends
  SOTTO_CHECK(drain(*running, attendance, std::chrono::seconds(given.drain_seconds), output));
  running->stop();
  static_cast<void>(attendance.look_at_progress());
  return {};
}

}  // namespace

void add_coordinator_command(CLI::App& app, Invocation& invocation) {
  struct Flags {
    CoordinatorArguments arguments;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> settings;
    std::string file;
    bool sample = false;
  };
  auto flags = std::make_shared<Flags>();
  CoordinatorArguments& given = flags->arguments;
  CLI::App* command = app.add_subcommand("coordinator", "Rounds of training with devices over the network");
  command->add_option("--campaign", given.campaign,
                      "Signed campaign; a draft, to try it out on this machine with keys made for it");
  command->add_option("--data", given.data,
                      "Data set whose public items are trained on; nobody's rows are read");
  command->add_option("--store", given.coordinator.store, "Folder, or postgresql://… for several nodes");
  command->add_option("--listen", given.listen, "HOST:PORT; loopback unless a host is named");
  command->add_option("--key", given.key, "Secret key file of the coordinator, which the campaign names");
  command->add_option("--operator-key", given.operator_key,
                      "Public key file of the operator, as devices were shipped with it");
  command->add_option("--recovery-key", given.recovery_key, "Public recovery key file of the operator");
  command->add_option("--key-change", given.key_changes,
                      "Change of the operator's key ('sotto campaign rotate'), entered in the public log");
  command->add_option("--operator-token-file", given.token_file,
                      "File with the token of the admin routes; without one there are none");
  command->add_option("--serving-file", given.serving_file,
                      "File with the addresses of servers that recommend, one a line, read again and again: "
                      "their figures stand on the operator's page");
  command->add_option("--work", given.work, "Folder of the trainer's own; STORE/trainer otherwise");
  command->add_option("--set", given.assignments, "key=value of the recipe on the server, as 'train' has it")
      ->allow_extra_args(false);
  command->add_option("--seed", given.seed, "Of the numbers that training starts from");
  command->add_option(
      "--begin-with", given.begin_with,
      "Instead: a run of 'sotto train', or the store of another coordinator, whose last version "
      "is the first one here");
  command->add_option("--config,--settings", flags->file,
                      "File (TOML) with the settings below, underscores for dashes; flags win");
  command->add_flag("--sample-config", flags->sample, "Print such a file with every default and end");
  given.bind(flags->table);
  flags->settings = std::make_unique<SettingsFlags>(*command, flags->table);
  command->callback([flags, &invocation] {
    invocation.action = [flags, &invocation]() -> Status {
      if (flags->sample) {
        invocation.output.event({{"name", "coordinator"}, {"sample_config", flags->table.to_toml()}});
        invocation.output.text(flags->table.to_toml());
        return {};
      }
      if (!flags->file.empty()) SOTTO_CHECK(flags->table.load_toml(flags->file));
      SOTTO_CHECK(flags->settings->apply());
      return coordinate(flags->arguments, invocation.output);
    };
  });
}

}  // namespace sotto::cli

#endif
