// The coordinator over real HTTP, with a trainer that is a few lines: what it lets in, and what it says.

#include "coordinator/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "base/chain_hash.h"
#include "coordinator/store/sqlite_connection.h"
#include "coordinator/wrapped_store.h"
#include "device/device.h"
#include "full_disk.h"
#include "net/http_client.h"
#include "net/raw_socket.h"
#include "rounds/enrolment.h"
#include "rounds/small_campaign.h"
#include "test_paths.h"
#include "transport/http_transport.h"

namespace sotto::coordinator {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view layout = "numbers:50 ";
constexpr std::string_view admin_token = "a token of the operator";

rounds::UtcTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

// Adds one to every number for each round.
class CountingTrainer final : public Folding {
 public:
  Result<FoldedModel> begin(const std::string& checkpoint) override {
    done_ = checkpoint.empty() ? 0 : std::stoul(checkpoint);
    began_with = checkpoint;
    rounds::ItemTable table;
    table.ids = {"a", "b"};
    table.vectors = {2, {1, 2, 3, 4}, {}, {}};
    return FoldedModel{std::string(layout), std::move(table)};
  }
  Result<FoldedRound> next() override {
    return FoldedRound{done_,
                       1,
                       rounds::one_row(std::vector<float>(50, static_cast<float>(done_))),
                       {},
                       done_ == 0 ? "" : std::to_string(done_),
                       false};
  }
  Status give(const std::vector<GroupSum>&) override {
    ++done_;
    return {};
  }
  std::string began_with;

