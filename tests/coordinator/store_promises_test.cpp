#include <sodium.h>

#include "store_fixture.h"

namespace sotto::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoreEnrolments : public StoreTest {};
class StoreRounds : public StoreTest {};
class StoreVersions : public StoreTest {};
class StoreBlobs : public StoreTest {};
SOTTO_FOR_BOTH_STORES(StoreEnrolments);
SOTTO_FOR_BOTH_STORES(StoreRounds);
SOTTO_FOR_BOTH_STORES(StoreVersions);
SOTTO_FOR_BOTH_STORES(StoreBlobs);

Enrolment enrolment(std::uint8_t device, std::uint8_t token) {
  return {hash_number(device), hash_number(token), store_begin};
}

TEST_P(StoreEnrolments, TheSameDeviceAndTokenHaveTheSameAnswer) {
  const auto store = open();
  const Enrolment first = store->enrol(enrolment(1, 51)).value();
  Enrolment later = enrolment(1, 51);
  later.time += std::chrono::hours(1);
  EXPECT_EQ(store->enrol(later).value(), first);
  EXPECT_EQ(store->count_enrolled().value(), 1U);
}

TEST_P(StoreEnrolments, AUsedTokenEnrolsNobodyElse) {
  const auto store = open();
  ASSERT_TRUE(store->enrol(enrolment(1, 51)));
  const auto second = store->enrol(enrolment(2, 51));
  EXPECT_TRUE(is_conflict(second)) << error_of(second);
  EXPECT_EQ(store->count_enrolled().value(), 1U);
}

TEST_P(StoreEnrolments, ADeviceNeedsNoSecondToken) {
  const auto store = open();
  ASSERT_TRUE(store->enrol(enrolment(1, 51)));
  EXPECT_TRUE(is_conflict(store->enrol(enrolment(1, 52))));
  EXPECT_TRUE(store->enrol(enrolment(2, 52))) << "the token that was refused is still unused";
}

TEST_P(StoreEnrolments, ARevokedDeviceIsUnknownForGood) {
  const auto store = open();
  ASSERT_TRUE(store->enrol(enrolment(1, 51)));
  ASSERT_TRUE(store->revoke(hash_number(1), store_begin, "lost"));
  EXPECT_THAT(error_of(store->enrol(enrolment(1, 51))), HasSubstr("revoked"));
  EXPECT_THAT(store->are_enrolled(std::vector{hash_number(1)}).value(), ElementsAre(false));
  EXPECT_EQ(store->count_enrolled().value(), 0U);
  EXPECT_TRUE(store->revoke(hash_number(1), store_begin, "lost")) << "may be said again";
  EXPECT_THAT(error_of(store->revoke(hash_number(9), store_begin, "")), HasSubstr("there is no device"));
  ASSERT_THAT(store->actions(0, 10).value(), SizeIs(1));
  EXPECT_THAT(store->actions(0, 10).value()[0].detail, HasSubstr("lost"));
}

TEST_P(StoreEnrolments, ManyDevicesAreAskedForAtOnce) {
  const auto store = open();
  std::vector<IdentityKey> asked;
  std::vector<bool> expected;
  for (std::uint8_t device = 0; device < 130; ++device) {
    if (device % 3 != 0) {
      ASSERT_TRUE(store->enrol({hash_number(device), hash_number(device), store_begin}));
    }
    asked.push_back(hash_number(device));
    expected.push_back(device % 3 != 0);
  }
  EXPECT_EQ(store->are_enrolled(asked).value(), expected);
  EXPECT_THAT(store->are_enrolled({}).value(), IsEmpty());
}

