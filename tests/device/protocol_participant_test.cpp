// A device before a coordinator that is not what it should be.

#include <gtest/gtest.h>

#include "device/rounds/participant.h"
#include "rounds/round_messages.h"
#include "rounds/small_campaign.h"
#include "test_paths.h"

namespace sotto::device {
namespace {

// Its log has no end, and nothing it says is signed.
class EndlessLog final : public Transport {
 public:
  Result<ServerAnswer> send(const ServerCall& call) override {
    if (call.path == "/v1/order") {
      rounds::OfferMessage offer;
      offer.head.head.size = std::uint64_t{1} << 60;
      return ServerAnswer{200, encode(offer)};
    }
    constexpr std::string_view log = "/v1/log?from=";
    if (!call.path.starts_with(log)) return failed("there is no {}", call.path);
    if (entries > 3'000'000) return bad_input("the device would have gone on");
    entries += rounds::LogPage::most;
    const std::uint64_t from = std::stoull(call.path.substr(log.size()));
    return ServerAnswer{200,
                        encode(rounds::LogPage{from, std::vector<rounds::LogLeaf>(rounds::LogPage::most)})};
  }
  std::size_t entries = 0;
};

// What a device makes of what this coordinator offers.
Result<Participation> take_part_with(Transport& coordinator) {
  const TempFolder folder;
  auto ledger = privacy::Ledger::create(folder / "ledger",
                                        {privacy::Unit::user,
                                         privacy::Adjacency::replace_one,
                                         privacy::RequestOrder::adaptive,
                                         privacy::SensitivitySettings::create({"news"}).value(),
                                         {{privacy::BudgetWindow::lifetime, std::nullopt, 100, 1e-5}}},
                                        rounds::campaign_begin, {.first_use = true})
                    .value();
  SecretDraws draws;
  const std::vector<StoredImpression> no_impressions;
  const StoredRows no_rows;
  Conversation<Participation> talk([&](Exchange& exchange) {
    return take_part(exchange,
                     {.identity = std::make_shared<const secagg::Identity>(rounds::test_key(42)),
                      .ledger = ledger,
                      .clock = [] { return privacy::ClockReading(rounds::campaign_begin); },
                      .keys = std::make_shared<rounds::OperatorKeys>(rounds::operator_key().public_key()),
                      .purpose = rounds::small_campaign().purpose,
                      .policy = {.epsilon = 8,
                                 .delta = 1e-6,
                                 .group = 20,
                                 .corrupted = 0.1,
                                 .server = secagg::ServerModel::semi_honest,
                                 .witnesses = 0,
                                 .upload_bytes = 100'000,
                                 .training_seconds = 60},
                      .log_file = folder / "log",
                      .keys_file = folder / "keys",
                      .items_file = folder / "items",
                      .impressions = no_impressions,
                      .rows = no_rows,
                      .draws = draws,
                      .cancelled = [] { return false; }});
  });
  return carry(std::move(talk), coordinator, no_pause);
}

TEST(Participant, ReadsNoLogWithoutEnd) {
  EndlessLog coordinator;
  const auto done = take_part_with(coordinator);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->outcome, Participation::Outcome::refused);
  EXPECT_LE(coordinator.entries, 1'000'000U) << "what a device holds is bounded before it knows who speaks";
}

// Its log has changes of the operator's key alone, each as large as it says, before anything is checked.
class EndlessKeyChanges final : public Transport {
 public:
  explicit EndlessKeyChanges(std::size_t bytes) : change_(bytes, 'x') {}
  Result<ServerAnswer> send(const ServerCall& call) override {
    constexpr std::uint64_t entries = 20'000;
    if (call.path == "/v1/order") {
      rounds::OfferMessage offer;
      offer.head.head.size = entries;
      return ServerAnswer{200, encode(offer)};
    }
    constexpr std::string_view log = "/v1/log?from=";
    if (call.path.starts_with(log)) {
      const rounds::LogLeaf change{rounds::LeafKind::keys, rounds::blob_hash(change_)};
      return ServerAnswer{200, encode(rounds::LogPage{std::stoull(call.path.substr(log.size())),
                                                      std::vector(rounds::LogPage::most, change)})};
    }
    ++fetched;
    return ServerAnswer{200, change_};
  }
  std::size_t fetched = 0;

 private:
  const std::string change_;
};

TEST(Participant, FetchesNoChangesOfKeysWithoutEnd) {
  EndlessKeyChanges many(100), large(1'000'000);
  for (EndlessKeyChanges* coordinator : {&many, &large}) {
    const auto done = take_part_with(*coordinator);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->outcome, Participation::Outcome::refused);
  }
  EXPECT_LE(many.fetched, rounds::OperatorKeys::most_former);
  EXPECT_EQ(large.fetched, 1U);
}

}  // namespace
}  // namespace sotto::device
