#include <gmock/gmock.h>

#include "device/device_fixture.h"
#include "device/history/history_store.h"
#include "full_disk.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::device {
namespace {

using Source = Recommendations::Source;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

using testing::DeviceTest;
using testing::FakeServer;

TEST_F(DeviceTest, RecommendsWithoutWhatWasSeen) {
  Device device = open();
  EXPECT_THAT(device.recommend(server, 5).error().message, HasSubstr("no pack is installed"));
  EXPECT_FALSE(device.click("N1"));
  EXPECT_TRUE(*device.refresh(server));
  EXPECT_FALSE(*device.refresh(server));
  for (const char* item : {"N1", "N2", "N3"}) ASSERT_TRUE(device.click(item));
  EXPECT_EQ(device.clicks(), 3U);
  const auto page = device.recommend(server, 100);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->source, Source::fresh_query);
  EXPECT_EQ(page->note, "");
  EXPECT_EQ(page->items.size(), 37U);
  for (const RankedItem& item : page->items) {
    EXPECT_FALSE(item.item == "N1" || item.item == "N2" || item.item == "N3");
  }
  for (std::size_t i = 1; i < page->items.size(); ++i)
    EXPECT_GE(page->items[i - 1].score, page->items[i].score);
}

TEST_F(DeviceTest, RanksAgainWithoutAsking) {
  Device device = open();
  EXPECT_THAT(device.rank_again({}, 5).error().message, HasSubstr("no pack is installed"));
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.recommend(server, 5));
  const std::size_t asked = server.requests.size();
  const std::vector<std::string> few = {"N4", "N5", "N6"};
  const auto before = device.rank_again(few, 10);
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->items.size(), 3U);
  EXPECT_EQ(before->source, Source::local);
  ASSERT_TRUE(device.click("N5"));
  const auto after = device.rank_again(few, 10);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->items.size(), 2U) << "what was read is not shown again";
  EXPECT_NE(after->items.front().score, before->items.front().score) << "and counts";
  EXPECT_EQ(device.rank_again({}, 100)->items.size(), 39U) << "of the whole pool where nothing is named";
  EXPECT_EQ(server.requests.size(), asked);
}

TEST_F(DeviceTest, RepeatsTheSameBytesUntilTheClockSaysOtherwise) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.recommend(server, 5));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(device.click("N" + std::to_string(i)));
    EXPECT_EQ(device.recommend(server, 5)->source, Source::repeated_query);
    EXPECT_EQ(server.requests.back(), server.requests.front());
  }
  now += 24h;
  EXPECT_EQ(device.recommend(server, 5)->source, Source::fresh_query);
  now += 24h;
  EXPECT_EQ(device.recommend(server, 5)->source, Source::expired_query);
  EXPECT_EQ(device.statement()->total.charges, 2U);
}

TEST_F(DeviceTest, GoesOnAfterBeingClosedAtAnyPoint) {
  { ASSERT_TRUE(open().refresh(server)); }
  { ASSERT_TRUE(open().click("N5")); }
  { EXPECT_EQ(open().recommend(server, 5)->source, Source::fresh_query); }
  Device device = open();
  EXPECT_EQ(device.pack_version(), *pack_version(server.bytes));
  EXPECT_EQ(device.clicks(), 1U);
  EXPECT_EQ(device.recommend(server, 5)->source, Source::repeated_query);
  EXPECT_EQ(server.requests[0], server.requests[1]);
  EXPECT_FALSE(Device::open(folder / "device", settings));  // the ledger is locked
}

TEST_F(DeviceTest, AsksForThePublicListWhenTheBudgetIsSpent) {
  { ASSERT_TRUE(open().refresh(server)); }
  for (int i = 0; i < 2; ++i, now += 24h) ASSERT_EQ(open().recommend(server, 5)->source, Source::fresh_query);
  fs::remove(folder / "device" / "answers.sotto");  // what was drawn is lost, what was told stays told
  Device device = open();
  ASSERT_TRUE(device.click("N1"));
  const auto page = device.recommend(server, 5);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->source, Source::popular);
  EXPECT_EQ(page->note, "the budget is spent");
  EXPECT_TRUE(std::holds_alternative<privacy::PopularQuery>(server.last().query));
  EXPECT_EQ(page->items.size(), 5U);
  EXPECT_EQ(device.statement()->total.charges, 2U);
}

