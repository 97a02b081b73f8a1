#include "rounds/round_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "rounds/enrolment.h"
#include "rounds/model_version.h"
#include "rounds/small_campaign.h"

namespace sotto::rounds {
namespace {

using testing::HasSubstr;

ModelVersion small_version() { return {"a:2 b:1 ", {1.5F, -2, 0}, model_hash()}; }
ItemTable small_table() { return {{"n1", "n2"}, 3, {1, 2, 3, 4, 5, 6}}; }

// Bytes that are cut off or have something behind their end are refused, and so is every changed length.
template <class Decode>
void refuses_anything_else(const std::string& bytes, const Decode& decode) {
  ASSERT_TRUE(decode(bytes));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) EXPECT_FALSE(decode(bytes.substr(0, cut))) << cut;
  EXPECT_FALSE(decode(bytes + "x"));
}

TEST(ModelVersion, ComesBackAsItWasAndNothingElseDoes) {
  const std::string bytes = encode(small_version()).value();
  EXPECT_EQ(decode_model(bytes).value(), small_version());
  refuses_anything_else(bytes, [](const std::string& one) { return decode_model(one).has_value(); });
  std::string other = bytes;
  other[8] = 2;
  EXPECT_THAT(decode_model(other).error().message, HasSubstr("version 2"));
}

TEST(ModelVersion, HasFiniteNumbersAlone) {
  ModelVersion version = small_version();
  version.numbers[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(encode(version).error().message, HasSubstr("number 1"));
  std::string bytes = encode(small_version()).value();
  bytes[bytes.size() - 1] = '\x7f';
  bytes[bytes.size() - 2] = '\x80';
  EXPECT_FALSE(decode_model(bytes));
  version.numbers.clear();
  EXPECT_FALSE(encode(version));
}

TEST(ItemTable, ComesBackAsItWasAndNothingElseDoes) {
  const std::string bytes = encode(small_table()).value();
  EXPECT_EQ(decode_items(bytes).value(), small_table());
  refuses_anything_else(bytes, [](const std::string& one) { return decode_items(one).has_value(); });
}

TEST(ItemTable, HasEachItemOnceInOrder) {
  ItemTable table = small_table();
  table.ids = {"n2", "n1"};
  EXPECT_THAT(encode(table).error().message, HasSubstr("ascend"));
  table.ids = {"n1", "n1"};
  EXPECT_FALSE(encode(table));
  table.ids = {"", "n1"};
  EXPECT_FALSE(encode(table));
  table = small_table();
  table.dimension = 2;
  EXPECT_FALSE(encode(table));
}

TEST(RoundMessages, ComeBackAsTheyWere) {
  const LogPage page{4, {{LeafKind::campaign, model_hash()}, {LeafKind::pack, model_hash()}}};
  refuses_anything_else(encode(page),
                        [](const std::string& one) { return decode_log_page(one).has_value(); });
  EXPECT_EQ(decode_log_page(encode(page))->entries, page.entries);
  const GroupPlace place{model_hash(), "an invitation"};
  refuses_anything_else(encode(place),
                        [](const std::string& one) { return decode_group_place(one).has_value(); });
  refuses_anything_else(encode(CheckIn{model_hash()}),
                        [](const std::string& one) { return decode_check_in(one).has_value(); });
  OfferMessage offer;
  offer.campaign = "a document";
  offer.head.head = {2, model_hash(), campaign_begin};
  offer.model_entry = {1, {model_hash()}};
  const auto again = decode_offer(encode(offer));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->campaign, offer.campaign);
  EXPECT_EQ(again->model_entry.path, offer.model_entry.path);
}

TEST(RequestSignature, HoldsForMethodPathAndBodyTogether) {
  const Identity device = test_key(40);
  const Signature signature = device.sign(request_statement("POST", "/v1/checkin", "body"));
  const auto holds = [&](std::string_view method, std::string_view path, std::string_view body) {
    return verify(signature, request_statement(method, path, body), device.public_key());
  };
  EXPECT_TRUE(holds("POST", "/v1/checkin", "body"));
  EXPECT_FALSE(holds("PUT", "/v1/checkin", "body"));
  EXPECT_FALSE(holds("POST", "/v1/checkinb", "ody")) << "nothing moves from one to the next";
  EXPECT_FALSE(holds("POST", "/v1/checkin", "bodY"));
}

TEST(Enrolment, NeedsTheOperatorsTokenInTimeAndTheDevicesKey) {
  const Identity device = test_key(40), other = test_key(41);
  EnrolmentToken token{model_hash(), true, campaign_begin + std::chrono::hours(1)};
  const std::string bytes = sign_token(token, operator_key());
  const auto enrolment = enrolment_of(bytes, device, operator_key().public_key());
  ASSERT_TRUE(enrolment);
  const auto check = [](const Enrolment& one, UtcTime time) {
    return check_enrolment(one, OperatorKeys(operator_key().public_key()), time).has_value();
  };
  EXPECT_TRUE(check(*enrolment, campaign_begin));
  EXPECT_FALSE(check(*enrolment, token.expires));
  Enrolment stolen = *enrolment;
  stolen.device = other.public_key();
  EXPECT_FALSE(check(stolen, campaign_begin));
  EXPECT_FALSE(enrolment_of(sign_token(token, other), device, operator_key().public_key()));
  EXPECT_FALSE(check_enrolment(*enrolment, OperatorKeys(other.public_key()), campaign_begin));
  refuses_anything_else(encode(*enrolment),
                        [](const std::string& one) { return decode_enrolment(one).has_value(); });
}

}  // namespace
}  // namespace sotto::rounds
