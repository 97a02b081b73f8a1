#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "device/rounds/round_checks.h"
#include "privacy/ledger/ledger.h"
#include "rounds/evaluation.h"
#include "rounds/model_version.h"
#include "rounds/small_campaign.h"
#include "test_paths.h"

namespace sotto::device {
namespace {

using rounds::Campaign;
using rounds::RoundOrder;
using Reason = RoundRefusalReason;

TrainingPolicy owner() {
  return {.epsilon = 8,
          .delta = 1e-6,
          .group = 20,
          .corrupted = 0.1,
          .server = secagg::ServerModel::active,
          .witnesses = 1,
          .upload_bytes = 100'000,
          .training_seconds = 60};
}

// Everything a server says about one round, and what the device knows before.
struct Scene {
  Campaign campaign = rounds::small_campaign(secagg::ServerModel::active);
  rounds::Identity operator_key = rounds::operator_key(), coordinator = rounds::coordinator_key();
  std::uint64_t witnesses = 1;
  RoundOrder order;
  RoundKnowledge knows{.keys = rounds::OperatorKeys(rounds::operator_key().public_key()),
                       .purpose = campaign.purpose,
                       .policy = owner(),
                       .trainable = {{"sotto", campaign.layout}},
                       .now = rounds::campaign_begin + std::chrono::hours(1),
                       .charged = [](const rounds::Digest&, privacy::ReleasePurpose) {
                         return std::vector<rounds::Digest>();
                       }};
  std::vector<rounds::LogLeaf> before;  // what the device has seen of the log
  std::function<void(RoundOrder&)> change_order = [](RoundOrder&) {};
  std::function<void(RoundOffer&)> change_offer = [](RoundOffer&) {};

