#ifdef SOTTO_HAVE_NET

#include <chrono>
#include <memory>
#include <thread>

#include "base/interrupt.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/hand_over.h"
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
  bool fast_disk_writes = false;
  std::optional<double> epsilon;

  // What a file may set too.
  void bind(SettingsTable& table) {
    served.bind(table);
    table.add("average_share", serve.average_share, {0, 1}, "Share of the average user in a prototype")
        .add("max_age_hours", max_age_hours, {0, 1'000'000}, "Items older than this leave; 0: they stay")
        .add("pack_seconds", serve.pack_seconds, {0, 86'400}, "Least time between device packs; 0: none");
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

// A pack to serve from where there is no trained one.
Status prepare_synthetic(ServeArguments& arguments) {
  SOTTO_TRY(arguments.serve.model, own_pack_file(arguments, "synthetic.pack"));
  SOTTO_TRY(const auto pack, serving::synthetic_pack());
  SOTTO_TRY(const std::string bytes, device::encode_pack(pack));
  return write_file_atomically(arguments.serve.model, bytes);
}

constexpr const char* made_up = "made-up items";

Status fill(serving::LivePool& pool, const ServeArguments& arguments, const std::optional<RunSource>& run) {
  if (pool.catalogue().size() > 0) return {};
  if (run) {
    SOTTO_CHECK(run->fill(pool, unix_now()));
    return note_items(arguments.serve.catalogue, run->dataset());
  }
  if (arguments.synthetic == 0) return {};
  SOTTO_CHECK(serving::fill_with_synthetic_items(pool, arguments.synthetic, unix_now(), week_seconds));
  return note_items(arguments.serve.catalogue, made_up);
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

// What a device downloads and asks with, when the blind database was made anew.
void say_blind(const serving::BlindEdition& edition, const Output& output) {
  const blind::Shape& shape = edition.shape();
  const auto cost = blind::cost_of(shape);
  output.event({{"event", "blind"},
                {"guide", edition.version()},
                {"items", edition.slots().size()},
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
                  edition.slots().size(), shape.clusters, shape.rows, shape.probes, cost.up, cost.down,
                  edition.guide_bytes().size()));
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
  SOTTO_CHECK(choose_mechanism(arguments, output));
  if (arguments.synthetic > 0) {
    SOTTO_CHECK(check_items(settings.catalogue, made_up));
    SOTTO_CHECK(prepare_synthetic(arguments));
  }
  std::optional<RunSource> run;
  if (!arguments.run.empty()) {
    prepare_trainer_environment();
    SOTTO_TRY(settings.model, own_pack_file(arguments, "run.pack"));
    SOTTO_TRY(run, RunSource::open(arguments.run, arguments.data, settings.model, arguments.served));
    SOTTO_CHECK(check_items(settings.catalogue, run->dataset()));
    SOTTO_CHECK(say_privacy(arguments.run, output));
  }
  const auto encoder_for =
      [&](const device::DevicePack& pack) -> Result<std::shared_ptr<const serving::ItemEncoder>> {
    if (run) return run->encoder_for(pack);
    return std::shared_ptr<const serving::ItemEncoder>();
  };
  SOTTO_TRY(const auto server, serving::ServingServer::start(settings, encoder_for));
  SOTTO_CHECK(fill(server->pool(), arguments, run));
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
  std::string guide;  // the last one told of
  while (!interrupted()) {
    const auto edition = server->blind() == nullptr ? nullptr : server->blind()->newest();
    if (edition && edition->version() != guide) {
      say_blind(*edition, output);
      guide = edition->version();
    }
    Status done;
    if (run) {
      if (auto looked = run->refresh(); !looked)
        done = tl::unexpected(std::move(looked).error());
      else if (*looked)
        done = say_privacy(arguments.run, output);
    }
    if (done) done = server->tick(unix_now());
    if (!done) warn("{}", done.error().message);
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
  command->add_option("--synthetic", arguments.synthetic, "Serve this many made-up items, to try it out");
  command->add_option("--operator-token-file", arguments.token_file,
                      "File with the token that changes need; without one nothing can be changed");
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
