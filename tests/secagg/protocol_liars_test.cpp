// Clients that lie about shares: who reveals another share than it was dealt is caught singly, who deals
// shares that do not open is named, and no honest client ever is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "base/distributions.h"
#include "secagg/protocol_harness.h"

namespace sotto::secagg::testing_round {
namespace {

using ::testing::HasSubstr;
using Clients = std::set<std::uint32_t>;

GroupParameters parameters(std::uint32_t clients, double corrupted, double dropping, ServerModel server) {
  const auto group =
      find_parameters({.clients = clients, .corrupted = corrupted, .dropping = dropping, .server = server});
  EXPECT_TRUE(group) << group.error().message;
  return group.value_or(GroupParameters{});
}

// What the dishonest of a group do.
struct Cheating {
  Clients liars;                                 // reveal other shares than they were dealt
  Clients breakers;                              // promise another seed than they deal shares of
  std::map<std::uint32_t, std::size_t> misfits;  // dealers: so many of the shares are not as committed to
  std::map<std::uint32_t, ServerPhase> lost;     // from this phase on; nobody's fault

  bool is_cheating_dealer(std::uint32_t client) const {
    return breakers.contains(client) || misfits.contains(client);
  }
};

// A liar is most dangerous where its lies differ from one another.
Bytes lying(const Bytes& message, std::uint32_t clients) {
  auto revealed = *decode_revealed_shares(message, clients);
  for (auto& share : revealed.shares) share.share[share.client % 31] ^= 1;
  return encode(revealed);
}

Outcome play(Devices& devices, const GroupParameters& group, const Cheating& cheating) {
  const auto to_server = [&](std::uint32_t client, ServerPhase phase, Bytes message) -> std::vector<Bytes> {
    const auto lost = cheating.lost.find(client);
    if (lost != cheating.lost.end() && phase >= lost->second) return {};
    if (phase == ServerPhase::unmasking && cheating.liars.contains(client)) {
      message = lying(message, group.clients);
    }
    if (phase == ServerPhase::sharing && cheating.is_cheating_dealer(client)) {
      auto dealt = *decode_dealt_shares(message, group.clients);
      if (cheating.breakers.contains(client)) dealt.self_seed_commitment[3] ^= 1;
      if (cheating.misfits.contains(client)) {
        const std::size_t count = std::min(cheating.misfits.at(client), dealt.shares.size());
        for (std::size_t i = 0; i < count; ++i) {
          dealt.shares[i].commitments.self_mask[0] ^= 1;
          dealt.shares[i].commitments.mask_key[0] ^= 1;
        }
      }
      message = encode(devices.signed_again(client, dealt));
    }
    return {std::move(message)};
  };
  return run_round(devices, {.group = group, .to_server = to_server});
}

Clients removed_in(const Outcome& outcome) {
  Clients removed;
  for (const auto& [client, reason] : outcome.removed) removed.insert(client);
  return removed;
}

void expect_caught_singly(const GroupParameters& group, std::uint32_t liars, std::uint64_t seed) {
  Devices devices(group.clients, {4, 16}, seed);
  std::vector<std::uint32_t> order(group.clients);
  for (std::uint32_t i = 0; i < group.clients; ++i) order[i] = i;
  shuffle(std::span(order), devices.random);
  const Cheating cheating{.liars = Clients(order.begin(), order.begin() + liars)};
  const auto outcome = play(devices, group, cheating);
  ASSERT_EQ(outcome.phase, ServerPhase::done) << outcome.failure;
  EXPECT_EQ(outcome.summed.count(), group.clients);
  EXPECT_EQ(outcome.sum, devices.plain_sum(outcome.summed));
  EXPECT_EQ(removed_in(outcome), cheating.liars);
  EXPECT_TRUE(outcome.aborted.empty());
  for (const auto& [client, reason] : outcome.removed) EXPECT_THAT(reason, HasSubstr("it was dealt"));
}

TEST(Liars, SixOfAHundredAreCaughtSingly) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    expect_caught_singly(parameters(100, 0.1, 0.1, ServerModel::semi_honest), 6, seed);
  }
}

