// What a coordinator can be held to is the same by its store and over HTTP, and is verified in both.

#include "coordinator/inspection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "coordinator/coordinator.h"
#include "coordinator/store/store.h"
#include "net/router.h"
#include "rounds/round_messages.h"
#include "rounds/small_campaign.h"
#include "test_paths.h"

namespace sotto::coordinator {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view layout = "numbers:50 ";

rounds::UtcTime this_second() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

// Has one version and no rounds.
class StandingTrainer final : public Folding {
 public:
  Result<FoldedModel> begin(const std::string&) override {
    rounds::ItemTable table;
    table.ids = {"a", "b"};
    return FoldedModel{std::string(layout), std::move(table)};
  }
  Result<FoldedRound> next() override {
    return FoldedRound{0, 1, rounds::one_row(std::vector<float>(50, 1)), {}, "", false};
  }
  Status give(const std::vector<GroupSum>&) override { return {}; }
};

class InspectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    campaign.layout = rounds::layout_hash(layout);
    campaign.valid_from = this_second() - std::chrono::hours(1);
    campaign.valid_until = this_second() + std::chrono::hours(1);
    campaign.witnesses_needed = 0;
    settings.store = (folder / "store").string();
    settings.campaign = sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
    settings.operator_key = rounds::operator_key().public_key();
    auto started = Coordinator::start(settings, rounds::coordinator_key(), trainer);
    ASSERT_TRUE(started) << started.error().message;
    running = std::move(*started);
    http.url = running->url();
    for (int i = 0; i < 500 && running->progress().version.empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_FALSE(running->progress().version.empty());
  }

  TempFolder folder;
  rounds::Campaign campaign = rounds::small_campaign();
  CoordinatorSettings settings;
  StandingTrainer trainer;
  std::unique_ptr<Coordinator> running;
  net::HttpClientSettings http;
};

TEST_F(InspectionTest, IsTheSameByTheStoreAndOverHttpWhileTheCoordinatorRuns) {
  const auto asked = inspect_server(http);
  const auto read = inspect_store(settings.store);
  ASSERT_TRUE(asked) << asked.error().message;
  ASSERT_TRUE(read) << read.error().message;
  for (const Inspection* seen : {&*asked, &*read}) {
    EXPECT_TRUE(seen->campaign.is_signed_by(rounds::operator_key().public_key()));
    EXPECT_FALSE(seen->campaign.is_signed_by(rounds::coordinator_key().public_key()));
    EXPECT_EQ(seen->campaign.hash, running->campaign().hash);
    EXPECT_EQ(seen->rounds_done, 0U);
    EXPECT_EQ(seen->enrolled, 0U);
    EXPECT_EQ(seen->campaigns, 1U);
    EXPECT_EQ(seen->versions, 1U);
    EXPECT_EQ(seen->head.head.size, 2U);
    EXPECT_FALSE(seen->is_trial);
    EXPECT_LE(seen->terms.guarantee.epsilon, campaign.epsilon);
  }
  EXPECT_EQ(asked->version, read->version);
  EXPECT_EQ(asked->head.head.root, read->head.head.root);
}

TEST_F(InspectionTest, AStoreThatIsOnlyReadIsNotChanged) {
  running->stop();
  const auto store = open_store_to_read(settings.store);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->campaigns().value().size(), 1U);
  EXPECT_FALSE((*store)->note_action({this_second(), "pause", {}})) << "it is open to be read";
  EXPECT_FALSE((*store)->acquire("coordinator", "officer", this_second(), std::chrono::seconds(1)));
  const auto missing = inspect_store((folder / "nothing").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::bad_input);
  EXPECT_FALSE(fs::exists(folder / "nothing")) << "looking makes nothing";
  EXPECT_FALSE(inspect_store("mysql://somewhere"));
}

TEST_F(InspectionTest, AFileThatIsNoStoreIsRefused) {
  fs::create_directories(folder / "other");
  for (const std::string_view bytes : {"", "no database at all"}) {
    ASSERT_TRUE(write_file_atomically(folder / "other" / "store.sqlite", bytes));
    const auto refused = inspect_store((folder / "other").string());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_input) << refused.error().message;
    EXPECT_THAT(refused.error().message, HasSubstr("store"));
  }
}

// A server that answers as it is told.
class LyingServer {
 public:
  explicit LyingServer(std::map<std::string, std::string> answers) : answers_(std::move(answers)) {
    net::Router router;
    for (const auto& [path, body] : answers_)
      router.add(net::HttpMethod::get, path, [body = body](const net::HttpRequest&) {
        net::HttpResponse response;
        response.body = body;
        return response;
      });
    net::HttpServerSettings settings;
    settings.port = 0;
    server_.emplace(net::HttpServer::start(settings, std::move(router), metrics_).value());
  }
  net::HttpClientSettings http() const {
    net::HttpClientSettings settings;
    settings.url = server_->url();
    return settings;
  }

 private:
  std::map<std::string, std::string> answers_;
  net::MetricsRegistry metrics_;
  std::optional<net::HttpServer> server_;
};

TEST_F(InspectionTest, WhatDoesNotAddUpIsRefusedAndNamed) {
  auto client = net::HttpClient::create(http).value();
  std::map<std::string, std::string> honest;
  for (const char* path : {"/v1/status", "/v1/campaign", "/v1/log/head"})
    honest[path] = client.get(path).value().body;
  honest["/v1/log"] = client.get("/v1/log?from=0").value().body;
  ASSERT_TRUE(inspect_server(LyingServer(honest).http())) << "as it was";
  const auto refusal = [&](const char* path, const std::string& body) {
    auto answers = honest;
    answers[path] = body;
    const LyingServer server(answers);
    const auto refused = inspect_server(server.http());
    return refused ? std::string("accepted") : refused.error().message;
  };
  // Another log than the one that was signed, with and without its entries.
  auto page = rounds::decode_log_page(honest["/v1/log"]).value();
  page.entries[1].hash.fill(9);
  EXPECT_THAT(refusal("/v1/log", encode(page)), HasSubstr("different logs"));
  page.entries.clear();
  EXPECT_THAT(refusal("/v1/log", encode(page)), HasSubstr("does not go on"));
  // A head by somebody else.
  auto head = rounds::decode_head(honest["/v1/log/head"]).value();
  head.signature = rounds::sign_head(head.head, rounds::test_key(77));
  EXPECT_THAT(refusal("/v1/log/head", encode(head)), HasSubstr("not signed by the coordinator"));
  // A campaign that is not in the log, and a version that is not.
  rounds::Campaign other = campaign;
  other.purpose = "Something else";
  EXPECT_THAT(
      refusal("/v1/campaign", sign_document(rounds::campaign_kind, encode(other), rounds::operator_key())),
      HasSubstr("not in its public log"));
  EXPECT_THAT(refusal("/v1/status", R"({"version":")" + std::string(64, '0') + "\"}"),
              HasSubstr("not in its public log"));
  // Numbers of any type, and no coordinator at all.
  EXPECT_THAT(refusal("/v1/status", "[]"), HasSubstr("does not say how it stands"));
  EXPECT_THAT(refusal("/v1/status", R"({"version":7,"rounds_done":-1})"), HasSubstr("current version"));
  EXPECT_THAT(refusal("/v1/campaign", "bytes"), ::testing::Not(HasSubstr("accepted")));
  const auto server =
      inspect_server(LyingServer(std::map<std::string, std::string>{{"/v1/pack", ""}}).http());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(server.error().message, HasSubstr("no coordinator"));
}

}  // namespace
}  // namespace sotto::coordinator
