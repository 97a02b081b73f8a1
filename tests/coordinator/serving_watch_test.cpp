// What the operator's page says of servers that recommend.
#include "coordinator/http/serving_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "net/http_server.h"
#include "test_paths.h"

namespace sotto::coordinator {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

const steady_clock::time_point noon{std::chrono::hours(1)};

// A server that has answered so many questions, the half of them within 10 ms and the others within 100 ms.
std::string metrics(int questions, int stored = 0, int busy = 0) {
  const auto count = [&](const char* route, const char* le, int value) {
    return fmt::format("sotto_http_request_seconds_bucket{{method=\"POST\",route=\"{}\",le=\"{}\"}} {}\n",
                       route, le, value);
  };
  return "# HELP sotto_pool_items Live items\n# TYPE sotto_pool_items gauge\nsotto_pool_items 1500\n" +
         fmt::format("sotto_items_stored_total {}\n", stored) + "sotto_items_removed_total 2\n" +
         fmt::format("sotto_http_requests_total{{method=\"GET\",route=\"/v1/pack\",status=\"200\"}} 9\n") +
         fmt::format(
             "sotto_http_requests_total{{method=\"POST\",route=\"/v1/recommend\",status=\"503\"}} {}\n",
             busy) +
         count("/v1/recommend", "0.01", questions / 2) + count("/v1/recommend", "0.1", questions) +
         count("/v1/recommend", "+Inf", questions) + count("/v1/pack", "0.01", 7) +
         count("/v1/pack", "+Inf", 9) +
         fmt::format("sotto_http_request_seconds_count{{method=\"POST\",route=\"/v1/recommend\"}} {}\n",
                     questions);
}

ServingSample sample(const std::string& text, seconds at) {
  const auto read = read_serving_metrics(text, noon + at);
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(ServingSample{});
}

TEST(ServingFigures, AreOfTheTimeBetweenTwoLooks) {
  const json figures =
      figures_between(sample(metrics(1000, 10, 1), seconds(0)), sample(metrics(1200, 30, 4), seconds(20)));
  EXPECT_EQ(figures["items"], 1500);
  EXPECT_EQ(figures["queries"], 1200) << "packs are no questions";
  EXPECT_DOUBLE_EQ(figures["queries_per_second"], 10);
  EXPECT_DOUBLE_EQ(figures["stored_per_second"], 1);
  EXPECT_EQ(figures["removed"], 2);
  EXPECT_DOUBLE_EQ(figures["p50_ms"], 10);
  EXPECT_NEAR(figures["p99_ms"], 10 + 90 * 0.98, 1e-9) << "98 of 100 of the way through the slower half";
  EXPECT_EQ(figures["refusals"], json({{"503", 4}}));
}

TEST(ServingFigures, OfOneLookHaveNoRate) {
  const ServingSample once = sample(metrics(1000), seconds(0));
  EXPECT_TRUE(figures_between(once, once)["queries_per_second"].is_null());
  EXPECT_TRUE(figures_between(once, once)["p50_ms"].is_null()) << "nobody asked meanwhile";
}

TEST(ServingFigures, OfAServerThatWasStartedAgainAreFromItsStart) {
  const json figures = figures_between(sample(metrics(1000), seconds(0)), sample(metrics(20), seconds(5)));
  EXPECT_TRUE(figures["queries_per_second"].is_null());
  EXPECT_DOUBLE_EQ(figures["p50_ms"], 10);
}

TEST(ServingFigures, RefuseWhatIsNoServersWord) {
  const auto refused = read_serving_metrics("up 1\n<html>{\n", noon);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("'sotto serve'"));
  // Lines that are broken are passed over, whatever is wrong with them.
  const ServingSample read = sample(
      "sotto_pool_items 3\nsotto_items_stored_total -4\nsotto_items_stored_total NaN\nsotto_x{a=\"\\\"\"} 1\n"
      "sotto_http_requests_total{status=\"404\nsotto_http_requests_total{route=\"none\",status=\"404\"} 5",
      seconds(0));
  EXPECT_EQ(read.items, 3);
  EXPECT_EQ(read.stored, 0);
  EXPECT_EQ(read.refusals.at("404"), 5);
}

TEST(ServingWatch, SaysWhatServersOfItsListSay) {
  TempFolder folder;
  std::atomic<int> asked{0};
  net::Router router;
  router.add(net::HttpMethod::get, "/metrics", [&](const net::HttpRequest&) {
    net::HttpResponse response;
    response.content_type = "text/plain";
    response.body = metrics(++asked);
    return response;
  });
  net::MetricsRegistry own;
  net::HttpServerSettings settings;
  settings.port = 0;
  const auto server = net::HttpServer::start(settings, std::move(router), own);
  ASSERT_TRUE(server) << server.error().message;
  const std::string list = "# of the harbour\n" + server->url() + "/\n\nhttp://127.0.0.1:1\n";
  ASSERT_TRUE(write_file_atomically(folder / "servers", list));
  const ServingWatch watch(folder / "servers");
  json said = json::parse(watch.text());
  for (int i = 0; i < 1000 && said["servers"].size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    said = json::parse(watch.text());
  }
  ASSERT_EQ(said["servers"].size(), 2U) << said;
  EXPECT_EQ(said["servers"][0]["url"], server->url());
  EXPECT_EQ(said["servers"][0]["items"], 1500);
  EXPECT_GE(said["servers"][0]["heard"].get<double>(), 0);
  EXPECT_EQ(said["servers"][0]["problem"], "");
  EXPECT_TRUE(said["servers"][1]["heard"].is_null()) << "nobody listens there";
  EXPECT_NE(said["servers"][1]["problem"], "");
}

TEST(ServingWatch, NamesNobodyWithoutAList) {
  TempFolder folder;
  const ServingWatch watch(folder / "none yet");
  EXPECT_EQ(json::parse(watch.text())["servers"], json::array());
}

}  // namespace
}  // namespace sotto::coordinator
