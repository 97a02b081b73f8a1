// What the reader's page gets: everybody the same.

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "device/wire/pack_codec.h"
#include "net/http_client.h"
#include "rounds/small_campaign.h"
#include "serving/http/serving_server.h"
#include "serving/pool/synthetic_pool.h"
#include "test_paths.h"

namespace sotto::serving {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Result<std::shared_ptr<const ItemEncoder>> no_encoder(const device::DevicePack&) {
  return std::shared_ptr<const ItemEncoder>();
}

class ReaderPage : public ::testing::Test {
 protected:
  ReaderPage() {
    settings.model = folder / "pack";
    settings.catalogue = folder / "catalogue";
    settings.durability = Durability::process_end;
    settings.reader.enabled = true;
    settings.reader.service = "Harbour \"News\"";
    if (!write_file_atomically(settings.model, device::encode_pack(synthetic_pack().value()).value()))
      throw std::runtime_error("no pack");
  }
  TempFolder folder;
  ServeSettings settings;
};

net::HttpResponse get(const std::string& url, const std::string& path) {
  return net::HttpClient::create({.url = url}).value().get(path).value();
}

TEST_F(ReaderPage, HandsOutTheEditionAndWhatItAsksFor) {
  settings.reader.epsilon = 4;
  const auto server = ServingServer::start(settings, no_encoder);
  ASSERT_TRUE(server) << server.error().message;
  const std::string url = (*server)->url();
  EXPECT_TRUE(json::parse(get(url, "/v1/stories").body)["stories"].empty());
  ASSERT_TRUE(fill_with_synthetic_items((*server)->pool(), 20, 1'700'000'000, 1000));
  ASSERT_TRUE((*server)->tick(1'700'000'000));
  const auto stories = json::parse(get(url, "/v1/stories").body)["stories"];
  ASSERT_EQ(stories.size(), 20U);
  for (const char* key : {"id", "title", "text", "category", "published"})
    EXPECT_TRUE(stories[0].contains(key)) << key;
  const auto offer = json::parse(get(url, "/v1/reader").body);
  EXPECT_EQ(offer["service"], "Harbour \"News\"");
  EXPECT_EQ(offer["epsilon"], 4);
  EXPECT_EQ(offer["day_epsilon"], 12);
  const auto page = get(url, "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("/assets/"));
}

// The newest stories alone, in pages that stay as they are when there are newer ones.
TEST_F(ReaderPage, HandsOutALargeEditionByPages) {
  settings.reader.stories = 1500;
  const auto server = ServingServer::start(settings, no_encoder);
  ASSERT_TRUE(server) << server.error().message;
  const std::string url = (*server)->url();
  ASSERT_TRUE(fill_with_synthetic_items((*server)->pool(), 3100, 1'700'000'000, 1000));
  ASSERT_TRUE((*server)->tick(1'700'000'000));
  const auto page = [&](const std::string& query) {
    const auto said = get(url, "/v1/stories" + query);
    EXPECT_EQ(said.status, 200) << query;
    return json::parse(said.body);
  };
  const auto newest = page("");
  EXPECT_EQ(newest["page"], 3);
  EXPECT_EQ(newest["first"], 1) << "1,600 are not in the edition, so page 0 is not";
  EXPECT_EQ(newest["stories"].size(), 100U);
  std::vector<std::pair<std::int64_t, std::string>> stories;
  for (int number = 1; number <= 3; ++number) {
    const auto said = page("?page=" + std::to_string(number));
    for (const auto& one : said["stories"])
      stories.emplace_back(one["published"].get<std::int64_t>(), one["id"].get<std::string>());
  }
  ASSERT_EQ(stories.size(), 2100U);
  EXPECT_TRUE(std::is_sorted(stories.begin(), stories.end())) << "oldest first";
  std::int64_t oldest_elsewhere = 0;
  for (const auto& one : (*server)->pool().catalogue().all())
    if (!std::binary_search(stories.begin(), stories.end(), std::pair(one->item.published, one->item.id)))
      oldest_elsewhere = std::max(oldest_elsewhere, one->item.published);
  EXPECT_LE(oldest_elsewhere, stories.front().first) << "nothing newer is left out";
  EXPECT_EQ(get(url, "/v1/stories?page=0").status, 404);
  EXPECT_EQ(get(url, "/v1/stories?page=4").status, 404);
  EXPECT_EQ(get(url, "/v1/stories?page=-1").status, 400);
  EXPECT_EQ(get(url, "/v1/stories?page=x").status, 400);
}

TEST_F(ReaderPage, NamesTheLogThatItsEditionsAreIn) {
  auto log = ServedLog::open(folder / "log", rounds::coordinator_key(), {rounds::witness_key().public_key()},
                             Durability::process_end);
  ASSERT_TRUE(log) << log.error().message;
  settings.reader.witnesses_needed = 1;
  const auto server = ServingServer::start(settings, no_encoder, *std::move(log));
  ASSERT_TRUE(server) << server.error().message;
  const auto offer = json::parse(get((*server)->url(), "/v1/reader").body);
  EXPECT_EQ(offer["log"]["key"], to_hex(rounds::coordinator_key().public_key()));
  EXPECT_EQ(offer["log"]["witnesses"], json::array({to_hex(rounds::witness_key().public_key())}));
  EXPECT_EQ(offer["log"]["witnesses_needed"], 1);
}

TEST_F(ReaderPage, OffersNoQuestionThatTellsNothing) {
  const auto server = ServingServer::start(settings, no_encoder);
  ASSERT_TRUE(server) << server.error().message;
  const auto offer = json::parse(get((*server)->url(), "/v1/reader").body);
  EXPECT_TRUE(offer["epsilon"].is_null());
  EXPECT_TRUE(offer["log"].is_null()) << "and no log where none is kept";
}

TEST_F(ReaderPage, IsServedWhenAskedForAlsoBesideBlindServing) {
  settings.blind.enabled = true;
  {
    const auto both = ServingServer::start(settings, no_encoder);
    ASSERT_TRUE(both) << both.error().message;
    EXPECT_EQ(json::parse(get((*both)->url(), "/v1/reader").body)["blind"], true);
  }
  settings.blind.enabled = false;
  {
    const auto page = ServingServer::start(settings, no_encoder);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(json::parse(get((*page)->url(), "/v1/reader").body)["blind"], false);
  }
  settings.reader.enabled = false;
  const auto neither = ServingServer::start(settings, no_encoder);
  ASSERT_TRUE(neither) << neither.error().message;
  EXPECT_EQ(get((*neither)->url(), "/").status, 404);
  EXPECT_EQ(get((*neither)->url(), "/v1/stories").status, 404);
}

}  // namespace
}  // namespace sotto::serving
