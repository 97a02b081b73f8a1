#ifdef SOTTO_HAVE_NET

#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>

#include "base/chain_hash.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/key_files.h"
#include "cli/token_files.h"
#include "device/rounds/round_calls.h"
#include "fleet/fleet.h"
#include "fleet/predicted_evaluation.h"
#include "fleet/readers.h"
#include "local/local_trainer.h"
#include "rounds/campaign.h"
#include "transport/http_transport.h"

namespace sotto::cli {

namespace {

struct FleetArguments {
  fleet::FleetSettings fleet;
  std::string data, operator_key, tokens, store, authorities;
  std::int64_t devices = 0, rounds = 1, slowest_ms = 0, clock_skew_seconds = 0, patience_seconds = 600;
  std::optional<std::uint64_t> reproducible;

  void bind(SettingsTable& table) {
    table.add("vanishing", fleet.vanishing, {0, 1}, "Share of devices that vanish in a round")
        .add_choice("vanishing_phase", fleet.vanishing_phase,
                    {"advertise", "share", "upload", "confirm", "reveal"}, "Where they do")
        .add("lying", fleet.lying, {0, 1}, "Share of devices that reveal wrong shares in a round")
        .add("slowest_ms", slowest_ms, {0, 600'000}, "A device waits up to so long before every post")
        .add("clock_skew_seconds", clock_skew_seconds, {0, 86'400},
             "Devices' clocks are wrong by up to so much")
        .add("lifetime_epsilon", fleet.lifetime_epsilon, {1e-3, 1e6}, "Budget of every device's ledger")
        .add("patience_seconds", patience_seconds, {1, 86'400},
             "Without a finished round, then the fleet gives up");
  }
};

// Where the coordinator only tries things out it hands out tokens itself.
Status take_trial_tokens(FleetArguments& given) {
  SOTTO_TRY(auto client, net::HttpClient::create(given.fleet.server));
  for (std::size_t i = 0; i < given.fleet.devices; ++i) {
    SOTTO_TRY(const auto response, client.get("/v1/trial"));
    const auto body = nlohmann::json::parse(response.body, nullptr, false);
    if (response.status != 200 || !body.is_object())
      return bad_input(
          "{} is no trial, so devices need tokens of its operator: --operator-key FILE and --tokens FILE "
          "('sotto campaign tokens' makes them)",
          given.fleet.server.url);
    SOTTO_TRY(given.fleet.operator_key,
              rounds::digest_from_hex(body.value("operator_key", ""), "the operator's key"));
    SOTTO_TRY(std::string token, token_from_hex(body.value("token", "")));
    given.fleet.tokens.push_back(std::move(token));
  }
  return {};
}

// A folder that is gone with the command, unless one was named.
class Stores {
 public:
  static Result<Stores> in(const std::string& named) {
    Stores stores;
    stores.path_ = named;
    if (!named.empty()) return stores;
    std::string pattern = (fs::temp_directory_path() / "sotto-fleet-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return failed("cannot make a folder in {}", pattern);
    stores.path_ = pattern;
    stores.is_ours_ = true;
    return stores;
  }
  Stores(Stores&& other) noexcept
      : path_(std::move(other.path_)), is_ours_(std::exchange(other.is_ours_, false)) {}
  Stores& operator=(Stores&&) = delete;
  ~Stores() {
    std::error_code ignored;
    if (is_ours_) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  Stores() = default;
  fs::path path_;
  bool is_ours_ = false;
};

// The version that is trained now, or was last. A coordinator that has just begun has none yet.
Result<rounds::Digest> current_version(const FleetArguments& given) {
  SOTTO_TRY(auto client, net::HttpClient::create(given.fleet.server));
  const auto until = std::chrono::steady_clock::now() + given.fleet.patience;
  while (true) {
    SOTTO_TRY(const auto response, client.get("/v1/status"));
    const auto status = nlohmann::json::parse(response.body, nullptr, false);
    if (!status.is_object() || !status.contains("version")) return failed("the coordinator names no version");
    const std::string version = status.value("version", "");
    if (!version.empty()) return rounds::digest_from_hex(version, "the current version");
    if (interrupted() || std::chrono::steady_clock::now() > until)
      return failed("the coordinator has no version yet");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// What is trained now, as a device fetches it.
struct Current {
  rounds::Campaign campaign;
  std::unique_ptr<local::LocalTrainer> trainer;
  std::unique_ptr<const device::FetchedModel> model;
};

Result<Current> fetch_current(const FleetArguments& given) {
  SOTTO_TRY(const rounds::Digest hash, current_version(given));
  SOTTO_TRY(auto network, transport::HttpTransport::create(given.fleet.server));
  SOTTO_TRY(auto opened, carry(device::fetch_campaign(), network, device::no_pause));
  std::vector<std::pair<std::string, std::string>> local;
  for (const rounds::LocalSetting& setting : opened.campaign.local)
    local.emplace_back(setting.name, setting.value);
  SOTTO_TRY(auto trainer, local::find_trainer(opened.campaign.recipe, local));
  const auto fetch = [&](const rounds::Digest& blob) -> Result<std::string> {
    SOTTO_TRY(device::ServerAnswer answer, network.send(device::blob_call(blob)));
    if (answer.status != 200) return failed("the coordinator answers {} for {}", answer.status, to_hex(blob));
    return std::move(answer.body);
  };
  SOTTO_TRY(const std::string bytes, fetch(hash));
  SOTTO_TRY(const auto version, rounds::decode_model(bytes));
  SOTTO_TRY(const std::string items, fetch(version.table));
  SOTTO_TRY(auto table, rounds::decode_items(items));
  SOTTO_TRY(auto model, device::FetchedModel::create(version, std::move(table), *trainer, 1));
  return Current{std::move(opened.campaign), std::move(trainer), std::move(model)};
}

// As devices rank by it; who has none here counts too.
Result<fleet::Accuracy> measured(const FleetArguments& given, const data::Dataset& dataset) {
  SOTTO_TRY(const Current current, fetch_current(given));
  return fleet::measure(dataset, *current.trainer, *current.model, given.fleet.split_seed(), &interrupted);
}

// What the coordinator has of evaluations, and what these devices' pages say of the current version without
// noise. Nothing where the campaign measures no versions.
Result<nlohmann::json> evaluation_of(const FleetArguments& given, const data::Dataset& dataset) {
  SOTTO_TRY(const Current current, fetch_current(given));
  if (!current.campaign.evaluation) return nlohmann::json();
  SOTTO_TRY(auto client, net::HttpClient::create(given.fleet.server));
  SOTTO_TRY(const auto response, client.get("/v1/status"));
  const auto status = nlohmann::json::parse(response.body, nullptr, false);
  nlohmann::json told = {
      {"measured", status.is_object() ? status.value("evaluation", nlohmann::json()) : nlohmann::json()}};
  if (given.fleet.devices != current.campaign.cohort) return told;
  SOTTO_TRY(const auto readers, fleet::readers_of(dataset, given.fleet.devices, given.fleet.split_seed()));
  SOTTO_TRY(const auto predicted,
            fleet::predict_evaluation(dataset, readers, current.campaign, *current.trainer, *current.model,
                                      given.fleet.rounds, given.fleet.split_seed(), &interrupted));
  told["without_noise"] = predicted.auc;
  told["predicted_noise"] = predicted.noised ? nlohmann::json(predicted.noised->noise) : nlohmann::json();
  told["pages"] = predicted.pages;
  return told;
}

void say_evaluation(const nlohmann::json& told, const Output& output) {
  if (told.is_null()) return;
  if (const auto& measured = told["measured"]; measured.is_object())
    output.text(fmt::format("devices measured version {}: AUC {:.2f} ± {:.2f} %",
                            measured.value("version", 0), 100 * measured.value("auc", 0.0),
                            100 * measured.value("noise", 0.0)));
  if (told.contains("without_noise"))
    output.text(
        fmt::format("{} pages of theirs that are not trained on: {:.2f} % now without noise, which {}",
                    told["pages"].get<std::uint64_t>(), 100 * told["without_noise"].get<double>(),
                    told["predicted_noise"].is_null()
                        ? "would hide it"
                        : fmt::format("would be ± {:.2f}", 100 * told["predicted_noise"].get<double>())));
}

// The metrics by the names that 'sotto train' has, and the first of them in words.
struct Figures {
  nlohmann::json json;
  std::string name, text;
  double first = 0, error = 0;
};

Figures figures_of(const fleet::Accuracy& accuracy) {
  if (const auto* seen = std::get_if<fleet::ImpressionAccuracy>(&accuracy)) {
    const metrics::MeanImpressionMetrics& over = seen->over;
    return {{{"auc", over.mean.auc},
             {"auc_error", over.error.auc},
             {"mrr", over.mean.mrr},
             {"ndcg5", over.mean.ndcg5},
             {"ndcg10", over.mean.ndcg10},
             {"test_impressions", over.counted}},
            "auc",
            fmt::format("AUC of all readers ({} test impressions, ranked as their devices do)", over.counted),
            over.mean.auc,
            over.error.auc};
  }
  const auto& held_out = std::get<metrics::HeldOutReport>(accuracy);
  const metrics::HeldOutMetrics errors = metrics::standard_errors(held_out);
  Figures figures{
      {{"test_users", held_out.users}, {"test_rows", held_out.rows}, {"hits10_error", errors.hits[1]}},
      "hits10",
      fmt::format("Hits@10 of {} test readers ({} rows, ranked as their devices do)", held_out.users,
                  held_out.rows),
      held_out.mean.hits[1],
      errors.hits[1]};
  for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c) {
    figures.json[fmt::format("hits{}", metrics::HeldOutMetrics::cutoffs[c])] = held_out.mean.hits[c];
    figures.json[fmt::format("ndcg{}", metrics::HeldOutMetrics::cutoffs[c])] = held_out.mean.ndcg[c];
  }
  return figures;
}

Status run(FleetArguments given, const Output& output) {
  given.fleet.devices = static_cast<std::size_t>(given.devices);
  given.fleet.rounds = static_cast<std::uint64_t>(given.rounds);
  given.fleet.reproducible = given.reproducible;
  given.fleet.slowest = std::chrono::milliseconds(given.slowest_ms);
  given.fleet.clock_skew = std::chrono::seconds(given.clock_skew_seconds);
  given.fleet.patience = std::chrono::seconds(given.patience_seconds);
  given.fleet.server.authorities = given.authorities;
  SOTTO_TRY(const auto dataset, data::Dataset::open(given.data));
  if (given.operator_key.empty() != given.tokens.empty())
    return bad_input("--operator-key and --tokens belong together");
  if (given.operator_key.empty()) {
    SOTTO_CHECK(take_trial_tokens(given));
  } else {
    SOTTO_TRY(given.fleet.operator_key, read_public_key(given.operator_key));
    SOTTO_TRY(given.fleet.tokens, read_tokens(given.tokens));
  }
  SOTTO_TRY(const Stores stores, Stores::in(given.store));
  given.fleet.folder = stores.path();
  SOTTO_TRY(const auto at_first, measured(given, dataset));
  Progress progress("fleet", given.fleet.rounds, "rounds");
  std::uint64_t rounds_seen = 0;
  SOTTO_TRY(const auto report, fleet::run_fleet(
                                   given.fleet, dataset, [] { return interrupted(); },
                                   [&](std::uint64_t done) {
                                     progress.set(++rounds_seen);
                                     output.event({{"event", "round"}, {"round", done}});
                                   }));
  progress.finish();
  SOTTO_TRY(const auto at_last, measured(given, dataset));
  SOTTO_TRY(const auto evaluation, evaluation_of(given, dataset));
  const Figures before = figures_of(at_first), after = figures_of(at_last);
  const metrics::MeanAndError gain = fleet::gain_between(at_first, at_last);
  const double shared = static_cast<double>(std::max<std::uint64_t>(report.participations, 1));
  nlohmann::json reasons = nlohmann::json::object();
  for (const auto& [why, times] : report.reasons) reasons[why] = times;
  nlohmann::json done = after.json;
  done.update({{"event", "done"},
               {"rounds", report.rounds},
               {after.name + "_before", before.first},
               {after.name + "_gain", gain.mean},
               {after.name + "_gain_error", gain.error},
               {"devices", given.fleet.devices},
               {"participations", report.participations},
               {"charged", report.charged},
               {"ended", report.ended},
               {"refused", report.refused},
               {"reasons", reasons},
               {"bytes_up", static_cast<double>(report.bytes_up) / shared},
               {"bytes_down", static_cast<double>(report.bytes_down) / shared},
               {"evaluation", evaluation},
               {"ledger", report.ledger ? nlohmann::json::parse(privacy::to_json(*report.ledger))
                                        : nlohmann::json(nullptr)},
               {"simulation", given.fleet.reproducible.has_value()},
               {"seconds", report.seconds}});
  output.event(done);
  output.text(
      "",
      fmt::format(
          "{} rounds with {} devices in {:.1f} s: {} participations, {} charged, {} ended early, {} refused\n"
          "{} {:.2f} % before, {:.2f} ± {:.2f} % now, {:+.2f} ± {:.2f} for the same\nper participation "
          "{:.0f} "
          "bytes up, {:.0f} bytes down{}",
          report.rounds, given.fleet.devices, report.seconds, report.participations, report.charged,
          report.ended, report.refused, after.text, 100 * before.first, 100 * after.first, 100 * after.error,
          100 * gain.mean, 100 * gain.error, static_cast<double>(report.bytes_up) / shared,
          static_cast<double>(report.bytes_down) / shared,
          given.fleet.reproducible ? "\nsimulation: noise followed from a seed, and no epsilon holds" : ""));
  if (report.ledger)
    output.text(fmt::format(
        "the ledger of the device that was charged most often: {} charges, epsilon {:.4g} at delta {:g}",
        report.ledger->total.charges, report.ledger->total.spent.epsilon, report.ledger->delta));
  say_evaluation(evaluation, output);
  for (const auto& [why, times] : report.reasons) output.text(fmt::format("  {} times: ", times), why);
  return {};
}

}  // namespace

void add_fleet_command(CLI::App& app, Invocation& invocation) {
  struct Flags {
    FleetArguments arguments;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> settings;
  };
  auto flags = std::make_shared<Flags>();
  FleetArguments& given = flags->arguments;
  CLI::App* command =
      app.add_subcommand("fleet", "Many devices in one process, to rehearse a deployment or load it");
  command->add_option("--devices", given.devices, "How many; the readers of the data set, in their order")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
  command->add_option("--data", given.data, "Data set whose readers they belong to")->required();
  command->add_option("--server", given.fleet.server.url, "Address of the coordinator")->required();
  command->add_option("--authorities", given.authorities, "PEM file of certificates to trust, for https");
  command->add_option("--rounds", given.rounds, "Rounds to take part in")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  command->add_option("--operator-key", given.operator_key, "Public key file of the operator");
  command->add_option("--tokens", given.tokens, "File of enrolment tokens, one for each device");
  command->add_option("--store", given.store, "Folder of the devices; gone with the command otherwise");
  command->add_option("--reproducible", given.reproducible,
                      "Seed: draw noise as a simulation of it does, which protects nobody");
  command->add_option("--seed", given.fleet.seed,
                      "Of who misbehaves; of interactions, also of who trains and who tests");
  given.bind(flags->table);
  flags->settings = std::make_unique<SettingsFlags>(*command, flags->table);
  command->callback([flags, &invocation] {
    invocation.action = [flags, &invocation]() -> Status {
      SOTTO_CHECK(flags->settings->apply());
      return run(flags->arguments, invocation.output);
    };
  });
}

}  // namespace sotto::cli

#endif