 private:
  std::uint64_t done_ = 0;
};

struct CoordinatorScene {
  CoordinatorScene() {
    campaign = rounds::small_campaign();
    campaign.layout = rounds::layout_hash(layout);
    campaign.valid_from = wall_now() - std::chrono::hours(1);
    campaign.valid_until = wall_now() + std::chrono::hours(1);
    campaign.witnesses_needed = 0;
  }
  Status start() {
    CoordinatorSettings settings;
    settings.store = (folder / "store").string();
    settings.campaign = sign_document(rounds::campaign_kind, encode(campaign), campaign_signer);
    settings.recovery_key = recovery_key().public_key();
    settings.key_changes = key_changes;
    settings.operator_key = rounds::operator_key().public_key();
    settings.operator_token = admin_token;
    SOTTO_TRY(auto store, open_store(settings.store, rounds::coordinator_key().public_key()));
    if (wrap) store = wrap(std::move(store));
    SOTTO_TRY(running, Coordinator::start(settings, std::move(store), rounds::coordinator_key(), trainer));
    net::HttpClientSettings http;
    http.url = running->url();
    client.emplace(net::HttpClient::create(http).value());
    return {};
  }
  // Until the campaign's thread has ended.
  Status end() const {
    for (int i = 0; i < 500 && !running->outcome(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return running->outcome().value_or(Status{});
  }
  bool is_ready() {
    for (int i = 0; i < 500 && client->get("/readyz").value().status != 200; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return client->get("/readyz").value().status == 200;
  }
  std::string token(std::uint8_t number, rounds::UtcTime expires = wall_now() + std::chrono::hours(1)) const {
    rounds::EnrolmentToken one{{}, true, expires};
    one.id.fill(number);
    return rounds::sign_token(one, rounds::operator_key());
  }
  net::HttpResponse enrol(const std::string& with, const rounds::Identity& device) {
    const auto enrolment = rounds::enrolment_of(with, device, rounds::operator_key().public_key()).value();
    return client->post("/v1/enrol", encode(enrolment), "application/octet-stream").value();
  }
  net::HttpResponse post(const std::string& path, const std::string& body, const rounds::Identity& device,
                         const rounds::Identity& signer) {
    return client
        ->send({.method = net::HttpMethod::post,
                .path = path,
                .headers = {{std::string(rounds::device_header), to_hex(device.public_key())},
                            {std::string(rounds::signature_header),
                             to_hex(signer.sign(rounds::request_statement("POST", path, body)))},
                            {std::string(rounds::body_header), to_hex(rounds::blob_hash(body))}},
                .body = body,
                .content_type = "application/octet-stream"})
        .value();
  }
  std::uint16_t port() const {
    const std::string url = running->url();
    return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
  }
  // Of the order that is open, as soon as one is.
  std::string offer() {
    net::HttpResponse response = client->get("/v1/order").value();
    for (int i = 0; i < 500 && response.status != 200; ++i) {  // the first version is being published
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      response = client->get("/v1/order").value();
    }
    return response.body;
  }
  net::HttpResponse admin(const std::string& path, std::string_view with = admin_token) {
    return client
        ->send({.method = net::HttpMethod::post,
                .path = "/v1/admin/" + path,
                .headers = {{"Authorization", "Bearer " + std::string(with)}},
                .body = {},
                .content_type = {}})
        .value();
  }

  static rounds::Identity recovery_key() { return rounds::test_key(60); }

  TempFolder folder;
  rounds::Campaign campaign;
  rounds::Identity campaign_signer = rounds::operator_key();
  std::vector<std::string> key_changes;
  std::function<std::unique_ptr<Store>(std::unique_ptr<Store>)> wrap;
  CountingTrainer trainer;
  std::unique_ptr<Coordinator> running;
  std::optional<net::HttpClient> client;
};

TEST(Coordinator, TellsItsPageWhatItsRoutesSay) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  EXPECT_EQ(scene.client->get("/dashboard").value().content_type, "text/html; charset=utf-8");
  const auto json = [&](const std::string& path) {
    return nlohmann::json::parse(scene.client->get(path).value().body);
  };
  nlohmann::json versions = json("/v1/versions")["versions"];
  for (int i = 0; i < 500 && versions.empty(); ++i) {  // the first one is being published
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    versions = json("/v1/versions")["versions"];
  }
  ASSERT_EQ(versions.size(), 1U);
  EXPECT_EQ(versions[0]["version"], 0);
  EXPECT_TRUE(versions[0]["current"]);
  EXPECT_EQ(versions[0]["model"], json("/v1/status")["version"]);
  const nlohmann::json log = json("/v1/log/entries");
  ASSERT_EQ(log["entries"].size(), 2U);
  EXPECT_EQ(log["entries"][0]["hash"], json("/v1/status")["campaign"]);
  EXPECT_EQ(log["entries"][1]["hash"], versions[0]["model"]);
  EXPECT_EQ(json("/v1/log/entries?from=1")["entries"].size(), 1U);
  EXPECT_EQ(scene.client->get("/v1/log/entries?from=many").value().status, 400);
  EXPECT_EQ(json("/v1/campaigns")["campaigns"][0]["campaign"], json("/v1/status")["campaign"]);
  EXPECT_TRUE(json("/v1/rounds")["rounds"].empty());
  EXPECT_EQ(json("/v1/status")["epsilon_so_far"], 0);
  EXPECT_EQ(json("/v1/status")["stored"], true);

  ASSERT_TRUE(scene.running->tick());
  const auto event = scene.client->get("/v1/events").value();
  EXPECT_EQ(event.content_type, "text/event-stream");
  const std::size_t begin = event.body.find("data: ") + 6;
  EXPECT_EQ(nlohmann::json::parse(event.body.substr(begin))["campaign"], json("/v1/status")["campaign"]);

  const rounds::Identity stranger = rounds::test_key(77);
  EXPECT_EQ(scene.post("/v1/checkin", "", stranger, stranger).status, 403);
  EXPECT_EQ(json("/v1/status")["refusals"]["unknown device"], 1);
}

class CountingStore final : public WrappedStore {
 public:
  CountingStore(std::unique_ptr<Store> real, std::atomic<int>& reads)
      : WrappedStore(std::move(real)), reads_(reads) {}
  Result<std::vector<ModelVersion>> versions(const Digest& campaign) override {
    ++reads_;
    return WrappedStore::versions(campaign);
  }
  Result<std::vector<Evaluation>> evaluations(const Digest& campaign) override {
    ++reads_;
    return WrappedStore::evaluations(campaign);
  }

 private:
  std::atomic<int>& reads_;
};

TEST(Coordinator, AsksItsStoreOnceForAllWhoLookAtItsVersions) {
  CoordinatorScene scene;
  std::atomic<int> reads = 0;
  scene.wrap = [&](std::unique_ptr<Store> store) {
    return std::make_unique<CountingStore>(std::move(store), reads);
  };
  ASSERT_TRUE(scene.start());
  ASSERT_FALSE(scene.offer().empty()) << "a round is open: nothing changes by itself";
  const std::string versions = scene.client->get("/v1/versions").value().body;
  EXPECT_THAT(versions, HasSubstr(R"("current":true)"));
  const int before = reads;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(scene.client->get("/v1/versions").value().body, versions);
  EXPECT_EQ(reads, before);
  // What has changed is shown at once.
  const auto state = [&] {
    return nlohmann::json::parse(scene.client->get("/v1/campaigns").value().body)["campaigns"][0]["state"];
  };
  EXPECT_EQ(state(), "open");
  ASSERT_EQ(scene.admin("pause").status, 200);
  EXPECT_EQ(state(), "paused");
  EXPECT_EQ(scene.client->get("/v1/versions").value().body, versions);
  EXPECT_EQ(reads, before + 2) << "asked again once";
}

TEST(Coordinator, ShowsAnOrderThatADeviceCanCheck) {
  CoordinatorScene scene;
  const auto started = scene.start();
  ASSERT_TRUE(started) << started.error().message;
  const auto offer = rounds::decode_offer(scene.offer());
  ASSERT_TRUE(offer) << offer.error().message;
  const auto status = nlohmann::json::parse(scene.client->get("/v1/status").value().body);
  EXPECT_TRUE(status["order_began"].is_string()) << "for the clock of the page";
  EXPECT_EQ(status["order_evaluates"], false);
  const auto campaign = rounds::open_campaign(offer->campaign).value();
  const auto order = rounds::open_order(offer->order).value();
  EXPECT_TRUE(campaign.is_signed_by(rounds::operator_key().public_key()));
  EXPECT_TRUE(order.is_signed_by(rounds::coordinator_key().public_key()));
  EXPECT_EQ(order.order.number, 1U);
  EXPECT_EQ(order.order.head, offer->head.head);
  const auto page = rounds::decode_log_page(scene.client->get("/v1/log?from=0").value().body);
  ASSERT_TRUE(page);
  rounds::LogFrontier seen;
  for (const auto& leaf : page->entries) seen.append(rounds::leaf_hash(leaf));
  EXPECT_EQ(seen.root(), order.order.head.root);
  // The version it names can be fetched, whole and in parts, and so can its table.
  const std::string path = "/v1/blob/" + to_hex(order.order.model);
  const auto blob = scene.client->get(path).value();
  ASSERT_EQ(blob.status, 200);
  EXPECT_EQ(rounds::blob_hash(blob.body), order.order.model);
  const auto part = scene.client->get(path, {{"Range", "bytes=0-7"}}).value();
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "SOTTOMOD");
  const auto version = rounds::decode_model(blob.body).value();
  EXPECT_EQ(scene.client->get("/v1/blob/" + to_hex(version.table)).value().status, 200);
  EXPECT_EQ(scene.client->get("/v1/blob/" + to_hex(rounds::model_hash())).value().status, 404);
  EXPECT_EQ(scene.client->get("/v1/blob/none").value().status, 400);
  EXPECT_EQ(scene.client->get("/v1/log?from=x").value().status, 400);
}

TEST(BlobShelf, LetsOldVersionsGoAndKeepsTables) {
  BlobShelf shelf;
  const auto hash_of = [](std::uint8_t number) {
    Digest hash{};
    hash.fill(number);
    return hash;
  };
  const auto status_of = [&](std::uint8_t number) {
    net::HttpRequest request;
    request.parameters = {{"hash", to_hex(hash_of(number))}};
    return shelf.respond(request).status;
  };
  shelf.put(hash_of(200), "table", BlobShelf::Stays::always);
  for (std::uint8_t i = 0; i < 2 * BlobShelf::most; ++i)
    shelf.put(hash_of(i), std::to_string(i), BlobShelf::Stays::while_new);
  EXPECT_EQ(status_of(200), 200) << "every version names it";
  EXPECT_EQ(status_of(0), 404);
  EXPECT_EQ(status_of(BlobShelf::most), 200);
  EXPECT_EQ(status_of(2 * BlobShelf::most - 1), 200);
}

TEST(Coordinator, EnrolsWhoeverHasATokenOnceAndNobodyElse) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  const auto one = rounds::test_key(101), two = rounds::test_key(102);
  EXPECT_EQ(scene.enrol(scene.token(1), one).status, 200);
  EXPECT_EQ(scene.enrol(scene.token(1), one).status, 200) << "asked again, the same answer";
  EXPECT_EQ(scene.enrol(scene.token(1), two).status, 409) << "a token is for one device";
  EXPECT_EQ(scene.enrol(scene.token(2, wall_now() - std::chrono::seconds(1)), two).status, 403);
  // A token that somebody else signed, and a key that the sender does not have.
  rounds::EnrolmentToken forged{{}, true, wall_now() + std::chrono::hours(1)};
  const std::string by_another = rounds::sign_token(forged, two);
  const auto wrong = rounds::enrolment_of(by_another, two, two.public_key()).value();
  EXPECT_EQ(scene.client->post("/v1/enrol", encode(wrong), "application/octet-stream").value().status, 403);
  auto stolen = rounds::enrolment_of(scene.token(3), two, rounds::operator_key().public_key()).value();
  stolen.device = one.public_key();
  EXPECT_EQ(scene.client->post("/v1/enrol", encode(stolen), "application/octet-stream").value().status, 403);
  EXPECT_EQ(scene.client->post("/v1/enrol", "bytes", "application/octet-stream").value().status, 400);
}

TEST(Coordinator, HearsEnrolledDevicesThatSignAndNobodyElse) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  const auto known = rounds::test_key(101), stranger = rounds::test_key(102);
  ASSERT_EQ(scene.enrol(scene.token(1), known).status, 200);
  rounds::CheckIn another_order;
  EXPECT_EQ(scene.post("/v1/checkin", encode(another_order), known, known).status, 410);
  EXPECT_EQ(scene.post("/v1/checkin", encode(another_order), stranger, stranger).status, 403);
  EXPECT_EQ(scene.post("/v1/checkin", encode(another_order), known, stranger).status, 400)
      << "whose signature?";
  EXPECT_EQ(scene.post("/v1/checkin", "bytes", known, known).status, 400);
  const std::string room = "/v1/rounds/" + to_hex(rounds::model_hash()) + "/upload";
  EXPECT_EQ(scene.post(room, "bytes", known, known).status, 410);
  EXPECT_EQ(
      scene.client->post("/v1/checkin", encode(another_order), "application/octet-stream").value().status,
      400)
      << "nobody says who asks";
  ASSERT_EQ(scene.admin("revoke?device=" + to_hex(known.public_key())).status, 200);
  EXPECT_EQ(scene.post("/v1/checkin", encode(another_order), known, known).status, 403) << "revoked";
}

