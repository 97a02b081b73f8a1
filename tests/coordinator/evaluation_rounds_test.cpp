// Versions that devices measure over real HTTP: what is summed, what it costs, and what a fall leads to.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/inspection.h"
#include "local/page_evaluation.h"
#include "rounds/evaluation.h"
#include "running_deployment.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto::coordinator {
namespace {

using device::Participation;
using ::testing::HasSubstr;
using Outcome = Participation::Outcome;

// So much that twenty devices are heard: a real campaign has thousands.
constexpr double loud = 12;
constexpr std::uint64_t trained_rounds = 3;

rounds::Campaign measuring(const rounds::EvaluationWish& wish) {
  rounds::Campaign campaign = rounds::with_evaluation(deployed_campaign(trained_rounds), wish).value();
  campaign.valid_from = wall_now() - std::chrono::hours(1);
  campaign.valid_until = wall_now() + std::chrono::hours(24);
  return campaign;
}

// What the devices say of a version with these numbers, summed without a network.
rounds::VersionEstimate expected(const rounds::Campaign& campaign, const std::vector<float>& numbers,
                                 std::uint64_t version_number, std::uint64_t seed,
                                 const std::function<std::size_t(std::size_t)>& impressions) {
  const auto trainer = local::find_trainer("sotto", deployed_settings).value();
  const rounds::ModelVersion version{deployed_layout(), rounds::one_row(numbers), {}, {}};
  const auto model = device::FetchedModel::create(version, deployed_table(), *trainer, 1).value();
  const auto plan = secagg::EncodingPlan::create(campaign.evaluation_encoding()).value();
  const std::uint64_t place = device::evaluation_draws(version_number);
  std::vector<std::vector<std::uint32_t>> entries;
  for (std::uint32_t reader = 0; reader < deployed_group; ++reader) {
    const auto pages = impressions_of(reader, impressions(reader));
    const device::EventsOfReader own(*model, trainer->reads(), pages, {});
    device::SimulatedDraws draws(seed, reader);
    const auto said = local::evaluate_pages(*trainer, model->inputs(), own.events(),
                                            {campaign.evaluation->held_out, campaign.evaluation->pages},
                                            draws.examples(place), [] { return false; })
                          .value();
    entries.push_back(
        secagg::UpdateEncoder(plan).encode(std::span<const float>(said), draws.noise(place)).value());
  }
  return rounds::estimate_of(campaign, {{secagg::modular_sum(entries, plan.modulus()).value()}},
                             deployed_group)
      .value();
}

rounds::Digest hash_of(std::uint8_t number) {
  rounds::Digest hash{};
  hash.fill(number);
  return hash;
}

std::string signed_order(std::uint64_t number, const rounds::Campaign& campaign, bool evaluates) {
  const auto opened =
      rounds::open_campaign(sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key()));
  rounds::RoundOrder order;
  order.round = hash_of(evaluates ? 2 : 1);
  order.number = number;
  order.evaluates = evaluates;
  order.campaign = opened->hash;
  order.head.size = 2;
  order.expires = campaign.valid_until;
  return rounds::sign_order(order, *opened, rounds::coordinator_key()).value();
}

std::size_t took_part(const std::vector<Participation>& parts) {
  return static_cast<std::size_t>(std::ranges::count(parts, Outcome::took_part, &Participation::outcome));
}

