// A trained run as it is served: pack, device, live articles, and a newer training that takes its place.

#ifdef SOTTO_HAVE_NET

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/random.h"
#include "cli/serve/run_source.h"
#include "eval/experiments/serving/two_tower_rows.h"
#include "eval/training_run.h"
#include "fl/tiny_news.h"
#include "model/private_rec_model.h"
#include "net/negotiation.h"
#include "serving/http/http_transport.h"
#include "serving/http/serving_server.h"

namespace sotto::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::int64_t now = 1'700'000'000;
constexpr const char* token = "a-token-for-tests-of-serving";

class ServedRuns : public ::testing::Test {
 protected:
  void train(const std::string& recipe, std::vector<std::string> assignments, const fs::path& out,
             std::uint64_t seed = 1) {
    TrainJob job;
    job.recipe = recipe;
    job.data = data.path();
    job.out = out;
    job.rounds = 2;
    job.seed = seed;
    job.assignments = {"negatives=2", "word_size=8", "validation_impressions=0"};
    job.assignments.insert(job.assignments.end(), assignments.begin(), assignments.end());
    const auto trained = train_run(job, dataset, {});
    ASSERT_TRUE(trained) << trained.error().message;
  }
  void train_nrms(const fs::path& out, std::uint64_t seed = 1) {
    train("central-nrms", {"heads=2", "head_size=4", "pooling_size=4"}, out, seed);
  }

  const TempFolder data, folder;
  const Dataset dataset = testing::tiny_news(data);
};

struct Served {
  std::string recipe;
  std::vector<std::string> assignments;
};

TEST_F(ServedRuns, ADeviceComputesTheUserVectorsOfTheModel) {
  const std::vector<std::string> attention = {"cohort=4", "heads=2", "head_size=4", "pooling_size=4"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> all = attention;
    all.insert(all.end(), more);
    return all;
  };
  const std::vector<Served> runs = {{"fedrec", with({"model=nrms"})},
                                    {"fedrec", with({"model=fednewsrec", "recent_clicks=2"})},
                                    {"fedrec", with({"model=naml", "filters=8", "category_size=4"})},
                                    {"privaterec", with({"mode=paper", "basis_vectors=3"})}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const fs::path run = folder / std::to_string(i);
    train(runs[i].recipe, runs[i].assignments, run);
    const auto served = open_served_run(run, dataset, {.prototypes = 4, .basis_vectors = 5});
    ASSERT_TRUE(served) << served.error().message;
    ASSERT_TRUE(check(served->pack));
    EXPECT_EQ(served->pack.prototypes.rows(), 4U);
    EXPECT_EQ(served->pack.basis.rows(), runs[i].recipe == "privaterec" ? 3U : 5U)
        << "its own, if it has one";

    auto news = open_news_run(run, dataset).value();
    auto* model = dynamic_cast<NewsRecommender*>(news.model.get());
    if (auto* mixtures = dynamic_cast<PrivateRecModel*>(model)) model = &mixtures->backbone();
    torch::NoGradGuard no_grad;
    const auto items = private_serving::encode_catalogue(*model, dataset.item_count());
    const UserModel device = make_user_model(served->pack).value();
    const std::vector<std::vector<ItemId>> histories = {{}, {3}, {0, 2, 4}, {1, 0, 9, 8, 7, 6}};
    const auto users = private_serving::encode_histories(*model, items, news.max_history,
                                                         {histories.begin(), histories.end()},
                                                         std::vector<UserId>(histories.size(), unknown_user));
    for (std::size_t h = 0; h < histories.size(); ++h) {
      std::vector<float> clicks;
      for (const ItemId item : histories[h])
        clicks.insert(clicks.end(), items[item].begin(), items[item].end());
      const auto user = device.encode(clicks);
      ASSERT_EQ(user.size(), users.width);
      for (std::size_t j = 0; j < user.size(); ++j)
        EXPECT_NEAR(user[j], users[h][j], 1e-5) << runs[i].recipe << " " << i << " history " << h;
    }
  }
}