TEST(Coordinator, LetsOnlyTheOperatorChangeItAndSaysWhatWasDone) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  for (const char* action : {"pause", "resume", "drain", "roll-back?version=0", "revoke?device=00"})
    EXPECT_EQ(scene.admin(action, "another token").status, 401) << action;
  EXPECT_EQ(scene.admin("roll-back").status, 400);
  EXPECT_EQ(scene.admin("roll-back?version=9").status, 400);
  EXPECT_EQ(scene.admin("pause").status, 200);
  EXPECT_EQ(scene.admin("resume").status, 200);
  EXPECT_EQ(scene.admin("drain").status, 200);
  EXPECT_EQ(scene.client->get("/readyz").value().status, 503);
  EXPECT_EQ(scene.client->get("/v1/order").value().status, 404) << "nobody is let in";
  const auto actions =
      scene.client->get("/v1/admin/actions", {{"Authorization", "Bearer " + std::string(admin_token)}});
  EXPECT_THAT(actions->body, HasSubstr("drain"));
  EXPECT_EQ(scene.client->get("/v1/admin/actions").value().status, 401);
}

TEST(Coordinator, RefusesACampaignThatIsNotItsOwnOrCannotHold) {
  {
    CoordinatorScene scene;
    scene.campaign.coordinator = rounds::test_key(50).public_key();
    const auto started = scene.start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("names the coordinator"));
  }
  {
    // By its folder alone: a store that was made would belong to the wrong key for ever.
    CoordinatorScene scene;
    CoordinatorSettings settings;
    settings.store = (scene.folder / "store").string();
    settings.campaign = sign_document(rounds::campaign_kind, encode(scene.campaign), scene.campaign_signer);
    settings.operator_key = rounds::operator_key().public_key();
    EXPECT_FALSE(Coordinator::start(settings, rounds::test_key(50), scene.trainer));
    EXPECT_FALSE(fs::exists(settings.store));
  }
  {
    CoordinatorScene scene;
    scene.campaign.layout.fill(1);
    ASSERT_TRUE(scene.start());  // the trainer begins behind the open port
    const Status ended = scene.end();
    ASSERT_FALSE(ended);
    EXPECT_THAT(ended.error().message, HasSubstr("laid out"));
  }
  {
    CoordinatorScene scene;
    scene.campaign.epsilon = 0.5;
    EXPECT_FALSE(scene.start());
  }
  {
    CoordinatorScene scene;
    scene.campaign.valid_until = wall_now() - std::chrono::minutes(1);
    EXPECT_FALSE(scene.start());
  }
}

