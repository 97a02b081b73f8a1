#pragma once
// A recipe trained three ways with the same draws: simulated, through the masks of one process, and by
// devices over real HTTP, where the coordinator, its store and a fleet are in this process and the trainer
// beside it.

#ifdef SOTTO_HAVE_NET

#include <gtest/gtest.h>

#include <thread>

#include "base/binary_file.h"
#include "cli/fold_process.h"
#include "coordinator/coordinator.h"
#include "data/newsroom/newsroom.h"
#include "eval/training_run.h"
#include "fl/run_log.h"
#include "fl/tiny_interactions.h"
#include "fleet/fleet.h"
#include "fleet/readers.h"
#include "local/local_trainer.h"
#include "rounds/enrolment.h"
#include "rounds/small_campaign.h"
#include "secagg/vectors/two_sums.h"
#include "test_paths.h"

namespace sotto::trainer::testing {

constexpr std::uint64_t seed = 2;  // by which a device or two are lost in each round
constexpr double epsilon = 8, delta = 1e-5;

inline rounds::UtcTime now() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

// What is trained, small.
struct Subject {
  std::string recipe;
  bool interactions = false;
  std::vector<std::string> server;  // settings of the recipe, wherever it runs
  std::string cohort = "cohort";    // the name of that setting
  // Of a simulation alone: another recipe's name, and what makes it the same one.
  std::string simulated_as = "";
  std::vector<std::string> simulation = {};
  std::uint64_t rounds = 2;
};

inline Subject flagship() { return {"sotto", false, {"vector_size=12"}, "cohort", "", {"personal_steps=0"}}; }

// What a checkpoint has of the model and of what makes its next step.
struct Trained {
  std::vector<float> parameters;
  std::vector<std::vector<float>> optimiser;
};

inline std::vector<float> numbers_of(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.to(torch::kFloat32).contiguous();
  return {plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel()};
}

// The parameters and all that makes the next step, of which every optimiser has something. The simulation may
// count beside it who took part how often.
inline void expect_equal(const Trained& networked, const Trained& simulated) {
  ASSERT_FALSE(networked.parameters.empty());
  EXPECT_EQ(networked.parameters, simulated.parameters);
  ASSERT_FALSE(networked.optimiser.empty());
  ASSERT_GE(simulated.optimiser.size(), networked.optimiser.size());
  ASSERT_LE(simulated.optimiser.size(), networked.optimiser.size() + 1);
  for (std::size_t i = 0; i < networked.optimiser.size(); ++i)
    EXPECT_EQ(networked.optimiser[i], simulated.optimiser[i]) << "state " << i;
}

struct Network {
  // Everybody who has something to learn from takes part in each round.
  explicit Network(Subject subject_) : subject(std::move(subject_)) {
    const auto task = cli::ask_for_task({subject.recipe, data.path(), {}, devices, subject.server});
    if (!task) throw std::runtime_error(task.error().message);
    std::vector<std::pair<std::string, std::string>> local;
    for (const rounds::LocalSetting& setting : task->local) local.emplace_back(setting.name, setting.value);
    trainer = local::find_trainer(subject.recipe, local).value();
    campaign = rounds::small_campaign();
    campaign.recipe = subject.recipe;
    campaign.layout = rounds::layout_hash(trainer->layout().text());
    campaign.local = task->local;
    campaign.population = campaign.cohort = devices;
    campaign.rounds = campaign.participations = subject.rounds;
    campaign.epsilon = epsilon;
    campaign.delta = delta;
    campaign.max_upload_bytes = 1 << 20;
    campaign.max_training_seconds = 2;  // whoever is not ready sends zeros
    campaign.shortest_phase_seconds = 2;
    campaign.longest_phase_seconds = 4;
    campaign.valid_from = now() - std::chrono::hours(1);
    campaign.valid_until = now() + std::chrono::hours(24);
    campaign.witnesses.clear();
    campaign.witnesses_needed = 0;
    calibrate(*task);
  }

  // As the recipe calibrates the same training.
  void calibrate(const cli::TaskOnDevices& task) {
    secagg::TrainingBudget budget{.epsilon = epsilon,
                                  .delta = delta,
                                  .participations = campaign.participations,
                                  .bits = task.bits,
                                  .dropping = 0.1,
                                  .corrupted = 0.1,
                                  .clip = task.clip,
                                  .bound_follows = task.bound_follows};
    if (task.first_noise > 0) {
      budget.participations = 0;  // each sum once, which a campaign cannot promise
      const auto sums =
          secagg::calibrated_two_sums(budget,
                                      {trainer->dimension(task.items, 1), trainer->dimension(task.items, 2),
                                       devices, 0, task.first_noise},
                                      devices);
      campaign.encoding = sums.value().first.settings();
      campaign.bits = sums->first.modulus().bits();
      const auto& second = sums->second.settings();
      campaign.second = rounds::SecondSum{second.dimension, second.products, second.step,
                                          second.noise_multiplier, sums->second.modulus().bits()};
      campaign.epsilon = 4 * epsilon;
      return;
    }
    const auto calibrated = secagg::calibrated_plan(
        budget, {trainer->dimension(task.items, 1), devices, devices, campaign.rounds});
    campaign.encoding = calibrated.value().plan.settings();
    campaign.bits = calibrated->plan.modulus().bits();
  }

  void sign() {
    document = sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
    if (!write_file_atomically(folder / "campaign.sotto", document))
      throw std::runtime_error("cannot write the campaign");
  }

