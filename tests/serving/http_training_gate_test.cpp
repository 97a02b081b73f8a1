// What a reader's page says to a coordinator goes through its own server, and nothing else does.

#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "device/wire/pack_codec.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "rounds/small_campaign.h"
#include "serving/http/serving_server.h"
#include "serving/pool/synthetic_pool.h"
#include "test_paths.h"

namespace sotto::serving {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

// Keeps what it was asked, and answers everything but what it is told to keep waiting.
class Coordinator {
 public:
  Coordinator() {
    net::Router router;
    const auto answer = [this](const net::HttpRequest& request) {
      const std::lock_guard lock(mutex_);
      asked_.push_back(request);
      net::HttpResponse said;
      said.status = request.path == "/v1/order" ? 404 : 200;
      said.content_type = "application/octet-stream";
      said.headers = {{"Sotto-Come-Back", "spread=1200"}, {"Set-Cookie", "who=you"}};
      said.body = "said of " + request.path;
      return said;
    };
    for (const char* path :
         {"/v1/campaign", "/v1/order", "/v1/log", "/v1/blob/{hash}", "/v1/trial", "/v1/status"})
      router.add(net::HttpMethod::get, path, answer);
    for (const char* path : {"/v1/enrol", "/v1/admin/pause"}) router.add(net::HttpMethod::post, path, answer);
    router.add(net::HttpMethod::post, "/v1/rounds/{room}/{phase}", answer, 16 << 20);
    router.add(net::HttpMethod::post, "/v1/checkin", [this](net::HttpRequest&&, net::HttpReply reply) {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(reply));
    });
    net::HttpServerSettings settings;
    settings.max_anonymous_body_bytes = 16 << 20;
    server_.emplace(net::HttpServer::start(settings, std::move(router), metrics_).value());
  }
  std::string url() const { return server_->url(); }
  std::vector<net::HttpRequest> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::size_t held() {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  void answer_held() {
    const std::lock_guard lock(mutex_);
    for (net::HttpReply& reply : held_) std::move(reply)(net::HttpResponse{.status = 202});
    held_.clear();
  }
  void stop() { server_.reset(); }

 private:
  std::mutex mutex_;
  std::vector<net::HttpRequest> asked_;
  std::vector<net::HttpReply> held_;
  net::MetricsRegistry metrics_;
  std::optional<net::HttpServer> server_;
};

class TrainingGatePage : public ::testing::Test {
 protected:
  TrainingGatePage() {
    settings.model = folder / "pack";
    settings.catalogue = folder / "catalogue";
    settings.durability = Durability::process_end;
    settings.reader.enabled = true;
    settings.reader.training.coordinator = coordinator.url();
    if (!write_file_atomically(settings.model, device::encode_pack(synthetic_pack().value()).value()))
      throw std::runtime_error("no pack");
  }
  ~TrainingGatePage() override { coordinator.answer_held(); }
  void start() {
    auto started = ServingServer::start(settings, [](const device::DevicePack&) {
      return Result<std::shared_ptr<const ItemEncoder>>(std::shared_ptr<const ItemEncoder>());
    });
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }
  net::HttpResponse send(net::HttpMethod method, const std::string& path, const std::string& body = {},
                         net::HttpFields headers = {}) const {
    auto client = net::HttpClient::create({.url = server->url()}).value();
    net::HttpClient::Call call{method, path, std::move(headers), body, "application/octet-stream"};
    if (method == net::HttpMethod::get) call.content_type = {};
    auto said = client.send(call);
    return said ? *std::move(said) : net::HttpResponse{.status = 0, .body = said.error().message};
  }
  net::HttpResponse get(const std::string& path, net::HttpFields headers = {}) const {
    return send(net::HttpMethod::get, path, {}, std::move(headers));
  }
  json offer() const { return json::parse(get("/v1/reader").body)["training"]; }