// A device as people have it, with the keys that came with the app.
struct Person {
  Person(const fs::path& folder, const CoordinatorScene& scene)
      : transport(transport::HttpTransport::create({.url = scene.running->url()}).value()),
        device(device::Device::open(folder, {.ranking = "local"}, {.first_use = true}).value()) {
    EXPECT_TRUE(device.agree(device.terms(scene.running->url(), scene.campaign.purpose, {.training = true})));
  }
  Status enrol(std::uint8_t number, const rounds::Identity& signer) {
    rounds::EnrolmentToken token{{}, true, wall_now() + std::chrono::hours(1)};
    token.id.fill(number);
    return device.enrol(transport, rounds::sign_token(token, signer),
                        rounds::OperatorKeys(rounds::operator_key().public_key(),
                                             CoordinatorScene::recovery_key().public_key()));
  }
  // Why it refuses the round: no device trains the made-up numbers of these tests.
  std::optional<device::RoundRefusalReason> refusal() {
    const device::RoundHooks hooks{[] { return false; }, [](std::chrono::milliseconds) {}};
    for (int i = 0; i < 500; ++i) {
      const auto part = device.take_part(transport, hooks);
      EXPECT_TRUE(part) << part.error().message;
      if (!part || part->outcome != device::Participation::Outcome::no_round)
        return part ? part->refusal : std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return std::nullopt;
  }
  transport::HttpTransport transport;
  device::Device device;
};

TEST(Coordinator, TellsDevicesOfTheOperatorsNextKeyWithoutANewApp) {
  const rounds::Identity next = rounds::test_key(61);
  const auto change = [&](bool revokes, const rounds::Identity& signer) {
    return rounds::sign_key_change(
               {{rounds::operator_key().public_key()}, next.public_key(), revokes, wall_now()}, signer)
        .value();
  };
  const TempFolder devices;
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  Person early(devices / "early", scene);
  ASSERT_TRUE(early.enrol(1, rounds::operator_key()));
  EXPECT_FALSE(early.enrol(2, next)) << "a key that nobody told of";

  // Refused while no change is in the log, and with one that is nobody's.
  scene.running.reset();
  const rounds::Campaign before = scene.campaign;
  scene.campaign_signer = rounds::test_key(61);
  scene.campaign.max_training_seconds -= 1;
  EXPECT_THAT(scene.start().error().message, HasSubstr("not signed by the operator"));
  scene.key_changes = {change(false, rounds::test_key(62))};
  EXPECT_THAT(scene.start().error().message, HasSubstr("no device would follow it"));
  scene.key_changes = {change(false, rounds::operator_key())};
  const auto started = scene.start();
  ASSERT_TRUE(started) << started.error().message;

  early.transport = transport::HttpTransport::create({.url = scene.running->url()}).value();
  EXPECT_EQ(early.refusal(), device::RoundRefusalReason::unknown_recipe)
      << "the campaign's signature is good";
  Person late(devices / "late", scene);
  const auto enrolled = late.enrol(3, next);
  ASSERT_TRUE(enrolled) << enrolled.error().message;
  EXPECT_EQ(late.device.enrolled_with(), next.public_key());

  // The old key turns out to be stolen: what it signed is good no more, though it stands in the log.
  scene.running.reset();
  scene.key_changes = {change(true, CoordinatorScene::recovery_key())};
  ASSERT_TRUE(scene.start()) << "the change before is known from the log";
  early.transport = transport::HttpTransport::create({.url = scene.running->url()}).value();
  EXPECT_EQ(early.refusal(), device::RoundRefusalReason::unknown_recipe);
  EXPECT_EQ(early.device.enrolled_with(), next.public_key()) << "a revocation is kept whatever else is wrong";
  scene.running.reset();
  scene.campaign_signer = rounds::operator_key();
  scene.campaign = before;
  EXPECT_THAT(scene.start().error().message, HasSubstr("has revoked"));
}

TEST(Coordinator, SaysHowItStandsWithoutNamingADevice) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  const auto device = rounds::test_key(101);
  ASSERT_EQ(scene.enrol(scene.token(1), device).status, 200);
  ASSERT_TRUE(scene.is_ready());
  const auto status = scene.client->get("/v1/status").value();
  const auto body = nlohmann::json::parse(status.body);
  EXPECT_EQ(body["enrolled"], 1);
  EXPECT_EQ(body["rounds"], scene.campaign.rounds);
  const std::string key = to_hex(device.public_key());
  for (const char* path : {"/v1/status", "/metrics", "/healthz", "/readyz", "/openapi.json"}) {
    const auto page = scene.client->get(path).value();
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_THAT(page.body, ::testing::Not(HasSubstr(key))) << path;
  }
}

