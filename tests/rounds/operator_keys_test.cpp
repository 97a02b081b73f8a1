#include "rounds/operator_keys.h"

#include <gmock/gmock.h>

#include "rounds/small_campaign.h"

namespace sotto::rounds {
namespace {

using ::testing::HasSubstr;

Identity key(std::uint8_t number) {
  std::array<std::uint8_t, 32> seed{};
  seed.fill(number);
  return Identity::from_seed(secagg::Key{std::span<const std::uint8_t, 32>(seed)});
}

OpenedKeyChange change(std::vector<Identity> replaced, const Identity& after, const Identity& signer,
                       bool revokes = false) {
  KeyChange wanted{{}, after.public_key(), revokes, campaign_begin};
  for (const Identity& one : replaced) wanted.replaced.push_back(one.public_key());
  std::sort(wanted.replaced.begin(), wanted.replaced.end());
  return open_key_change(sign_key_change(wanted, signer).value()).value();
}

OpenedCampaign campaign_by(const Identity& signer) {
  return open_campaign(sign_document(campaign_kind, encode(small_campaign()), signer)).value();
}

std::vector<Identity> only(const Identity& one) {
  std::vector<Identity> list;
  list.push_back(Identity::from_seed(one.seed()));
  return list;
}

const Identity first = key(1), second = key(2), third = key(3), recovery = key(9), thief = key(66);

TEST(OperatorKeys, AreReplacedByTheirOwnWord) {
  OperatorKeys keys(first.public_key());
  EXPECT_TRUE(keys.check(campaign_by(first), 0));
  EXPECT_TRUE(keys.follow(change(only(first), second, first), 5));
  EXPECT_EQ(keys.current(), second.public_key());
  EXPECT_TRUE(keys.check(campaign_by(second), 6));
  // What stood in the log before stays good; what came later does not.
  EXPECT_TRUE(keys.check(campaign_by(first), 4));
  EXPECT_THAT(keys.check(campaign_by(first), 5).error().message, HasSubstr("was replaced before"));
  EXPECT_TRUE(keys.follow(change(only(second), third, second), 7));
  EXPECT_EQ(keys.current(), third.public_key());
  EXPECT_TRUE(keys.check(campaign_by(first), 4));
}

TEST(OperatorKeys, ARevokedKeySignedNothing) {
  OperatorKeys keys(first.public_key(), recovery.public_key());
  EXPECT_TRUE(keys.follow(change(only(first), second, recovery, true), 5));
  EXPECT_TRUE(keys.is_revoked(first.public_key()));
  EXPECT_THAT(keys.check(campaign_by(first), 0).error().message, HasSubstr("has revoked"));
  EXPECT_TRUE(keys.check(campaign_by(second), 6));
  // Also one that was retired in good order, and stolen afterwards.
  OperatorKeys later(first.public_key(), recovery.public_key());
  EXPECT_TRUE(later.follow(change(only(first), second, first), 1));
  EXPECT_TRUE(later.follow(change(only(first), second, recovery, true), 2));
  EXPECT_EQ(later.current(), second.public_key());
  EXPECT_FALSE(later.check(campaign_by(first), 0));
}

TEST(OperatorKeys, StrangersAndFormerKeysSayNothing) {
  OperatorKeys keys(first.public_key(), recovery.public_key());
  const std::string before = keys.encode();
  EXPECT_FALSE(keys.follow(change(only(first), third, thief), 1));
  EXPECT_FALSE(keys.follow(change(only(second), thief, second), 1));
  std::vector<Identity> both = only(first);
  both.push_back(key(2));
  EXPECT_FALSE(keys.follow(change(std::move(both), thief, first), 1)) << "it speaks of others";
  EXPECT_EQ(keys.encode(), before);
  OperatorKeys without(first.public_key());
  EXPECT_FALSE(without.follow(change(only(first), second, recovery), 1)) << "no recovery key is pinned";
  ASSERT_TRUE(keys.follow(change(only(first), second, first), 1));
  EXPECT_FALSE(keys.follow(change(only(first), thief, first), 2));
  EXPECT_EQ(keys.current(), second.public_key());
  // A copy of the change with a bit changed anywhere is nobody's.
  std::string document =
      sign_key_change({{second.public_key()}, third.public_key(), false, campaign_begin}, second).value();
  for (std::size_t i = 0; i < document.size(); ++i) {
    std::string wrong = document;
    wrong[i] = static_cast<char>(wrong[i] ^ 1);
    const auto opened = open_key_change(wrong);
    EXPECT_FALSE(opened && OperatorKeys(keys).follow(*opened, 3)) << i;
  }
}

TEST(OperatorKeys, RecoveryOutweighsAThief) {
  OperatorKeys keys(first.public_key(), recovery.public_key());
  ASSERT_TRUE(keys.follow(change(only(first), thief, first), 1));
  ASSERT_EQ(keys.current(), thief.public_key());
  std::vector<Identity> stolen = only(first);
  stolen.push_back(key(66));
  const auto mended = change(std::move(stolen), second, recovery, true);
  ASSERT_TRUE(keys.follow(mended, 2));
  EXPECT_EQ(keys.current(), second.public_key());
  for (const Identity* one : {&first, &thief}) EXPECT_FALSE(keys.check(campaign_by(*one), 0));
  EXPECT_FALSE(keys.follow(change(only(thief), first, thief), 3));
  EXPECT_FALSE(keys.follow(change(only(second), first, recovery), 3)) << "what was replaced never returns";
  // The same word reaches those whom the thief did not reach.
  OperatorKeys others(first.public_key(), recovery.public_key());
  ASSERT_TRUE(others.follow(mended, 2));
  EXPECT_EQ(others.current(), second.public_key());
}

TEST(OperatorKeys, OldChangesDoNotMoveWhoCameLater) {
  // An app that was shipped with the third key reads a log that begins with the first.
  OperatorKeys keys(third.public_key(), recovery.public_key());
  EXPECT_TRUE(keys.follow(change(only(first), second, recovery, true), 1));
  EXPECT_FALSE(keys.follow(change(only(second), third, second), 2));
  EXPECT_EQ(keys.current(), third.public_key());
  EXPECT_TRUE(keys.is_revoked(first.public_key()));
}

TEST(OperatorKeys, AreWrittenAndReadBack) {
  OperatorKeys keys(first.public_key(), recovery.public_key());
  ASSERT_TRUE(keys.follow(change(only(first), second, first), 5));
  ASSERT_TRUE(keys.follow(change(only(second), third, recovery, true), 6));
  const auto read = OperatorKeys::decode(keys.encode());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->encode(), keys.encode());
  EXPECT_EQ(read->current(), third.public_key());
  EXPECT_FALSE(OperatorKeys::decode(keys.encode() + "x"));
  EXPECT_FALSE(OperatorKeys::decode(keys.encode().substr(1)));
}

TEST(OperatorKeys, NonsenseIsNotSigned) {
  const auto refused = [](KeyChange wanted, const Identity& signer) {
    return !sign_key_change(wanted, signer).has_value();
  };
  EXPECT_TRUE(refused({{}, second.public_key(), false, campaign_begin}, first));
  EXPECT_TRUE(refused({{first.public_key()}, first.public_key(), false, campaign_begin}, recovery));
  EXPECT_TRUE(refused({{second.public_key()}, first.public_key(), false, campaign_begin}, first));
  EXPECT_TRUE(refused({{first.public_key(), first.public_key()}, second.public_key(), true, campaign_begin},
                      recovery));
}

}  // namespace
}  // namespace sotto::rounds
