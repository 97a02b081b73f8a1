// A store of an earlier version is opened, brought up to date and gone on with. compatibility/ has what a
// coordinator left: it trained the flagship of eight numbers on made-up news for one round of twenty devices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/chain_hash.h"
#include "coordinator/store/store.h"
#include "rounds/model_version.h"
#include "rounds/public_log.h"
#include "rounds/small_campaign.h"
#include "test_paths.h"

namespace sotto::coordinator {
namespace {

const fs::path versions = fs::path(SOTTO_SOURCE_DIR) / "tests" / "coordinator" / "compatibility";

class StoreBefore : public ::testing::TestWithParam<std::string> {
 protected:
  // Where it may be written to.
  fs::path copy() const {
    fs::copy(versions / GetParam(), folder / "store", fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(folder / "store"))
      fs::permissions(entry.path(), entry.is_directory() ? fs::perms::owner_all
                                                         : fs::perms::owner_read | fs::perms::owner_write);
    fs::permissions(folder / "store", fs::perms::owner_all);
    return folder / "store";
  }
  TempFolder folder;
};

TEST_P(StoreBefore, HasWhatItHadAndGoesOn) {
  const auto store = open_store(copy().string(), rounds::coordinator_key().public_key());
  ASSERT_TRUE(store) << store.error().message;
  const auto campaigns = (*store)->campaigns().value();
  ASSERT_EQ(campaigns.size(), 1U);
  const auto campaign = rounds::open_campaign(campaigns[0].document);
  ASSERT_TRUE(campaign) << campaign.error().message;
  EXPECT_EQ(campaign->hash, campaigns[0].hash);
  EXPECT_TRUE(campaign->is_signed_by(rounds::operator_key().public_key()));
  EXPECT_TRUE(rounds::terms_of(campaign->campaign));
  EXPECT_EQ((*store)->count_enrolled().value(), 20U);

  rounds::PublicLog log(rounds::coordinator_key().public_key());
  const auto records = (*store)->log_records(0, 1000).value();
  for (const std::string& record : records) ASSERT_TRUE(log.take(record));
  EXPECT_TRUE(log.is_complete());
  const auto kept = (*store)->versions(campaigns[0].hash).value();
  ASSERT_EQ(kept.size(), 2U);
  for (const ModelVersion& version : kept) {
    EXPECT_TRUE(log.find({rounds::LeafKind::model, version.model}));
    const auto model = rounds::decode_model((*store)->blob(version.model).value());
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->numbers.values().size(), 8U * 3 + 1);
    EXPECT_EQ(rounds::decode_items((*store)->blob(model->table).value())->size(), 60U);
    if (version.checkpoint) {
      EXPECT_TRUE((*store)->blob(*version.checkpoint));
    }
  }
  EXPECT_EQ(kept[1].parent, kept[0].model);
  EXPECT_EQ((*store)->current_version(campaigns[0].hash).value()->round, 1U);

  // What it did not know of yet.
  EXPECT_TRUE((*store)->evaluations(campaigns[0].hash)->empty());
  const UtcTime later = kept[1].time + std::chrono::hours(1);
  const Lease lease = (*store)->acquire("coordinator", "a later one", later, std::chrono::minutes(1)).value();
  const auto counts = (*store)->count_orders(campaigns[0].hash).value();
  EXPECT_EQ(counts.trained, 1 + counts.abandoned + (*store)->unfinished_orders()->size()) << "all of them";
  StoredOrder measuring{{}, 1, campaigns[0].hash, "order", OrderState::open, {}, true};
  EXPECT_TRUE((*store)->open_order(lease.fence, measuring));
  EXPECT_TRUE((*store)->begin_unmasking(lease.fence, measuring.round));
  EXPECT_TRUE((*store)->keep_evaluation(lease.fence, {campaigns[0].hash, 1, 20, 0.6, 0.01, later}));
  const auto unfinished = (*store)->unfinished_orders().value();
  for (const StoredOrder& order : unfinished)
    EXPECT_TRUE((*store)->abandon_order(lease.fence, order.round, "a later version was started"));
  EXPECT_EQ((*store)->next_round(campaigns[0].hash).value(), 2U);
}

std::vector<std::string> all_versions() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(versions)) names.push_back(entry.path().filename());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Versions, StoreBefore, ::testing::ValuesIn(all_versions()), [](const auto& version) {
  std::string name = version.param;
  std::erase_if(name, [](char letter) { return std::isalnum(letter) == 0; });
  return name;
});

}  // namespace
}  // namespace sotto::coordinator
