// Rounds of training are paid for once.

#include "ledger_fixture.h"
#include "privacy/ledger/ledger_record.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;

Release round_of(std::uint8_t campaign, std::uint8_t round) {
  TrainingRound named;
  named.campaign.fill(campaign);
  named.round.fill(round);
  return {ReleasePurpose::training, gaussian(5), std::nullopt, "a round", named};
}
TrainingRound::Hash hash_of(std::uint8_t number) {
  TrainingRound::Hash hash{};
  hash.fill(number);
  return hash;
}

class LedgerRounds : public LedgerTest {};

TEST_F(LedgerRounds, AreChargedOnceAlsoAfterARestart) {
  {
    auto ledger = create(settings({lifetime(50)})).value();
    EXPECT_TRUE(ledger.charge(round_of(1, 1), noon));
    EXPECT_TRUE(ledger.charge(round_of(1, 2), noon));
    EXPECT_TRUE(ledger.charge(round_of(2, 3), noon));
    EXPECT_TRUE(refused(ledger.charge(round_of(1, 1), noon), "charged before"));
    EXPECT_TRUE(refused(ledger.charge(round_of(2, 1), noon), "charged before"));
    EXPECT_EQ(ledger.records(), 4U);
  }
  const std::string before = bytes_of(file());
  auto ledger = Ledger::open(file(), noon, first_use).value();
  EXPECT_TRUE(refused(ledger.charge(round_of(1, 2), noon), "charged before"));
  EXPECT_EQ(bytes_of(file()), before);
  EXPECT_EQ(ledger.rounds_of(hash_of(1)), (std::vector{hash_of(1), hash_of(2)}));
  EXPECT_EQ(ledger.rounds_of(hash_of(2)), std::vector{hash_of(3)});
  EXPECT_TRUE(ledger.rounds_of(hash_of(3)).empty());
}

TEST_F(LedgerRounds, OthersMayBeChargedAsOftenAsTheyFit) {
  auto ledger = create(settings({lifetime(50)})).value();
  EXPECT_TRUE(ledger.charge(serving(gaussian(5)), noon));
  EXPECT_TRUE(ledger.charge(serving(gaussian(5)), noon));
  Release wrong = round_of(1, 1);
  wrong.purpose = ReleasePurpose::serving;
  EXPECT_TRUE(refused(ledger.charge(wrong, noon), "leave it out"));
}

TEST(LedgerRoundRecords, HaveOneEncoding) {
  const Charge charge = price(round_of(4, 5), settings({lifetime(50)})).value();
  const std::string bytes = encode(ChargeRecord{noon, charge});
  const auto read = decode_record(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode(*read), bytes);
  EXPECT_EQ(std::get<ChargeRecord>(*read).charge.round->round, hash_of(5));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(decode_record(bytes.substr(0, cut))) << cut;
}

}  // namespace
}  // namespace sotto::privacy