TEST_P(StoreRounds, WhoeverSpoiledAGroupIsLeftOutOfItsCampaignForGood) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(1)));
  ASSERT_TRUE(store->open_order(campaign.fence, campaign.measuring(0)));
  EXPECT_THAT(store->left_out(campaign.hash).value(), IsEmpty());
  const LeftOut training{hash_number(9), campaign.order(1).round},
      measuring{hash_number(7), campaign.measuring(0).round};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->leave_out(campaign.fence, training));
  ASSERT_TRUE(store->leave_out(campaign.fence, measuring));
  ASSERT_TRUE(store->leave_out(campaign.fence, {training.device, measuring.round})) << "it is out already";
  EXPECT_THAT(error_of(store->leave_out(campaign.fence, {hash_number(8), hash_number(77)})),
              HasSubstr("there is no order"));
  Fence earlier = campaign.fence;
  --earlier.number;
  EXPECT_TRUE(is_conflict(store->leave_out(earlier, {hash_number(8), training.round})));
  EXPECT_THAT(open()->left_out(campaign.hash).value(), ElementsAre(measuring, training))
      << "by another process";
  EXPECT_THAT(store->left_out(hash_number(77)).value(), IsEmpty()) << "another campaign";
}

TEST_P(StoreRounds, ACampaignIsInTheLogOnceHoweverOftenItIsAdded) {
  const auto store = open();
  const Fence fence = take_lease(*store);
  const StoredCampaign campaign{hash_number(1), "document", CampaignState::open, store_begin};
  EXPECT_TRUE(store->add_campaign(fence, campaign, {0, {"leaf", "head"}}).value());
  EXPECT_FALSE(store->add_campaign(fence, campaign, {2, {"leaf", "head"}}).value());
  EXPECT_THAT(store->log_records(0, 10).value(), ElementsAre("leaf", "head"));
  EXPECT_THAT(store->campaigns().value(), ElementsAre(campaign));
  StoredCampaign other = campaign;
  other.document = "another";
  EXPECT_TRUE(is_conflict(store->add_campaign(fence, other, {2, {}})));
}

TEST_P(StoreRounds, APausedCampaignOrdersNothingAndAFinishedOneNeverAgain) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(store->set_state(campaign.hash, CampaignState::paused, store_begin, "a fault"));
  EXPECT_THAT(error_of(store->open_order(campaign.fence, campaign.order(1))), HasSubstr("paused"));
  ASSERT_TRUE(store->set_state(campaign.hash, CampaignState::open, store_begin, "repaired"));
  EXPECT_TRUE(store->open_order(campaign.fence, campaign.order(1)));
  ASSERT_TRUE(store->set_state(campaign.hash, CampaignState::finished, store_begin, "done"));
  EXPECT_THAT(error_of(store->set_state(campaign.hash, CampaignState::open, store_begin, "")),
              HasSubstr("finished"));
  EXPECT_THAT(store->actions(0, 10).value(), SizeIs(3));
  EXPECT_THAT(error_of(store->set_state(hash_number(77), CampaignState::open, store_begin, "")),
              HasSubstr("there is no campaign"));
}

TEST_P(StoreRounds, ARoundGoesThroughItsStatesAndEveryStepMayBeRepeated) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  const Digest round = SmallCampaign::round_hash(1);
  const auto state = [&] { return store->order(round).value()->state; };
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(1)));
  EXPECT_EQ(store->order(round).value(), campaign.order(1));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->begin_unmasking(campaign.fence, round));
  EXPECT_EQ(state(), OrderState::unmasking);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->keep_sum(campaign.fence, round, SmallCampaign::sum(3)));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->seal_sums(campaign.fence, round));
  EXPECT_EQ(state(), OrderState::summed);
  EXPECT_THAT(store->sums_of(round).value(), ElementsAre(SmallCampaign::sum(3)));
  const ModelVersion version = campaign.version(*store, 1).value();
  const LogAppend log = SmallCampaign::log_of(*store, "version 1");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->publish_version(campaign.fence, version, round, log));
  EXPECT_EQ(state(), OrderState::folded);
  EXPECT_THAT(store->sums_of(round).value(), IsEmpty());
  EXPECT_EQ(store->log_size().value(), 6U);
  EXPECT_THAT(store->unfinished_orders().value(), IsEmpty());
}

