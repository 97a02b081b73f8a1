// A coordinator that asks for more than it may, over real HTTP: whatever it changes in a campaign, an order
// or the log, and with all keys in its hands, every device refuses before it is charged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/chain_hash.h"
#include "net/http_server.h"
#include "running_deployment.h"

namespace sotto::coordinator {
namespace {

using device::Participation;
using Reason = device::RoundRefusalReason;

// Everything such a coordinator says about one round.
struct Forgery {
  rounds::Campaign campaign = deployed_campaign(5);
  rounds::Identity operator_key = rounds::operator_key(), coordinator = rounds::coordinator_key();
  std::uint64_t witnesses = 0;  // who cosign
  std::function<void(rounds::RoundOrder&)> change_order = [](rounds::RoundOrder&) {};
  std::vector<rounds::LogLeaf> log;

  std::string offer() {
    rounds::OfferMessage made;
    made.campaign = sign_document(rounds::campaign_kind, encode(campaign), operator_key);
    const rounds::Digest hash = rounds::open_campaign(made.campaign).value().hash;
    log = {{rounds::LeafKind::campaign, hash}, {rounds::LeafKind::model, rounds::model_hash()}};
    rounds::MerkleTree tree;
    for (const auto& leaf : log) tree.append(rounds::leaf_hash(leaf));
    made.campaign_entry = {0, tree.inclusion(0, 2)};
    made.model_entry = {1, tree.inclusion(1, 2)};
    made.head.head = {2, tree.root(), wall_now()};
    made.head.signature = sign_head(made.head.head, coordinator);
    for (std::uint8_t i = 0; i < witnesses; ++i)
      made.head.cosignatures.push_back(cosign_head(made.head.head, rounds::witness_key(i)));
    rounds::RoundOrder order;
    order.round.fill(3);
    order.number = 1;
    order.campaign = hash;
    order.model = rounds::model_hash();
    order.head = made.head.head;
    order.expires = wall_now() + std::chrono::minutes(10);
    change_order(order);
    made.order = sign_document(rounds::order_kind, encode(order), coordinator);
    return encode(made);
  }
};

struct Weakening {
  const char* name;
  Reason reason;
  std::function<void(Forgery&)> change;
};

// Times of documents are whole seconds: what ends now has not ended yet.
UtcTime a_minute_ago() { return wall_now() - std::chrono::minutes(1); }

// An owner who allows what the campaign of the deployment asks, two witnesses' word less.
const std::vector<Weakening> weakenings = {
    {"another recipe", Reason::unknown_recipe, [](Forgery& f) { f.campaign.recipe = "another"; }},
    {"another layout", Reason::unknown_recipe, [](Forgery& f) { f.campaign.layout[0] ^= 1; }},
    {"local settings", Reason::unknown_recipe, [](Forgery& f) { f.campaign.local[2].value = "13"; }},
    {"no purpose", Reason::purpose, [](Forgery& f) { f.campaign.purpose.clear(); }},
    {"another purpose", Reason::purpose, [](Forgery& f) { f.campaign.purpose += " and advertisements"; }},
    {"population", Reason::terms, [](Forgery& f) { f.campaign.population = 200'000; }},
    {"cohort", Reason::terms, [](Forgery& f) { f.campaign.cohort = 30; }},
    {"participations", Reason::terms, [](Forgery& f) { f.campaign.rounds = f.campaign.participations = 50; }},
    {"epsilon and participations", Reason::policy,
     [](Forgery& f) { f.campaign.rounds = f.campaign.participations = 10, f.campaign.epsilon = 20; }},
    {"delta", Reason::policy, [](Forgery& f) { f.campaign.delta = 1e-3; }},
    {"noise", Reason::terms, [](Forgery& f) { f.campaign.encoding.noise_multiplier *= 0.99; }},
    {"noise and epsilon", Reason::policy,
     [](Forgery& f) { f.campaign.encoding.noise_multiplier *= 0.8, f.campaign.epsilon = 20; }},
    {"grid", Reason::terms, [](Forgery& f) { f.campaign.encoding.step *= 4; }},
    {"clip", Reason::terms, [](Forgery& f) { f.campaign.encoding.clip *= 4; }},
    {"bits", Reason::terms, [](Forgery& f) { f.campaign.bits += 1; }},
    {"denominator", Reason::terms, [](Forgery& f) { f.campaign.encoding.denominator = 1; }},
    {"dimension", Reason::terms, [](Forgery& f) { f.campaign.encoding.dimension = 5'000'000; }},
    {"corrupted", Reason::policy, [](Forgery& f) { f.campaign.encoding.corrupted = 1; }},
    {"group", Reason::policy,
     [](Forgery& f) {
       f.campaign.cohort = f.campaign.encoding.devices = 10, f.campaign.encoding.denominator = 10;
       f.campaign.encoding.corrupted = f.campaign.encoding.dropped = 1;
       f.campaign.bits = f.campaign.plan(1).value().modulus().bits();
     }},
    {"security", Reason::policy, [](Forgery& f) { f.campaign.security_bits = 30; }},
    {"training time", Reason::policy, [](Forgery& f) { f.campaign.max_training_seconds = 3600; }},
    {"not yet", Reason::campaign_time, [](Forgery& f) { f.campaign.valid_from += std::chrono::days(1); }},
    {"over", Reason::campaign_time,
     [](Forgery& f) {
       f.campaign.valid_until = a_minute_ago();
       f.change_order = [](rounds::RoundOrder& order) { order.expires = a_minute_ago(); };
     }},
    {"another coordinator", Reason::coordinator_signature,
     [](Forgery& f) { f.campaign.coordinator = rounds::test_key(77).public_key(); }},
    {"another operator", Reason::operator_signature,
     [](Forgery& f) { f.operator_key = rounds::test_key(78); }},
    {"witnesses", Reason::witnesses,
     [](Forgery& f) {
       f.campaign.witnesses = {rounds::witness_key(0).public_key()};
       f.campaign.witnesses_needed = 1;
     }},
    {"another campaign's order", Reason::order,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.campaign[0] ^= 1; }; }},
    {"a round too many", Reason::order,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.number = 6; }; }},
    {"bound", Reason::order,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.bound = 1000; }; }},
    {"expired", Reason::order_time,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.expires = a_minute_ago(); }; }},
    {"a model that is in no log", Reason::log,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.model[0] ^= 1; }; }},
    {"another head", Reason::log,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.head.root[0] ^= 1; }; }},
};