// A request's head as a device would send it.
std::string head_of(const std::string& path, const std::string& body, const rounds::Identity& device,
                    const rounds::Identity& signer) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: here\r\nContent-Length: {}\r\n{}: {}\r\n{}: {}\r\n{}: {}\r\n\r\n", path,
      body.size(), rounds::device_header, to_hex(device.public_key()), rounds::signature_header,
      to_hex(signer.sign(rounds::request_statement("POST", path, body))), rounds::body_header,
      to_hex(rounds::blob_hash(body)));
}

TEST(CoordinatorAttacks, NoBodyIsReadThatNoEnrolledDeviceHasSigned) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  const auto known = rounds::test_key(101), stranger = rounds::test_key(102);
  ASSERT_EQ(scene.enrol(scene.token(1), known).status, 200);
  const std::string path = "/v1/rounds/" + to_hex(rounds::model_hash()) + "/upload";
  const std::string body(50'000, 'x');
  {
    // Members of a group know each other's keys: a key alone opens nothing.
    net::RawSocket socket(scene.port());
    socket.send(head_of(path, body, known, stranger));
    EXPECT_THAT(socket.read_all(), ::testing::StartsWith("HTTP/1.1 400"))
        << "before any of the body was sent";
  }
  {
    net::RawSocket socket(scene.port());
    socket.send(head_of(path, body, known, known) + std::string(50'000, 'y'));
    EXPECT_THAT(socket.read_until("signed"), ::testing::StartsWith("HTTP/1.1 400"))
        << "other bytes than signed";
  }
  {
    net::RawSocket socket(scene.port());
    socket.send(head_of(path, body, known, known) + body);
    EXPECT_THAT(socket.read_until("no"), ::testing::StartsWith("HTTP/1.1 410"))
        << "heard: there is no such group";
  }
}

TEST(CoordinatorAttacks, StrangersCannotKeepTheOperatorWaiting) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  // Somebody else writes to the store, so that whatever needs it waits.
  auto other = connect_sqlite(scene.folder / "store" / "store.sqlite").value();
  ASSERT_TRUE(other->begin_write());
  net::RawSocket operators(scene.port());
  operators.send(fmt::format(
      "POST /v1/admin/pause HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\n\r\n",
      admin_token));
  const auto forger = rounds::test_key(102);
  rounds::EnrolmentToken forged{{}, true, wall_now() + std::chrono::hours(1)};
  const auto wrong =
      rounds::enrolment_of(rounds::sign_token(forged, forger), forger, forger.public_key()).value();
  EXPECT_EQ(scene.client->post("/v1/enrol", encode(wrong), "application/octet-stream").value().status, 403);
  EXPECT_EQ(scene.client->post("/v1/enrol", "bytes", "application/octet-stream").value().status, 400);
  rounds::HeadCosignature word{{}, {scene.campaign.witnesses.front(), {}}};
  EXPECT_EQ(
      scene.client->post("/v1/log/cosignature", encode(word), "application/octet-stream").value().status,
      400);
  pollfd answered{operators.descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&answered, 1, 0), 0) << "strangers were answered while the operator's write waits";
  other->roll_back();
  EXPECT_THAT(operators.read_until("done"), ::testing::StartsWith("HTTP/1.1 200"));
}