TEST_P(StoreRounds, NoStateIsSkipped) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  const Digest round = SmallCampaign::round_hash(1);
  EXPECT_THAT(error_of(store->begin_unmasking(campaign.fence, round)), HasSubstr("there is no order"));
  ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(1)));
  EXPECT_THAT(error_of(store->keep_sum(campaign.fence, round, SmallCampaign::sum(0))), HasSubstr("is open"));
  EXPECT_THAT(error_of(store->seal_sums(campaign.fence, round)), HasSubstr("is open"));
  EXPECT_THAT(error_of(campaign.fold(*store, 1)), HasSubstr("is open"));
  ASSERT_TRUE(store->begin_unmasking(campaign.fence, round));
  EXPECT_THAT(error_of(store->seal_sums(campaign.fence, round)), HasSubstr("no group has a sum"));
  EXPECT_THAT(error_of(campaign.fold(*store, 1)), HasSubstr("is unmasking"));
  ASSERT_TRUE(store->keep_sum(campaign.fence, round, SmallCampaign::sum(0)));
  ASSERT_TRUE(store->seal_sums(campaign.fence, round));
  EXPECT_THAT(error_of(store->keep_sum(campaign.fence, round, SmallCampaign::sum(1))),
              HasSubstr("is summed"));
  ASSERT_TRUE(campaign.fold(*store, 1));
  EXPECT_THAT(error_of(store->abandon_order(campaign.fence, round, "late")), HasSubstr("roll back"));
}

TEST_P(StoreRounds, AnotherSumOfTheSameGroupIsRefusedAndTheFirstStands) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(campaign.gather(*store, 1));
  GroupSum other = SmallCampaign::sum(1);
  other.entries[0] += 1;
  EXPECT_TRUE(is_conflict(store->keep_sum(campaign.fence, SmallCampaign::round_hash(1), other)));
  EXPECT_THAT(store->sums_of(SmallCampaign::round_hash(1)).value(),
              ElementsAre(SmallCampaign::sum(0), SmallCampaign::sum(1)));
}

TEST_P(StoreRounds, AnAbandonedNumberIsOrderedAgainUnderANewRound) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(campaign.gather(*store, 1));
  EXPECT_EQ(store->next_round(campaign.hash).value(), 2U);
  StoredOrder again = campaign.order(1);
  again.round = hash_number(99);
  EXPECT_TRUE(is_conflict(store->open_order(campaign.fence, again)));
  ASSERT_TRUE(store->abandon_order(campaign.fence, SmallCampaign::round_hash(1), "too few came"));
  EXPECT_EQ(store->order(SmallCampaign::round_hash(1)).value()->why, "too few came");
  EXPECT_THAT(store->sums_of(SmallCampaign::round_hash(1)).value(), IsEmpty());
  EXPECT_EQ(store->next_round(campaign.hash).value(), 1U);
  EXPECT_THAT(error_of(store->open_order(campaign.fence, campaign.order(1))),
              HasSubstr("because too few came"));
  EXPECT_TRUE(store->open_order(campaign.fence, again));
}

TEST_P(StoreRounds, UnfinishedOrdersComeOldestFirst) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  for (const std::uint64_t number : {7, 3, 5})
    ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(number)));
  ASSERT_TRUE(store->abandon_order(campaign.fence, SmallCampaign::round_hash(3), ""));
  std::vector<std::uint64_t> numbers;
  const auto unfinished = store->unfinished_orders().value();
  for (const StoredOrder& order : unfinished) numbers.push_back(order.number);
  EXPECT_THAT(numbers, ElementsAre(7, 5));
}

