#include <algorithm>
#include <atomic>
#include <thread>

#include "store_fixture.h"

namespace sotto::coordinator {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoreLeases : public StoreTest {};
SOTTO_FOR_BOTH_STORES(StoreLeases);

TEST_P(StoreLeases, BelongToOneOwnerUntilTheyAreOver) {
  const auto store = open();
  const Lease first = store->acquire("trainer", "node a", store_begin, seconds(30)).value();
  EXPECT_EQ(first, (Lease{{"trainer", 1}, "node a", store_begin + seconds(30)}));
  const auto early = store->acquire("trainer", "node b", store_begin + seconds(29), seconds(30));
  EXPECT_TRUE(is_conflict(early));
  EXPECT_THAT(error_of(early), HasSubstr("held by node a until"));
  const Lease second = store->acquire("trainer", "node b", store_begin + seconds(30), seconds(30)).value();
  EXPECT_EQ(second.fence.number, 2U);
  EXPECT_EQ(store->acquire("another", "node a", store_begin, seconds(30)).value().fence.number, 1U);
}

TEST_P(StoreLeases, TheirOwnerTakesThemAnewAndShutsItsEarlierSelfOut) {
  const auto store = open();
  const Lease first = store->acquire("trainer", "node a", store_begin, seconds(30)).value();
  const Lease second = store->acquire("trainer", "node a", store_begin + seconds(1), seconds(30)).value();
  EXPECT_GT(second.fence.number, first.fence.number);
  EXPECT_TRUE(is_conflict(store->append_to_log(first.fence, {0, {"old"}})));
  EXPECT_TRUE(store->append_to_log(second.fence, {0, {"current"}}));
}

TEST_P(StoreLeases, AreRenewedByWhoHoldsThem) {
  const auto store = open();
  const Lease lease = store->acquire("trainer", "node a", store_begin, seconds(30)).value();
  const Lease longer = store->renew(lease, store_begin + seconds(20), seconds(30)).value();
  EXPECT_EQ(longer.fence, lease.fence);
  EXPECT_TRUE(is_conflict(store->acquire("trainer", "node b", store_begin + seconds(40), seconds(30))));
  ASSERT_TRUE(store->acquire("trainer", "node b", store_begin + seconds(50), seconds(30)));
  EXPECT_TRUE(is_conflict(store->renew(longer, store_begin + seconds(51), seconds(30))));
}

TEST_P(StoreLeases, AReleasedOneIsFreeAndItsFenceIsOldAsSoonAsAnotherTakesIt) {
  const auto store = open();
  const Lease lease = store->acquire("trainer", "node a", store_begin, seconds(30)).value();
  ASSERT_TRUE(store->release(lease));
  const Lease next = store->acquire("trainer", "node b", store_begin + seconds(1), seconds(30)).value();
  EXPECT_EQ(next.fence.number, 2U);
  ASSERT_TRUE(store->release(lease)) << "lost already";
  EXPECT_TRUE(store->append_to_log(next.fence, {0, {"still held"}}));
}

TEST_P(StoreLeases, EveryGuardedWriteOfAnOldFenceIsRefused) {
  const auto store = open();
  const SmallCampaign campaign = small_campaign_in(*store);
  ASSERT_TRUE(campaign.gather(*store, 1));
  ASSERT_TRUE(store->open_order(campaign.fence, campaign.order(2)));
  ASSERT_TRUE(store->open_order(campaign.fence, campaign.measuring(0)));
  const ModelVersion version = campaign.version(*store, 1).value();
  const Fence old = campaign.fence;
  ASSERT_TRUE(store->acquire("coordinator", "node b", store_begin + std::chrono::hours(1), seconds(30)));

  const Digest summed = SmallCampaign::round_hash(1), opened = SmallCampaign::round_hash(2);
  const Status refusals[] = {
      store->open_order(old, campaign.order(3)),
      store->begin_unmasking(old, opened),
      store->open_order(old, campaign.measuring(0, 1)),
      store->begin_unmasking(old, campaign.measuring(0).round),
      store->keep_sum(old, summed, SmallCampaign::sum(0)),
      store->seal_sums(old, summed),
      store->abandon_order(old, opened, ""),
      store->publish_version(old, version, summed, {4, {"leaf"}}),
      store->append_to_log(old, {4, {"leaf"}}),
      store->keep_evaluation(old, {campaign.hash, 0, 20, 0.6, 0.01, store_begin}),
      store->add_campaign(old, {hash_number(5), "", CampaignState::open, store_begin}, {4, {"leaf"}})
          .map([](bool) {}),
  };
  for (const Status& refusal : refusals) {
    EXPECT_TRUE(is_conflict(refusal));
    EXPECT_THAT(error_of(refusal), HasSubstr("acquired by node b"));
  }
  EXPECT_EQ(store->log_size().value(), 4U);
  EXPECT_EQ(store->order(opened).value()->state, OrderState::open);
  EXPECT_EQ(store->order(SmallCampaign::round_hash(3)).value(), std::nullopt);
}

TEST_P(StoreLeases, WithoutOneNothingGuardedIsWritten) {
  const auto store = open();
  const auto written = store->append_to_log({"trainer", 1}, {0, {"leaf"}});
  EXPECT_THAT(error_of(written), HasSubstr("acquire it"));
  EXPECT_FALSE(store->acquire("", "node a", store_begin, seconds(1)));
  EXPECT_FALSE(store->acquire("trainer", "", store_begin, seconds(1)));
  EXPECT_FALSE(store->acquire("trainer", "node\na", store_begin, seconds(1)));
  EXPECT_FALSE(store->acquire("trainer", "node a", store_begin, seconds(0)));
}

TEST_P(StoreLeases, OfTwoProcessesOneWins) {
  const auto one = open(), other = open();
  const Lease lease = one->acquire("trainer", "node a", store_begin, seconds(30)).value();
  EXPECT_TRUE(is_conflict(other->acquire("trainer", "node b", store_begin, seconds(30))));
  ASSERT_TRUE(one->append_to_log(lease.fence, {0, {"a"}}));
  EXPECT_EQ(other->log_size().value(), 1U) << "what one writes the other sees";
  const Lease taken = other->acquire("trainer", "node b", store_begin + seconds(60), seconds(30)).value();
  EXPECT_TRUE(is_conflict(one->append_to_log(lease.fence, {1, {"b"}})));
  EXPECT_TRUE(other->append_to_log(taken.fence, {1, {"b"}}));
}

TEST_P(StoreLeases, ThreadsOfTwoOpenersGetDifferentFencesAndUseEachTokenOnce) {
  const auto one = open(), other = open();
  constexpr int each = 20;
  std::vector<std::uint64_t> fences[4];
  std::atomic<int> enrolled = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      Store& store = thread % 2 == 0 ? *one : *other;
      for (int i = 0; i < each; ++i) {
        const auto lease = store.acquire("trainer", "node", store_begin, seconds(30));
        if (lease) fences[thread].push_back(lease->fence.number);
        // The same twenty tokens for all, each thread with devices of its own.
        const auto device = static_cast<std::uint8_t>(thread * each + i);
        if (store.enrol({hash_number(device), hash_number(static_cast<std::uint8_t>(i)), store_begin}))
          ++enrolled;
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& some : fences) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 4U * each);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i + 1);
  EXPECT_EQ(enrolled, each);
  EXPECT_EQ(one->count_enrolled().value(), static_cast<std::uint64_t>(each));
}

TEST_P(StoreLeases, ActionsOfPeopleAreKeptInOrder) {
  const auto store = open();
  EXPECT_THAT(store->actions(0, 10).value(), IsEmpty());
  const AdminAction drain{store_begin, "drain", "for the upgrade of the machine"};
  const AdminAction resume{store_begin + seconds(9), "resume", "ünïcode"};
  ASSERT_TRUE(store->note_action(drain));
  ASSERT_TRUE(store->note_action(resume));
  EXPECT_THAT(store->actions(0, 10).value(), ::testing::ElementsAre(drain, resume));
  EXPECT_THAT(store->actions(1, 10).value(), ::testing::ElementsAre(resume));
  EXPECT_FALSE(store->note_action({store_begin, "drain", std::string("a\0b", 3)}));
  EXPECT_FALSE(store->note_action({store_begin, "drain", std::string(3000, 'x')}));
}

}  // namespace
}  // namespace sotto::coordinator
