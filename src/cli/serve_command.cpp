#ifdef SOTTO_HAVE_NET

#include <chrono>
#include <memory>
#include <thread>

#include "base/interrupt.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/followed_campaign.h"
#include "cli/hand_over.h"
#include "cli/key_files.h"
#include "cli/operator_token.h"
#include "cli/run_source.h"
#include "device/wire/pack_codec.h"
#include "serving/http/serving_server.h"
#include "serving/mechanism_choice.h"
#include "serving/pool/synthetic_pool.h"
#include "serving/run_privacy.h"

namespace sotto::cli {

namespace {

constexpr std::int64_t week_seconds = std::int64_t{7} * 86'400;

struct ServeArguments {
  serving::ServeSettings serve;
  std::string token_file;
  std::int64_t max_age_hours = 0;
  std::size_t synthetic = 0;
  fs::path run, data;
  serving::ServedRunSettings served;
  bool fast_disk_writes = false, same_items = false;
  std::optional<double> epsilon;
  std::string log, log_key;
  std::vector<std::string> log_witnesses;
  std::string operator_key, recovery_key;  // of the campaigns that pages train in
  bool follows = false;
  std::int64_t follow_seconds = 30;

  // What a file may set too.
  void bind(SettingsTable& table) {
    served.bind(table);
    table.add("average_share", serve.average_share, {0, 1}, "Share of the average user in a prototype")
        .add("max_age_hours", max_age_hours, {0, 1'000'000}, "Items older than this leave; 0: they stay")
        .add("pack_seconds", serve.pack_seconds, {0, 86'400}, "Least time between device packs; 0: none")
        .add("follow", follows,
             "Serve the newest version of the coordinator's campaign, which trains the recipe of --run")
        .add("follow_seconds", follow_seconds, {1, 86'400}, "Between two looks for one");
    serve.blind.bind(table);
    serve.reader.bind(table);
    serve.http.bind(table);
  }
};

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Where a pack that is made here lies.
Result<fs::path> own_pack_file(const ServeArguments& arguments, const char* name) {
  const fs::path& folder = arguments.serve.catalogue;
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return failed("cannot create {}: {}", folder.string(), problem.message());
  return folder / name;
}

// The run, with its pack in the folder of live items. Refused, it leaves none of the folders that were made
// for it.
Result<RunSource> open_run(ServeArguments& arguments, PoolItems& items) {
  const auto is_there = [](const fs::path& folder) { return folder.empty() || fs::exists(folder); };
  fs::path above = fs::absolute(arguments.serve.catalogue).lexically_normal();
  std::vector<fs::path> made;
  for (; !is_there(above); above = above.parent_path()) made.push_back(above);
  SOTTO_TRY(arguments.serve.model, own_pack_file(arguments, "run.pack"));
  auto run = RunSource::open(arguments.run, arguments.data, arguments.serve.model, arguments.served,
                             [&](const ServedData& data) { return items.accept(data); });
  std::error_code not_empty;
  for (const fs::path& folder : made)
    if (!run) fs::remove(folder, not_empty);
  return run;
}

// A pack to serve from where there is no trained one.
Status prepare_synthetic(ServeArguments& arguments) {
  SOTTO_TRY(arguments.serve.model, own_pack_file(arguments, "synthetic.pack"));
  SOTTO_TRY(const auto pack, serving::synthetic_pack());
  SOTTO_TRY(const std::string bytes, device::encode_pack(pack));
  return write_file_atomically(arguments.serve.model, bytes);
}

// A pool that is empty, or whose filling was cut short by a kill.
Status fill(serving::LivePool& pool, const ServeArguments& arguments, const std::optional<RunSource>& run,
            PoolItems& items) {
  if (pool.catalogue().size() > 0 && items.filled()) return items.note(true);
  SOTTO_CHECK(items.note(false));
  if (run) SOTTO_CHECK(run->fill(pool, unix_now()));
  if (arguments.synthetic > 0)
    SOTTO_CHECK(serving::fill_with_synthetic_items(pool, arguments.synthetic, unix_now(), week_seconds));
  return items.note(true);
}

// Exactly one source of the model.
Status check_source(const ServeArguments& arguments) {
  const int sources = (arguments.run.empty() ? 0 : 1) + (arguments.serve.model.empty() ? 0 : 1) +
                      (arguments.synthetic == 0 ? 0 : 1);
  if (sources == 1) return {};
  return bad_input(
      "name what to serve, one of: --run RUN (a trained run), --model FILE (a device pack), "
      "--synthetic N (made-up items, to try it out)");
}

// What devices with this budget should be served by: the size to build packs with, and the average share.
Status choose_mechanism(ServeArguments& arguments, const Output& output) {
  if (!arguments.epsilon) return {};
  SOTTO_TRY(const auto choice, serving::serving_mechanism_for(*arguments.epsilon));
  arguments.serve.average_share = choice.average_share;
  // One of too few prototypes tells nothing that is worth its price.
  if (choice.prototypes > 0) arguments.serve.reader.epsilon = arguments.epsilon;
  if (choice.prototypes > 0) arguments.served.prototypes = static_cast<std::int64_t>(choice.prototypes);
  output.event({{"event", "mechanism"},
                {"epsilon", *arguments.epsilon},
                {"prototypes", choice.prototypes},
                {"average_share", choice.average_share}});
  output.text(
      "",
      choice.prototypes == 0
          ? fmt::format("an answer at epsilon {:g} tells hardly more than /v1/popular, which costs nothing; "
                        "both are served",
                        *arguments.epsilon)
          : fmt::format("for epsilon {:g} a pack should have {} prototypes, told by randomised "
                        "response; average share {:.3f}",
                        *arguments.epsilon, choice.prototypes, choice.average_share));
  return {};
}

// What the pack of a run costs the readers it was trained on.
Status say_privacy(const fs::path& run, const Output& output) {
  SOTTO_TRY(const auto privacy, serving::privacy_of_run(run));
  auto event = nlohmann::json::parse(privacy.as_json);
  event["event"] = "privacy";
  event["holds"] = privacy.holds;
  event["text"] = privacy.text;
  output.event(event);
  if (!privacy.holds) warn("NO PRIVACY HOLDS for the readers this run was trained on: {}", privacy.text);
  if (privacy.holds) output.text("", privacy.text);
  return {};
}

// A newer model, in whose pack the server will look next.
Status take_over(const fs::path& run, PoolItems& items, const Output& output) {
  SOTTO_CHECK(items.note(true));
  return say_privacy(run, output);
}

// Null: no log is kept.
Result<std::unique_ptr<serving::ServedLog>> open_log(const ServeArguments& arguments) {
  if (arguments.log.empty()) {
    if (arguments.log_key.empty() && arguments.log_witnesses.empty()) return nullptr;
    return bad_input("--log-key and --log-witness belong to a public log: name its file with --log FILE");
  }
  if (arguments.log_key.empty())
    return bad_input(
        "the entries of a public log are signed: name its owner's secret key with --log-key FILE");
  SOTTO_TRY(rounds::Identity owner, read_secret_key(arguments.log_key));
  std::vector<rounds::IdentityKey> witnesses;
  for (const std::string& file : arguments.log_witnesses) {
    SOTTO_TRY(const rounds::IdentityKey witness, read_public_key(file));
    witnesses.push_back(witness);
  }
  const Durability durability = arguments.fast_disk_writes ? Durability::process_end : Durability::power_loss;
  return serving::ServedLog::open(arguments.log, std::move(owner), std::move(witnesses), durability);
}

// What pages need to train in the campaign of a coordinator.
Status prepare_training(ServeArguments& arguments) {
  serving::TrainingGateSettings& training = arguments.serve.reader.training;
  const bool has_keys = !arguments.operator_key.empty() || !arguments.recovery_key.empty();
  if (training.coordinator.empty()) {
    if (has_keys || arguments.follows)
      return bad_input(
          "--operator-key, --recovery-key and --follow are about a coordinator's campaign: name its address "
          "with --coordinator URL");
    return {};
  }
  if (!arguments.serve.reader.enabled && !arguments.follows)
    return bad_input(
        "--coordinator {} is for the reader's page to train in its campaign (--reader), or to serve its "
        "versions (--follow)",
        training.coordinator);
  if (arguments.follows && arguments.run.empty())
    return bad_input("--follow serves a run by the versions of a campaign: name the run with --run RUN");
  if (arguments.follows && arguments.served.demand_epsilon > 0)
    return bad_input(
        "--demand-epsilon releases what the readers of a run asked for, and --follow serves what others "
        "trained: leave out one of them");
  if (!arguments.operator_key.empty()) {
    SOTTO_TRY(training.operator_key, read_public_key(arguments.operator_key));
  }
  if (!arguments.recovery_key.empty()) {
    SOTTO_TRY(training.recovery_key, read_public_key(arguments.recovery_key));
  }
  return {};
}

Result<FollowedCampaign> follow(const ServeArguments& arguments) {
  const serving::TrainingGateSettings& training = arguments.serve.reader.training;
  FollowSettings settings;
  settings.coordinator.url = training.coordinator;
  settings.coordinator.authorities = training.authorities;
  settings.operator_key = training.operator_key;
  settings.run = arguments.run;
  settings.data = arguments.data;
  settings.folder = arguments.serve.catalogue;
  settings.between = std::chrono::seconds(arguments.follow_seconds);
  std::error_code problem;
  fs::create_directories(settings.folder, problem);
  if (problem) return failed("cannot create {}: {}", settings.folder.string(), problem.message());
  return FollowedCampaign::open(std::move(settings));
}

void say_followed(const FollowedCampaign::Taken& taken, const Output& output) {
  output.event({{"event", "followed"}, {"version", taken.version}, {"rounds", taken.rounds}});
  output.text("", fmt::format("serving the version of {} rounds: {}", taken.rounds, taken.version));
}

// What a device downloads and asks with, when the blind database was made anew.
void say_blind(const serving::BlindEdition& edition, const Output& output) {
  const blind::Shape& shape = edition.shape();
  const auto cost = blind::cost_of(shape);
  output.event({{"event", "blind"},
                {"guide", edition.version()},
                {"items", edition.items().size()},
                {"clusters", shape.clusters},
                {"rows", shape.rows},
                {"probes", shape.probes},
                {"refresh_bytes_up", cost.up},
                {"refresh_bytes_down", cost.down},
                {"guide_bytes", edition.guide_bytes().size()}});
  output.text(
      "",
      fmt::format("blind database of {} items in {} clusters of {}: a refresh is {} probe(s), {} bytes up "
                  "and {} down; the guide has {} bytes",
                  edition.items().size(), shape.clusters, shape.rows, shape.probes, cost.up, cost.down,
                  edition.guide_bytes().size()));
}

void say_whole(std::size_t items, const Output& output) {
  output.event({{"event", "blind"}, {"items", items}, {"whole", true}});
  output.text("", fmt::format("the pool of {} items travels whole in the pack (--blind-whole-bytes): devices "
                              "rank it by themselves and ask nothing",
                              items));
}

Status serve(ServeArguments arguments, const Output& output) {
  serving::ServeSettings& settings = arguments.serve;
  if (settings.catalogue.empty()) return bad_input("name the folder of the live items: --catalogue DIR");
  for (const char* other : {"run.json", "dataset.sotto", "store.sqlite"})
    if (fs::exists(settings.catalogue / other))
      return bad_input("--catalogue {} has a {}: name a folder of its own for the live items",
                       settings.catalogue.string(), other);
  SOTTO_CHECK(check_source(arguments));
  if (!arguments.token_file.empty()) {
    SOTTO_TRY(settings.operator_token, read_operator_token(arguments.token_file));
  }
  settings.max_age_seconds = 3600 * arguments.max_age_hours;
  if (arguments.fast_disk_writes) settings.durability = Durability::process_end;
  SOTTO_CHECK(prepare_training(arguments));
  SOTTO_CHECK(choose_mechanism(arguments, output));
  SOTTO_CHECK(serving::CatalogueStore::check_unused(settings.catalogue));
  SOTTO_TRY(auto items, PoolItems::open(settings.catalogue, arguments.same_items));
  if (arguments.synthetic > 0) {
    SOTTO_CHECK(items.accept(made_up_data()));
    SOTTO_CHECK(prepare_synthetic(arguments));
  }
  std::optional<RunSource> run;
  std::optional<FollowedCampaign> followed;
  if (arguments.follows) {
    SOTTO_TRY(followed, follow(arguments));
    arguments.run = followed->run();
  }
  if (!arguments.run.empty()) {
    prepare_trainer_environment();
    SOTTO_TRY(run, open_run(arguments, items));
    SOTTO_CHECK(say_privacy(arguments.run, output));
  }
  const auto encoder_for =
      [&](const device::DevicePack& pack) -> Result<std::shared_ptr<const serving::ItemEncoder>> {
    if (run) return run->encoder_for(pack);
    return std::shared_ptr<const serving::ItemEncoder>();
  };
  SOTTO_TRY(auto log, open_log(arguments));
  SOTTO_TRY(const auto server, serving::ServingServer::start(settings, encoder_for, std::move(log)));
  SOTTO_CHECK(fill(server->pool(), arguments, run, items));
  output.event({{"event", "serving"},
                {"url", server->url()},
                {"model", server->pool().current()->model().version()},
                {"items", server->pool().catalogue().size()}});
  if (settings.reader.enabled) {
    output.event({{"event", "reader"}, {"url", server->url() + "/"}});
    output.text(fmt::format("the reader's page is {}/", server->url()));
  }
  output.text(fmt::format("serving {} items at {}\nmodel {}", server->pool().catalogue().size(),
                          server->url(), server->pool().current()->model().version()));
  std::string told;  // of blind serving: the guide, or that there is none
  const auto say_how_blind = [&](const serving::BlindPool& blind) {
    const auto edition = blind.newest();
    if (!edition && !blind.travels_whole(server->pool())) return;  // the first is being made
    const std::string now = edition ? edition->version() : "whole";
    if (now == told) return;
    told = now;
    if (edition) return say_blind(*edition, output);
    say_whole(server->pool().catalogue().size(), output);
  };
  std::string said;  // what goes on is not said twice a second
  while (!interrupted()) {
    if (server->blind() != nullptr) say_how_blind(*server->blind());
    Status done;
    if (followed) {
      if (auto looked = followed->look(); !looked)
        warn("{}", looked.error().message);
      else if (*looked)
        say_followed(**looked, output);
    }
    if (run) {
      if (auto looked = run->refresh(); !looked)
        done = tl::unexpected(std::move(looked).error());
      else if (*looked)
        done = take_over(arguments.run, items, output);
    }
    if (done) done = server->tick(unix_now());
    const std::string problem = done ? std::string() : done.error().message;
    if (!problem.empty() && problem != said) warn("{}", problem);
    said = problem;
    for (int i = 0; i < 10 && !interrupted(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  server->stop();
  set_interrupted(false);  // this is how a server ends
  return {};
}

}  // namespace

void add_serve_command(CLI::App& app, Invocation& invocation) {
  struct Flags {
    ServeArguments arguments;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> settings;
    std::string file;
  };
  auto flags = std::make_shared<Flags>();
  ServeArguments& arguments = flags->arguments;
  CLI::App* command = app.add_subcommand("serve", "Private online recommendation");
  command->add_option("--run", arguments.run,
                      "Trained run to serve; trained on or replaced while serving, it is taken over");
  command->add_option("--data", arguments.data, "Data of the run, where it is not where it was trained");
  command->add_option("--model", arguments.serve.model,
                      "Device pack to serve; replaced while serving, it is reloaded");
  command->add_option("--catalogue", arguments.serve.catalogue,
                      "Folder of the live items; made when missing");
  command->add_flag("--same-items", arguments.same_items,
                    "Serve the run though its data does not show that it is about the items of --catalogue");
  command->add_option("--synthetic", arguments.synthetic, "Serve this many made-up items, to try it out");
  command->add_option("--operator-token-file", arguments.token_file,
                      "File with the token that changes need; without one nothing can be changed");
  command->add_option("--log", arguments.log,
                      "Public log: every pack and guide is in it before it is handed out; made when missing");
  command->add_option("--log-key", arguments.log_key, "Secret key file of the log's owner, who signs it");
  command
      ->add_option("--log-witness", arguments.log_witnesses,
                   "Public key file of a witness that may cosign the log")
      ->allow_extra_args(false);
  command->add_option("--operator-key", arguments.operator_key,
                      "Public key file of the operator whose campaigns pages train in; none: of a trial");
  command->add_option("--recovery-key", arguments.recovery_key, "Public recovery key file of that operator");
  command->add_flag("--survive-process-only", arguments.fast_disk_writes,
                    "Do not wait for the disk: changes outlive a kill, not a power failure");
  command->add_option("--settings", flags->file,
                      "File (TOML) with the settings below, underscores for dashes; flags win");
  arguments.bind(flags->table);
  flags->settings = std::make_unique<SettingsFlags>(*command, flags->table);
  command
      ->add_option("--epsilon", arguments.epsilon,
                   "What one answer of a device may tell: sets prototypes and average share that rank best")
      ->excludes(command->get_option("--average-share"))
      ->excludes(command->get_option("--prototypes"));
  command->callback([flags, &invocation] {
    invocation.action = [flags, &invocation]() -> Status {
      if (!flags->file.empty()) SOTTO_CHECK(flags->table.load_toml(flags->file));
      SOTTO_CHECK(flags->settings->apply());
      return serve(flags->arguments, invocation.output);
    };
  });
}

}  // namespace sotto::cli

#endif