TEST_P(StoreVersions, EachExtendsTheCurrentOne) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    ASSERT_TRUE(campaign.gather(*store, round));
    ASSERT_TRUE(campaign.fold(*store, round));
  }
  const auto versions = store->versions(campaign.hash).value();
  ASSERT_THAT(versions, SizeIs(4));
  for (std::size_t i = 1; i < versions.size(); ++i) EXPECT_EQ(versions[i].parent, versions[i - 1].model);
  EXPECT_EQ(store->current_version(campaign.hash).value(), versions[3]);
  EXPECT_EQ(store->current_version(hash_number(77)).value(), std::nullopt);
}

TEST_P(StoreVersions, ARollBackStopsTheRoundThatWasUnderWay) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  for (const std::uint64_t round : {1, 2}) {
    ASSERT_TRUE(campaign.gather(*store, round));
    ASSERT_TRUE(campaign.fold(*store, round));
  }
  ASSERT_TRUE(campaign.gather(*store, 3));
  const ModelVersion third = campaign.version(*store, 3).value();
  ASSERT_TRUE(store->roll_back(campaign.hash, 1, store_begin, "it got worse"));
  EXPECT_EQ(store->current_version(campaign.hash).value()->round, 1U);
  EXPECT_TRUE(is_conflict(store->publish_version(campaign.fence, third, SmallCampaign::round_hash(3), {})));
  EXPECT_THAT(store->versions(campaign.hash).value(), SizeIs(3)) << "versions stay";
  EXPECT_THAT(store->actions(0, 10).value(), SizeIs(1));
  ASSERT_TRUE(store->abandon_order(campaign.fence, SmallCampaign::round_hash(3), "rolled back"));
  StoredOrder again = campaign.order(3);
  again.round = hash_number(99);
  EXPECT_TRUE(store->open_order(campaign.fence, again)) << "the next round goes on from the older version";
  EXPECT_THAT(error_of(store->roll_back(campaign.hash, 9, store_begin, "")), HasSubstr("no version 9"));
}

TEST_P(StoreVersions, WithoutItsBlobsThereIsNone) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(campaign.gather(*store, 1));
  ModelVersion version = campaign.version(*store, 1).value();
  const ModelVersion good = version;
  version.model = hash_number(9);
  EXPECT_THAT(error_of(store->publish_version(campaign.fence, version, SmallCampaign::round_hash(1), {})),
              HasSubstr("keep its blob first"));
  version = good;
  version.checkpoint = hash_number(9);
  EXPECT_THAT(error_of(store->publish_version(campaign.fence, version, SmallCampaign::round_hash(1), {})),
              HasSubstr("no checkpoint"));
  version = good;
  version.size += 1;
  EXPECT_THAT(error_of(store->publish_version(campaign.fence, version, SmallCampaign::round_hash(1), {})),
              HasSubstr("the version says"));
  EXPECT_TRUE(store->publish_version(campaign.fence, good, SmallCampaign::round_hash(1), {}));
}

TEST_P(StoreVersions, AFailedPublicationChangesNothing) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(campaign.gather(*store, 1));
  const ModelVersion version = campaign.version(*store, 1).value();
  // The last part of the transaction fails: somebody has appended to the log.
  const auto published =
      store->publish_version(campaign.fence, version, SmallCampaign::round_hash(1), {1, {"x", "y"}});
  EXPECT_TRUE(is_conflict(published)) << error_of(published);
  EXPECT_EQ(store->current_version(campaign.hash).value()->round, 0U);
  EXPECT_THAT(store->versions(campaign.hash).value(), SizeIs(1));
  EXPECT_EQ(store->order(SmallCampaign::round_hash(1)).value()->state, OrderState::summed);
  EXPECT_THAT(store->sums_of(SmallCampaign::round_hash(1)).value(), SizeIs(2));
  EXPECT_EQ(store->log_size().value(), 4U);
}