TEST_F(DeviceTest, SaysThatOneAnswerIsMoreThanTheBudget) {
  settings.lifetime_epsilon = 0.5;
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  const auto page = device.recommend(server, 5);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->source, Source::popular);
  EXPECT_THAT(page->note, HasSubstr("one answer tells more than the whole budget of epsilon 0.5"));
  EXPECT_EQ(device.statement()->total.charges, 0U);
}

// Samplers are 2^-80 from their law, which e^50 makes a δ of 0.02: it must not be charged like that.
TEST_F(DeviceTest, ALargeBudgetPaysForEveryMechanism) {
  settings.lifetime_epsilon = 50;
  settings.query.epsilon = 5;
  settings.query.refresh_hours = 1;
  const auto answers_of = [&](const std::string& mechanism, const std::string& noise) {
    settings.query.mechanism = mechanism;
    settings.query.noise = noise;
    settings.query.delta = noise == "gaussian" ? 1e-7 : 0;
    Device device = open(mechanism + noise);
    EXPECT_TRUE(device.refresh(server));
    std::size_t fresh = 0;
    for (int i = 0; i < 60; ++i, now += 1h) {
      const auto page = device.recommend(server, 5);
      EXPECT_TRUE(page) << page.error().message;
      EXPECT_EQ(page->note, "") << mechanism;
      if (page->source == Source::fresh_query) ++fresh;
    }
    const auto statement = device.statement();
    EXPECT_EQ(statement->total.charges, fresh);
    EXPECT_LE(statement->total.spent.epsilon, 50 * (1 + 1e-9)) << mechanism;
    return fresh;
  };
  EXPECT_EQ(answers_of("prototypes", "laplace"), 10U);
  EXPECT_EQ(answers_of("coefficients", "laplace"), 10U);
  EXPECT_GE(answers_of("coefficients", "gaussian"), 10U) << "Gaussian noise composes better than the sum";
}

TEST_F(DeviceTest, AFullDiskCostsNothingAndThePublicListIsLeft) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  {
    const FullDisk disk(1000);
    const auto page = device.recommend(server, 5);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->source, Source::popular);
    EXPECT_THAT(page->note, HasSubstr("nothing was charged"));
    EXPECT_EQ(device.statement()->total.charges, 0U);
  }
  EXPECT_EQ(device.recommend(server, 5)->source, Source::fresh_query);
}

TEST_F(DeviceTest, RanksThePackWithoutANetwork) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  server.down = true;
  const auto page = device.recommend(server, 5);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->source, Source::local);
  EXPECT_EQ(page->note, "no network");
  EXPECT_EQ(page->items.size(), 5U);
}

TEST_F(DeviceTest, LocalRankingSendsNothingAndNeedsNoBudget) {
  settings = {};
  settings.ranking = "local";
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.click("N1"));
  EXPECT_EQ(device.recommend(server, 5)->source, Source::local);
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(DeviceTest, PrivateRankingNeedsABudget) {
  settings.lifetime_epsilon = 0;
  const auto device = Device::open(folder / "device", settings, {});
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("no budget covers everything"));
}

TEST_F(DeviceTest, FollowsThePackByDeltas) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.click("N1"));
  DevicePack later = testing::small_pack(60);
  later.categories.push_back("travel");
  server.publish(later);
  EXPECT_TRUE(*device.refresh(server));
  EXPECT_EQ(device.pack_version(), *pack_version(server.bytes));
  EXPECT_TRUE(device.click("N55"));
  EXPECT_THAT(device.statement()->settings.sensitivity.categories(),
              ::testing::ElementsAre("uncategorised", "health", "politics", "sports", "travel"));
}

TEST_F(DeviceTest, ABadPackChangesNothing) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  const std::string version = device.pack_version();
  EXPECT_FALSE(device.install("nonsense"));
  EXPECT_FALSE(device.install(server.bytes.substr(0, server.bytes.size() / 2)));
  EXPECT_EQ(device.pack_version(), version);
  EXPECT_TRUE(device.recommend(server, 5));
}

