#include "rounds/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rounds/order.h"
#include "secagg/vectors/modular_sum.h"
#include "small_campaign.h"

namespace sotto::rounds {
namespace {

using ::testing::HasSubstr;

constexpr double wished = 2;

const Campaign& measuring_campaign() {
  static const Campaign campaign =
      with_evaluation(small_campaign(), {.every = 10, .participations = 3, .epsilon = wished}).value();
  return campaign;
}

TEST(Evaluation, HasTheLeastNoiseThatItsOwnEpsilonTakes) {
  const auto terms = evaluation_terms(measuring_campaign());
  ASSERT_TRUE(terms) << terms.error().message;
  EXPECT_LE(terms->guarantee.epsilon, wished);
  EXPECT_GT(terms->guarantee.epsilon, 0.98 * wished);
  EXPECT_EQ(terms->plan.entries(), 2U);
  EXPECT_LT(terms->bytes.up, 10'000U) << "two numbers and what a sum takes beside them";
  // Training costs what it did, and both together less than the sum of both.
  const Campaign& campaign = measuring_campaign();
  EXPECT_EQ(terms_of(campaign)->guarantee.epsilon, terms_of(small_campaign())->guarantee.epsilon);
  const double training = terms_of(campaign)->guarantee.epsilon,
               all = cost_of(campaign, campaign.participations, campaign.delta, 3)->epsilon;
  EXPECT_GT(all, training);
  EXPECT_LT(all, training + terms->guarantee.epsilon);
  EXPECT_DOUBLE_EQ(campaign.total_epsilon(), campaign.epsilon + wished);
}

TEST(Evaluation, IsInTheCampaignAndLeavesOthersTheirBytes) {
  const Campaign& campaign = measuring_campaign();
  const auto read = decode_campaign(encode(campaign));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->evaluation, campaign.evaluation);
  EXPECT_FALSE(read->second);
  Campaign without = campaign;
  without.evaluation.reset();
  EXPECT_EQ(encode(without), encode(small_campaign()));
  // A second sum of nothing says nothing where no evaluation follows it.
  Campaign empty = small_campaign();
  empty.second = SecondSum{};
  EXPECT_THAT(decode_campaign(encode(empty)).error().message, HasSubstr("second sum of nothing"));
}

TEST(Evaluation, RefusesWhatCannotHold) {
  const auto refusal = [](const std::function<void(Campaign&)>& change) {
    Campaign campaign = measuring_campaign();
    change(campaign);
    const auto terms = terms_of(campaign);
    return terms ? std::string("none") : terms.error().message;
  };
  EXPECT_EQ(refusal([](Campaign&) {}), "none");
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->noise_multiplier *= 0.9; }), HasSubstr("raise their"));
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->noise_multiplier = 0; }), HasSubstr("without noise"));
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->participations = 4; }), HasSubstr("raise their"));
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->participations = 5; }), HasSubstr("at most 4"));
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->every = 0; }), HasSubstr("choose 1 to 30"));
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->held_out = 1; }), HasSubstr("one in 2 or more"));
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->pages = 0; }), HasSubstr("at least 1"));
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->bits += 1; }), HasSubstr("state the same"));
  EXPECT_THAT(refusal([](Campaign& c) { c.evaluation->step *= 4; }), HasSubstr("state the same"));
  EXPECT_FALSE(with_evaluation(small_campaign(), {.every = 0, .epsilon = 1}));
  EXPECT_FALSE(with_evaluation(small_campaign(), {.every = 31, .epsilon = 1}));
}

TEST(Evaluation, OrdersNameTheVersionAndOnlyCampaignsThatMeasureHaveThem) {
  const OpenedCampaign campaign = signed_campaign(measuring_campaign());
  RoundOrder order;
  order.campaign = campaign.hash;
  order.expires = campaign_begin + std::chrono::hours(1);
  order.evaluates = true;
  EXPECT_TRUE(check_order(order, campaign)) << "the first version has number 0";
  const auto read = decode_order(encode(order));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->evaluates);
  order.bound = 2;
  EXPECT_FALSE(check_order(order, campaign));
  order.bound = 1, order.number = 31;
  EXPECT_FALSE(check_order(order, campaign));
  order.number = 0, order.evaluates = false;
  EXPECT_FALSE(check_order(order, campaign)) << "no round of training has number 0";
  EXPECT_FALSE(decode_order(encode(order) + std::string(1, '\0'))) << "one encoding";
  EXPECT_FALSE(decode_order(encode(order) + std::string(2, '\1')));
  const OpenedCampaign other = signed_campaign(small_campaign());
  order.evaluates = true, order.campaign = other.hash;
  EXPECT_THAT(check_order(order, other).error().message, HasSubstr("asks for no such thing"));
}

// The sums of two groups of devices that all have the same to say.
std::vector<std::vector<std::uint32_t>> sums_of(const Campaign& campaign, std::array<float, 2> numbers,
                                                std::uint32_t attempt) {
  const auto plan = secagg::EncodingPlan::create(campaign.evaluation_encoding()).value();
  const secagg::UpdateEncoder encoder(plan);
  std::vector<std::vector<std::uint32_t>> sums;
  for (std::uint32_t group = 0; group < campaign.cohort / campaign.encoding.devices; ++group) {
    std::vector<std::vector<std::uint32_t>> entries;
    for (std::uint32_t device = 0; device < campaign.encoding.devices; ++device) {
      SeededRandom draws(9, Purpose::noise, attempt, 1000 * group + device);
      entries.push_back(
          encoder.encode(std::span<const float>(numbers), privacy::DeviceRandom::simulated(draws)).value());
    }
    sums.push_back(secagg::modular_sum(entries, plan.modulus()).value());
  }
  return sums;
}

TEST(Evaluation, SaysWhatDevicesSayWithTheNoiseThatItStates) {
  const Campaign campaign =
      with_evaluation(small_campaign(), {.every = 30, .participations = 1, .epsilon = 20}).value();
  constexpr std::uint32_t times = 400;
  double sum = 0, squares = 0, stated = 0;
  for (std::uint32_t attempt = 0; attempt < times; ++attempt) {
    const auto estimate =
        estimate_of(campaign, sums_of(campaign, {1.0F, 0.4F}, attempt), campaign.cohort).value();
    sum += estimate.auc;
    squares += estimate.auc * estimate.auc;
    stated += estimate.noise / times;
  }
  const double mean = sum / times, deviation = std::sqrt(squares / times - mean * mean);
  EXPECT_NEAR(mean, 0.7, 4 * stated / std::sqrt(times) + stated * stated);
  // A standard deviation of 400 values is known to 3.5 %; a ratio of noisy numbers has slightly more.
  EXPECT_NEAR(deviation / stated, 1, 0.15);
}

TEST(Evaluation, RefusesASumThatIsNoiseAlone) {
  const Campaign& campaign = measuring_campaign();
  const auto estimate = estimate_of(campaign, sums_of(campaign, {0, 0}, 1), campaign.cohort);
  ASSERT_FALSE(estimate);
  EXPECT_THAT(estimate.error().message, HasSubstr("too few pages"));
  EXPECT_FALSE(estimate_of(small_campaign(), {}, 40));
}

}  // namespace
}  // namespace sotto::rounds
