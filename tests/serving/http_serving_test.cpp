// Private serving over HTTP: both body forms, refusals with reasons, ingestion, packs, reload.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "device/small_pack.h"
#include "device/wire/pack_codec.h"
#include "full_disk.h"
#include "net/content_coding.h"
#include "net/http_client.h"
#include "net/negotiation.h"
#include "net/raw_socket.h"
#include "pool_fixture.h"
#include "serving/http/bodies_json.h"
#include "serving/http/serving_server.h"
#include "serving/pool/serving_model.h"
#include "serving/pool/synthetic_pool.h"
#include "test_paths.h"

namespace sotto::serving {
namespace {

using namespace pool_test;
using nlohmann::json;
using ::testing::HasSubstr;

class HttpServing : public ::testing::Test {
 protected:
  HttpServing() : pool_(open(folder_ / "c")), api_(*pool_, packs_, metrics_, {"secret"}) {
    EXPECT_TRUE(pool_->put(articles(0, 100)));
    net::Router router;
    api_.add_routes(router);
    server_.emplace(net::HttpServer::start({}, std::move(router), metrics_).value());
  }
  net::HttpClient client() const { return net::HttpClient::create({.url = server_->url()}).value(); }
  net::HttpResponse post(const json& body) {
    return client().post("/v1/recommend", body.dump(), net::json_type).value();
  }
  // The status and the reason.
  std::pair<int, std::string> refused(std::string_view body, std::string_view type = net::json_type) {
    const auto response = client().post("/v1/recommend", body, type).value();
    return {response.status, response.body};
  }
  net::HttpResponse change(net::HttpMethod method, std::string path, const std::string& body,
                           const std::string& token) {
    net::HttpClient::Call call;
    call.method = method;
    call.path = std::move(path);
    call.body = body;
    call.content_type = net::json_type;
    if (!token.empty()) call.headers = {{"Authorization", "Bearer " + token}};
    return client().send(call).value();
  }

