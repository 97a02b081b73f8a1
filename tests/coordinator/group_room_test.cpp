#include "coordinator/rooms/group_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "base/files.h"
#include "device/rounds/round_session.h"
#include "privacy/noise/noise_origin.h"
#include "rounds/small_campaign.h"
#include "secagg/vectors/modular_sum.h"
#include "test_paths.h"

namespace sotto::coordinator {
namespace {

using device::RoundSession;
using device::SessionCall;
using device::SessionDone;
using device::SessionStage;
using device::SessionWait;
using secagg::ServerModel;
using secagg::ServerPhase;
using Kind = RoomAnswer::Kind;

constexpr std::uint32_t devices = 20;
constexpr std::uint64_t noise_seed = 11;
constexpr std::uint32_t round_number = 4;

// One device with its ledger, its key and an update that nobody else has.
struct Device {
  Device(std::uint32_t number, const fs::path& folder)
      : index(number),
        draws(privacy::NoiseOrigin::reproducible(noise_seed), Purpose::noise, round_number, number),
        identity(secagg::Identity::create(keys)),
        ledger(privacy::Ledger::create(folder / std::to_string(number),
                                       {privacy::Unit::user,
                                        privacy::Adjacency::replace_one,
                                        privacy::RequestOrder::adaptive,
                                        privacy::SensitivitySettings::create({"news"}).value(),
                                        {{privacy::BudgetWindow::lifetime, std::nullopt, 100, 1e-5}}},
                                       rounds::campaign_begin, {.first_use = true})
                   .value()) {}

  std::vector<float> update() const {
    std::vector<float> numbers(50);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 0.02F * static_cast<float>(i % 7) - 0.01F * static_cast<float>(index);
    return numbers;
  }

  std::uint32_t index;
  SecureRandom keys;
  privacy::NoiseStream draws;
  secagg::Identity identity;
  privacy::Ledger ledger;
  std::optional<RoundSession> session;
  std::uint64_t bytes_up = 0, bytes_down = 0;
};

// A campaign, its order, a room for it, and twenty devices that accepted it.
struct RoomScene {
  explicit RoomScene(ServerModel server) : campaign(rounds::small_campaign(server)) {
    offer.campaign = sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
    opened = rounds::open_campaign(offer.campaign).value();
    rounds::MerkleTree tree;
    offer.new_entries = {{rounds::LeafKind::campaign, opened->hash},
                         {rounds::LeafKind::model, rounds::model_hash()}};
    for (const auto& entry : offer.new_entries) tree.append(rounds::leaf_hash(entry));
    offer.campaign_entry = {0, tree.inclusion(0, 2)};
    offer.model_entry = {1, tree.inclusion(1, 2)};
    offer.head.head = {2, tree.root(), rounds::campaign_begin};
    offer.head.signature = sign_head(offer.head.head, rounds::coordinator_key());
    offer.head.cosignatures = {cosign_head(offer.head.head, rounds::witness_key())};
    rounds::RoundOrder order;
    order.round.fill(3);
    order.number = round_number;
    order.campaign = opened->hash;
    order.model = rounds::model_hash();
    order.head = offer.head.head;
    order.expires = rounds::campaign_begin + std::chrono::hours(1);
    offer.order = sign_order(order, *opened, rounds::coordinator_key()).value();

    auto members = std::make_shared<std::vector<secagg::IdentityKey>>();
    for (std::uint32_t i = 0; i < devices; ++i) {
      all.push_back(std::make_unique<Device>(i, folder.path()));
      members->push_back(all.back()->identity.public_key());
    }
    registry = members;
    for (auto& device : all) start(*device, accepted(device->ledger));
    room = GroupRoom::open(terms(), rounds::open_order(offer.order).value().hash, registry, random, pace, now)
               .value();
  }

  rounds::CampaignTerms terms() const { return rounds::terms_of(campaign).value(); }