TEST_F(DeviceTest, AnOldAnswerIsNotSentToANewModel) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.recommend(server, 5));
  server.publish(testing::retrained(pack));
  ASSERT_TRUE(device.install(server.bytes));
  // It names the model it was drawn for; the server refuses, and no new one is drawn before its time.
  const auto page = device.recommend(server, 5);
  EXPECT_EQ(page->source, Source::popular);
  EXPECT_EQ(page->note, "the server answers 410: this model is gone");
  now += 24h;
  EXPECT_EQ(device.recommend(server, 5)->source, Source::fresh_query);
}

TEST_F(DeviceTest, UnprotectedQueriesCostNothingAndIgnoreSensitiveClicks) {
  settings.query.reads = "unprotected";
  settings.query.epsilon = 0;
  settings.query.mechanism = "coefficients";
  settings.not_sensitive = {"sports"};
  std::vector<std::string> sent;
  for (const bool also_sensitive : {false, true}) {
    Device device = open(also_sensitive ? "a" : "b");
    ASSERT_TRUE(device.refresh(server));
    for (int i = 0; i < 20; ++i) {
      const auto at = std::find(pack.items.ids.begin(), pack.items.ids.end(), "N" + std::to_string(i));
      const bool sports = pack.items.categories[static_cast<std::size_t>(at - pack.items.ids.begin())] == 2;
      if (sports || also_sensitive) {
        ASSERT_TRUE(device.click(*at));
      }
    }
    const auto page = device.recommend(server, 5);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->source, Source::fresh_query);
    EXPECT_EQ(device.statement()->total.charges, 0U);
    sent.push_back(server.requests.back());
  }
  EXPECT_EQ(sent[0], sent[1]);
}

TEST_F(DeviceTest, TheFolderAndWhatTellsAboutItsOwnerAreTheOwnersAlone) {
  {
    Device device = open();
    ASSERT_TRUE(device.refresh(server));
    ASSERT_TRUE(device.click("N1"));
    ASSERT_TRUE(device.recommend(server, 5));
  }
  const auto mode = [&](const fs::path& path) { return fs::status(path).permissions() & fs::perms::all; };
  EXPECT_EQ(mode(folder / "device"), fs::perms::owner_all);
  for (const char* file : {"history.sotto", "ledger.sotto", "answers.sotto"}) {
    EXPECT_EQ(mode(folder / "device" / file), fs::perms::owner_read | fs::perms::owner_write) << file;
  }
}

TEST_F(DeviceTest, RefusesAFolderThatOthersMayLookInto) {
  fs::create_directory(folder / "open");
  for (const fs::perms others : {fs::perms::group_read, fs::perms::others_exec}) {
    fs::permissions(folder / "open", fs::perms::owner_all | others);
    const auto device = Device::open(folder / "open", settings, {{}, &random, true});
    ASSERT_FALSE(device);
    EXPECT_THAT(device.error().message, HasSubstr("other people may look into the folder"));
    EXPECT_THAT(device.error().message, HasSubstr("chmod 700"));
    EXPECT_TRUE(fs::is_empty(folder / "open"));
  }
  fs::permissions(folder / "open", fs::perms::owner_all);
  EXPECT_TRUE(Device::open(folder / "open", settings, {{}, &random, true}));
}

TEST_F(DeviceTest, ADeletedFolderDoesNotBringTheBudgetBack) {
  anchor = privacy::anchor_file(folder / "anchor");
  {
    Device device = open();
    ASSERT_TRUE(device.refresh(server));
    ASSERT_EQ(device.recommend(server, 5)->source, Source::fresh_query);
  }
  fs::remove_all(folder / "device");
  Device device = open();  // the host states first use as always; its anchor knows better
  ASSERT_TRUE(device.refresh(server));
  const auto page = device.recommend(server, 5);
  EXPECT_EQ(page->source, Source::popular);
  EXPECT_THAT(page->note, HasSubstr("nothing tells what was charged before"));
}

TEST_F(DeviceTest, WithoutAStatementOfFirstUseNothingIsTold) {
  first_use = false;
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  EXPECT_EQ(device.recommend(server, 5)->source, Source::popular);
  EXPECT_EQ(device.statement()->total.charges, 0U);
}

