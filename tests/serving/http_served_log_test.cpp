// A device that takes packs and guides from a public log alone, and servers that keep one, two, or none.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "base/chain_hash.h"
#include "device/device.h"
#include "device/wire/pack_codec.h"
#include "full_disk.h"
#include "net/http_client.h"
#include "rounds/round_messages.h"
#include "rounds/small_campaign.h"
#include "serving/http/serving_server.h"
#include "serving/pool/synthetic_pool.h"
#include "serving/start_time.h"
#include "test_paths.h"
#include "transport/http_transport.h"

namespace sotto::serving {
namespace {

using Source = device::Recommendations::Source;
using rounds::LeafKind;
using ::testing::HasSubstr;
using testing::start_time;
const std::string owner = to_hex(rounds::coordinator_key().public_key());
const std::string witness = to_hex(rounds::witness_key().public_key());

// A blind server over a few hundred items, with a log in the file of this name, or without one.
class LoggingServer {
 public:
  // Its clock goes on from `time`.
  LoggingServer(const TempFolder& folder, const std::string& log, std::size_t items = 400,
                std::int64_t time = start_time)
      : time_(time) {
    const std::string name = log.empty() ? "unlogged" : log;
    settings_.model = folder / (name + "-pack");
    settings_.catalogue = folder / (name + "-catalogue");
    settings_.pack_seconds = 1;
    settings_.durability = Durability::process_end;
    settings_.blind.enabled = true;
    settings_.blind.hint_bytes = std::int64_t{64} * 4096;
    settings_.blind.whole_bytes = 0;
    EXPECT_TRUE(
        write_file_atomically(settings_.model, device::encode_pack(synthetic_pack().value()).value()));
    std::unique_ptr<ServedLog> served;
    if (!log.empty())
      served = ServedLog::open(folder / log, rounds::coordinator_key(), {rounds::witness_key().public_key()},
                               Durability::process_end)
                   .value();
    server_ =
        ServingServer::start(
            settings_,
            [](const device::DevicePack&) { return Result<std::shared_ptr<const ItemEncoder>>(nullptr); },
            std::move(served))
            .value();
    if (server_->pool().catalogue().size() == 0) {
      EXPECT_TRUE(fill_with_synthetic_items(server_->pool(), items, start_time, 1000));
    }
    for (int tick = 0; tick < 20'000 && server_->blind()->newest() == nullptr; ++tick) {
      EXPECT_TRUE(server_->tick(time_ += 10));
      std::this_thread::yield();
    }
    EXPECT_NE(server_->blind()->newest(), nullptr);
  }
  transport::HttpTransport way() const {
    return transport::HttpTransport::create({.url = server_->url()}).value();
  }
  std::int64_t time() const { return time_; }
  net::HttpClient client() const { return net::HttpClient::create({.url = server_->url()}).value(); }
  rounds::SignedHead head() const { return rounds::decode_head(client().get("/v1/log/head")->body).value(); }
  // Another pack, which is another entry.
  void change() {
    ASSERT_TRUE(server_->pool().remove(std::vector<std::string>{"item-" + std::to_string(removed_++)}));
    const Status ticked = server_->tick(time_ += 10);
    ASSERT_TRUE(ticked) << ticked.error().message;
  }
  int cosign(const rounds::Identity& who) const {
    const rounds::SignedHead last = head();
    const rounds::HeadCosignature word{last.head, rounds::cosign_head(last.head, who)};
    return client().post("/v1/log/cosignature", rounds::encode(word), "application/octet-stream")->status;
  }
  ServingServer& server() { return *server_; }