  device::AcceptedRound accepted(const privacy::Ledger& ledger) const {
    const device::TrainingPolicy policy{.epsilon = 8,
                                        .delta = 1e-6,
                                        .group = devices,
                                        .corrupted = 0.1,
                                        .server = campaign.server,
                                        .witnesses = 1,
                                        .upload_bytes = 100'000,
                                        .training_seconds = 60};
    auto checked = device::check_round_offer(offer, knowledge(policy, ledger));
    if (!checked) throw std::runtime_error(checked.error().message);
    return *checked;
  }

  device::RoundKnowledge knowledge(const device::TrainingPolicy& policy,
                                   const privacy::Ledger& ledger) const {
    return {.keys = rounds::OperatorKeys(rounds::operator_key().public_key()),
            .purpose = campaign.purpose,
            .policy = policy,
            .trainable = {{"sotto", campaign.layout}},
            .now = rounds::campaign_begin,
            .charged = [&ledger](const rounds::Digest& asked, privacy::ReleasePurpose purpose) {
              return ledger.rounds_of(asked, purpose);
            }};
  }

  void start(Device& device, device::AcceptedRound round) {
    device.session.emplace(
        std::move(round), device.update(),
        device::SessionDevice{device.identity, device.ledger,
                              [] { return privacy::ClockReading(rounds::campaign_begin); },
                              [this](const std::vector<secagg::IdentityKey>& members) -> Status {
                                if (members == *registry) return {};
                                return bad_input("the registry knows another group");
                              },
                              device.keys, device.draws.random()});
  }

  // As a coordinator would route it.
  RoomAnswer ask(std::uint32_t client, const SessionCall& call) {
    if (call.stage == SessionStage::check_in) return room->invitation_for(client, now);
    return room->post(client, call.body, now);
  }

  // What SimulatedGather adds up, of those that are in the sum.
  std::vector<std::uint64_t> simulated_sum(const secagg::MemberSet& summed) const {
    const secagg::EncodingPlan plan = campaign.plan(1).value();
    std::vector<std::vector<std::uint32_t>> entries;
    for (const auto& device : all) {
      if (!summed.contains(device->index)) continue;
      privacy::NoiseStream draws(privacy::NoiseOrigin::reproducible(noise_seed), Purpose::noise, round_number,
                                 device->index);
      const std::vector<float> update = device->update();
      entries.push_back(
          secagg::UpdateEncoder(plan).encode(std::span<const float>(update), draws.random()).value());
    }
    const auto sum = secagg::modular_sum(entries, plan.modulus()).value();
    return {sum.begin(), sum.end()};
  }