// A server that calls clicks about health "sports" asks for them exactly and for nothing.
TEST_F(DeviceTest, RelabelledItemsStayProtectedAndAreShown) {
  settings.query.reads = "unprotected";
  settings.query.epsilon = 0;
  settings.query.mechanism = "coefficients";
  settings.not_sensitive = {"sports"};
  std::vector<std::string> sent;
  for (const bool clicks_health : {false, true}) {
    FakeServer relabelling{pack};
    Device device = open(clicks_health ? "a" : "b");
    ASSERT_TRUE(device.refresh(relabelling));
    ASSERT_TRUE(device.click("N2"));
    if (clicks_health) {
      ASSERT_TRUE(device.click("N3"));
    }
    DevicePack later = pack;
    for (auto& category : later.items.categories) category = 2;
    relabelling.publish(later);
    ASSERT_TRUE(device.refresh(relabelling));
    EXPECT_FALSE(device.label_changes().empty());
    ASSERT_TRUE(device.recommend(relabelling, 5));
    sent.push_back(relabelling.requests.back());
  }
  EXPECT_EQ(sent[0], sent[1]);
}

// A name that the server chooses for each device would come back with every request.
TEST_F(DeviceTest, AModelsNameCannotTagADevice) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.recommend(server, 5));
  EXPECT_EQ(server.last().model, *model_name(pack));
  EXPECT_EQ(device.pack_version().size(), 64U);
  std::string tagged = server.bytes;
  const auto at = tagged.find(pack.model);
  ASSERT_NE(at, std::string::npos);
  tagged.replace(at, 11, "reader-4711");
  EXPECT_THAT(device.install(tagged).error().message, HasSubstr("not the hash of its contents"));
}

TEST_F(DeviceTest, ForgetsClicksButNotWhatWasTold) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.click("N1"));
  ASSERT_TRUE(device.recommend(server, 5));
  ASSERT_TRUE(device.forget_reading());
  EXPECT_EQ(device.clicks(), 0U);
  EXPECT_EQ(device.statement()->total.charges, 1U);
  // The answer told of the clicks, and is gone with them: another one is paid for again.
  EXPECT_EQ(device.recommend(server, 5)->source, Source::fresh_query);
  EXPECT_EQ(device.statement()->total.charges, 2U);
}

TEST_F(DeviceTest, ForgetsOneReadAndNothingElse) {
  Device device = open();
  ASSERT_TRUE(device.refresh(server));
  ASSERT_TRUE(device.click("N1"));
  ASSERT_TRUE(device.add_page({"N2", "N3"}, {1, 0}));
  ASSERT_TRUE(device.add_page({"N3", "N2", "N4"}, {1, 0, 0}));
  ASSERT_TRUE(device.add_row("N2", 4.0F, {}));
  const std::vector<std::string> few = {"N2", "N5"};
  ASSERT_EQ(device.recommend(server, 5)->source, Source::fresh_query);

  ASSERT_TRUE(device.forget_item("N2"));
  EXPECT_EQ(device.clicks(), 2U) << "N1 and N3 stay";
  ASSERT_EQ(device.pages().size(), 2U);
  EXPECT_THAT(device.pages()[0].shown, ::testing::ElementsAre("N3"));
  EXPECT_THAT(device.pages()[0].clicked, ::testing::ElementsAre(0));
  EXPECT_THAT(device.pages()[1].shown, ::testing::ElementsAre("N3", "N2", "N4")) << "it was left alone there";
  EXPECT_THAT(device.pages()[1].history, ::testing::Not(::testing::Contains("N2")));
  EXPECT_TRUE(device.rows().rows.empty());
  EXPECT_EQ(device.rank_again(few, 5)->items.size(), 2U) << "it may be shown again";
  EXPECT_EQ(device.recommend(server, 5)->source, Source::repeated_query) << "no new answer tells of it";
  EXPECT_EQ(device.statement()->total.charges, 1U);

  ASSERT_TRUE(device.forget_item("N3"));
  EXPECT_EQ(device.pages().size(), 2U);
  ASSERT_TRUE(device.forget_item("N1"));
  EXPECT_THAT(device.forget_item("N1").error().message,
              HasSubstr("nothing that was read is about the item \"N1\""));
  EXPECT_EQ(device.clicks(), 0U);

  // Opened again it knows no more than that.
  { const Device closed = std::move(device); }
  const Device again = open();
  EXPECT_EQ(again.clicks(), 0U);
  EXPECT_EQ(again.pages()[1].shown.size(), 2U) << "of the second page N3 is gone too";
}

}  // namespace
}  // namespace sotto::device