TEST_P(StoreVersions, TheLogIsReadInPartsAndAppendedToAtItsEndOnly) {
  const auto store = open();
  const Fence fence = take_lease(*store);
  ASSERT_TRUE(store->append_to_log(fence, {0, {"a", "b"}}));
  ASSERT_TRUE(store->append_to_log(fence, {2, {std::string("c\0d", 3)}}));
  EXPECT_TRUE(store->append_to_log(fence, {0, {"a", "b"}})) << "the same again";
  EXPECT_TRUE(is_conflict(store->append_to_log(fence, {1, {"x"}})));
  EXPECT_TRUE(is_conflict(store->append_to_log(fence, {4, {"x"}})));
  EXPECT_THAT(store->log_records(1, 1).value(), ElementsAre("b"));
  EXPECT_THAT(store->log_records(1, 10).value(), ElementsAre("b", std::string("c\0d", 3)));
  EXPECT_THAT(store->log_records(9, 10).value(), IsEmpty());
}

TEST_P(StoreVersions, AreMeasuredOnceAndThatStands) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  const Evaluation first{campaign.hash, 0, 20, 0.612345678, 0.012, store_begin};
  EXPECT_THAT(error_of(store->keep_evaluation(campaign.fence, first)), HasSubstr("no device was asked"));
  ASSERT_TRUE(campaign.ask_to_measure(*store, 0));
  ASSERT_TRUE(store->keep_evaluation(campaign.fence, first));
  EXPECT_TRUE(store->keep_evaluation(campaign.fence, first)) << "the same again";
  Evaluation other = first;
  other.auc = 0.7;
  EXPECT_TRUE(is_conflict(store->keep_evaluation(campaign.fence, other)));
  other.version = 7;
  EXPECT_THAT(error_of(store->keep_evaluation(campaign.fence, other)), HasSubstr("no device was asked"));
  other.auc = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(store->keep_evaluation(campaign.fence, other));
  EXPECT_THAT(store->evaluations(campaign.hash).value(), ::testing::ElementsAre(first));
  EXPECT_THAT(store->evaluations(hash_number(9)).value(), ::testing::IsEmpty());
}

TEST_P(StoreVersions, AreMeasuredByAnOrderThatIsWrittenDownLikeAnyOther) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  const StoredOrder order = campaign.measuring(0);
  const auto state = [&] { return store->order(order.round).value()->state; };
  EXPECT_THAT(error_of(store->open_order(campaign.fence, campaign.measuring(7))), HasSubstr("no version 7"));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->open_order(campaign.fence, order));
  EXPECT_EQ(store->order(order.round).value(), order);
  EXPECT_THAT(store->unfinished_orders().value(), ElementsAre(order));
  EXPECT_TRUE(store->open_order(campaign.fence, campaign.order(1))) << "a round is another thing";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store->begin_unmasking(campaign.fence, order.round));
  EXPECT_EQ(state(), OrderState::unmasking);
  EXPECT_FALSE(store->keep_sum(campaign.fence, order.round, SmallCampaign::sum(0)));
  EXPECT_FALSE(store->seal_sums(campaign.fence, order.round));
  ASSERT_TRUE(store->keep_evaluation(campaign.fence, {campaign.hash, 0, 20, 0.6, 0.01, store_begin}));
  EXPECT_EQ(state(), OrderState::folded);
  EXPECT_EQ(store->next_round(campaign.hash).value(), 2U) << "it is no round";
  ASSERT_TRUE(store->set_state(campaign.hash, CampaignState::paused, store_begin, ""));
  EXPECT_THAT(error_of(store->open_order(campaign.fence, campaign.measuring(0, 1))),
              HasSubstr("not charged for it twice"));
}

