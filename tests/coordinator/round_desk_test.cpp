#include "coordinator/rooms/round_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "rounds/group_invitation.h"
#include "rounds/round_messages.h"
#include "rounds/small_campaign.h"
#include "secagg/client/secagg_client.h"
#include "secagg/shared/messages.h"

namespace sotto::coordinator {
namespace {

using Kind = DeskAnswer::Kind;

class Keeper final : public RoundKeeper {
 public:
  Status begin_unmasking() override { return noted(); }
  Status keep_sum(const GroupSum&) override { return kept(); }
  Status leave_out(const rounds::IdentityKey& device) override {
    SOTTO_CHECK(kept());
    spoilers.insert(device);
    return {};
  }
  Result<std::set<rounds::IdentityKey>> left_out() override { return spoilers; }

  std::set<rounds::IdentityKey> spoilers;
  std::function<Status()> noted = [] { return Status{}; }, kept = [] { return Status{}; };
};

Status full_disk() { return failed("no room"); }

// A desk for one group of twenty, and what everybody was told.
struct Desk {
  rounds::IdentityKey key(std::size_t number) const {
    return rounds::test_key(static_cast<std::uint8_t>(100 + number)).public_key();
  }
  void check_in(std::size_t number) {
    desk.check_in(key(number), order, now,
                  [this, number](DeskAnswer answer) { told[number].push_back(std::move(answer)); });
  }
  // All of a group send what `step` makes of what they heard last. How many were answered with a message.
  template <class Step>
  std::size_t post_all(const Step& step) {
    const auto messages = std::make_shared<std::size_t>(0);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const secagg::Bytes message = step(clients[i], heard[i]).value();
      desk.post(key(i), room, std::string(message.begin(), message.end()), now,
                [this, i, messages](DeskAnswer answer) {
                  *messages += answer.kind == Kind::message ? 1 : 0;
                  told[i].push_back(answer);
                  heard[i] = std::move(answer.body);
                });
    }
    return *messages;
  }
  // A group of twenty that has its keys. How many were sent on to share them.
  std::size_t advertise() {
    for (std::size_t i = 0; i < 20; ++i) check_in(i);
    const rounds::CampaignTerms terms = rounds::terms_of(rounds::small_campaign()).value();
    for (std::size_t i = 0; i < 20; ++i) {
      const auto place = rounds::decode_group_place(told[i].back().body).value();
      const auto group = rounds::decode_group_invitation(place.invitation).value();
      room = place.room;
      const secagg::ClientPolicy policy{.server = terms.group.server,
                                        .corrupted = terms.group.corrupted / 20.0,
                                        .dropped = terms.group.dropped / 20.0,
                                        .minimum_alive = terms.group.minimum_alive,
                                        .order_hash = order,
                                        .vector = {terms.plan.entries(), terms.plan.modulus().bits()}};
      identities.push_back(rounds::test_key(static_cast<std::uint8_t>(100 + i)));
      clients.push_back(
          secagg::SecAggClient::join(rounds::as_bytes(group.invitation), policy, identities.back(),
                                     std::make_shared<const std::vector<secagg::IdentityKey>>(group.members),
                                     privacy::DeviceRandom(random))
              .value());
    }
    heard.resize(clients.size());
    return post_all([](secagg::SecAggClient& client, const std::string&) { return client.advertise(); });
  }
  std::size_t share() {
    return post_all([](secagg::SecAggClient& client, const std::string& roster) {
      return client.share_keys(rounds::as_bytes(roster));
    });
  }
  std::size_t upload() {
    const rounds::CampaignTerms terms = rounds::terms_of(rounds::small_campaign()).value();
    return post_all([&](secagg::SecAggClient& client, const std::string& shares) {
      return client.upload(
          rounds::as_bytes(shares),
          secagg::RingVector::zeros(terms.plan.entries(), terms.plan.modulus().bits()).value());
    });
  }
  std::size_t reveal() {
    return post_all([](secagg::SecAggClient& client, const std::string& request) {
      return client.reveal(rounds::as_bytes(request));
    });
  }
  std::size_t answers(Kind kind) const {
    std::size_t count = 0;
    for (const auto& [number, list] : told)
      for (const DeskAnswer& answer : list) count += answer.kind == kind ? 1 : 0;
    return count;
  }