  rounds::Campaign campaign;
  TempFolder folder;
  device::RoundOffer offer;
  std::optional<rounds::OpenedCampaign> opened;
  std::vector<std::unique_ptr<Device>> all;
  secagg::GroupIdentities registry;
  SecureRandom random;
  PhasePace pace{std::chrono::seconds(5), std::chrono::seconds(60)};
  RoomTime now{0};
  std::optional<GroupRoom> room;
};

void take(Device& device, SessionStage stage, const RoomAnswer& answer) {
  if (answer.kind == Kind::wait) {
    EXPECT_TRUE(device.session->received(stage, std::nullopt));
  } else if (answer.kind == Kind::message || answer.kind == Kind::done) {
    device.bytes_down += answer.message.size();
    static_cast<void>(device.session->received(stage, answer.message));
  } else {
    device.session->end(answer.why);
  }
}

// Everything arrives, in order, from those who are not away.
void run_smoothly(RoomScene& scene, const std::function<bool(const Device&, SessionStage)>& is_away) {
  bool somebody_is_there = true;
  for (int turn = 0; turn < 300 && (somebody_is_there || !scene.room->is_over()); ++turn) {
    somebody_is_there = false;
    for (auto& device : scene.all) {
      const auto step = device->session->next();
      somebody_is_there = somebody_is_there || std::holds_alternative<SessionWait>(step);
      const auto* call = std::get_if<SessionCall>(&step);
      if (call == nullptr || is_away(*device, call->stage)) continue;
      somebody_is_there = true;
      const RoomAnswer answer = scene.ask(device->index, *call);
      if (answer.kind != Kind::wait) device->bytes_up += call->body.size();
      take(*device, call->stage, answer);
    }
    scene.now += std::chrono::seconds(1);
    scene.room->tick(scene.now);
  }
}

bool nobody(const Device& /*device*/, SessionStage /*stage*/) { return false; }

class GroupRooms : public ::testing::TestWithParam<ServerModel> {};
INSTANTIATE_TEST_SUITE_P(Servers, GroupRooms,
                         ::testing::Values(ServerModel::semi_honest, ServerModel::active),
                         [](const auto& each) {
                           return each.param == ServerModel::active ? "Active" : "SemiHonest";
                         });

TEST_P(GroupRooms, SumWhatTheSimulationSums) {
  RoomScene scene(GetParam());
  run_smoothly(scene, nobody);
  ASSERT_EQ(scene.room->server().phase(), ServerPhase::done) << scene.room->server().failure();
  EXPECT_EQ(scene.room->server().summed().count(), devices);
  EXPECT_EQ(scene.room->server().sum().entries(), scene.simulated_sum(scene.room->server().summed()));
  const rounds::RoundBytes stated = scene.terms().bytes;
  for (const auto& device : scene.all) {
    EXPECT_TRUE(device->session->is_over());
    EXPECT_TRUE(device->session->was_charged());
    EXPECT_EQ(device->bytes_up, stated.up);
    // Who is in the group comes on top of the messages.
    EXPECT_EQ(device->bytes_down, stated.down + 32 * devices + 2 + 2);
  }
}

TEST_P(GroupRooms, SumTheSameWhenRequestsAreLostDoubledAndOutOfOrder) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    RoomScene scene(GetParam());
    SeededRandom chance(seed, Purpose::noise, 0, 0);
    const auto one_in = [&](std::uint64_t n) { return chance() % n == 0; };
    struct Packet {
      std::uint32_t device;
      SessionStage stage;
      std::optional<SessionCall> call;   // on its way to the room
      std::optional<RoomAnswer> answer;  // and back
    };
    std::deque<Packet> under_way;
    const auto send = [&](const Packet& packet) {
      if (one_in(5)) return;  // lost
      under_way.push_back(packet);
      if (one_in(4)) under_way.push_back(packet);
    };
    std::size_t turns = 0, doubled = 0;
    std::map<std::pair<std::uint32_t, SessionStage>, std::size_t> arrived;
    for (; turns < 200'000 && (!scene.room->is_over() || turns % 100 != 0); ++turns) {
      Device& device = *scene.all[chance() % devices];
      const auto step = device.session->next();
      if (const auto* call = std::get_if<SessionCall>(&step))
        send({device.index, call->stage, *call, std::nullopt});
      while (under_way.size() > 30) {
        std::swap(under_way[chance() % under_way.size()], under_way.front());
        const Packet packet = under_way.front();
        under_way.pop_front();
        if (packet.call) {
          const RoomAnswer answer = scene.ask(packet.device, *packet.call);
          if (answer.kind == Kind::refused && packet.stage == SessionStage::check_in)
            continue;  // a late copy
          EXPECT_NE(answer.kind, Kind::conflict) << answer.why;
          EXPECT_NE(answer.kind, Kind::refused) << answer.why;
          doubled += arrived[{packet.device, packet.stage}]++ > 0 ? 1 : 0;
          send({packet.device, packet.stage, std::nullopt, answer});
        } else {
          take(*scene.all[packet.device], packet.stage, *packet.answer);
        }
      }
      scene.now += std::chrono::milliseconds(1);  // nobody is ever late
    }
    ASSERT_EQ(scene.room->server().phase(), ServerPhase::done) << scene.room->server().failure();
    EXPECT_EQ(scene.room->server().summed().count(), devices);
    EXPECT_EQ(scene.room->server().sum().entries(), scene.simulated_sum(scene.room->server().summed()));
    EXPECT_GT(doubled, 100U);
    for (const auto& device : scene.all)
      EXPECT_EQ(device->ledger.records(), 2U);  // its opening and one charge
  }
}