  const TempFolder folder_;
  net::MetricsRegistry metrics_;
  PackPublisher packs_;
  std::unique_ptr<LivePool> pool_;
  ServingApi api_;
  std::optional<net::HttpServer> server_;  // last: stopped before the rest goes
};

TEST_F(HttpServing, AnswersMixturesInBothForms) {
  const auto truth = pool_->current()->search(mixture({0.25F, 0.25F, 0.5F})).value();
  const auto ids = ids_of(*pool_, truth);
  const auto response = post({{"model", "v1"}, {"coefficients", {0.25, 0.25, 0.5}}, {"count", 5}});
  ASSERT_EQ(response.status, 200) << response.body;
  const json answer = json::parse(response.body);
  EXPECT_EQ(answer["model"], "v1");
  ASSERT_EQ(answer["items"].size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(answer["items"][i]["id"], ids[i]);
    EXPECT_FLOAT_EQ(answer["items"][i]["score"].get<float>(), static_cast<float>(truth[i].score));
  }
  device::RecommendRequest request;
  request.model = "v1";
  request.query = std::vector<float>{0.25F, 0.25F, 0.5F};
  request.count = 5;
  const auto binary = client().post("/v1/recommend", encode(request), net::flat_buffers_type).value();
  ASSERT_EQ(binary.status, 200);
  EXPECT_EQ(binary.content_type, net::flat_buffers_type);
  EXPECT_EQ(device::decode_recommend_answer(binary.body).value().items, ids);
}

TEST_F(HttpServing, AnswersPrototypesPopularityAndFilters) {
  PoolQuery by_prototype;
  by_prototype.prototypes = {1, 3};
  const auto items = json::parse(post({{"model", "v1"}, {"prototypes", {1, 3}}}).body)["items"];
  EXPECT_EQ(items[0]["id"], ids_of(*pool_, pool_->current()->search(by_prototype).value())[0]);
  const auto popular = ids_of(*pool_, pool_->current()->search({}).value());
  EXPECT_EQ(json::parse(post({{"model", "v1"}, {"popular", true}}).body)["items"][0]["id"], popular[0]);
  const auto listed = json::parse(client().get("/v1/popular?count=3").value().body)["items"];
  ASSERT_EQ(listed.size(), 3U);
  EXPECT_EQ(listed[0]["id"], popular[0]);
  const auto sports = json::parse(
      post({{"model", "v1"}, {"coefficients", {1, 0, 0}}, {"categories", {"sports"}}, {"count", 100}})
          .body)["items"];
  EXPECT_EQ(sports.size(), 50U);
  for (const auto& [filter, value] : {std::pair<const char*, json>{"categories", {"unheard of"}},
                                      {"language", "xx"},
                                      {"published_after", 5'000'000'000}}) {
    const auto none = post({{"model", "v1"}, {"coefficients", {1, 0, 0}}, {filter, value}});
    EXPECT_EQ(none.status, 200);
    EXPECT_TRUE(json::parse(none.body)["items"].empty()) << filter;
  }
}

TEST_F(HttpServing, RefusesMalformedQueriesWithAReason) {
  const auto body = [](const json& changes) {
    json object{{"model", "v1"}, {"coefficients", {0.5, 0.5, 0}}};
    object.merge_patch(changes);
    return object.dump();
  };
  const auto expect = [&](std::string_view sent, int status, const std::string& reason) {
    const auto [given, text] = refused(sent);
    EXPECT_EQ(given, status) << sent;
    EXPECT_THAT(text, HasSubstr(reason)) << sent;
  };
  expect(body({{"coefficients", {0.5, 0.6, 0}}}), 400, "sum to 1");
  expect(body({{"coefficients", {1.5, -0.5, 0}}}), 400, "between 0 and 1");
  expect(body({{"coefficients", {0.5, 0.5}}}), 400, "2 coefficients were sent where model v1 has 3");
  expect(body({{"coefficients", {0.5, "x", 0}}}), 400, "list of numbers");
  expect(body({{"count", 0}}), 400, "ask for 1");
  expect(body({{"count", 50'000}}), 400, "ask for 1 to 10000");
  expect(body({{"count", 1e30}}), 400, "whole number");
  expect(body({{"model", "v0"}}), 409, "fetch /v1/pack");
  expect(body({{"model", nullptr}}), 400, "model");
  expect(body({{"prototypes", {1}}}), 400, "exactly one");
  expect(body({{"history", {"n1"}}}), 400, "not known here");
  expect(R"({"model":"v1","prototypes":[99]})", 400, "prototype 99");
  expect(R"({"model":"v1","coefficients":[NaN,0,1]})", 400, "not valid JSON");
  expect(R"({"model":"v1","coefficients":[1e999,0,1]})", 400, "");
  expect("[1]", 400, "JSON object");
  expect("", 400, "not valid JSON");
  expect(std::string(2000, '['), 400, "levels deep");
  EXPECT_EQ(refused("x=1", "application/x-www-form-urlencoded").first, 415);
  EXPECT_EQ(refused("garbage", net::flat_buffers_type).first, 400);
}

TEST_F(HttpServing, IngestsForTheOperatorOnly) {
  const std::string items =
      json{{"items", {{{"id", "fresh"}, {"title", "Fresh"}, {"published", 1234}}}}}.dump();
  EXPECT_EQ(change(net::HttpMethod::put, "/v1/items", items, "").status, 401);
  EXPECT_EQ(change(net::HttpMethod::put, "/v1/items", items, "secreT").status, 401);
  EXPECT_EQ(change(net::HttpMethod::put, "/v1/items", items, "secret").body, R"({"stored":1})");
  EXPECT_NE(pool_->catalogue().find("fresh"), nullptr);
  const auto all =
      json::parse(post({{"model", "v1"}, {"coefficients", {0, 0, 1}}, {"count", 200}}).body)["items"];
  EXPECT_EQ(all.size(), 101U);
  EXPECT_EQ(change(net::HttpMethod::remove, "/v1/items/fresh", "", "").status, 401);
  EXPECT_EQ(change(net::HttpMethod::remove, "/v1/items/fresh", "", "secret").status, 200);
  EXPECT_EQ(change(net::HttpMethod::remove, "/v1/items/fresh", "", "secret").status, 404);
  const auto wrong = change(net::HttpMethod::put, "/v1/items", R"({"items":[{"id":"a b"}]})", "secret");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("item 0: the id contains a space"));
}

TEST_F(HttpServing, CountsArticlesThatReplaceOrSayTheSameAndRefusesThoseThatSayNothing) {
  const auto put = [&](const json& items) {
    return change(net::HttpMethod::put, "/v1/items", json{{"items", items}}.dump(), "secret");
  };
  json storm = {{"id", "s1"}, {"title", "Storm"}, {"abstract", "At the coast"}, {"published", 1}};
  json again = storm, other = storm;
  again["id"] = "s2";
  other["id"] = "s3", other["abstract"] = "In the hills";
  EXPECT_EQ(put(json::array({storm, other})).body, R"({"stored":2})");
  EXPECT_EQ(put(json::array({again})).body, R"({"stored":1,"same_text":1})") << "of an earlier request";
  EXPECT_EQ(put(json::array({storm, again, other})).body, R"({"stored":3,"replaced":3,"same_text":2})");
  EXPECT_EQ(change(net::HttpMethod::remove, "/v1/items/s2", "", "secret").status, 200);
  EXPECT_EQ(put(json::array({storm})).body, R"({"stored":1,"replaced":1})") << "the other one is gone";
  const auto silent = put(json::array({json{{"id", "blank"}, {"category", "news"}, {"published", 1}}}));
  EXPECT_EQ(silent.status, 400);
  EXPECT_THAT(silent.body, HasSubstr("item 0: it has no title, no abstract and no vector"));
  EXPECT_EQ(pool_->catalogue().find("blank"), nullptr);
  for (const char* wordless : {" \t", "!!! ???"})
    EXPECT_EQ(put(json::array({json{{"id", "blank"}, {"title", wordless}, {"published", 1}}})).status, 400);
  EXPECT_EQ(put(json::array({json{{"id", "blank"}, {"title", "雨"}, {"published", 1}}})).status, 200);
}

TEST_F(HttpServing, AsksForTheTokenBeforeTheBody) {
  for (const std::string_view method : {"PUT /v1/items", "DELETE /v1/items/1"}) {
    net::RawSocket stranger(server_->port());
    stranger.send(
        fmt::format("{} HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\n", method));  // and no body
    EXPECT_THAT(stranger.read_all(), ::testing::StartsWith("HTTP/1.1 401 "));
  }
}

TEST_F(HttpServing, KeepsPublicListsAsLongAsThePoolStaysTheSame) {
  const auto first = client().get("/v1/popular?count=60").value();
  const std::string tag(first.header("ETag"));
  EXPECT_EQ(client().get("/v1/popular?count=60").value().body, first.body);
  EXPECT_EQ(client().get("/v1/popular?count=60", {{"If-None-Match", tag}}).value().status, 304);
  EXPECT_NE(client().get("/v1/popular?count=61").value().body, first.body);
  EXPECT_NE(client().get("/v1/popular?count=60&category=sports").value().body, first.body);
  EXPECT_NE(client().get("/v1/popular?count=60", {{"Accept", "application/x-flatbuffers"}}).value().body,
            first.body);
  const std::string removed = json::parse(first.body)["items"][0]["id"];
  ASSERT_TRUE(pool_->remove({&removed, 1}));
  const auto second = client().get("/v1/popular?count=60", {{"If-None-Match", tag}}).value();
  EXPECT_EQ(second.status, 200);
  EXPECT_NE(json::parse(second.body)["items"][0]["id"], removed);
}

TEST_F(HttpServing, LongListsAreTheSameAsShortOnesAndMore) {
  ASSERT_TRUE(pool_->put(articles(100, 1000)));
  for (const json& query : {json{{"coefficients", {0.25, 0.25, 0.5}}}, json{{"popular", true}}}) {
    json body{{"model", "v1"}, {"count", 20}};
    body.update(query);
    const json few = json::parse(post(body).body)["items"];
    body["count"] = 900;
    const json many = json::parse(post(body).body)["items"];
    ASSERT_EQ(many.size(), 900U);
    for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i], many[i]);
  }
  const auto popular = client().get("/v1/popular?count=900").value();
  EXPECT_EQ(json::parse(popular.body)["items"].size(), 900U);
  const auto coded = client().get("/v1/popular?count=900", {{"Accept-Encoding", "gzip, zstd"}}).value();
  EXPECT_EQ(coded.header("Content-Encoding"), "zstd");
  EXPECT_EQ(net::decompress_zstd(coded.body, 1 << 20).value(), popular.body);
}

TEST_F(HttpServing, HandsOutPartsOfAPack) {
  ASSERT_TRUE(packs_.publish(sotto::device::testing::small_pack(50)));
  const auto whole = client().get("/v1/pack").value();
  const auto rest =
      client()
          .get("/v1/pack", {{"Range", "bytes=100-"}, {"If-Range", std::string(whole.header("ETag"))}})
          .value();
  EXPECT_EQ(rest.status, 206);
  EXPECT_EQ(whole.body.substr(0, 100) + rest.body, whole.body);
}

TEST_F(HttpServing, HandsOutPacksAndWhatChanged) {
  EXPECT_EQ(client().get("/v1/pack").value().status, 503);
  device::DevicePack pack = sotto::device::testing::small_pack(5);
  ASSERT_TRUE(packs_.publish(pack));
  const auto whole = client().get("/v1/pack").value();
  ASSERT_EQ(whole.status, 200);
  EXPECT_EQ(device::decode_pack(whole.body).value(), pack);
  const std::string etag(whole.header("ETag"));
  EXPECT_EQ(client().get("/v1/pack", {{"If-None-Match", etag}}).value().status, 304);
  std::mt19937 random(3);
  const std::string first = packs_.latest()->version;
  pack.items = sotto::device::testing::small_pack(6).items;
  ASSERT_TRUE(packs_.publish(pack));
  const auto delta = client().get("/v1/pack?from=" + first, {{"If-None-Match", etag}}).value();
  ASSERT_EQ(delta.status, 200);
  if (!delta.header("Sotto-Delta-From").empty()) {
    EXPECT_EQ(device::decode_pack(device::apply_delta(whole.body, delta.body).value()).value(), pack);
  } else {
    EXPECT_EQ(device::decode_pack(delta.body).value(), pack);
  }
  EXPECT_EQ(device::decode_pack(client().get("/v1/pack?from=unknown").value().body).value(), pack);
}

TEST_F(HttpServing, DescribesItselfAndCounts) {
  const json document = json::parse(client().get("/openapi.json").value().body);
  for (const char* path : {"/v1/recommend", "/v1/popular", "/v1/pack", "/v1/items", "/v1/items/{id}",
                           "/v1/log/proof", "/healthz"}) {
    EXPECT_TRUE(document["paths"].contains(path)) << path;
  }
  post({{"model", "v1"}, {"coefficients", {0, 0, 1}}});
  api_.observe_pool();
  EXPECT_EQ(client().get("/healthz").value().status, 200);
  const std::string text = client().get("/metrics").value().body;
  EXPECT_THAT(text, HasSubstr("sotto_recommendations_total{kind=\"coefficients\"} 1"));
  EXPECT_THAT(text, HasSubstr("sotto_pool_items 100"));
}

TEST_F(HttpServing, AReloadUnderLoadFailsNoRequest) {
  std::atomic<bool> done{false};
  std::array<std::atomic<int>, 3> answered{};
  std::atomic<int> not_answered{0};
  std::vector<std::thread> devices;
  for (std::size_t device = 0; device < answered.size(); ++device) {
    devices.emplace_back([&, device] {
      auto own = client();
      std::string version = "v1";
      while (!done) {
        const json body{{"model", version}, {"coefficients", {0.5, 0.25, 0.25}}, {"count", 3 + device % 2}};
        const auto response = own.post("/v1/recommend", body.dump(), net::json_type);
        if (!response || response->status != 200) ++not_answered;
        ++answered[device];
        version = pool_->current()->model().version();  // as a device that fetches the pack would
      }
    });
  }
  for (int reload = 2; reload < 6; ++reload) {
    ASSERT_TRUE(pool_->replace_model(model("v" + std::to_string(reload))));
    // Until every device knows of it: none is two models behind.
    for (auto& count : answered) {
      for (const int before = count; count < before + 5;) std::this_thread::yield();
    }
  }
  done = true;
  for (auto& device : devices) device.join();
  EXPECT_EQ(not_answered, 0);
}

TEST(ServingServer, TakesOverANewPackFileAndPublishesPacks) {
  const TempFolder folder;
  device::DevicePack pack = synthetic_pack().value();
  const auto write = [&](const device::DevicePack& written) {
    ASSERT_TRUE(write_file_atomically(folder / "pack", device::encode_pack(written).value()));
  };
  write(pack);
  class Encoder final : public ItemEncoder {
    Result<std::vector<std::vector<float>>> encode(std::span<const CatalogueItem> items) const override {
      return std::vector<std::vector<float>>(items.size(), random_vector(items.size(), 64));
    }
  };
  ServeSettings settings;
  settings.model = folder / "pack";
  settings.catalogue = folder / "c";
  settings.durability = Durability::process_end;
  settings.max_age_seconds = 100'000;
  const auto server = ServingServer::start(settings, [](const device::DevicePack&) {
                        return Result<std::shared_ptr<const ItemEncoder>>(std::make_shared<Encoder>());
                      }).value();
  constexpr std::int64_t now = 1'700'000'000;
  ASSERT_TRUE(fill_with_synthetic_items(server->pool(), 500, now, 1000));
  ASSERT_TRUE(server->tick(now));
  auto client = net::HttpClient::create({.url = server->url()}).value();
  EXPECT_EQ(device::decode_pack(client.get("/v1/pack").value().body).value().items.size(), 500U);
  const auto answer =
      client.post("/v1/recommend", json{{"model", pack.model}, {"prototypes", {3}}}.dump(), net::json_type)
          .value();
  EXPECT_EQ(answer.status, 200) << answer.body;

  pack.average_user[0] += 1;
  pack.model = device::model_name(pack).value();
  write(pack);
  // Written within the same second, perhaps: a later time is what tells files apart.
  fs::last_write_time(folder / "pack", fs::last_write_time(folder / "pack") + std::chrono::seconds(2));
  ASSERT_TRUE(server->tick(now + 1));
  EXPECT_EQ(server->pool().current()->model().version(), pack.model);
  EXPECT_EQ(device::decode_pack(client.get("/v1/pack").value().body).value().model, pack.model);

  ASSERT_TRUE(write_file_atomically(folder / "pack", "garbage"));
  fs::last_write_time(folder / "pack", fs::last_write_time(folder / "pack") + std::chrono::seconds(4));
  EXPECT_FALSE(server->tick(now + 2));
  EXPECT_TRUE(server->tick(now + 3)) << "and it goes on";
  EXPECT_EQ(client.get("/v1/popular").value().status, 200);
  ASSERT_TRUE(server->tick(now + 200'000));
  EXPECT_EQ(server->pool().catalogue().size(), 0U) << "expired";
}

TEST(ServingServer, SaysWhenTheDiskTakesNoMore) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "pack", device::encode_pack(synthetic_pack().value()).value()));
  ServeSettings settings;
  settings.model = folder / "pack";
  settings.catalogue = folder / "c";
  settings.pack_seconds = 0;
  const auto server = ServingServer::start(settings, [](const device::DevicePack&) {
                        return Result<std::shared_ptr<const ItemEncoder>>(nullptr);
                      }).value();
  auto client = net::HttpClient::create({.url = server->url()}).value();
  std::int64_t now = 1'700'000'000;
  EXPECT_TRUE(server->tick(++now));
  EXPECT_EQ(client.get("/healthz")->status, 200);

  // No file may grow: what a full disk looks like to posix_fallocate.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit nothing{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &nothing);
  const Status full_disk = server->tick(++now);
  EXPECT_TRUE(server->tick(++now)) << "it is said once";
  setrlimit(RLIMIT_FSIZE, &before);
  const auto full = client.get("/healthz").value();
  EXPECT_EQ(full.status, 503);
  EXPECT_THAT(full.body, HasSubstr("cannot be stored"));
  ASSERT_FALSE(full_disk);
  EXPECT_THAT(full_disk.error().message, HasSubstr((folder / "c").string()));
  EXPECT_EQ(client.get("/v1/popular")->status, 200) << "it serves all the same";
  EXPECT_TRUE(server->tick(++now));
  EXPECT_EQ(client.get("/healthz")->status, 200) << "and recovers by itself";
  EXPECT_FALSE(fs::exists(folder / "c" / ".room"));
}

TEST(ServingApi, CountsWhatAFullDiskRefuses) {
  const TempFolder folder;
  LivePool::Settings settings;
  settings.catalogue.compact_above = 1;
  const auto pool = LivePool::open(folder / "c", model("v1"), settings).value();
  net::MetricsRegistry metrics;
  PackPublisher packs;
  ServingApi api(*pool, packs, metrics, {"secret"});
  net::Router router;
  api.add_routes(router);
  const auto server = net::HttpServer::start({}, std::move(router), metrics).value();
  auto client = net::HttpClient::create({.url = server.url()}).value();
  const std::string body = R"({"items":[{"id":"n1","title":"title 1","category":"sports","language":"en"}]})";
  const auto put = [&] {
    net::HttpClient::Call call{.method = net::HttpMethod::put, .path = "/v1/items", .body = body};
    call.headers = {{"Authorization", "Bearer secret"}};
    call.content_type = net::json_type;
    return client.send(call).value().status;
  };
  const auto metrics_say = [&](std::string_view line) {
    EXPECT_THAT(client.get("/metrics").value().body, HasSubstr(fmt::format("\n{}\n", line)));
  };
  // As the server's tick does.
  const auto maintain = [&] {
    const Status done = pool->maintain(1000);
    api.observe_pool();
    return done;
  };
  ASSERT_EQ(put(), 200);
  metrics_say("sotto_catalogue_refused_changes 0");
  metrics_say("sotto_catalogue_failed_compactions 0");
  {
    const FullDisk full(10);
    EXPECT_EQ(put(), 500);
    EXPECT_EQ(put(), 500);
    EXPECT_FALSE(maintain());
  }
  metrics_say("sotto_catalogue_refused_changes 2");
  metrics_say("sotto_catalogue_failed_compactions 1");
  EXPECT_EQ(put(), 200) << "and recovers by itself";
  metrics_say("sotto_catalogue_refused_changes 2");
}

class QueryCoalescing : public ::testing::Test {
 protected:
  QueryCoalescing() { EXPECT_TRUE(pool_->put(articles(0, 300))); }
  // Submits the i-th of many different queries and compares its answer with the one it gets alone.
  void submit(QueryCoalescer& coalescer, int i, std::uint32_t count) {
    const auto share = static_cast<float>(i) / 200;
    const auto query = mixture({share, 1 - share, 0}, count);
    const auto alone = pool_->current()->search(query).value();
    coalescer.submit({pool_->current(), query.coefficients, query.count, [alone, this](const auto& found) {
                        ++answers_;
                        wrong_ += !found || *found != alone ? 1 : 0;
                      }});
  }

  const TempFolder folder_;
  const std::unique_ptr<LivePool> pool_ = open(folder_ / "c");
  std::atomic<std::size_t> answers_{0}, wrong_{0};
};

TEST_F(QueryCoalescing, SearchesTheQueriesOfATurnTogetherAndAnswersEachAsIfAlone) {
  std::vector<std::function<void()>> ends;
  std::vector<std::size_t> passes;
  QueryCoalescer coalescer(
      [&](std::function<void()> task) {
        ends.push_back(std::move(task));
        return true;
      },
      [&](std::size_t size) { passes.push_back(size); });
  for (int i = 0; i < 100; ++i) submit(coalescer, i, i % 2 == 0 ? 3 : 5);
  ASSERT_EQ(ends.size(), 1U) << "one end per turn";
  EXPECT_EQ(answers_, 0U);
  ends[0]();
  EXPECT_EQ(answers_, 100U);
  EXPECT_THAT(passes, ::testing::ElementsAre(64, 36));
  submit(coalescer, 7, 3);
  ASSERT_EQ(ends.size(), 2U) << "and a new turn";
  ends[1]();
  EXPECT_EQ(answers_, 101U);
  EXPECT_EQ(wrong_, 0U);
}

TEST_F(QueryCoalescing, AThreadWithoutTurnsIsAnsweredAtOnceAndNeverSearchesForOthers) {
  QueryCoalescer coalescer([](const std::function<void()>&) { return false; },
                           [](std::size_t size) { EXPECT_EQ(size, 1U); });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) submit(coalescer, i, 3 + static_cast<std::uint32_t>(thread));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(answers_, 600U);
  EXPECT_EQ(wrong_, 0U);
}

TEST(PackModel, AServedPackHoldsTheLiveItems) {
  const TempFolder folder;
  const device::DevicePack pack = sotto::device::testing::small_pack(0);
  class ZeroEncoder final : public ItemEncoder {
    Result<std::vector<std::vector<float>>> encode(std::span<const CatalogueItem> items) const override {
      return std::vector<std::vector<float>>(items.size(),
                                             std::vector<float>(sotto::device::testing::vector_size, 0.5F));
    }
  };
  const auto pool = open(folder / "c", model_of(pack, 0, std::make_shared<ZeroEncoder>()).value());
  ASSERT_TRUE(pool->put(articles(0, 4)));
  const device::DevicePack live = with_live_items(pack, *pool).value();
  EXPECT_EQ(live.items.size(), 4U);
  EXPECT_THAT(live.categories, ::testing::ElementsAre("politics", "sports"));
  EXPECT_TRUE(device::encode_pack(live));
  device::DevicePack other = pack;
  other.model = "another";
  EXPECT_THAT(with_live_items(other, *pool).error().message, HasSubstr("not being served"));
}

}  // namespace
}  // namespace sotto::serving