  rounds::Digest order = rounds::model_hash();
  PhasePace pace{std::chrono::seconds(5), std::chrono::seconds(60)};
  Keeper keeper;
  SecureRandom random;
  RoomTime now{0};
  std::map<std::size_t, std::vector<DeskAnswer>> told;
  rounds::Digest room{};
  std::deque<secagg::Identity> identities;
  std::vector<secagg::SecAggClient> clients;
  std::vector<std::string> heard;
  RoundDesk desk{{order, rounds::terms_of(rounds::small_campaign()).value(), 1}, pace, keeper, random};
};

TEST(RoundDesk, PutsNobodyIntoAGroupWhoWentAway) {
  Desk desk;
  std::set<std::size_t> gone = {0, 7};
  const auto check_in = [&](std::size_t number) {
    desk.desk.check_in(desk.key(number), desk.order, desk.now,
                       {[&, number](DeskAnswer answer) { desk.told[number].push_back(std::move(answer)); },
                        [&, number] { return !gone.contains(number); }});
  };
  for (std::size_t i = 0; i < 21; ++i) check_in(i);
  EXPECT_EQ(desk.answers(Kind::message), 0U) << "nineteen are there";
  EXPECT_EQ(desk.desk.counts().groups_open, 0U);
  EXPECT_EQ(desk.desk.counts().checked_in, 19U) << "who went away does not wait";
  gone.erase(7);
  check_in(7);
  EXPECT_EQ(desk.answers(Kind::message), 20U);
  EXPECT_EQ(desk.told[7].back().kind, Kind::message) << "came back";
  for (const DeskAnswer& answer : desk.told[0]) EXPECT_EQ(answer.kind, Kind::wait);
}

TEST(RoundDesk, FormsAGroupOfExactlyThePlansSizeFromThoseWhoWait) {
  Desk desk;
  for (std::size_t i = 0; i < 19; ++i) desk.check_in(i);
  EXPECT_TRUE(desk.told.empty()) << "nineteen wait";
  EXPECT_EQ(desk.desk.counts().checked_in, 19U);
  desk.check_in(19);
  EXPECT_EQ(desk.answers(Kind::message), 20U);
  EXPECT_EQ(desk.desk.counts().groups_open, 1U);
  const auto first = rounds::decode_group_place(desk.told[0].front().body),
             last = rounds::decode_group_place(desk.told[19].front().body);
  ASSERT_TRUE(first && last);
  EXPECT_EQ(first->room, last->room);
  // The round wants no second group: whoever comes now waits in case this one fails.
  desk.check_in(20);
  EXPECT_FALSE(desk.told.contains(20));
}

TEST(RoundDesk, TellsWhoeverWaitsTooLongToAskAgainAndForgetsThem) {
  Desk desk;
  for (std::size_t i = 0; i < 10; ++i) desk.check_in(i);
  desk.now = RoundDesk::hold_time - RoomTime(1);
  desk.desk.tick(desk.now);
  EXPECT_TRUE(desk.told.empty());
  desk.now = RoundDesk::hold_time;
  desk.desk.tick(desk.now);
  EXPECT_EQ(desk.answers(Kind::wait), 10U);
  EXPECT_EQ(desk.desk.counts().checked_in, 0U) << "a group is of those who are there now";
  for (std::size_t i = 10; i < 20; ++i) desk.check_in(i);
  EXPECT_EQ(desk.answers(Kind::message), 0U);
  for (std::size_t i = 0; i < 10; ++i) desk.check_in(i);
  EXPECT_EQ(desk.answers(Kind::message), 20U);
}

TEST(RoundDesk, GivesNobodyBackThePlaceInTheQueueThatWasGivenUp) {
  Desk desk;
  for (std::size_t i = 0; i < 20; ++i) desk.check_in(i);
  desk.desk.tick(desk.now);
  const auto group_fails = desk.desk.due();
  ASSERT_TRUE(group_fails);
  ASSERT_GT(*group_fails, RoundDesk::hold_time + std::chrono::seconds(5));
  desk.now = *group_fails - RoundDesk::hold_time - std::chrono::seconds(5);
  desk.check_in(20);
  desk.now = *group_fails - std::chrono::seconds(5);
  desk.desk.tick(desk.now);
  ASSERT_EQ(desk.told[20].size(), 1U) << "it is told to ask again, and comes back behind twenty others";
  for (std::size_t i = 21; i <= 40; ++i) desk.check_in(i);
  desk.check_in(20);
  desk.now = *group_fails;
  desk.desk.tick(desk.now);
  for (std::size_t i = 21; i <= 40; ++i) {
    ASSERT_EQ(desk.told[i].size(), 1U) << i;
    EXPECT_EQ(desk.told[i].back().kind, Kind::message) << i;
  }
  EXPECT_EQ(desk.told[20].size(), 1U);
  EXPECT_EQ(desk.desk.counts().checked_in, 1U);
}

TEST(RoundDesk, TellsAllThatWaitWhenTheirTimeIsOverAndNobodyBefore) {
  Desk desk;
  for (std::size_t i = 0; i < 20; ++i) desk.check_in(i);  // all that the round wants
  constexpr std::size_t many = 10'000;
  for (std::size_t i = 0; i < many; ++i) {
    rounds::IdentityKey device{};
    std::memcpy(device.data(), &i, sizeof i);
    desk.desk.check_in(device, desk.order, desk.now, [](const DeskAnswer&) {});
  }
  EXPECT_EQ(desk.desk.counts().checked_in, many);
  for (int i = 0; i < 2000; ++i) {
    desk.now += RoomTime(1);
    desk.desk.tick(desk.now);
    ASSERT_TRUE(desk.desk.due());
  }
  EXPECT_EQ(desk.desk.counts().checked_in, many);
  desk.now += RoundDesk::hold_time;
  desk.desk.tick(desk.now);
  EXPECT_EQ(desk.desk.counts().checked_in, 0U);
}

TEST(RoundDesk, AnswersASecondQuestionOfADeviceInPlaceOfTheFirst) {
  Desk desk;
  for (std::size_t i = 0; i < 19; ++i) desk.check_in(i);
  for (int again = 0; again < 5; ++again) desk.check_in(3);
  EXPECT_EQ(desk.answers(Kind::wait), 5U) << "the earlier ones";
  EXPECT_EQ(desk.answers(Kind::message), 0U) << "one device is not twenty";
  desk.check_in(19);
  EXPECT_EQ(desk.answers(Kind::message), 20U);
  // Whoever did not hear its place asks again and hears the same.
  desk.check_in(3);
  EXPECT_EQ(desk.told[3].back().body, desk.told[3][5].body);
}

TEST(RoundDesk, RefusesAnotherOrderStrangersAndRoomsThatAreNot) {
  Desk desk;
  rounds::Digest other{};
  std::vector<DeskAnswer> told;
  const auto hear = [&](DeskAnswer answer) { told.push_back(std::move(answer)); };
  desk.desk.check_in(desk.key(0), other, desk.now, hear);
  desk.desk.post(desk.key(0), other, "bytes", desk.now, hear);
  for (std::size_t i = 0; i < 20; ++i) desk.check_in(i);
  const auto place = rounds::decode_group_place(desk.told[0].front().body);
  desk.desk.post(desk.key(77), place->room, "bytes", desk.now, hear);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].kind, Kind::over);
  EXPECT_EQ(told[1].kind, Kind::over);
  EXPECT_EQ(told[2].kind, Kind::refused);
}