TEST(EvaluationRounds, GiveWhatASimulationGivesAndAreChargedUnderTheirOwnName) {
  RunningDeployment deployment(measuring({.every = 1, .held_out = 2, .pages = 2, .epsilon = loud}));
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  const auto measuring_parts = deployment.everybody();
  ASSERT_EQ(took_part(measuring_parts), deployed_group) << measuring_parts[0].why;
  EXPECT_TRUE(measuring_parts[0].evaluates);
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return !deployment.status()["evaluation"].is_null(); }));
  const nlohmann::json measured = deployment.status()["evaluation"];
  const auto simulated =
      expected(deployment.campaign, std::vector<float>(deployment.campaign.encoding.dimension, 0.1F), 0,
               RunningDeployment::seed, RunningDeployment::impressions);
  EXPECT_EQ(measured["version"], 0);
  EXPECT_EQ(measured["devices"], deployed_group);
  EXPECT_NEAR(measured["auc"].get<double>(), simulated.auc, 1e-9);
  EXPECT_NEAR(measured["noise"].get<double>(), simulated.noise, 1e-9);
  EXPECT_EQ(deployment.get("/v1/versions")["versions"][0]["auc"], measured["auc"]);
  EXPECT_TRUE(deployment.get("/v1/rounds")["rounds"][0]["evaluates"]);
  ASSERT_TRUE(deployment.running->tick());
  net::HttpClientSettings http;
  http.url = deployment.running->url();
  const auto metrics = net::HttpClient::create(http)->get("/metrics");
  EXPECT_THAT(metrics->body, HasSubstr(fmt::format("sotto_version_auc_millionths {}",
                                                   std::llround(measured["auc"].get<double>() * 1e6))));

  // Then they train, and pay for that apart.
  const auto training_parts = deployment.everybody();
  ASSERT_EQ(took_part(training_parts), deployed_group) << training_parts[0].why;
  EXPECT_FALSE(training_parts[0].evaluates);
  const auto statement = deployment.devices[0]->statement();
  for (const auto& line : statement.purposes)
    EXPECT_EQ(line.charges, line.what == "training" || line.what == "evaluation" ? 1U : 0U) << line.what;
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return deployment.status()["rounds_done"] == 1; }));
  EXPECT_GT(deployment.status()["epsilon_so_far"], 0);
}

TEST(EvaluationRounds, AreNotHeldByACoordinatorWhoseLeaseAnotherHas) {
  RunningDeployment deployment(measuring({.every = 1, .held_out = 2, .pages = 2, .epsilon = loud}));
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return deployment.status()["state"] == "gathering"; }));
  // It has not heard of it yet, and its order is open.
  const auto store =
      open_store((deployment.folder / "store").string(), rounds::coordinator_key().public_key()).value();
  ASSERT_TRUE(
      store->acquire("coordinator", "another", wall_now() + std::chrono::hours(1), std::chrono::minutes(1)));
  const auto parts = deployment.everybody();
  EXPECT_EQ(took_part(parts), 0U);
  for (const auto& device : deployment.devices) EXPECT_EQ(device->charges(), 0U);
  EXPECT_EQ(store->count_orders(deployment.running->campaign().hash).value(), OrderCounts());
}

// What a coordinator that was killed while devices sent has left behind.
TEST(EvaluationRounds, AreCountedAcrossARestartAndNotAskedForAgain) {
  RunningDeployment deployment(measuring({.every = 1, .held_out = 2, .pages = 2, .epsilon = loud}));
  const auto started = deployment.start();
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return deployment.status()["state"] == "gathering"; }));
  const Digest campaign = deployment.running->campaign().hash;
  deployment.running.reset();
  const fs::path folder = deployment.folder / "store";
  {
    const auto store = open_store(folder.string(), rounds::coordinator_key().public_key()).value();
    const Fence fence =
        store->acquire("coordinator", "coordinator", wall_now(), std::chrono::seconds(1)).value().fence;
    const StoredOrder round{hash_of(1), 1, campaign, signed_order(1, deployment.campaign, false), {}, {}},
        measurement{hash_of(2), 0, campaign, signed_order(0, deployment.campaign, true), {}, {}, true};
    for (const StoredOrder& order : {round, measurement}) {
      ASSERT_TRUE(store->open_order(fence, order));
      ASSERT_TRUE(store->begin_unmasking(fence, order.round));
    }
  }
  const auto again = deployment.start();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(deployment.status()["orders_charged"], 1) << "from the beginning";
  EXPECT_EQ(deployment.status()["evaluations_charged"], 1);
  const double both = rounds::cost_of(deployment.campaign, 1, deployment.campaign.delta, 1)->epsilon;
  EXPECT_NEAR(deployment.status()["epsilon_so_far"].get<double>(), both, 1e-9);
  const double all = deployment.status()["epsilon_in_all"].get<double>();
  EXPECT_GE(all, both) << "what was spent is shown against what both may cost together";
  EXPECT_GT(all, deployment.campaign.epsilon);
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return deployment.status()["state"] == "gathering"; }));
  EXPECT_EQ(deployment.status()["orders_abandoned"], 1);
  EXPECT_THAT(deployment.status()["last_problem"].get<std::string>(), HasSubstr("not charged for it twice"));
  const auto parts = deployment.everybody();
  ASSERT_EQ(took_part(parts), deployed_group) << parts[0].why;
  EXPECT_FALSE(parts[0].evaluates) << "they train";
  EXPECT_EQ(deployment.status()["orders_charged"], 2);
  EXPECT_EQ(inspect_store(folder.string())->orders_charged, 2U);
  EXPECT_EQ(inspect_store(folder.string())->evaluations_charged, 1U);
}