 private:
  ServeSettings settings_;
  std::int64_t time_;
  int removed_ = 0;
  std::unique_ptr<ServingServer> server_;
};

device::DeviceSettings demanding(std::int64_t witnesses = 0) {
  device::DeviceSettings settings;
  settings.ranking = "blind";
  settings.log.key = owner;
  settings.log.witnesses = witness;
  settings.log.witnesses_needed = witnesses;
  return settings;
}

device::Device reader(const TempFolder& folder, const device::DeviceSettings& settings) {
  auto opened = device::Device::open(folder / "device", settings, {.first_use = true}).value();
  EXPECT_TRUE(opened.agree(opened.terms("http://here", "A page for you", {.asking = true})));
  return opened;
}

TEST(ServedLog, HoldsWhatIsHandedOutAndADeviceChecksIt) {
  const TempFolder folder;
  LoggingServer serving(folder, "log");
  auto way = serving.way();
  {
    device::Device device = reader(folder, demanding());
    ASSERT_TRUE(device.refresh(way).value());
    const auto page = device.recommend(way, 5);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->source, Source::blind_query) << page->note;
    const auto told = nlohmann::json::parse(device.export_all().value())["served_log"];
    EXPECT_EQ(told["owner"], owner);
    EXPECT_EQ(told["entries"], 2);
    EXPECT_EQ(told["witnesses"], 0);
    EXPECT_EQ(told["proved"].size(), 2U) << "the pack and the guide";
  }
  // A pack and a guide, and nothing twice.
  const auto entries = rounds::decode_log_page(serving.client().get("/v1/log?from=0")->body)->entries;
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].kind, LeafKind::guide);
  EXPECT_EQ(to_hex(entries[0].hash), serving.server().blind()->newest()->version());
  EXPECT_EQ(entries[1].kind, LeafKind::pack);
  // It goes on from what it saw, also after both were started anew.
  serving.change();
  device::Device again = reader(folder, demanding());
  EXPECT_TRUE(again.refresh(way).value());
  EXPECT_FALSE(again.refresh(way).value()) << "nothing is newer";
  EXPECT_EQ(serving.head().head.size, 3U);
}

TEST(ServedLog, GoesOnAfterARestart) {
  const TempFolder folder;
  std::optional<LoggingServer> serving(std::in_place, folder, "log");
  device::Device device = reader(folder, demanding());
  auto way = serving->way();
  ASSERT_TRUE(device.refresh(way).value());
  const rounds::LogHead before = serving->head().head;
  const std::int64_t stopped = serving->time();
  serving.reset();
  serving.emplace(folder, "log", 400, stopped);
  EXPECT_GE(serving->head().head.size, before.size);
  serving->change();
  auto later = serving->way();
  const auto refreshed = device.refresh(later);
  ASSERT_TRUE(refreshed) << refreshed.error().message;
  EXPECT_TRUE(*refreshed);
  // Of another owner it is not opened.
  EXPECT_THAT(
      ServedLog::open(folder / "log", rounds::operator_key(), {}, Durability::process_end).error().message,
      ::testing::AnyOf(HasSubstr("another owner"), HasSubstr("in use")));
}

// Of the log alone: it is longer than the room that is left, which what the catalogue needs is not.
TEST(ServedLog, AFullDiskIsSaidAndTheLogGoesOnBehindIt) {
  const TempFolder folder;
  constexpr std::size_t room = 64 << 10;  // what /healthz reserves to see whether there is any
  {
    auto filled =
        ServedLog::open(folder / "log", rounds::coordinator_key(), {}, Durability::process_end).value();
    for (int i = 0; !fs::exists(folder / "log") || fs::file_size(folder / "log") <= room; ++i)
      ASSERT_TRUE(filled->note_pack("an earlier pack " + std::to_string(i), start_time));
  }
  std::optional<LoggingServer> serving(std::in_place, folder, "log");
  ServingServer& server = serving->server();
  auto client = serving->client();
  const auto health = [&] { return client.get("/healthz")->status; };
  const rounds::LogHead before = serving->head().head;
  const std::string pack = client.get("/v1/pack")->body;
  ASSERT_EQ(health(), 200);
  ASSERT_TRUE(server.pool().remove(std::vector<std::string>{"item-0"}));
  std::int64_t time = serving->time();
  {
    const FullDisk full(room);
    const Status ticked = server.tick(time += 10);
    ASSERT_FALSE(ticked);
    EXPECT_THAT(ticked.error().message, HasSubstr((folder / "log").string()));
    EXPECT_FALSE(server.tick(time += 10));
    const auto said = client.get("/healthz");
    EXPECT_EQ(said->status, 503);
    EXPECT_THAT(said->body, ::testing::Not(HasSubstr(folder.path().string()))) << "for strangers";
    EXPECT_EQ(client.get("/v1/pack")->body, pack) << "what is in the log is handed out, and nothing else";
    EXPECT_EQ(serving->head().head, before);
    EXPECT_EQ(serving->cosign(rounds::witness_key()), 503);
  }
  ASSERT_TRUE(server.tick(time += 10));
  ASSERT_TRUE(server.tick(time += 10));
  EXPECT_EQ(health(), 200);
  EXPECT_NE(client.get("/v1/pack")->body, pack);
  const rounds::LogHead after = serving->head().head;
  EXPECT_GT(after.size, before.size);
  EXPECT_EQ(serving->cosign(rounds::witness_key()), 200);
  device::Device device = reader(folder, demanding(1));
  auto way = serving->way();
  EXPECT_TRUE(device.refresh(way).value()) << "it follows the log across the gap";
  serving.reset();
  serving.emplace(folder, "log", 400, time);
  EXPECT_GE(serving->head().head.size, after.size);
}