TEST(RoundDesk, FormsAnotherGroupWhenOneFails) {
  Desk desk;
  for (std::size_t i = 0; i < 25; ++i) desk.check_in(i);
  EXPECT_EQ(desk.desk.counts().groups_open, 1U);
  desk.now = std::chrono::seconds(61);  // nobody sent a key
  desk.desk.tick(desk.now);
  EXPECT_EQ(desk.desk.counts().groups_failed, 1U);
  EXPECT_EQ(desk.desk.counts().groups_open, 0U);
  EXPECT_FALSE(desk.desk.counts().last_failure.empty());
  for (std::size_t i = 0; i < 20; ++i) desk.check_in(i);
  EXPECT_EQ(desk.desk.counts().groups_open, 1U) << "the same devices may try again";
  EXPECT_EQ(desk.desk.counts().came, 25U) << "and are counted once";
  EXPECT_EQ(desk.desk.counts().devices_grouped, 40U);
  const PhaseTally advertising = desk.desk.counts().phases[0];
  EXPECT_EQ(advertising.answered, 0U);
  EXPECT_EQ(advertising.took, std::chrono::seconds(61));
}

TEST(RoundDesk, AsksForNoVectorThatADeviceWouldBeChargedForWhenNothingCanBeKept) {
  Desk desk;
  ASSERT_EQ(desk.advertise(), 20U);
  desk.keeper.noted = full_disk;
  EXPECT_EQ(desk.share(), 0U) << "the shares of the others are what a device is charged after";
  EXPECT_EQ(desk.answers(Kind::over), 20U);
  EXPECT_EQ(desk.desk.counts().groups_failed, 1U);
  EXPECT_EQ(desk.desk.counts().last_failure, "no room");
  // Whoever asks again hears the same, and may join another group.
  desk.check_in(0);
  EXPECT_EQ(desk.desk.counts().checked_in, 1U);
}