TEST_F(ServedRuns, AnArticleIsReadAsTheCatalogueWas) {
  train("central-naml", {"filters=8", "category_size=4", "pooling_size=4"}, folder / "run");
  auto news = open_news_run(folder / "run", dataset).value();
  torch::NoGradGuard no_grad;
  const auto items =
      private_serving::encode_catalogue(dynamic_cast<NewsRecommender&>(*news.model), dataset.item_count());
  const auto served = open_served_run(folder / "run", dataset, {.prototypes = 4});
  ASSERT_TRUE(served) << served.error().message;
  std::vector<serving::CatalogueItem> articles(4);
  articles[0].title = dataset.catalogue().titles[3];
  articles[0].category = "cold";
  articles[1].title = dataset.catalogue().titles[3];
  articles[1].category = "never heard of";
  articles[3].title = "sea words nobody knows";
  const auto vectors = served->encoder->encode(articles).value();
  for (std::size_t j = 0; j < items.width; ++j) EXPECT_NEAR(vectors[0][j], items[3][j], 1e-6);
  EXPECT_NE(vectors[1], vectors[0]) << "the category counts";
  EXPECT_EQ(vectors[2], std::vector<float>(items.width)) << "nothing to read: the anonymous item";
  EXPECT_NE(vectors[3], vectors[2]);
}

TEST_F(ServedRuns, ModelsThatDevicesCannotComputeAreRefusedWithTheReason) {
  const std::vector<std::pair<Served, std::string>> refused = {
      {{"central-lstur", {"filters=4", "category_size=2"}}, "a vector of every reader's own"},
      {{"central-dkn", {"filters=4", "entity_size=4", "pooling_size=4"}}, "anew for every item"},
      {{"central-ebnr", {"filters=4"}}, "devices do not know its user side"}};
  for (const auto& [run, why] : refused) {
    const fs::path out = folder / run.recipe;
    train(run.recipe, run.assignments, out);
    const auto served = open_served_run(out, dataset, {});
    ASSERT_FALSE(served) << run.recipe;
    EXPECT_THAT(served.error().message, HasSubstr(why));
  }
  EXPECT_THAT(RunSource::open(folder / "nothing", {}, folder / "pack", {}).error().message,
              HasSubstr("holds no run"));
}

// The server as the command runs it.
class ServedRunServer : public ServedRuns {
 protected:
  ServedRunServer() {
    train_nrms(folder / "run");
    source.emplace(RunSource::open(folder / "run", {}, folder / "run.pack", {.prototypes = 4}).value());
    serving::ServeSettings settings;
    settings.model = folder / "run.pack";
    settings.catalogue = folder / "catalogue";
    settings.operator_token = token;
    settings.pack_seconds = 1;
    settings.durability = serving::Durability::process_end;
    server = serving::ServingServer::start(settings, [this](const DevicePack& pack) {
               return source->encoder_for(pack);
             }).value();
    EXPECT_TRUE(source->fill(server->pool(), now));
    EXPECT_TRUE(server->tick(now));
  }
  std::string model() const { return server->pool().current()->model().version(); }
  HttpResponse post(HttpClient& client, const nlohmann::json& body) const {
    return client.post("/v1/recommend", body.dump(), kJsonType).value();
  }
  Device device(const std::string& name, const std::string& mechanism, const std::string& ranking) {
    DeviceSettings settings;
    settings.ranking = ranking;
    settings.query.mechanism = mechanism;
    settings.query.epsilon = 3;
    settings.lifetime_epsilon = 10;
    auto opened =
        Device::open(folder / name, settings, {[] { return UtcTime(std::chrono::seconds(now)); }, &random});
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }

  SeededRandom random{1, Purpose::test};
  std::optional<RunSource> source;
  std::unique_ptr<serving::ServingServer> server;
};

