#ifdef SOTTO_HAVE_PROTOCOL

#include "cli/campaign_draft.h"

#include <gtest/gtest.h>

#include "rounds/small_campaign.h"
#include "test_paths.h"

namespace sotto::cli {
namespace {

TEST(CampaignDraft, SaysEveryFieldOfTheCampaignAndIsReadBackToTheLastBit) {
  for (const auto server : {secagg::ServerModel::semi_honest, secagg::ServerModel::active}) {
    rounds::Campaign campaign = rounds::small_campaign(server);
    campaign.encoding.rotation_seed = ~std::uint64_t{0};
    campaign.encoding.clip_bit_weight = 0.5;
    campaign.encoding.entry_clip = 1.0 / 3;
    campaign.encoding.noise = privacy::ShareKind::discrete_gaussian;
    campaign.encoding.adjacency = privacy::Adjacency::add_remove;
    CampaignDraft written = CampaignDraft::of(campaign), read;
    SettingsTable from, to;
    written.bind(from);
    read.bind(to);
    const TempFolder folder;
    ASSERT_TRUE(write_file_atomically(folder / "draft.toml", from.to_toml()));
    ASSERT_TRUE(to.load_toml(folder / "draft.toml"));
    const auto again = read.campaign();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(rounds::encode(*again), rounds::encode(campaign));
  }
}

TEST(CampaignDraft, ReadsDaysAndTimesInOneSpelling) {
  EXPECT_EQ(privacy::to_text(parse_time("2026-03-01", "day").value()), "2026-03-01 00:00:00 UTC");
  EXPECT_EQ(privacy::to_text(parse_time("2026-03-01 06:30:07 UTC", "time").value()),
            "2026-03-01 06:30:07 UTC");
  for (const char* wrong :
       {"", "2026-02-30", "2026-3-1", "01.03.2026", "2026-03-01 24:00:00 UTC", "2026-03-01 06:30:07",
        "2026-03-01 06:30:07 CET", "2026-03-01T06:30:07Z", "9999999999"})
    EXPECT_FALSE(parse_time(wrong, "day")) << wrong;
}

TEST(CampaignDraft, PutsLocalSettingsInOrder) {
  const auto settings = parse_local("  negatives=20 max_history=50 ").value();
  EXPECT_EQ(settings, (std::vector<rounds::LocalSetting>{{"max_history", "50"}, {"negatives", "20"}}));
  EXPECT_TRUE(parse_local("").value().empty());
  EXPECT_FALSE(parse_local("negatives"));
  EXPECT_FALSE(parse_local("=20"));
}

}  // namespace
}  // namespace sotto::cli

#endif