TEST(CoordinatorAttacks, AFullDiskIsSaidAndPasses) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  scene.offer();
  const auto device = rounds::test_key(101);
  ASSERT_TRUE(scene.running->tick());
  EXPECT_EQ(scene.client->get("/healthz").value().status, 200);
  {
    const FullDisk full(1);
    // A lease that is renewed within the same second changes nothing, and needs no room.
    net::HttpResponse health = scene.client->get("/healthz").value();
    for (int i = 0; i < 500 && health.status == 200; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ASSERT_TRUE(scene.running->tick()) << "it goes on";
      health = scene.client->get("/healthz").value();
    }
    EXPECT_EQ(health.status, 503);
    EXPECT_THAT(health.body, ::testing::Not(HasSubstr(scene.folder.path().string()))) << "for strangers";
    EXPECT_THAT(scene.client->get("/metrics").value().body, HasSubstr("sotto_store_writable 0"));
    EXPECT_EQ(scene.enrol(scene.token(1), device).status, 500) << "not said to be stored";
    EXPECT_EQ(scene.client->get("/v1/order").value().status, 200) << "what was stored is handed out";
    // A round that ends now cannot be noted, and waits for room instead of giving the campaign up.
    ASSERT_FALSE(scene.running->outcome());
  }
  ASSERT_TRUE(scene.running->tick());
  EXPECT_EQ(scene.client->get("/healthz").value().status, 200);
  EXPECT_EQ(scene.enrol(scene.token(1), device).status, 200);
  EXPECT_FALSE(scene.running->outcome());
}