TEST(RoundDesk, KeepsASumAsSoonAsThereIsRoomForIt) {
  Desk desk;
  ASSERT_EQ(desk.advertise(), 20U);
  ASSERT_EQ(desk.share(), 20U);
  ASSERT_EQ(desk.upload(), 20U);
  desk.keeper.kept = full_disk;
  desk.reveal();
  EXPECT_EQ(desk.answers(Kind::done), 20U) << "nothing more is asked of anybody";
  EXPECT_FALSE(desk.desk.is_complete());
  EXPECT_EQ(desk.desk.counts().groups_failed, 0U);
  desk.desk.tick(desk.now);
  EXPECT_FALSE(desk.desk.is_complete());
  EXPECT_EQ(desk.desk.counts().last_failure, "no room");
  desk.keeper.kept = [] { return Status{}; };
  desk.desk.tick(desk.now);
  EXPECT_TRUE(desk.desk.is_complete());
  EXPECT_EQ(desk.desk.counts().devices_summed, 20U);
}

TEST(RoundDesk, LeavesADealerOutWhoseSharesDoNotOpenAndWritesThatDownAsSoonAsThereIsRoom) {
  constexpr std::size_t dealer = 13;
  Desk desk;
  ASSERT_EQ(desk.advertise(), 20U);
  std::size_t number = 0;
  ASSERT_EQ(
      desk.post_all([&](secagg::SecAggClient& client, const std::string& roster) -> Result<secagg::Bytes> {
        SOTTO_TRY(const secagg::Bytes message, client.share_keys(rounds::as_bytes(roster)));
        if (number++ != dealer) return message;
        SOTTO_TRY(auto dealt, secagg::decode_dealt_shares(message, 20));
        dealt.self_seed_commitment[3] ^= 1;
        return secagg::encode(dealt);
      }),
      20U);
  ASSERT_EQ(desk.upload(), 20U);
  desk.keeper.kept = full_disk;
  desk.reveal();
  EXPECT_EQ(desk.desk.counts().groups_failed, 1U);
  EXPECT_EQ(desk.desk.counts().devices_left_out, 1U);
  EXPECT_TRUE(desk.keeper.spoilers.empty());
  desk.desk.tick(desk.now);
  EXPECT_TRUE(desk.keeper.spoilers.empty());
  desk.keeper.kept = [] { return Status{}; };
  desk.desk.tick(desk.now);
  EXPECT_EQ(desk.keeper.spoilers, std::set{desk.key(dealer)});

  // The next group of the same devices, and one more, is one without it.
  desk.told.clear();
  for (std::size_t i = 0; i < 20; ++i) desk.check_in(i);
  ASSERT_EQ(desk.told[dealer].size(), 1U);
  EXPECT_EQ(desk.told[dealer].front().kind, Kind::refused);
  EXPECT_EQ(desk.desk.counts().checked_in, 19U);
  desk.check_in(20);
  EXPECT_EQ(desk.answers(Kind::message), 20U);
}

TEST(RoundDesk, LeavesNobodyWithoutAnAnswer) {
  std::size_t answered = 0;
  {
    Desk desk;
    for (std::size_t i = 0; i < 7; ++i)
      desk.desk.check_in(desk.key(i), desk.order, desk.now,
                         [&](const DeskAnswer& answer) { answered += answer.kind == Kind::over ? 1 : 0; });
  }
  EXPECT_EQ(answered, 7U);
}

}  // namespace
}  // namespace sotto::coordinator