TEST_P(StoreVersions, NobodyIsChargedTwiceForMeasuringOne) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  const StoredOrder first = campaign.measuring(0), again = campaign.measuring(0, 1),
                    later = campaign.measuring(0, 2);
  ASSERT_TRUE(store->open_order(campaign.fence, first));
  EXPECT_TRUE(is_conflict(store->open_order(campaign.fence, again))) << "one at a time";
  ASSERT_TRUE(store->abandon_order(campaign.fence, first.round, "nobody came"));
  ASSERT_TRUE(store->open_order(campaign.fence, again)) << "nobody was charged";
  ASSERT_TRUE(store->begin_unmasking(campaign.fence, again.round));
  ASSERT_TRUE(store->abandon_order(campaign.fence, again.round, "the coordinator was started again"));
  EXPECT_TRUE(is_conflict(store->open_order(campaign.fence, later))) << "somebody may have been";
}

TEST_P(StoreRounds, WhatDevicesWereChargedForIsCountedWhateverBecameOfIt) {
  {
    const auto store = open();
    SmallCampaign campaign = small_campaign_in(*store);
    EXPECT_EQ(store->count_orders(campaign.hash).value(), (OrderCounts{0, 0, 0}));
    ASSERT_TRUE(campaign.gather(*store, 1));
    ASSERT_TRUE(campaign.fold(*store, 1));
    ASSERT_TRUE(store->roll_back(campaign.hash, 0, store_begin, "a test"));
    ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(2)));
    EXPECT_EQ(store->count_orders(campaign.hash).value(), (OrderCounts{1, 0, 0})) << "nobody was asked yet";
    ASSERT_TRUE(store->abandon_order(campaign.fence, campaign.order(2).round, "nobody came"));
    campaign.attempt = 1;
    ASSERT_TRUE(campaign.gather(*store, 2));
    ASSERT_TRUE(store->abandon_order(campaign.fence, campaign.order(2).round, "its sums are lost"));
    campaign.attempt = 2;
    ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(2)));
    ASSERT_TRUE(store->begin_unmasking(campaign.fence, campaign.order(2).round));
    ASSERT_TRUE(campaign.ask_to_measure(*store, 0));
    ASSERT_TRUE(campaign.ask_to_measure(*store, 1));
    ASSERT_TRUE(store->abandon_order(campaign.fence, campaign.measuring(1).round, "too few came"));
  }
  const auto store = open();
  EXPECT_EQ(store->count_orders(SmallCampaign().hash).value(), (OrderCounts{3, 2, 2}));
  EXPECT_EQ(store->count_orders(hash_number(77)).value(), (OrderCounts{0, 0, 0}));
}

TEST_P(StoreBlobs, AreReadByTheirHash) {
  const auto store = open();
  std::string large(3'000'001, 'x');
  large[1'048'576] = '\0';
  for (const std::string& bytes : {std::string(), std::string("small"), large}) {
    const Digest hash = store->keep_blob(bytes).value();
    Digest expected{};
    crypto_hash_sha256(expected.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    EXPECT_EQ(hash, expected);
    EXPECT_EQ(store->blob(hash).value(), bytes);
    EXPECT_TRUE(store->has_blob(hash).value());
    EXPECT_EQ(store->keep_blob(bytes).value(), hash);
  }
  EXPECT_FALSE(store->has_blob(hash_number(9)).value());
  EXPECT_THAT(error_of(store->blob(hash_number(9))), HasSubstr("there is no blob"));
}

TEST_P(StoreBlobs, DamageIsNoticedAndRepairedByKeepingThemAgain) {
  const auto store = open();
  const Digest hash = store->keep_blob("the model").value();
  if (GetParam() == SqlDialect::sqlite) {
    for (const auto& file : fs::directory_iterator(fs::path(location()) / "blobs"))
      ASSERT_TRUE(write_file_atomically(file.path(), "the mode1"));
  } else {
    ASSERT_TRUE(connect()->run("UPDATE blob_parts SET bytes = $1", {SqlBytes{"the mode1"}}));
  }
  EXPECT_THAT(error_of(store->blob(hash)), HasSubstr("damaged"));
  ASSERT_TRUE(store->keep_blob("the model"));
  EXPECT_EQ(store->blob(hash).value(), "the model");
}

}  // namespace
}  // namespace sotto::coordinator