  TempFolder folder;
  Coordinator coordinator;
  ServeSettings settings;
  std::unique_ptr<ServingServer> server;
};

TEST_F(TrainingGatePage, HandsOnWhatADeviceSaysAndNothingElse) {
  start();
  const net::HttpFields headers = {{"Sotto-Device", "aa"},        {"Sotto-Signature", "bb"},
                                   {"Sotto-Body", "cc"},          {"Cookie", "who=reader"},
                                   {"Authorization", "Bearer x"}, {"Origin", "http://a"}};
  const std::string body(400'000, '\x17');  // more than a stranger's body is elsewhere
  const auto said = send(net::HttpMethod::post, "/training/v1/rounds/abc/upload", body, headers);
  EXPECT_EQ(said.status, 200);
  EXPECT_EQ(said.body, "said of /v1/rounds/abc/upload");
  EXPECT_EQ(said.header("Sotto-Come-Back"), "spread=1200");
  EXPECT_THAT(said.headers, Not(Contains(Key("Set-Cookie"))));
  const auto asked = coordinator.asked();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].path, "/v1/rounds/abc/upload") << "as the device has signed it";
  EXPECT_EQ(asked[0].body, body);
  EXPECT_EQ(asked[0].header("Sotto-Device"), "aa");
  EXPECT_EQ(asked[0].header("Sotto-Signature"), "bb");
  EXPECT_EQ(asked[0].header("Sotto-Body"), "cc");
  for (const char* other : {"Cookie", "Authorization", "Origin", "X-Forwarded-For"})
    EXPECT_THAT(asked[0].header(other), IsEmpty()) << other;
}

TEST_F(TrainingGatePage, AnswersAsTheCoordinatorDoes) {
  start();
  EXPECT_EQ(get("/training/v1/log?from=7").body, "said of /v1/log");
  EXPECT_EQ(coordinator.asked().back().query, "from=7");
  const auto none = get("/training/v1/order");
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(none.header("Sotto-Come-Back"), "spread=1200");
  EXPECT_EQ(get("/training/v1/blob/0a0b").body, "said of /v1/blob/0a0b");
}

TEST_F(TrainingGatePage, KnowsNoOtherRouteOfTheCoordinator) {
  start();
  EXPECT_EQ(get("/training/v1/status").status, 404);
  EXPECT_EQ(send(net::HttpMethod::post, "/training/v1/admin/pause").status, 404);
  EXPECT_EQ(get("/training/v1/blob/..%2f..%2fv1%2fstatus").status, 200)
      << "one segment, handed on as it came";
  EXPECT_EQ(coordinator.asked().back().path, "/v1/blob/..%2f..%2fv1%2fstatus");
  EXPECT_EQ(send(net::HttpMethod::post, "/training/v1/rounds/a/upload", std::string(2 << 20, 'x')).status,
            413);
}

TEST_F(TrainingGatePage, SaysWhoseCampaignItIs) {
  start();
  EXPECT_TRUE(offer()["operator_key"].is_null()) << "a trial says it itself";
  EXPECT_EQ(get("/training/v1/trial").status, 200);
  server.reset();
  settings.reader.training.operator_key = rounds::operator_key().public_key();
  start();
  EXPECT_EQ(offer()["operator_key"], to_hex(rounds::operator_key().public_key()));
  EXPECT_EQ(get("/training/v1/trial").status, 404) << "no tokens for everybody";
  server.reset();
  settings.reader.training.coordinator.clear();
  start();
  EXPECT_TRUE(offer().is_null());
  EXPECT_EQ(get("/training/v1/campaign").status, 404);
}

TEST_F(TrainingGatePage, TakesSoManyCallsAtOnceAndLetsThemGoWhenItEnds) {
  settings.reader.training.calls = 2;
  start();
  const auto check_in = [this] { return send(net::HttpMethod::post, "/training/v1/checkin", "x").status; };
  auto first = std::async(std::launch::async, check_in), second = std::async(std::launch::async, check_in);
  for (int i = 0; i < 1000 && coordinator.held() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ(coordinator.held(), 2U);
  const auto busy = get("/training/v1/order");
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.header("Retry-After"), "5");
  EXPECT_EQ(get("/v1/reader").status, 200) << "readers are served meanwhile";
  const auto begun = std::chrono::steady_clock::now();
  server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(8))
      << "nobody waits for their answers";
  EXPECT_EQ(first.get(), 502);
  EXPECT_EQ(second.get(), 502);
}

TEST_F(TrainingGatePage, SaysThatNobodyAnswers) {
  start();
  coordinator.stop();
  const auto said = get("/training/v1/order");
  EXPECT_EQ(said.status, 502);
  EXPECT_THAT(said.body, HasSubstr("the coordinator does not answer"));
  EXPECT_THAT(said.body, Not(HasSubstr("127.0.0.1"))) << "where it is, is nobody's business";
}

TEST_F(TrainingGatePage, RefusesAnAddressThatIsNone) {
  settings.reader.training.coordinator = "coordinator.example:80";
  const auto started = ServingServer::start(settings, [](const device::DevicePack&) {
    return Result<std::shared_ptr<const ItemEncoder>>(std::shared_ptr<const ItemEncoder>());
  });
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("--coordinator"));
}

}  // namespace
}  // namespace sotto::serving
