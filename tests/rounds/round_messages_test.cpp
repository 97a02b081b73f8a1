#include "rounds/round_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "rounds/enrolment.h"
#include "rounds/small_blobs.h"

namespace sotto::rounds {
namespace {

using ::testing::HasSubstr;

// Bytes that are cut off or have something behind their end are refused, and so is every changed length.
template <class Decode>
void refuses_anything_else(const std::string& bytes, const Decode& decode) {
  ASSERT_TRUE(decode(bytes));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) EXPECT_FALSE(decode(bytes.substr(0, cut))) << cut;
  EXPECT_FALSE(decode(bytes + "x"));
}

TEST(ModelVersion, ComesBackAsItWasAndNothingElseDoes) {
  const std::string bytes = encode(full_version()).value();
  EXPECT_EQ(decode_model(bytes).value(), full_version());
  refuses_anything_else(bytes, [](const std::string& one) { return decode_model(one).has_value(); });
  std::string other = bytes;
  other[8] = 3;
  const auto later = decode_model(other);
  ASSERT_FALSE(later);
  EXPECT_THAT(later.error().message, HasSubstr("version 3"));
}

TEST(ModelVersion, HasFiniteNumbersAlone) {
  ModelVersion version = full_version();
  version.numbers.numbers[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(encode(version).error().message, HasSubstr("number 1"));
  version = full_version();
  version.items.scales[0] = 0x7c00;
  EXPECT_THAT(encode(version).error().message, HasSubstr("not finite"));
  version = full_version();
  version.items = {};
  std::string bytes = encode(version).value();
  const std::size_t behind = 4 + 4 + 1;  // the empty table
  bytes[bytes.size() - behind - 1] = '\x7f';
  bytes[bytes.size() - behind - 2] = '\x80';
  EXPECT_FALSE(decode_model(bytes));
  version.numbers = {};
  EXPECT_FALSE(encode(version));
}

// Of one list of whole numbers, as versions before wrote it.
TEST(ModelVersion, IsReadInTheFirstFormAndNothingElseIs) {
  ByteWriter model;
  model.raw("SOTTOMOD");
  model.number(std::uint16_t{1});
  model.raw(std::string(32, '\0'));
  model.long_text("a:2 b:1 ");
  model.number(std::uint32_t{3});
  for (const float number : {1.0F, -2.0F, 0.5F}) model.number(std::bit_cast<std::uint32_t>(number));
  EXPECT_EQ(decode_model(model.bytes()).value(), plain_version());
  refuses_anything_else(model.bytes(), [](const std::string& one) { return decode_model(one).has_value(); });
  ByteWriter items;
  items.raw("SOTTOITM");
  items.number(std::uint16_t{1});
  items.number(std::uint32_t{2});
  items.number(std::uint32_t{2});
  for (const char* id : {"N1", "N2"}) items.text(id);
  for (const float number : {1.0F, 2.0F, 3.0F, 4.0F}) items.number(std::bit_cast<std::uint32_t>(number));
  EXPECT_EQ(decode_items(items.bytes()).value(), plain_table());
  refuses_anything_else(items.bytes(), [](const std::string& one) { return decode_items(one).has_value(); });
}

TEST(ItemTable, ComesBackAsItWasAndNothingElseDoes) {
  const std::string bytes = encode(full_table()).value();
  EXPECT_EQ(decode_items(bytes).value(), full_table());
  refuses_anything_else(bytes, [](const std::string& one) { return decode_items(one).has_value(); });
}

TEST(ModelVersion, HasScaledRowsAsTheirStepsTimesTheirScales) {
  EXPECT_EQ(full_version().items.values(), (std::vector<float>{1, -31.75F, 16 * 0x1p-24F, 0}));
  EXPECT_EQ(full_version().numbers.values(), (std::vector<float>{1.5F, -2, 0}));
  const NumberRows large{1, {}, {0x7bff, 0x3c00}, {1, -1}};
  EXPECT_EQ(large.values(), (std::vector<float>{65504, -1}));
}

TEST(ItemTable, HasEachItemOnceAndEverythingForAllOfThem) {
  const auto refuses = [](const auto& change) {
    ItemTable table = full_table();
    change(table);
    return !encode(table).has_value();
  };
  EXPECT_TRUE(refuses([](ItemTable& table) { table.ids = {"n1", "n1"}; }));
  EXPECT_TRUE(refuses([](ItemTable& table) { table.ids = {"", "n1"}; }));
  EXPECT_TRUE(refuses([](ItemTable& table) { table.vectors.columns = 2; }));
  EXPECT_TRUE(refuses([](ItemTable& table) { table.titles[0].offsets = {0, 3}; }));
  EXPECT_TRUE(refuses([](ItemTable& table) { table.titles[0].offsets = {0, 4, 3}; }));
  EXPECT_TRUE(refuses([](ItemTable& table) { table.fields[1].codes.push_back(1); }));
  EXPECT_TRUE(refuses([](ItemTable& table) { table.reader_fields.push_back(table.reader_fields[0]); }));
  EXPECT_TRUE(refuses([](ItemTable& table) { table.situation_fields[1].values[1] = "monday"; }));
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
