#pragma once
// A trained run behind a server on loopback, as the command sets it up with the trainer beside it, and
// devices that ask it.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "cli/run_source.h"
#include "device/device.h"
#include "eval/training_run.h"
#include "net/negotiation.h"
#include "publish/packs/served_run.h"
#include "publish/rows.h"
#include "publish/served_codebook.h"
#include "publish/two_tower_rows.h"
#include "serving/http/serving_server.h"
#include "transport/http_transport.h"

namespace sotto::trainer::testing {

inline constexpr std::int64_t serving_now = 1'700'000'000;

// What a pool holds is another test's matter (tests/cli/pool_items_test.cpp).
inline Status any_data(const cli::ServedData& /*data*/) { return {}; }

class RunServer {
 public:
  // folder: for everything it writes. The data is found where the run was trained.
  RunServer(const fs::path& folder, const fs::path& run) : folder_(folder) {
    source.emplace(cli::RunSource::open(run, {}, folder / "run.pack", {.prototypes = 4}, any_data).value());
    serving::ServeSettings settings;
    settings.model = folder / "run.pack";
    settings.catalogue = folder / "catalogue";
    settings.operator_token = token;
    settings.pack_seconds = 1;
    settings.durability = Durability::process_end;
    server = serving::ServingServer::start(settings, [this](const device::DevicePack& pack) {
               return source->encoder_for(pack);
             }).value();
    if (server->pool().catalogue().size() == 0) {
      EXPECT_TRUE(source->fill(server->pool(), serving_now));
    }
    EXPECT_TRUE(server->tick(serving_now));
  }

  std::string model() const { return server->pool().current()->model().version(); }
  std::size_t items() const { return server->pool().catalogue().size(); }
  net::HttpClient client() const { return net::HttpClient::create({.url = server->url()}).value(); }
  sotto::transport::HttpTransport transport() const {
    return sotto::transport::HttpTransport::create({.url = server->url()}).value();
  }

  net::HttpResponse put(const nlohmann::json& article) const {
    return client()
        .send({.method = net::HttpMethod::put,
               .path = "/v1/items",
               .headers = {{"Authorization", std::string("Bearer ") + token}},
               .body = nlohmann::json{{"items", {article}}}.dump(),
               .content_type = net::json_type})
        .value();
  }
  // What is answered to {"prototypes": …} or {"coefficients": …}, by id.
  std::map<std::string, double> scores(nlohmann::json query, std::size_t count) const {
    query["model"] = model();
    query["count"] = count;
    const auto answer = client().post("/v1/recommend", query.dump(), net::json_type).value();
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::map<std::string, double> found;
    const auto body = nlohmann::json::parse(answer.body);
    for (const auto& item : body.at("items")) found[item.at("id")] = item.at("score");
    return found;
  }

  device::Device device(const std::string& name, const std::string& mechanism, const std::string& ranking) {
    device::DeviceSettings settings;
    settings.ranking = ranking;
    settings.query.mechanism = mechanism;
    settings.query.epsilon = 3;
    settings.lifetime_epsilon = 10;
    auto opened = device::Device::open(
        folder_ / name, settings,
        {[] { return privacy::UtcTime(std::chrono::seconds(serving_now)); }, &random_, true});
    EXPECT_TRUE(opened) << opened.error().message;
    EXPECT_TRUE(opened->agree(opened->terms("paper.example", "A page for you", {.asking = true})));
    return std::move(*opened);
  }
  // The page of a device that has clicked these, in every mode. The answer covers small pools, so re-ranking
  // on the device finds the same best items in every mode.
  void expect_all_modes_agree(const std::vector<std::string>& clicks) {
    auto network = transport();
    std::vector<std::vector<device::RankedItem>> pages;
    for (const auto& [mechanism, ranking] : std::vector<std::pair<std::string, std::string>>{
             {"prototypes", "private"}, {"coefficients", "private"}, {"prototypes", "local"}}) {
      device::Device reader = device(mechanism + ranking, mechanism, ranking);
      EXPECT_TRUE(reader.refresh(network).value());
      for (const std::string& item : clicks) EXPECT_TRUE(reader.click(item)) << item;
      const auto page = reader.recommend(network, 5);
      ASSERT_TRUE(page) << page.error().message;
      EXPECT_EQ(page->source, ranking == "local" ? device::Recommendations::Source::local
                                                 : device::Recommendations::Source::fresh_query)
          << mechanism << ": " << page->note;
      pages.push_back(page->items);
    }
    for (const auto& page : pages) {
      ASSERT_EQ(page.size(), 5U);
      for (std::size_t i = 0; i < page.size(); ++i) EXPECT_EQ(page[i].item, pages.back()[i].item);
    }
  }

  std::optional<cli::RunSource> source;
  std::unique_ptr<serving::ServingServer> server;

 private:
  static constexpr const char* token = "a-token-for-tests-of-serving";
  fs::path folder_;
  SeededRandom random_{1, Purpose::test};
};

// The device's user model of a pack against torch's of the run it was made from.
inline void expect_users_of_the_model(const device::DevicePack& pack, const fs::path& run,
                                      const data::Dataset& dataset,
                                      const std::vector<std::vector<data::ItemId>>& histories) {
  auto news = recipes::open_news_run(run, dataset).value();
  // What a recipe puts around the shared model is not the device's.
  model::NewsRecommender* model = publish::shared_towers(*news.model);
  torch::NoGradGuard no_grad;
  const auto items = publish::encode_catalogue(*model, dataset.item_count()).value();
  const device::UserModel device = device::make_user_model(pack).value();
  const auto users =
      publish::encode_histories(*model, items, news.max_history, {histories.begin(), histories.end()},
                                std::vector<data::UserId>(histories.size(), model::unknown_user))
          .value();
  for (std::size_t h = 0; h < histories.size(); ++h) {
    std::vector<float> clicks;
    for (const data::ItemId item : histories[h])
      clicks.insert(clicks.end(), items[item].begin(), items[item].end());
    const auto user = device.encode(clicks);
    ASSERT_EQ(user.size(), users.width);
    for (std::size_t j = 0; j < user.size(); ++j)
      EXPECT_NEAR(user[j], users[h][j], 1e-5) << run << " history " << h;
  }
}

}  // namespace sotto::trainer::testing
