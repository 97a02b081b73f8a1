#include "rounds/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "privacy/accounting/account.h"
#include "rounds/two_sums_campaign.h"

namespace sotto::rounds {
namespace {

using ::testing::HasSubstr;

TEST(Campaign, HasOneEncoding) {
  for (const auto server : {secagg::ServerModel::semi_honest, secagg::ServerModel::active}) {
    Campaign campaign = small_campaign(server);
    campaign.encoding.rotation_seed = 5;
    const std::string body = encode(campaign);
    EXPECT_EQ(encode(decode_campaign(body).value()), body);
    for (std::size_t cut = 0; cut < body.size(); ++cut)
      EXPECT_FALSE(decode_campaign(body.substr(0, cut))) << cut;
    EXPECT_FALSE(decode_campaign(body + std::string(1, '\0')));
  }
}

TEST(Campaign, RefusesBytesThatAreNotCanonical) {
  Campaign campaign = small_campaign();
  const std::string body = encode(campaign);
  campaign.epsilon = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(decode_campaign(encode(campaign)));
  campaign.epsilon = -0.0;
  EXPECT_FALSE(decode_campaign(encode(campaign)));
  campaign = small_campaign();
  campaign.purpose = "line\nbreak";
  EXPECT_FALSE(decode_campaign(encode(campaign)));
  campaign = small_campaign();
  campaign.witnesses.assign(17, {});
  EXPECT_FALSE(decode_campaign(encode(campaign)));
  // Every byte means something: with any of them changed it is another campaign or none.
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::string bent = body;
    bent[i] = static_cast<char>(bent[i] ^ 0x10);
    const auto read = decode_campaign(bent);
    if (read) {
      EXPECT_EQ(encode(*read), bent) << i;
    }
  }
}

TEST(Campaign, IsSignedByTheOperatorAlone) {
  const std::string bytes = sign_campaign(small_campaign(), operator_key()).value();
  const OpenedCampaign opened = open_campaign(bytes).value();
  EXPECT_TRUE(opened.is_signed_by(operator_key().public_key()));
  EXPECT_FALSE(opened.is_signed_by(coordinator_key().public_key()));
  EXPECT_EQ(opened.hash, hash_of_body(campaign_kind, encode(small_campaign())));
  for (const std::size_t at : {std::size_t{40}, bytes.size() - 1}) {
    std::string bent = bytes;
    bent[at] = static_cast<char>(bent[at] ^ 1);
    const auto read = open_campaign(bent);
    EXPECT_TRUE(!read || !read->is_signed_by(operator_key().public_key())) << at;
  }
  EXPECT_FALSE(open_campaign(bytes + "x"));
  std::string later = bytes;
  later[8] = 2;
  EXPECT_THAT(open_campaign(later).error().message, HasSubstr("version 2"));
}

TEST(Campaign, TermsAreWorkedOutAgain) {
  const Campaign campaign = small_campaign();
  const CampaignTerms terms = terms_of(campaign).value();
  EXPECT_EQ(terms.plan.settings().noise_multiplier, campaign.encoding.noise_multiplier);
  EXPECT_LE(terms.guarantee.epsilon, 8);
  EXPECT_GT(terms.guarantee.epsilon, 7.9);  // no more noise than needed
  EXPECT_EQ(terms.guarantee.adversary, privacy::Adversary::server);
  EXPECT_EQ(terms.event.count, 1U);
  EXPECT_EQ(terms.group.clients, 20U);
  EXPECT_EQ(terms.group.minimum_alive, 18U);
  EXPECT_GT(terms.bytes.up, 50 * campaign.bits / 8);
  EXPECT_GT(terms.bytes.down, 0U);
}

TEST(Campaign, AnUploadGrowsByItsEntriesAlone) {
  const auto bytes_with = [](std::uint64_t dimension) {
    Campaign campaign = small_campaign();
    campaign.encoding.dimension = dimension;
    campaign.max_upload_bytes = 10'000'000;
    campaign.epsilon = 100;
    campaign.bits = campaign.plan(1).value().modulus().bits();
    return std::pair(terms_of(campaign).value().bytes.up, campaign.bits);
  };
  const auto [small, small_bits] = bytes_with(64);
  const auto [large, large_bits] = bytes_with(64 * 1000);
  EXPECT_EQ(large - small, 8 * 1000 * large_bits - 8 * small_bits);
}

TEST(Campaign, OfTwoSumsHasTermsRoundByRoundAndPaysForTheCostlierOneTwice) {
  const Campaign campaign = two_sums_campaign();
  const auto opened = open_campaign(sign_campaign(campaign, operator_key()).value());
  EXPECT_EQ(opened->campaign.second, campaign.second);
  EXPECT_EQ(encode(opened->campaign), encode(campaign));
  const CampaignTerms first = terms_of(campaign, 1).value(), second = terms_of(campaign, 2).value();
  EXPECT_EQ(first.plan.settings().dimension, 40U);
  EXPECT_EQ(second.plan.settings().dimension, 36U);
  EXPECT_TRUE(first.plan.settings().nonnegative && !first.plan.settings().products);
  EXPECT_TRUE(second.plan.settings().products && !second.plan.settings().nonnegative);
  EXPECT_EQ(terms_of(campaign, 3)->plan.settings().dimension, 36U);
  EXPECT_EQ(first.guarantee.epsilon, second.guarantee.epsilon) << "of all participations";
  EXPECT_LE(first.guarantee.epsilon, 8 * (1 + 1e-9));
  privacy::PrivacyEvent twice = second.event;
  twice.count = 2;
  EXPECT_NEAR(first.guarantee.epsilon,
              privacy::account_best({&twice, 1}, 1e-6, privacy::Adversary::server)->epsilon, 1e-9)
      << "a sum that failed may be gathered again";
  const std::vector<privacy::PrivacyEvent> once = {first.event, second.event};
  EXPECT_LT(privacy::account_best(once, 1e-6, privacy::Adversary::server)->epsilon, 7.5);
}

TEST(Campaign, OfOneSumHasTheBytesThatItHadBeforeThereWereTwo) {
  Campaign campaign = two_sums_campaign();
  const std::string both = encode(campaign);
  campaign.second.reset();
  const std::string one = encode(campaign);
  EXPECT_EQ(both.substr(0, one.size()), one);
  EXPECT_FALSE(decode_campaign(both.substr(0, both.size() - 1)));
}

TEST(Campaign, CostsWhatSoManyParticipationsDo) {
  const Campaign one = small_campaign(), two = two_sums_campaign();
  EXPECT_EQ(cost_of(one, one.participations, one.delta)->epsilon, terms_of(one)->guarantee.epsilon);
  EXPECT_EQ(cost_of(two, 2, two.delta)->epsilon, terms_of(two)->guarantee.epsilon);
  EXPECT_LT(cost_of(two, 1, two.delta)->epsilon, cost_of(two, 2, two.delta)->epsilon);
}

TEST(Campaign, OfTwoSumsIsRefusedWhereTheSecondCannotHold) {
  const auto told = [](const std::function<void(Campaign&)>& change) {
    Campaign campaign = two_sums_campaign();
    change(campaign);
    const auto terms = terms_of(campaign);
    return terms ? "was taken" : terms.error().message;
  };
  EXPECT_THAT(told([](Campaign& c) { c.second->noise_multiplier /= 2; }), HasSubstr("raise the noise"));
  EXPECT_THAT(told([](Campaign& c) { c.second->bits += 1; }), HasSubstr("bits an entry"));
  EXPECT_THAT(told([](Campaign& c) { c.rounds = c.participations = 1; }), HasSubstr("needs two"));
  EXPECT_THAT(told([](Campaign& c) { c.max_upload_bytes = 200; }), HasSubstr("would send"));
  EXPECT_THAT(told([](Campaign& c) { c.encoding.clip_bit_weight = 0.5; }), HasSubstr("clip bit"));
}

struct Impossible {
  std::string name, told;
  std::function<void(Campaign&)> change;
};

class ImpossibleCampaigns : public ::testing::TestWithParam<Impossible> {};

TEST_P(ImpossibleCampaigns, AreNotSigned) {
  Campaign campaign = small_campaign();
  GetParam().change(campaign);
  const auto refused = sign_campaign(campaign, operator_key());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(refused.error().message, HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    Campaign, ImpossibleCampaigns,
    ::testing::Values(
        Impossible{"Purpose", "purpose", [](Campaign& c) { c.purpose.clear(); }},
        Impossible{"Recipe", "recipe", [](Campaign& c) { c.recipe = "So to"; }},
        Impossible{"LocalOrder", "alphabet", [](Campaign& c) { std::swap(c.local[0], c.local[1]); }},
        Impossible{"LocalName", "local setting", [](Campaign& c) { c.local[0].name = "a b"; }},
        Impossible{"Cohort", "groups of 20", [](Campaign& c) { c.cohort = 39; }},
        Impossible{"Population", "population of 39", [](Campaign& c) { c.population = 39; }},
        Impossible{"Denominator", "must be over the cohort",
                   [](Campaign& c) { c.encoding.denominator = 20; }},
        Impossible{"Participations", "participations", [](Campaign& c) { c.participations = 31; }},
        Impossible{"MoreParticipations", "raise the noise", [](Campaign& c) { c.participations = 6; }},
        Impossible{"Epsilon", "raise the noise", [](Campaign& c) { c.epsilon = 7; }},
        Impossible{"Noise", "raise the noise", [](Campaign& c) { c.encoding.noise_multiplier *= 0.9; }},
        Impossible{"NoNoise", "without noise", [](Campaign& c) { c.encoding.noise_multiplier = 0; }},
        Impossible{"Delta", "one over the population", [](Campaign& c) { c.delta = 1e-3; }},
        Impossible{"Bits", "bits an entry", [](Campaign& c) { c.bits = 12; }},
        Impossible{"Corrupted", "", [](Campaign& c) { c.encoding.corrupted = 17; }},
        Impossible{"Upload", "max_upload_bytes", [](Campaign& c) { c.max_upload_bytes = 1000; }},
        Impossible{"Security", "security", [](Campaign& c) { c.security_bits = 10; }},
        Impossible{"Phases", "phase", [](Campaign& c) { c.longest_phase_seconds = 1; }},
        Impossible{"Training", "training", [](Campaign& c) { c.max_training_seconds = 0; }},
        Impossible{"Validity", "valid from", [](Campaign& c) { c.valid_until = c.valid_from; }},
        Impossible{"OwnWitness", "twice", [](Campaign& c) { c.witnesses[0] = c.coordinator; }},
        Impossible{"NoKey", "zeros", [](Campaign& c) { c.coordinator = {}; }},
        Impossible{"Witnesses", "cosign", [](Campaign& c) { c.witnesses_needed = 3; }}),
    [](const auto& each) { return each.param.name; });

TEST(Campaign, HoldsWithinItsTimeOnly) {
  const Campaign campaign = small_campaign();
  EXPECT_TRUE(check_time(campaign, campaign.valid_from));
  EXPECT_FALSE(check_time(campaign, campaign.valid_from - std::chrono::seconds(1)));
  EXPECT_TRUE(check_time(campaign, campaign.valid_until - std::chrono::seconds(1)));
  EXPECT_FALSE(check_time(campaign, campaign.valid_until));
}

}  // namespace
}  // namespace sotto::rounds