  coordinator::CoordinatorSettings settings(const std::string& store = "store") const {
    coordinator::CoordinatorSettings settings;
    settings.store = (folder / store).string();
    settings.campaign = document;
    settings.operator_key = rounds::operator_key().public_key();
    settings.operator_token = "a token of the operator";
    settings.run.order_time = std::chrono::seconds(60);
    settings.run.retry_time = std::chrono::seconds(1);
    return settings;
  }

  Status start() {
    if (document.empty()) sign();
    return start(settings());
  }
  Status start(const coordinator::CoordinatorSettings& settings) {
    folding = std::make_unique<cli::FoldProcess>(
        cli::FoldSettings{folder / "campaign.sotto", data.path(), folder / "trainer", subject.server, seed});
    SOTTO_TRY(running, coordinator::Coordinator::start(settings, rounds::coordinator_key(), *folding));
    return {};
  }

  fleet::FleetSettings fleet_settings(std::uint64_t rounds) {
    fleet::FleetSettings settings;
    settings.devices = devices;
    settings.rounds = rounds;
    if (running) settings.server.url = running->url();
    settings.server.timeout = std::chrono::seconds(60);
    settings.folder = folder / "devices";
    settings.operator_key = rounds::operator_key().public_key();
    for (std::size_t i = 0; i < devices; ++i) {
      rounds::EnrolmentToken token{{}, true, now() + std::chrono::hours(1)};
      token.id.fill(static_cast<std::uint8_t>(i));
      settings.tokens.push_back(rounds::sign_token(token, rounds::operator_key()));
    }
    settings.patience = std::chrono::seconds(120);
    settings.seed = seed;
    return settings;
  }

  Result<fleet::FleetReport> run(const fleet::FleetSettings& settings) {
    return fleet::run_fleet(
        settings, dataset, [] { return false; }, [](std::uint64_t) {});
  }

  // Until the campaign's thread says so.
  Status finish() {
    for (int i = 0; i < 600; ++i) {
      if (const auto ended = running->outcome()) return *ended;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return failed("the campaign does not end");
  }

  // The current version, as a device fetches it.
  rounds::ModelVersion version() {
    net::HttpClientSettings settings = fleet_settings(1).server;
    settings.authorities = authorities;
    auto client = net::HttpClient::create(settings);
    const auto blob = client->get("/v1/blob/" + running->progress().version);
    return rounds::decode_model(blob->body).value();
  }

  // What the trainer beside the coordinator has written last.
  Trained networked() const { return checkpoint_in(folder / "trainer"); }

  // The same training with simulated devices that run the devices' code; as it is after so many rounds, where
  // that is not all.
  Result<Trained> simulated(const std::string& sums, std::vector<std::string> more = {},
                            std::uint64_t after = 0) {
    eval::TrainJob job;
    job.recipe = subject.simulated_as.empty() ? subject.recipe : subject.simulated_as;
    job.out = runs / sums;
    job.rounds = static_cast<std::int64_t>(subject.rounds);
    job.assignments = subject.server;
    job.epsilon = "8";
    job.seed = seed;
    job.reproducible = true;
    for (const auto& list : {subject.simulation, more})
      job.assignments.insert(job.assignments.end(), list.begin(), list.end());
    job.assignments.push_back("delta=1e-5");
    job.assignments.push_back("sums=" + sums);
    if (!campaign.second) {
      job.assignments.push_back("updates=device");
      job.assignments.push_back("participations=" + std::to_string(campaign.participations));
      job.assignments.push_back(subject.cohort + "=" + std::to_string(devices));
    }
    if (after == 0) {
      SOTTO_CHECK(eval::train_run(job, dataset, {}));
      return checkpoint_in(job.out);
    }
    job.assignments.push_back("checkpoint_every=1");
    std::optional<Trained> then;
    SOTTO_CHECK(eval::train_run(job, dataset, {.round = [&](const fl::RoundRecord& record) {
                                  if (record.round == after) then = checkpoint_in(job.out);
                                }}));
    if (!then) return failed("there was no round {}", after);
    return *then;
  }

  static Trained checkpoint_in(const fs::path& folder) {
    const fs::path file = folder / "last.sotto";
    const auto reader = BinaryFileReader::open(file, "checkpoint", 2).value();
    const auto kept = fl::load_checkpoint(file, std::string(reader.text("layout").value()));
    if (!kept) throw std::runtime_error(kept.error().message);
    Trained trained{numbers_of(kept->parameters), {}};
    for (const torch::Tensor& tensor : kept->optimiser) trained.optimiser.push_back(numbers_of(tensor));
    return trained;
  }

  const Subject subject;
  const TempFolder data, runs, folder;
  const data::Dataset dataset = make_data();
  const std::uint64_t devices = fleet::readers_of(dataset, 1000, seed).value().size();
  std::unique_ptr<local::LocalTrainer> trainer;
  rounds::Campaign campaign;
  std::string document;
  fs::path authorities;  // for https
  std::unique_ptr<cli::FoldProcess> folding;
  std::unique_ptr<coordinator::Coordinator> running;

 private:
  data::Dataset make_data() const {
    if (subject.interactions) return fl::testing::tiny_ratings(data, 30);
    data::NewsroomSettings settings;
    settings.users = 24, settings.news = 60, settings.days = 3, settings.seed = 3;
    if (const auto made = data::generate_newsroom(settings, data.path()); !made)
      throw std::runtime_error(made.error().message);
    return data::Dataset::open(data.path()).value();
  }
};

}  // namespace sotto::trainer::testing

#endif