// Versions as they were chosen, whatever devices send.
class ChosenTrainer final : public Folding {
 public:
  explicit ChosenTrainer(std::vector<std::vector<float>> versions) : versions_(std::move(versions)) {}
  Result<FoldedModel> begin(const std::string& checkpoint) override {
    done_ = checkpoint.empty() ? 0 : std::stoul(checkpoint);
    return FoldedModel{deployed_layout(), deployed_table()};
  }
  Result<FoldedRound> next() override {
    return FoldedRound{
        done_, 1, rounds::one_row(versions_.at(done_)), {}, done_ == 0 ? "" : std::to_string(done_), false};
  }
  Status give(const std::vector<GroupSum>&) override {
    ++done_;
    return {};
  }

 private:
  std::vector<std::vector<float>> versions_;
  std::size_t done_ = 0;
};

constexpr auto many_pages = [](std::size_t) { return std::size_t{12}; };

// Of many made-up versions the one that ranks these pages best and the one that ranks them worst.
std::vector<std::vector<float>> best_and_worst(const rounds::Campaign& campaign) {
  std::vector<std::pair<double, std::vector<float>>> tried;
  for (std::uint32_t i = 0; i < 150; ++i) {
    SeededRandom draws(7, Purpose::test, 0, i);
    std::vector<float> numbers(campaign.encoding.dimension);
    for (float& number : numbers) number = static_cast<float>(draws() % 2001) / 1000 - 1;
    const double auc = expected(campaign, numbers, 0, RunningDeployment::seed, many_pages).auc;
    tried.emplace_back(auc, std::move(numbers));
  }
  std::ranges::sort(tried);
  return {tried.back().second, tried.front().second, tried.back().second};
}

TEST(EvaluationRounds, AFallIsAlertedOfAndRolledBackWhereThatIsWished) {
  RunningDeployment deployment(
      measuring({.every = 1, .held_out = 2, .pages = 4, .participations = 2, .epsilon = 10}));
  ChosenTrainer trainer(best_and_worst(deployment.campaign));
  CoordinatorSettings settings;
  settings.store = (deployment.folder / "store").string();
  settings.campaign =
      sign_document(rounds::campaign_kind, encode(deployment.campaign), rounds::operator_key());
  settings.operator_key = rounds::operator_key().public_key();
  settings.run.largest_fall = 0;
  settings.run.rolls_back_falls = true;
  auto started = Coordinator::start(settings, rounds::coordinator_key(), trainer);
  ASSERT_TRUE(started) << started.error().message;
  deployment.running = std::move(*started);
  for (std::uint8_t i = 0; i < deployed_group; ++i) {
    auto device = DeployedDevice::open(deployment.folder / std::to_string(i), i, deployment.running->url(),
                                       deployment.campaign, many_pages(i));
    ASSERT_TRUE(device) << device.error().message;
    ASSERT_TRUE((*device)->enrol((*device)->network()));
    deployment.devices.push_back(std::move(*device));
  }
  const auto versions = [&] { return deployment.get("/v1/versions")["versions"]; };

  ASSERT_EQ(took_part(deployment.everybody()), deployed_group) << "version 0 is measured";
  ASSERT_EQ(took_part(deployment.everybody()), deployed_group) << "and trained on";
  EXPECT_EQ(deployment.status()["alert"], nullptr);
  const auto parts = deployment.everybody();
  ASSERT_EQ(took_part(parts), deployed_group) << "version 1 is measured: " << parts[0].why;
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return !deployment.status()["alert"].is_null(); }));
  EXPECT_THAT(deployment.status()["alert"].get<std::string>(), HasSubstr(" %, and version 0 had "));
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return versions()[0]["current"].get<bool>(); }))
      << versions();
  EXPECT_LT(versions()[1]["auc"], versions()[0]["auc"]);

  ASSERT_EQ(took_part(deployment.everybody()), deployed_group) << "round 2 trains on version 0";
  ASSERT_TRUE(RunningDeployment::comes_true([&] { return versions().size() == 3; }));
  const auto store = open_store_to_read((deployment.folder / "store").string()).value();
  const auto kept = store->versions(deployment.running->campaign().hash).value();
  EXPECT_EQ(kept[2].parent, kept[0].model);
  EXPECT_FALSE(deployment.running->outcome());
  deployment.running.reset();  // before its trainer
}

}  // namespace
}  // namespace sotto::coordinator
