// A device before a coordinator that is not what it should be.

#include <gtest/gtest.h>

#include "device/rounds/participant.h"
#include "device/sdk/training.h"
#include "rounds/small_campaign.h"
#include "test_paths.h"

namespace sotto::device {
namespace {

// Its log has no end, and nothing it says is signed.
class EndlessLog final : public RoundTransport {
 public:
  Result<std::optional<std::string>> fetch_offer() override {
    rounds::OfferMessage offer;
    offer.head.head.size = std::uint64_t{1} << 60;
    return std::optional(encode(offer));
  }
  Result<std::string> fetch_log(std::uint64_t from) override {
    if (entries > 3'000'000) return bad_input("the device would have gone on");
    entries += rounds::LogPage::most;
    return encode(rounds::LogPage{from, std::vector<rounds::LogLeaf>(rounds::LogPage::most)});
  }
  Result<std::string> fetch_blob(const rounds::Digest&) override { return failed("there is none"); }
  Result<Reply> enrol(std::string_view) override { return failed("not here"); }
  Result<Reply> post(std::string_view, std::string_view, const rounds::IdentityKey&,
                     const rounds::Signature&) override {
    return failed("not here");
  }
  std::size_t entries = 0;
};

TEST(Participant, ReadsNoLogWithoutEnd) {
  const TempFolder folder;
  auto ledger = privacy::Ledger::create(folder / "ledger",
                                        {privacy::Unit::user,
                                         privacy::Adjacency::replace_one,
                                         privacy::RequestOrder::adaptive,
                                         privacy::SensitivitySettings::create({"news"}).value(),
                                         {{privacy::BudgetWindow::lifetime, std::nullopt, 100, 1e-5}}},
                                        rounds::campaign_begin, {.first_use = true})
                    .value();
  const secagg::Identity identity = rounds::test_key(42);
  EndlessLog coordinator;
  SecretDraws draws;
  const std::vector<StoredImpression> no_impressions;
  const auto done =
      take_part(coordinator, {.identity = identity,
                              .ledger = ledger,
                              .clock = [] { return privacy::ClockReading(rounds::campaign_begin); },
                              .operator_key = rounds::operator_key().public_key(),
                              .policy = {.epsilon = 8,
                                         .delta = 1e-6,
                                         .group = 20,
                                         .corrupted = 0.1,
                                         .server = secagg::ServerModel::semi_honest,
                                         .witnesses = 0,
                                         .upload_bytes = 100'000,
                                         .training_seconds = 60},
                              .log_file = folder / "log",
                              .items_file = folder / "items",
                              .impressions = no_impressions,
                              .draws = draws,
                              .cancelled = [] { return false; },
                              .wait = [](std::chrono::milliseconds) {}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->outcome, Participation::Outcome::refused);
  EXPECT_LE(coordinator.entries, 1'000'000U) << "what a device holds is bounded before it knows who speaks";
}

}  // namespace
}  // namespace sotto::device