TEST(CoordinatorAttacks, WhoeverWaitsIsAnsweredWhenItStops) {
  CoordinatorScene scene;
  ASSERT_TRUE(scene.start());
  const auto order = rounds::open_order(rounds::decode_offer(scene.offer())->order).value();
  std::vector<std::unique_ptr<net::RawSocket>> waiting;
  for (std::uint8_t i = 0; i < 5; ++i) {
    const auto device = rounds::test_key(static_cast<std::uint8_t>(101 + i));
    ASSERT_EQ(scene.enrol(scene.token(i), device).status, 200);
    const std::string body = encode(rounds::CheckIn{order.hash});
    waiting.push_back(std::make_unique<net::RawSocket>(scene.port()));
    waiting.back()->send(head_of("/v1/checkin", body, device, device) + body);
  }
  const auto waits = [&] {
    return nlohmann::json::parse(scene.client->get("/v1/status").value().body)["now"]["waiting"] == 5;
  };
  for (int i = 0; i < 500 && !waits(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(waits());
  scene.running->stop();
  for (const auto& socket : waiting)
    EXPECT_THAT(socket->read_all(), ::testing::StartsWith("HTTP/1.1 410"))
        << "come back later, nothing is charged";
}

}  // namespace
}  // namespace sotto::coordinator