TEST_F(ServedRunServer, ServesDevicesInAllThreeModes) {
  ASSERT_EQ(server->pool().catalogue().size(), dataset.item_count());
  auto transport = serving::HttpTransport::create({.url = server->url()}).value();
  std::vector<std::vector<RankedItem>> pages;
  for (const auto& [mechanism, ranking] : std::vector<std::pair<std::string, std::string>>{
           {"prototypes", "private"}, {"coefficients", "private"}, {"prototypes", "local"}}) {
    Device reader = device(mechanism + ranking, mechanism, ranking);
    ASSERT_TRUE(reader.refresh(transport).value());
    ASSERT_TRUE(reader.click("N0"));
    ASSERT_TRUE(reader.click("N2"));
    const auto page = reader.recommend(transport, 5);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->source,
              ranking == "local" ? Recommendations::Source::local : Recommendations::Source::fresh_query)
        << mechanism << ": " << page->note;
    pages.push_back(page->items);
  }
  // The answer covers this small pool, so re-ranking on the device finds the same best five in every mode.
  for (const auto& page : pages) {
    ASSERT_EQ(page.size(), 5U);
    for (std::size_t i = 0; i < page.size(); ++i) EXPECT_EQ(page[i].item, pages.back()[i].item);
  }
}

TEST_F(ServedRunServer, ANewArticleIsReadByTheModelAndFoundAtOnce) {
  HttpClient client = HttpClient::create({.url = server->url()}).value();
  const std::string article =
      R"({"items":[{"id":"fresh","title":"red fire number 4","abstract":"","category":"warm","published":1700000000}]})";
  const auto put = client
                       .send({.method = HttpMethod::put,
                              .path = "/v1/items",
                              .headers = {{"Authorization", std::string("Bearer ") + token}},
                              .body = article,
                              .content_type = kJsonType})
                       .value();
  ASSERT_EQ(put.status, 200) << put.body;
  for (const nlohmann::json& query :
       {nlohmann::json{{"model", model()}, {"prototypes", {0}}, {"count", 20}},
        nlohmann::json{{"model", model()}, {"coefficients", {0.2, 0.2, 0.2, 0.2, 0.2}}, {"count", 20}}}) {
    const auto answer = post(client, query);
    ASSERT_EQ(answer.status, 200) << answer.body;
    std::map<std::string, double> scores;
    const auto body = nlohmann::json::parse(answer.body);
    for (const auto& item : body.at("items")) scores[item.at("id")] = item.at("score");
    ASSERT_EQ(scores.size(), dataset.item_count() + 1);
    EXPECT_NEAR(scores.at("fresh"), scores.at("N4"), 1e-5) << "the same words, the same vector";
  }
}

TEST_F(ServedRunServer, ANewTrainingTakesOverWithoutAFailedRequest) {
  const std::string before = model();
  train_nrms(folder / "next", 2);
  std::atomic<bool> ending{false};
  std::atomic<int> answered{0}, failed{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&, i] {
      HttpClient client = HttpClient::create({.url = server->url()}).value();
      while (!ending) {
        nlohmann::json query = {{"model", before}};
        if (i == 0) query["prototypes"] = {1};
        if (i == 1) query["coefficients"] = {0, 0.5, 0.5, 0, 0};
        const auto answer = client.post("/v1/recommend", query.dump(), kJsonType);
        (answer && answer->status == 200 ? answered : failed) += 1;
      }
    });
  }
  fs::rename(folder / "run", folder / "old");
  fs::rename(folder / "next", folder / "run");
  fs::last_write_time(folder.path() / "run" / "best.sotto",
                      fs::last_write_time(folder.path() / "old" / "best.sotto") + std::chrono::seconds(5));
  EXPECT_TRUE(source->refresh().value());
  EXPECT_TRUE(server->tick(now + 5));
  EXPECT_NE(model(), before);
  const int so_far = answered;
  while (answered < so_far + 20 && failed == 0) std::this_thread::yield();
  ending = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(failed, 0) << "devices with the pack before are answered";

  EXPECT_FALSE(source->refresh().value()) << "nothing new";
  auto transport = serving::HttpTransport::create({.url = server->url()}).value();
  Device reader = device("reader", "prototypes", "private");
  ASSERT_TRUE(reader.refresh(transport).value());
  EXPECT_EQ(reader.recommend(transport, 3)->source, Recommendations::Source::fresh_query);
}

}  // namespace
}  // namespace sotto::cli

#endif
