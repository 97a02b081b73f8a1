// What the reader's page gets: everybody the same.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "device/wire/pack_codec.h"
#include "net/http_client.h"
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

TEST_F(ReaderPage, OffersNoQuestionThatTellsNothing) {
  const auto server = ServingServer::start(settings, no_encoder);
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_TRUE(json::parse(get((*server)->url(), "/v1/reader").body)["epsilon"].is_null());
}

TEST_F(ReaderPage, IsServedWhenAskedForAndNotBesideBlindServing) {
  settings.blind.enabled = true;
  const auto both = ServingServer::start(settings, no_encoder);
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("serve one of them"));
  settings.blind.enabled = false;
  settings.reader.enabled = false;
  const auto neither = ServingServer::start(settings, no_encoder);
  ASSERT_TRUE(neither) << neither.error().message;
  EXPECT_EQ(get((*neither)->url(), "/").status, 404);
  EXPECT_EQ(get((*neither)->url(), "/v1/stories").status, 404);
}

}  // namespace
}  // namespace sotto::serving
