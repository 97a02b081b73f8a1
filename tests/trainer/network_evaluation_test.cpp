// Versions that a fleet measures in a campaign of the flagship: what its devices say is what the fleet's own
// prediction says, and what the metrics say of the same pages.

#ifdef SOTTO_HAVE_NET

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "fleet/predicted_evaluation.h"
#include "local/page_evaluation.h"
#include "metrics/ranking.h"
#include "network_rounds.h"
#include "rounds/evaluation.h"

namespace sotto::trainer {
namespace {

using testing::Network;
using testing::seed;

nlohmann::json answer_of(const Network& network, const std::string& path) {
  net::HttpClientSettings settings;
  settings.url = network.running->url();
  return nlohmann::json::parse(net::HttpClient::create(settings)->get(path)->body);
}

// The AUC by the project's one definition of it, over the pages that devices measure.
double auc_by_metrics(const Network& network, const device::FetchedModel& model,
                      std::span<const data::UserId> readers) {
  const rounds::EvaluationSum& asked = *network.campaign.evaluation;
  double sum = 0;
  std::size_t pages = 0;
  for (const data::UserId reader : readers) {
    const fleet::Memory memory = fleet::memory_of(network.dataset, reader);
    const device::EventsOfReader own(model, network.trainer->reads(), memory.impressions, memory.rows);
    std::size_t counted = 0;
    const auto& seen = own.events().impressions;
    for (auto page = seen.rbegin(); page != seen.rend() && counted < asked.pages; ++page) {
      if (!local::is_held_out(*page, asked.held_out)) continue;
      SeededRandom draws(1, Purpose::test);
      const auto scores = network.trainer->rank(
          model.inputs(), own.events(), {page->history, page->shown, {}}, draws, [] { return false; });
      const auto ranked = metrics::impression_metrics(scores.value(), page->clicked);
      if (!ranked) continue;
      sum += ranked->auc;
      ++pages, ++counted;
    }
  }
  return sum / static_cast<double>(pages);
}

TEST(NetworkEvaluation, SaysOfEveryVersionWhatThePredictionSays) {
  Network network(testing::flagship());
  // One page of each device: then two dozen are heard for what ledgers allow beside the training.
  network.campaign =
      rounds::with_evaluation(network.campaign, {.every = 2, .held_out = 2, .pages = 1, .epsilon = 10})
          .value();
  const auto started = network.start();
  ASSERT_TRUE(started) << started.error().message;
  auto settings = network.fleet_settings(network.subject.rounds);
  settings.reproducible = seed;
  const auto report = network.run(settings);
  ASSERT_TRUE(report) << report.error().message;
  const auto finished = network.finish();
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(report->participations, 4 * network.devices) << "two rounds and two measurements";
  EXPECT_EQ(report->charged, 4 * network.devices);

  const nlohmann::json versions = answer_of(network, "/v1/versions")["versions"];
  ASSERT_EQ(versions.size(), 3U);
  EXPECT_EQ(versions[1]["auc"], nullptr) << "every second one is measured";
  const auto readers = fleet::readers_of(network.dataset, network.devices, seed).value();
  net::HttpClientSettings http;
  http.url = network.running->url();
  auto client = net::HttpClient::create(http);
  for (const std::uint64_t number : {0U, 2U}) {
    SCOPED_TRACE(number);
    const auto blob = client->get("/v1/blob/" + versions[number]["model"].get<std::string>());
    const auto version = rounds::decode_model(blob->body).value();
    const auto items = client->get("/v1/blob/" + to_hex(version.table));
    const auto model =
        device::FetchedModel::create(version, rounds::decode_items(items->body).value(), *network.trainer, 1);
    const auto predicted =
        fleet::predict_evaluation(network.dataset, readers, network.campaign, *network.trainer, **model,
                                  number, seed, [] { return false; });
    ASSERT_TRUE(predicted) << predicted.error().message;
    ASSERT_TRUE(predicted->noised);
    EXPECT_NEAR(versions[number]["auc"].get<double>(), predicted->noised->auc, 1e-9);
    EXPECT_NEAR(versions[number]["auc_noise"].get<double>(), predicted->noised->noise, 1e-9);
    EXPECT_NEAR(predicted->auc, auc_by_metrics(network, **model, readers), 1e-6);
    EXPECT_NEAR(predicted->noised->auc, predicted->auc, 5 * predicted->noised->noise);

    // A fleet whose devices' noise hides their pages has done its rounds all the same.
    const auto drowned =
        rounds::with_evaluation(network.campaign, {.every = 2, .held_out = 2, .pages = 1, .epsilon = 0.01});
    ASSERT_TRUE(drowned) << drowned.error().message;
    const auto hidden = fleet::predict_evaluation(network.dataset, readers, *drowned, *network.trainer,
                                                  **model, number, seed, [] { return false; });
    ASSERT_TRUE(hidden) << hidden.error().message;
    EXPECT_FALSE(hidden->noised);
    EXPECT_EQ(hidden->pages, predicted->pages);
  }
}

}  // namespace
}  // namespace sotto::trainer

#endif