  RoundOffer offer() {
    RoundOffer made;
    made.campaign = sign_document(rounds::campaign_kind, encode(campaign), operator_key);
    const rounds::Digest hash = rounds::open_campaign(made.campaign).value().hash;
    std::vector<rounds::LogLeaf> entries = before;
    entries.push_back({rounds::LeafKind::campaign, hash});
    entries.push_back({rounds::LeafKind::model, rounds::model_hash()});
    rounds::MerkleTree tree;
    for (const auto& entry : entries) tree.append(rounds::leaf_hash(entry));
    made.new_entries.assign(entries.begin() + static_cast<std::ptrdiff_t>(knows.log.size()), entries.end());
    made.campaign_entry = {entries.size() - 2, tree.inclusion(entries.size() - 2, entries.size())};
    made.model_entry = {entries.size() - 1, tree.inclusion(entries.size() - 1, entries.size())};
    made.head.head = {entries.size(), tree.root(), rounds::campaign_begin};
    made.head.signature = sign_head(made.head.head, coordinator);
    for (std::uint8_t i = 0; i < witnesses; ++i)
      made.head.cosignatures.push_back(cosign_head(made.head.head, rounds::witness_key(i)));
    order.round.fill(3);
    order.number = 4;
    order.campaign = hash;
    order.model = rounds::model_hash();
    order.head = made.head.head;
    order.expires = knows.now + std::chrono::minutes(10);
    change_order(order);
    made.order = sign_document(rounds::order_kind, encode(order), coordinator);
    change_offer(made);
    return made;
  }
};

TEST(RoundChecks, AcceptARoundThatKeepsToEverything) {
  Scene scene;
  for (std::uint8_t i = 0; i < 5; ++i) {
    scene.before.push_back({rounds::LeafKind::pack, {i}});
    scene.knows.log.append(rounds::leaf_hash(scene.before.back()));
  }
  const auto accepted = check_round_offer(scene.offer(), scene.knows);
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_EQ(accepted->log.size(), 7U);
  EXPECT_EQ(accepted->log.root(), scene.order.head.root);
  EXPECT_EQ(accepted->client.order_hash.value, accepted->order.hash);
  EXPECT_EQ(accepted->release.purpose, privacy::ReleasePurpose::training);
  EXPECT_EQ(accepted->terms.plan.settings().noise_multiplier, scene.campaign.encoding.noise_multiplier);
  secagg::Round round{{1}, accepted->order.hash, {2}, accepted->terms.group, accepted->client.vector};
  EXPECT_TRUE(check_group(*accepted, round));
}

// A log in which the operator's key is replaced before the campaign is entered, and that change.
rounds::Identity next_operator() { return rounds::test_key(80); }
std::string key_change(bool revokes = false) {
  return rounds::sign_key_change({{rounds::operator_key().public_key()},
                                  next_operator().public_key(),
                                  revokes,
                                  rounds::campaign_begin},
                                 rounds::operator_key())
      .value();
}
void log_key_change(Scene& scene, std::vector<std::string> shown = {key_change()}) {
  scene.before.push_back({rounds::LeafKind::keys, rounds::blob_hash(key_change())});
  scene.change_offer = [shown](RoundOffer& offer) { offer.key_changes = shown; };
}

TEST(RoundChecks, FollowTheOperatorsKeysInTheLog) {
  Scene scene;
  log_key_change(scene);
  scene.operator_key = next_operator();
  const auto accepted = check_round_offer(scene.offer(), scene.knows);
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_EQ(accepted->keys.current(), next_operator().public_key());
  // Without what the log says the new key is a stranger's.
  Scene without;
  without.operator_key = next_operator();
  EXPECT_EQ(check_round_offer(without.offer(), without.knows).error().reason, Reason::operator_signature);
}

struct Weakening {
  std::string name;
  Reason reason;
  std::function<void(Scene&)> change;
};
void PrintTo(const Weakening& weakening, std::ostream* out) { *out << weakening.name; }

class WeakenedRounds : public ::testing::TestWithParam<Weakening> {};

// The whole way of a device: what is refused is not charged.
TEST_P(WeakenedRounds, AreRefusedAndNotCharged) {
  const TempFolder folder;
  auto ledger = privacy::Ledger::create(folder / "ledger",
                                        {privacy::Unit::user,
                                         privacy::Adjacency::replace_one,
                                         privacy::RequestOrder::adaptive,
                                         privacy::SensitivitySettings::create({"news"}).value(),
                                         {{privacy::BudgetWindow::lifetime, std::nullopt, 100, 1e-5}}},
                                        rounds::campaign_begin, {.first_use = true});
  ASSERT_TRUE(ledger) << ledger.error().message;
  const std::uint64_t records = ledger->records();
  Scene scene;
  GetParam().change(scene);
  const auto offer = scene.offer();
  const auto accepted = check_round_offer(offer, scene.knows);
  if (accepted) {
    EXPECT_TRUE(ledger->charge(accepted->release, scene.knows.now));
  }
  ASSERT_FALSE(accepted);
  EXPECT_EQ(name(accepted.error().reason), name(GetParam().reason)) << accepted.error().message;
  EXPECT_FALSE(accepted.error().message.empty());
  EXPECT_EQ(ledger->records(), records);
}

// Signed by the operator itself, who must not get away with it either.
const std::vector<Weakening> campaigns = {
    {"Recipe", Reason::unknown_recipe, [](Scene& s) { s.campaign.recipe = "another"; }},
    {"Layout", Reason::unknown_recipe, [](Scene& s) { s.campaign.layout[0] ^= 1; }},
    {"Purpose", Reason::purpose, [](Scene& s) { s.campaign.purpose = "Something else"; }},
    {"Population", Reason::terms, [](Scene& s) { s.campaign.population = 2'000'000; }},
    {"Cohort", Reason::terms, [](Scene& s) { s.campaign.cohort = 20; }},
    {"Participations", Reason::terms, [](Scene& s) { s.campaign.participations = 6; }},
    {"ParticipationsAndEpsilon", Reason::policy,
     [](Scene& s) { s.campaign.participations = 10, s.campaign.epsilon = 20; }},
    {"Delta", Reason::policy, [](Scene& s) { s.campaign.delta = 1e-4; }},
    {"Noise", Reason::terms, [](Scene& s) { s.campaign.encoding.noise_multiplier *= 0.99; }},
    {"NoiseAndEpsilon", Reason::policy,
     [](Scene& s) { s.campaign.encoding.noise_multiplier *= 0.8, s.campaign.epsilon = 20; }},
    {"Step", Reason::terms, [](Scene& s) { s.campaign.encoding.step *= 4; }},
    {"Clip", Reason::terms, [](Scene& s) { s.campaign.encoding.clip *= 4; }},
    {"Bits", Reason::terms, [](Scene& s) { s.campaign.bits += 1; }},
    {"Denominator", Reason::terms, [](Scene& s) { s.campaign.encoding.denominator = 1; }},
    {"Corrupted", Reason::policy, [](Scene& s) { s.campaign.encoding.corrupted = 1; }},
    {"Group", Reason::policy,
     [](Scene& s) {
       s.campaign.encoding.devices = 10, s.campaign.encoding.corrupted = 1, s.campaign.encoding.dropped = 1;
     }},
    {"Server", Reason::policy, [](Scene& s) { s.campaign.server = secagg::ServerModel::semi_honest; }},
    {"Security", Reason::policy, [](Scene& s) { s.campaign.security_bits = 30; }},
    {"Dimension", Reason::terms, [](Scene& s) { s.campaign.encoding.dimension = 5'000'000; }},
    {"Dropped", Reason::terms, [](Scene& s) { s.campaign.encoding.dropped = 15; }},
    {"ClipBitWeight", Reason::terms, [](Scene& s) { s.campaign.encoding.clip_bit_weight = 100; }},
    {"Correctness", Reason::terms, [](Scene& s) { s.campaign.correctness_bits = -1; }},
    {"ShortestPhase", Reason::terms, [](Scene& s) { s.campaign.shortest_phase_seconds = 0; }},
    {"LongestPhase", Reason::terms,
     [](Scene& s) { s.campaign.longest_phase_seconds = s.campaign.shortest_phase_seconds - 1; }},
    {"UploadLimit", Reason::terms, [](Scene& s) { s.campaign.max_upload_bytes = 100; }},
    {"SecondSum", Reason::terms,
     [](Scene& s) {
       s.campaign.second = rounds::SecondSum{s.campaign.encoding.dimension, false, s.campaign.encoding.step,
                                             s.campaign.encoding.noise_multiplier / 2, s.campaign.bits};
       s.campaign.second->bits = s.campaign.plan(2).value().modulus().bits();
     }},
    {"EvaluationNoise", Reason::terms,
     [](Scene& s) {
       s.campaign = rounds::with_evaluation(s.campaign, {.every = 10, .epsilon = 1}).value();
       s.campaign.evaluation->noise_multiplier *= 0.9;
     }},
    {"EvaluationEpsilon", Reason::policy,
     [](Scene& s) { s.campaign = rounds::with_evaluation(s.campaign, {.every = 10, .epsilon = 6}).value(); }},
    {"Upload", Reason::policy, [](Scene& s) { s.knows.policy.upload_bytes = 1000; }},
    {"Training", Reason::policy, [](Scene& s) { s.campaign.max_training_seconds = 3600; }},
    {"NotYet", Reason::campaign_time, [](Scene& s) { s.campaign.valid_from += std::chrono::days(1); }},
    {"Ended", Reason::campaign_time, [](Scene& s) { s.campaign.valid_until = s.knows.now; }},
    {"Coordinator", Reason::coordinator_signature,
     [](Scene& s) { s.campaign.coordinator = rounds::test_key(77).public_key(); }},
    {"Witnesses", Reason::witnesses,
     [](Scene& s) { s.campaign.witnesses.clear(), s.campaign.witnesses_needed = 0; }},
    {"WitnessesNeeded", Reason::witnesses, [](Scene& s) { s.campaign.witnesses_needed = 2; }},
    {"AnotherOperator", Reason::operator_signature, [](Scene& s) { s.operator_key = rounds::test_key(78); }},
};
INSTANTIATE_TEST_SUITE_P(Campaigns, WeakenedRounds, ::testing::ValuesIn(campaigns),
                         [](const auto& each) { return each.param.name; });

const std::vector<Weakening> orders = {
    {"AnotherCampaign", Reason::order,
     [](Scene& s) { s.change_order = [](RoundOrder& order) { order.campaign[0] ^= 1; }; }},
    {"Evaluates", Reason::order,
     [](Scene& s) { s.change_order = [](RoundOrder& order) { order.evaluates = true; }; }},
    {"NumberZero", Reason::order,
     [](Scene& s) { s.change_order = [](RoundOrder& order) { order.number = 0; }; }},
    {"NumberBehind", Reason::order,
     [](Scene& s) { s.change_order = [](RoundOrder& order) { order.number = 31; }; }},
    {"Bound", Reason::order,
     [](Scene& s) { s.change_order = [](RoundOrder& order) { order.bound = 1000; }; }},
    {"Expired", Reason::order_time,
     [](Scene& s) { s.change_order = [&s](RoundOrder& order) { order.expires = s.knows.now; }; }},
    {"ExpiresTooLate", Reason::order,
     [](Scene& s) { s.change_order = [](RoundOrder& order) { order.expires += std::chrono::days(60); }; }},
    {"UnloggedModel", Reason::log,
     [](Scene& s) { s.change_order = [](RoundOrder& order) { order.model[0] ^= 1; }; }},
    {"AnotherHead", Reason::log,
     [](Scene& s) { s.change_order = [](RoundOrder& order) { order.head.root[0] ^= 1; }; }},
    {"HeadOfAnotherTime", Reason::log,
     [](Scene& s) {
       s.change_order = [](RoundOrder& order) { order.head.time += std::chrono::seconds(1); };
     }},
    {"AnotherSigner", Reason::coordinator_signature, [](Scene& s) { s.coordinator = rounds::test_key(79); }},
};
INSTANTIATE_TEST_SUITE_P(Orders, WeakenedRounds, ::testing::ValuesIn(orders),
                         [](const auto& each) { return each.param.name; });

const std::vector<Weakening> offers = {
    {"ForkedLog", Reason::log,
     [](Scene& s) {
       s.before = {{rounds::LeafKind::pack, {1}}};
       s.knows.log.append(rounds::leaf_hash(rounds::LogLeaf{rounds::LeafKind::pack, {2}}));
     }},
    {"ShortenedLog", Reason::log,
     [](Scene& s) {
       s.change_offer = [&s](RoundOffer&) {
         for (std::uint8_t i = 0; i < 3; ++i) s.knows.log.append({i});
       };
     }},
    {"HiddenEntry", Reason::log,
     [](Scene& s) { s.change_offer = [](RoundOffer& o) { o.new_entries.pop_back(); }; }},
    {"UnloggedCampaign", Reason::log,
     [](Scene& s) { s.change_offer = [](RoundOffer& o) { o.campaign_entry = o.model_entry; }; }},
    {"NoWitness", Reason::witnesses, [](Scene& s) { s.witnesses = 0; }},
    {"ForgedWitness", Reason::witnesses,
     [](Scene& s) {
       s.change_offer = [](RoundOffer& o) { o.head.cosignatures[0].signature = o.head.signature; };
     }},
    {"ForgedHead", Reason::coordinator_signature,
     [](Scene& s) { s.change_offer = [](RoundOffer& o) { o.head.signature[0] ^= 1; }; }},
    {"ReplacedOperator", Reason::operator_signature, [](Scene& s) { log_key_change(s); }},
    {"HiddenKeyChange", Reason::log, [](Scene& s) { log_key_change(s, {}); }},
    {"AnotherKeyChange", Reason::log, [](Scene& s) { log_key_change(s, {key_change(true)}); }},
    {"AnotherVersion", Reason::malformed,
     [](Scene& s) { s.change_offer = [](RoundOffer& o) { o.campaign[8] = 2; }; }},
    {"BentCampaign", Reason::operator_signature,
     [](Scene& s) { s.change_offer = [](RoundOffer& o) { o.campaign[20] ^= 1; }; }},
    {"BentOrder", Reason::coordinator_signature,
     [](Scene& s) { s.change_offer = [](RoundOffer& o) { o.order[20] ^= 1; }; }},
    {"Replayed", Reason::charged_before,
     [](Scene& s) {
       s.change_offer = [&s](RoundOffer&) {
         s.knows.charged = [&s](const rounds::Digest&, privacy::ReleasePurpose) {
           return std::vector{s.order.round};
         };
       };
     }},
    {"Worn", Reason::participations,
     [](Scene& s) {
       s.knows.charged = [](const rounds::Digest&, privacy::ReleasePurpose) {
         return std::vector<rounds::Digest>(5);
       };
     }},
};
INSTANTIATE_TEST_SUITE_P(Offers, WeakenedRounds, ::testing::ValuesIn(offers),
                         [](const auto& each) { return each.param.name; });

TEST(RoundChecks, GroupsHaveThePlansNumbersOnly) {
  Scene scene;
  const auto accepted = check_round_offer(scene.offer(), scene.knows);
  ASSERT_TRUE(accepted) << accepted.error().message;
  const secagg::Round good{{1}, accepted->order.hash, {2}, accepted->terms.group, accepted->client.vector};
  const std::vector<std::function<void(secagg::Round&)>> changes = {
      [](secagg::Round& round) { round.group.clients -= 1; },
      [](secagg::Round& round) { round.group.corrupted = 0; },
      [](secagg::Round& round) { round.group.dropped += 1; },
      [](secagg::Round& round) { round.group.degree -= 2; },
      [](secagg::Round& round) { round.group.threshold -= 1; },
      [](secagg::Round& round) { round.group.minimum_alive -= 1; },
      [](secagg::Round& round) { round.group.quorum -= 1; },
      [](secagg::Round& round) { round.group.server = secagg::ServerModel::semi_honest; },
      [](secagg::Round& round) { round.group.security_bits = 30; },
      [](secagg::Round& round) { round.vector.entries += 1; },
      [](secagg::Round& round) { round.vector.bits = 8; },
      [](secagg::Round& round) { round.order_hash[0] ^= 1; }};
  for (const auto& change : changes) {
    secagg::Round weaker = good;
    change(weaker);
    const auto refused = check_group(*accepted, weaker);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Reason::group);
  }
}

}  // namespace
}  // namespace sotto::device