TEST(Liars, AreCaughtSinglyByAnActiveServerUpToAllThatMayBeLost) {
  const auto group = parameters(40, 0.1, 0.25, ServerModel::active);
  expect_caught_singly(group, group.dropped, 4);
}

TEST(Liars, AHundredOfAThousandAreCaughtSinglyOnTheSparseGraph) {
  const auto group = parameters(1000, 0.1, 0.1, ServerModel::semi_honest);
  ASSERT_LT(group.degree, 100U);
  expect_caught_singly(group, 100, 5);
}

TEST(CheatingDealer, IsNamedWhenItsSharesDoNotOpenWhatItPromised) {
  for (const ServerModel model : {ServerModel::semi_honest, ServerModel::active}) {
    const auto group = parameters(12, 0.1, 0.2, model);
    Devices devices(12, {10, 16}, 6);
    const auto outcome = play(devices, group, {.liars = {2}, .breakers = {5}});
    EXPECT_EQ(outcome.phase, ServerPhase::failed);
    EXPECT_EQ(outcome.guilty.count(), 1U);
    EXPECT_TRUE(outcome.guilty.contains(5));
    EXPECT_THAT(outcome.failure, HasSubstr("client 5 dealt"));
    EXPECT_EQ(removed_in(outcome), Clients{2});
    EXPECT_TRUE(outcome.aborted.empty());
  }
}

// It advertises a mask key that is not that of the seed it shares out, and vanishes: the shares fit and give
// a seed that opens nothing.
TEST(CheatingDealer, IsNamedAlsoWhenItVanishes) {
  const auto group = parameters(12, 0.1, 0.2, ServerModel::semi_honest);
  Devices devices(12, {10, 16}, 6);
  const auto another = *KeyPair::from_seed(Seed{}, KeyUse::mask, {});
  const auto outcome = run_round(
      devices,
      {.group = group,
       .to_server = [&](std::uint32_t client, ServerPhase phase, Bytes message) -> std::vector<Bytes> {
         if (client != 7) return {std::move(message)};
         if (phase >= ServerPhase::uploading) return {};
         if (phase == ServerPhase::advertising) {
           auto keys = *decode_advertisement(message);
           keys.keys.mask_key = another.public_key();
           keys.keys.signature = devices.identities[7].sign(keys_statement(keys.context, keys.keys));
           message = encode(keys);
         }
         return {std::move(message)};
       }});
  EXPECT_EQ(outcome.phase, ServerPhase::failed);
  EXPECT_EQ(outcome.guilty.count(), 1U);
  EXPECT_TRUE(outcome.guilty.contains(7));
}

// Shares that are on no polynomial, each as committed to. The cheat has a channel key of its own.
TEST(CheatingDealer, IsNamedWhenItsSharesDoNotFitTogether) {
  const auto group = parameters(12, 0.1, 0.2, ServerModel::semi_honest);
  Devices devices(12, {10, 16}, 6);
  const auto channel = *KeyPair::from_seed(Seed{}, KeyUse::channel, {});
  std::map<std::uint32_t, PublicKey> channel_keys;
  const auto outcome = run_round(
      devices,
      {.group = group,
       .to_server = [&](std::uint32_t client, ServerPhase phase, Bytes message) -> std::vector<Bytes> {
         if (phase == ServerPhase::advertising) {
           auto keys = *decode_advertisement(message);
           if (client == 7) {
             keys.keys.channel_key = channel.public_key();
             keys.keys.signature = devices.identities[7].sign(keys_statement(keys.context, keys.keys));
             message = encode(keys);
           }
           channel_keys[client] = keys.keys.channel_key;
         }
         if (phase == ServerPhase::sharing && client == 7) {
           auto dealt = *decode_dealt_shares(message, 12);
           for (auto& shares : dealt.shares) {
             SharePair pair;
             pair.mask_key.data()[1] = static_cast<std::uint8_t>(shares.client * shares.client);
             pair.self_mask.data()[2] = static_cast<std::uint8_t>(shares.client * shares.client + 1);
             const auto keys = share_keys_between(channel, 7, {shares.client, channel_keys.at(shares.client)},
                                                  dealt.transcript);
             shares.sealed = *seal(pair, keys->sending);
             shares.commitments = commit(pair, {dealt.transcript, 7, shares.client});
           }
           message = encode(dealt);
         }
         return {std::move(message)};
       }});
  EXPECT_EQ(outcome.phase, ServerPhase::failed);
  EXPECT_EQ(outcome.guilty.count(), 1U);
  EXPECT_TRUE(outcome.guilty.contains(7));
  EXPECT_TRUE(outcome.removed.empty());
  EXPECT_TRUE(outcome.aborted.empty());
}