TEST_P(GroupRooms, GoOnWithoutThoseThatStayAwayLongerThanAPhase) {
  RoomScene scene(GetParam());
  run_smoothly(scene, [](const Device& device, SessionStage stage) {
    return (device.index == 3 && stage >= SessionStage::share) ||
           (device.index == 8 && stage >= SessionStage::upload);
  });
  ASSERT_EQ(scene.room->server().phase(), ServerPhase::done) << scene.room->server().failure();
  EXPECT_EQ(scene.room->server().summed().count(), devices - 2);
  EXPECT_FALSE(scene.room->server().summed().contains(8));
  EXPECT_EQ(scene.room->server().sum().entries(), scene.simulated_sum(scene.room->server().summed()));
  EXPECT_FALSE(scene.all[3]->session->was_charged());
  EXPECT_TRUE(scene.all[8]->session->was_charged());  // its vector was ready to be sent
  // Whoever comes back is told, and learns nothing.
  const auto step = scene.all[8]->session->next();
  EXPECT_EQ(scene.ask(8, std::get<SessionCall>(step)).kind, Kind::refused);
}

TEST_P(GroupRooms, FailWithoutAChargeWhenTooManyStayAway) {
  RoomScene scene(GetParam());
  run_smoothly(scene, [](const Device& device, SessionStage stage) {
    return device.index < 3 && stage >= SessionStage::share;
  });
  EXPECT_EQ(scene.room->server().phase(), ServerPhase::failed);
  EXPECT_FALSE(scene.room->due());
  for (const auto& device : scene.all) {
    EXPECT_FALSE(device->session->was_charged());
    EXPECT_EQ(device->ledger.records(), 1U);
    if (device->index < 3) continue;
    const auto step = device->session->next();
    ASSERT_TRUE(std::holds_alternative<SessionDone>(step));
    EXPECT_THAT(std::get<SessionDone>(step).why, ::testing::HasSubstr("clients shared"));
  }
}

TEST_P(GroupRooms, AnswerTheSameBytesTheSameAndOthersWithAConflict) {
  RoomScene scene(GetParam());
  std::map<SessionStage, std::pair<SessionCall, RoomAnswer>> first;
  for (int turn = 0; turn < 100 && !scene.room->is_over(); ++turn)
    for (auto& device : scene.all) {
      const auto step = device->session->next();
      const auto* call = std::get_if<SessionCall>(&step);
      if (call == nullptr) continue;
      const RoomAnswer answer = scene.ask(device->index, *call);
      if (device->index == 0 && answer.kind == Kind::message) first[call->stage] = {*call, answer};
      take(*device, call->stage, answer);
    }
  ASSERT_EQ(scene.room->server().phase(), ServerPhase::done);
  first.erase(SessionStage::check_in);
  EXPECT_GE(first.size(), 3U);
  for (const auto& [stage, sent] : first) {
    const RoomAnswer again = scene.room->post(0, sent.first.body, scene.now);
    EXPECT_EQ(again.kind, Kind::message);
    EXPECT_EQ(again.message, sent.second.message);
    secagg::Bytes bent = sent.first.body;
    bent.back() ^= 1;
    EXPECT_EQ(scene.room->post(0, bent, scene.now).kind, Kind::conflict);
  }
}

TEST(RoundSession, RefusesAGroupForAnotherOrderAndIsNotCharged) {
  RoomScene scene(ServerModel::semi_honest);
  rounds::Digest other = rounds::open_order(scene.offer.order).value().hash;
  other[0] ^= 1;  // of a log with other entries, of another model: whatever differs, the hash does
  scene.room =
      GroupRoom::open(scene.terms(), other, scene.registry, scene.random, scene.pace, scene.now).value();
  run_smoothly(scene, nobody);
  EXPECT_EQ(scene.room->server().phase(), ServerPhase::failed);
  for (const auto& device : scene.all) {
    EXPECT_THAT(std::get<SessionDone>(device->session->next()).why, ::testing::HasSubstr("another order"));
    EXPECT_EQ(device->ledger.records(), 1U);
  }
}