// The same owner signs two lists, and shows this device the one, then the other.
TEST(ServedLog, AForkedLogIsRefused) {
  const TempFolder folder;
  LoggingServer honest(folder, "log"), forked(folder, "other", 500);
  honest.change();
  for (int i = 0; i < 3; ++i) forked.change();
  device::Device device = reader(folder, demanding());
  auto way = honest.way(), other = forked.way();
  ASSERT_TRUE(device.refresh(way).value());
  const std::string kept = device.pack_version();
  const auto refused = device.refresh(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("forked"));
  EXPECT_EQ(device.pack_version(), kept);
  EXPECT_FALSE(device.refresh(way).value()) << "the one it saw first goes on";
}

TEST(ServedLog, AShorterLogIsRefused) {
  const TempFolder folder;
  LoggingServer serving(folder, "log"), shorter(folder, "other", 500);
  serving.change();
  serving.change();
  device::Device device = reader(folder, demanding());
  auto way = serving.way(), other = shorter.way();
  ASSERT_TRUE(device.refresh(way).value());
  const auto refused = device.refresh(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is another one"));
}

TEST(ServedLog, WhatIsInNoLogIsNotUsed) {
  const TempFolder folder;
  LoggingServer unlogged(folder, ""), logged(folder, "log");
  auto way = unlogged.way(), other = logged.way();
  {
    device::Device device = reader(folder, demanding());
    const auto refused = device.refresh(way);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("does not prove that its pack is in the public log"));
    EXPECT_EQ(device.pack_version(), "");
  }
  // A pack that was taken before a log was demanded: no question goes out for its guide.
  {
    device::DeviceSettings trusting;
    trusting.ranking = "blind";
    device::Device device = reader(folder, trusting);
    ASSERT_TRUE(device.refresh(way).value());
  }
  device::Device device = reader(folder, demanding());
  EXPECT_FALSE(device.refresh(way));
  const auto page = device.recommend(way, 5);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->source, Source::popular);
  EXPECT_THAT(page->note, HasSubstr("its guide is in the public log"));
  // Signed by somebody else.
  device::DeviceSettings another = demanding();
  another.log.key = witness;
  const TempFolder elsewhere;
  device::Device stranger = reader(elsewhere, another);
  const auto refused = stranger.refresh(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not signed by its owner"));
}

TEST(ServedLog, WaitsForTheWitnessesThatADeviceWants) {
  const TempFolder folder;
  LoggingServer serving(folder, "log");
  auto way = serving.way();
  device::Device device = reader(folder, demanding(1));
  const auto early = device.refresh(way);
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message, HasSubstr("0 of the witnesses"));
  EXPECT_EQ(serving.cosign(rounds::witness_key(1)), 403) << "not one that the operator names";
  EXPECT_EQ(serving.cosign(rounds::witness_key()), 200);
  EXPECT_EQ(serving.cosign(rounds::witness_key()), 409) << "once is enough";
  EXPECT_TRUE(device.refresh(way).value());
}

TEST(ServedLog, SettingsThatMakeNoSenseAreRefused) {
  const TempFolder folder;
  const auto opened = [&](auto change) {
    device::DeviceSettings settings = demanding();
    change(settings.log);
    return device::Device::open(folder / "device", settings, {.first_use = true}).error().message;
  };
  EXPECT_THAT(opened([](auto& log) { log.key = "short"; }), HasSubstr("log_key"));
  EXPECT_THAT(opened([](auto& log) { log.key.clear(); }), HasSubstr("witnesses of which log"));
  EXPECT_THAT(opened([](auto& log) { log.witnesses_needed = 2; }), HasSubstr("log_witnesses_needed is 2"));
  EXPECT_THAT(opened([](auto& log) { log.witnesses = "x"; }), HasSubstr("log_witnesses"));
}

}  // namespace
}  // namespace sotto::serving
