#include "coordinator/rooms/round_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rounds/round_messages.h"
#include "rounds/small_campaign.h"

namespace sotto::coordinator {
namespace {

using Kind = DeskAnswer::Kind;

class Keeper final : public RoundKeeper {
 public:
  Status begin_unmasking() override { return {}; }
  Status keep_sum(const GroupSum&) override { return {}; }
};

// A desk for one group of twenty, and what everybody was told.
struct Desk {
  rounds::IdentityKey key(std::size_t number) const {
    return rounds::test_key(static_cast<std::uint8_t>(100 + number)).public_key();
  }
  void check_in(std::size_t number) {
    desk.check_in(key(number), order, now,
                  [this, number](DeskAnswer answer) { told[number].push_back(std::move(answer)); });
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
  RoundDesk desk{{order, rounds::terms_of(rounds::small_campaign()).value(), 1}, pace, keeper, random};
};

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