TEST(WeakenedCampaigns, AreRefusedByEveryDeviceAndChargedToNone) {
  Forgery forgery;
  std::mutex mutex;
  net::Router router;
  const auto answer = [](std::string body) {
    net::HttpResponse response;
    response.content_type = "application/octet-stream";
    response.body = std::move(body);
    return response;
  };
  router.add(net::HttpMethod::post, "/v1/enrol",
             [&](const net::HttpRequest&) { return answer(std::string(32, 'k')); });
  router.add(net::HttpMethod::get, "/v1/order", [&](const net::HttpRequest&) {
    const std::lock_guard lock(mutex);
    return answer(forgery.offer());
  });
  router.add(net::HttpMethod::get, "/v1/log", [&](const net::HttpRequest&) {
    const std::lock_guard lock(mutex);
    return answer(encode(rounds::LogPage{0, forgery.log}));
  });
  net::MetricsRegistry metrics;
  auto server = net::HttpServer::start({}, std::move(router), metrics);
  ASSERT_TRUE(server);
  RunningDeployment owners(deployed_campaign(5));
  ASSERT_TRUE(owners.open_devices(server->url(), 3));
  // The devices are well: what keeps to everything is refused only because its model cannot be fetched.
  EXPECT_THAT(owners.one(0, owners.devices[0]->network()).why, testing::HasSubstr("404"));
  fs::remove(owners.folder / "0" / "public-log.sotto");  // it has seen the log of that campaign
  for (const Weakening& weakening : weakenings) {
    {
      const std::lock_guard lock(mutex);
      forgery = Forgery();
      weakening.change(forgery);
    }
    for (std::size_t i = 0; i < owners.devices.size(); ++i) {
      const Participation part = owners.one(i, owners.devices[i]->network());
      ASSERT_EQ(part.outcome, Participation::Outcome::refused) << weakening.name << ": " << part.why;
      EXPECT_EQ(name(*part.refusal), name(weakening.reason)) << weakening.name << ": " << part.why;
    }
  }
  for (const auto& device : owners.devices) EXPECT_EQ(device->charges(), 0U);
}

}  // namespace
}  // namespace sotto::coordinator
