#include "rounds/order.h"

#include <gtest/gtest.h>

#include <functional>

#include "rounds/small_campaign.h"

namespace sotto::rounds {
namespace {

RoundOrder small_order(const OpenedCampaign& campaign) {
  RoundOrder order;
  order.round.fill(3);
  order.number = 1;
  order.campaign = campaign.hash;
  order.model = model_hash();
  order.head = {2, {}, campaign_begin};
  order.expires = campaign_begin + std::chrono::hours(1);
  return order;
}

TEST(RoundOrder, HasOneEncodingAndOneHash) {
  const OpenedCampaign campaign = signed_campaign(small_campaign());
  const std::string bytes = sign_order(small_order(campaign), campaign, coordinator_key()).value();
  const OpenedOrder opened = open_order(bytes).value();
  EXPECT_TRUE(opened.is_signed_by(coordinator_key().public_key()));
  EXPECT_FALSE(opened.is_signed_by(operator_key().public_key()));
  EXPECT_EQ(encode(opened.order), encode(small_order(campaign)));
  EXPECT_EQ(opened.hash, hash_of_body(order_kind, encode(opened.order)));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) EXPECT_FALSE(open_order(bytes.substr(0, cut))) << cut;
  EXPECT_FALSE(open_order(bytes + "x"));
  EXPECT_FALSE(open_campaign(bytes));
}

TEST(RoundOrder, EveryFieldIsInTheHash) {
  const OpenedCampaign campaign = signed_campaign(small_campaign());
  const auto hash_with = [&](const std::function<void(RoundOrder&)>& change) {
    RoundOrder order = small_order(campaign);
    change(order);
    return hash_of_body(order_kind, encode(order));
  };
  const Digest plain = hash_with([](RoundOrder&) {});
  const std::vector<std::function<void(RoundOrder&)>> changes = {
      [](RoundOrder& order) { order.round[0] ^= 1; },
      [](RoundOrder& order) { order.number = 2; },
      [](RoundOrder& order) { order.campaign[0] ^= 1; },
      [](RoundOrder& order) { order.model[0] ^= 1; },
      [](RoundOrder& order) { order.bound = 2; },
      [](RoundOrder& order) { order.head.size = 3; },
      [](RoundOrder& order) { order.head.root[0] ^= 1; },
      [](RoundOrder& order) { order.head.time += std::chrono::seconds(1); },
      [](RoundOrder& order) { order.expires += std::chrono::seconds(1); }};
  for (const auto& change : changes) EXPECT_NE(hash_with(change), plain);
}

TEST(RoundOrder, MayChooseOnlyWhatTheCampaignLeavesOpen) {
  const OpenedCampaign campaign = signed_campaign(small_campaign());
  const auto refuses = [&](const std::function<void(RoundOrder&)>& change) {
    RoundOrder order = small_order(campaign);
    change(order);
    return !sign_order(order, campaign, coordinator_key());
  };
  EXPECT_FALSE(refuses([](RoundOrder&) {}));
  EXPECT_TRUE(refuses([](RoundOrder& order) { order.campaign[0] ^= 1; }));
  EXPECT_TRUE(refuses([](RoundOrder& order) { order.number = 0; }));
  EXPECT_TRUE(refuses([](RoundOrder& order) { order.number = 31; }));
  EXPECT_TRUE(refuses([](RoundOrder& order) { order.bound = 0; }));
  EXPECT_TRUE(refuses([](RoundOrder& order) { order.bound = 2; }));  // the campaign has no clip bit
  EXPECT_TRUE(refuses([](RoundOrder& order) { order.expires += std::chrono::days(31); }));
  EXPECT_FALSE(sign_order(small_order(campaign), campaign, operator_key()));
}

}  // namespace
}  // namespace sotto::rounds