TEST(RoundSession, RefusesAGroupThatTheRegistryDoesNotKnow) {
  RoomScene scene(ServerModel::semi_honest);
  auto others = *scene.registry;
  std::swap(others[0], others[1]);
  scene.registry = std::make_shared<const std::vector<secagg::IdentityKey>>(others);
  run_smoothly(scene, nobody);
  EXPECT_EQ(scene.room->server().phase(), ServerPhase::failed);
  EXPECT_EQ(scene.all[0]->ledger.records(), 1U);
}

TEST(RoundSession, AnswersToEarlierCallsChangeNothingAndToLaterOnesAreRefused) {
  RoomScene scene(ServerModel::semi_honest);
  Device& device = *scene.all[0];
  const RoomAnswer invitation = scene.room->invitation_for(0, scene.now);
  ASSERT_TRUE(device.session->received(SessionStage::check_in, invitation.message));
  const auto before = std::get<SessionCall>(device.session->next());
  EXPECT_TRUE(device.session->received(SessionStage::check_in, invitation.message));
  EXPECT_FALSE(device.session->received(SessionStage::upload, invitation.message));
  const auto after = std::get<SessionCall>(device.session->next());
  EXPECT_EQ(before.body, after.body);
  EXPECT_TRUE(device.session->received(SessionStage::advertise, std::nullopt));
  EXPECT_TRUE(std::holds_alternative<SessionWait>(device.session->next()));
  EXPECT_EQ(std::get<SessionCall>(device.session->next()).body, before.body);
}

TEST(RoundSession, IsChargedOnceHoweverOftenItsRoundIsOffered) {
  RoomScene scene(ServerModel::semi_honest);
  // Two sessions of one device, as after a restart between check and upload.
  Device& device = *scene.all[0];
  const device::AcceptedRound again = scene.accepted(device.ledger);
  run_smoothly(scene, nobody);
  ASSERT_TRUE(device.session->was_charged());
  EXPECT_EQ(device.ledger.rounds_of(scene.opened->hash).size(), 1U);
  EXPECT_THROW(static_cast<void>(scene.accepted(device.ledger)), std::runtime_error);  // offered again
  scene.room =
      GroupRoom::open(scene.terms(), again.order.hash, scene.registry, scene.random, scene.pace, scene.now)
          .value();
  for (auto& one : scene.all) scene.start(*one, again);
  run_smoothly(scene, nobody);
  EXPECT_EQ(scene.room->server().phase(), ServerPhase::failed);
  EXPECT_FALSE(device.session->was_charged());
  EXPECT_THAT(std::get<SessionDone>(device.session->next()).why, ::testing::HasSubstr("charged before"));
  EXPECT_EQ(device.ledger.records(), 2U);
}

TEST(PhasePace, WaitsForNearlyAllWithinTheCampaignsBounds) {
  PhasePace pace(std::chrono::seconds(5), std::chrono::seconds(60));
  EXPECT_EQ(pace.deadline(ServerPhase::sharing), std::chrono::seconds(60));
  for (int i = 1; i <= 100; ++i) pace.answered(ServerPhase::sharing, std::chrono::milliseconds(100 * i));
  EXPECT_EQ(pace.deadline(ServerPhase::sharing), std::chrono::milliseconds(14'250));  // 1.5 times 9.5 s
  EXPECT_EQ(pace.deadline(ServerPhase::uploading), std::chrono::seconds(60));
  for (int i = 0; i < 1000; ++i) pace.answered(ServerPhase::sharing, std::chrono::milliseconds(1));
  EXPECT_EQ(pace.deadline(ServerPhase::sharing), std::chrono::seconds(5));
}

}  // namespace
}  // namespace sotto::coordinator