// Two neighbours find that what they were dealt is not what was committed to: they do without, and so does
// everybody else.
TEST(CheatingDealer, LosesOnlyTheEdgesWhoseSharesDoNotFit) {
  for (const ServerModel model : {ServerModel::semi_honest, ServerModel::active}) {
    const auto group = parameters(12, 0.1, 0.2, model);
    Devices devices(12, {10, 16}, 6);
    const auto outcome = play(devices, group, {.misfits = {{5, 2}}});
    ASSERT_EQ(outcome.phase, ServerPhase::done) << outcome.failure;
    EXPECT_EQ(outcome.sum, devices.plain_sum(outcome.summed));
    EXPECT_EQ(outcome.summed.count(), 12U);
    EXPECT_TRUE(outcome.removed.empty());
    EXPECT_TRUE(outcome.aborted.empty());
    EXPECT_EQ(outcome.guilty.count(), 0U);
    const auto of_five = [&](std::uint32_t holder) {
      const auto revealed = *decode_revealed_shares(outcome.sent.at({holder, ServerPhase::unmasking}), 12);
      return std::any_of(revealed.shares.begin(), revealed.shares.end(),
                         [](const RevealedShare& share) { return share.client == 5; });
    };
    if (model == ServerModel::active) {
      EXPECT_FALSE(of_five(0) || of_five(1));
      EXPECT_TRUE(of_five(2));
    }
  }
}

// It spoils as many edges as may be corrupted, so that nobody can tell who lies, and as many others as may be
// are lost: n - 1 - D - C shares of it are left.
TEST(CheatingDealer, StopsARoundUnnamedOnlyWhereSpoiltEdgesAndLossesLeaveTooFewShares) {
  const auto play_with = [](std::uint32_t clients, double corrupted, double dropping) {
    const auto group = parameters(clients, corrupted, dropping, ServerModel::active);
    Devices devices(clients, {10, 16}, 6);
    Cheating cheating{.misfits = {{clients - 1, group.corrupted}}};
    for (std::uint32_t i = 0; i < group.dropped; ++i)
      cheating.lost[clients - 2 - i] = ServerPhase::unmasking;  // none of them holds a spoilt edge
    auto outcome = play(devices, group, cheating);
    EXPECT_EQ(outcome.guilty.count(), 0U);
    EXPECT_TRUE(outcome.removed.empty());
    if (outcome.phase == ServerPhase::done) {
      EXPECT_EQ(outcome.sum, devices.plain_sum(outcome.summed));
    }
    const bool enough = clients - 1 - group.dropped - group.corrupted >= group.threshold;
    return std::pair(enough, outcome.phase);
  };
  EXPECT_EQ(play_with(24, 0.1, 0.2), std::pair(true, ServerPhase::done));     // D = 5, C = 3
  EXPECT_EQ(play_with(40, 0.1, 0.25), std::pair(true, ServerPhase::done));    // 10, 4
  EXPECT_EQ(play_with(12, 0.1, 0.2), std::pair(false, ServerPhase::failed));  // 3, 2
  EXPECT_EQ(play_with(30, 0.2, 0.2), std::pair(false, ServerPhase::failed));  // 6, 6
}

