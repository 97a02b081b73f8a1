// A device and the server as they are in production: pack, private query, ingestion, delta, a new model.

#include <gtest/gtest.h>

#include <chrono>

#include "base/random.h"
#include "device/device.h"
#include "device/wire/pack_codec.h"
#include "device/wire/server_calls.h"
#include "serving/http/serving_server.h"
#include "serving/pool/synthetic_pool.h"
#include "serving/start_time.h"
#include "test_paths.h"
#include "transport/http_transport.h"

namespace sotto::serving {
namespace {

using testing::start_time;

class WholeSystem : public ::testing::Test {
 protected:
  WholeSystem() {
    write_pack(1);
    ServeSettings settings;
    settings.model = folder_ / "pack";
    settings.catalogue = folder_ / "catalogue";
    settings.pack_seconds = 1;
    settings.durability = Durability::process_end;
    server_ = ServingServer::start(settings, [](const device::DevicePack&) {
                return Result<std::shared_ptr<const ItemEncoder>>(std::make_shared<ConstantEncoder>());
              }).value();
    EXPECT_TRUE(fill_with_synthetic_items(server_->pool(), 400, start_time, 1000));
    EXPECT_TRUE(server_->tick(start_time));
    transport_.emplace(transport::HttpTransport::create({.url = server_->url()}).value());
  }
  class ConstantEncoder final : public ItemEncoder {
    Result<std::vector<std::vector<float>>> encode(std::span<const CatalogueItem> items) const override {
      return std::vector<std::vector<float>>(items.size(), std::vector<float>(64, 0.125F));
    }
  };
  void write_pack(float number) {
    device::DevicePack pack = synthetic_pack().value();
    pack.average_user[0] = number;
    pack.model = device::model_name(pack).value();
    ASSERT_TRUE(write_file_atomically(folder_ / "pack", device::encode_pack(pack).value()));
    fs::last_write_time(folder_ / "pack", fs::file_time_type() + std::chrono::seconds(++writes_));
  }
  device::Device device(const std::string& mechanism) {
    device::DeviceSettings settings;
    settings.query.mechanism = mechanism;
    settings.query.epsilon = 1;
    settings.lifetime_epsilon = 10;
    auto opened = device::Device::open(
                      folder_ / mechanism, settings,
                      {[] { return privacy::UtcTime(std::chrono::seconds(start_time)); }, &random_, true})
                      .value();
    EXPECT_TRUE(opened.agree(opened.terms(server_->url(), "A page for you", {.asking = true})));
    return opened;
  }

  const TempFolder folder_;
  int writes_ = 0;
  SeededRandom random_{1, Purpose::test};
  std::unique_ptr<ServingServer> server_;
  std::optional<transport::HttpTransport> transport_;
};

TEST_F(WholeSystem, ADeviceIsServedThroughIngestionAndANewModel) {
  device::Device reader = device("prototypes");
  ASSERT_TRUE(reader.refresh(*transport_).value());
  ASSERT_TRUE(reader.click("item-7"));
  const auto first = reader.recommend(*transport_, 10);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->source, device::Recommendations::Source::fresh_query) << first->note;
  EXPECT_EQ(first->items.size(), 10U);

  // An article more: the device fetches the difference.
  CatalogueItem fresh;
  fresh.id = "fresh";
  fresh.title = "Fresh";
  fresh.category = "sports";
  fresh.published = start_time;
  ASSERT_TRUE(server_->pool().put({fresh}));
  ASSERT_TRUE(server_->tick(start_time + 5));
  const std::string before = reader.pack_version();
  const auto difference = transport_->send(device::pack_call(before));
  EXPECT_LT(difference->body.size(), transport_->send(device::pack_call(""))->body.size() / 2);
  ASSERT_TRUE(reader.refresh(*transport_).value());
  EXPECT_NE(reader.pack_version(), before);
  EXPECT_TRUE(reader.click("fresh"));

  // A new model: a device that has the old pack is still answered, and then takes the new one.
  write_pack(2);
  ASSERT_TRUE(server_->tick(start_time + 10));
  const auto second = reader.recommend(*transport_, 10);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->items.size(), 10U);
  ASSERT_TRUE(reader.refresh(*transport_).value());
  EXPECT_TRUE(reader.recommend(*transport_, 10));
}

TEST_F(WholeSystem, BothMechanismsAreAnswered) {
  for (const char* mechanism : {"prototypes", "coefficients"}) {
    device::Device reader = device(mechanism);
    ASSERT_TRUE(reader.refresh(*transport_).value());
    const auto page = reader.recommend(*transport_, 5);
    ASSERT_TRUE(page) << mechanism << ": " << page.error().message;
    EXPECT_EQ(page->source, device::Recommendations::Source::fresh_query) << mechanism << ": " << page->note;
    EXPECT_EQ(page->items.size(), 5U);
  }
}

}  // namespace
}  // namespace sotto::serving