// An active server that changes commitments on the way: the dealer's signature tells, the edge is gone, and
// the receiver reveals nothing of that dealer.
TEST(Client, BelievesOnlyCommitmentsThatTheDealerSigned) {
  const auto group = parameters(12, 0.1, 0.2, ServerModel::active);
  Devices devices(12, {10, 16}, 6);
  const auto outcome = run_round(
      devices, {.group = group, .to_client = [&](std::uint32_t client, ServerPhase phase, Bytes message) {
                  if (client == 3 && phase == ServerPhase::uploading) {
                    auto delivered = *decode_delivered_shares(message, 12);
                    delivered.shares[0].signature[5] ^= 1;
                    message = encode(delivered);
                  }
                  return std::vector<Bytes>{message};
                }});
  ASSERT_EQ(outcome.phase, ServerPhase::done) << outcome.failure;
  const auto revealed = *decode_revealed_shares(outcome.sent.at({3, ServerPhase::unmasking}), 12);
  EXPECT_EQ(revealed.shares.size(), 10U);
  EXPECT_NE(revealed.shares[0].client, 0U);
}

// Whatever they do, as long as no more are lost or lie than may be lost: the sum is exact, or the round fails
// and only dealers that cheated are named. Without a dealer that cheats it does not fail. A dealer goes
// unnamed only when its misfits alone would not have stopped the round.
RC_GTEST_PROP(Cheating, CostsTheSumOnlyWhenADealerDidIt, ()) {
  const auto clients = *rc::gen::inRange<std::uint32_t>(6, 15);
  const auto server = *rc::gen::element(ServerModel::semi_honest, ServerModel::active);
  const auto group =
      find_parameters({.clients = clients, .corrupted = 0.15, .dropping = 0.3, .server = server});
  RC_PRE(group.has_value());
  Devices devices(clients, {5, 16}, *rc::gen::arbitrary<std::uint64_t>());
  std::vector<std::uint32_t> order(clients);
  for (std::uint32_t i = 0; i < clients; ++i) order[i] = i;
  shuffle(std::span(order), devices.random);

  Cheating cheating;
  const auto absent = *rc::gen::inRange<std::uint32_t>(0, group->dropped + 1);
  for (std::uint32_t i = 0; i < absent; ++i) {
    if (*rc::gen::arbitrary<bool>()) {
      cheating.liars.insert(order[i]);
    } else {
      cheating.lost[order[i]] =
          *rc::gen::element(ServerPhase::advertising, ServerPhase::sharing, ServerPhase::uploading,
                            ServerPhase::confirming, ServerPhase::unmasking);
    }
  }
  for (std::uint32_t i = 0; i < *rc::gen::inRange<std::uint32_t>(0, group->corrupted + 1); ++i) {
    const std::uint32_t dealer = order[clients - 1 - i];
    if (*rc::gen::arbitrary<bool>()) {
      cheating.breakers.insert(dealer);
    } else {
      cheating.misfits[dealer] = *rc::gen::inRange<std::size_t>(1, clients);
    }
  }

  const auto outcome = play(devices, *group, cheating);
  RC_ASSERT(outcome.aborted.empty());
  for (const auto& [client, reason] : outcome.removed) RC_ASSERT(cheating.liars.contains(client));
  for (std::uint32_t client = 0; client < clients; ++client) {
    if (outcome.guilty.contains(client)) RC_ASSERT(cheating.is_cheating_dealer(client));
  }
  RC_CLASSIFY(outcome.phase == ServerPhase::done, "summed");
  RC_CLASSIFY(outcome.guilty.count() > 0, "named");
  if (outcome.phase == ServerPhase::done) {
    RC_ASSERT(outcome.sum == devices.plain_sum(outcome.summed));
    RC_ASSERT(outcome.guilty.count() == 0);
  } else if (outcome.guilty.count() == 0) {
    RC_ASSERT(!cheating.misfits.empty());
  }
}

}  // namespace
}  // namespace sotto::secagg::testing_round
