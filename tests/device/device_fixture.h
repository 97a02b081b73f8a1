#pragma once
// A device and the server it is recommended by, in one process.

#include <gmock/gmock.h>

#include "device/device.h"
#include "device/small_pack.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"
#include "test_paths.h"

namespace sotto::device::testing {

using namespace std::chrono_literals;

// A server in the same process that remembers every byte it was sent.
class FakeServer final : public Transport {
 public:
  explicit FakeServer(const DevicePack& pack) : pack_(pack), bytes(*encode_pack(pack)) {}

  Result<ServerAnswer> send(const ServerCall& call) override {
    if (down) return failed("no network");
    return call.path == "/v1/recommend" ? recommend(call.body) : fetch_pack(call.path);
  }
  void publish(const DevicePack& pack) {
    old = bytes;
    pack_ = pack;
    bytes = *encode_pack(pack);
  }
  RecommendRequest last() const { return *decode_recommend_request(requests.back()); }

  bool down = false;
  std::vector<std::string> requests;

 private:
  Result<ServerAnswer> fetch_pack(std::string_view path) {
    if (path.ends_with(*pack_version(bytes))) return ServerAnswer{304, {}};
    if (!old.empty() && path.ends_with(*pack_version(old))) {
      SOTTO_TRY(auto delta, encode_delta(old, bytes));
      return ServerAnswer{200, std::move(delta)};
    }
    return ServerAnswer{200, bytes};
  }
  Result<ServerAnswer> recommend(const std::string& body) {
    requests.push_back(body);
    SOTTO_TRY(const auto request, decode_recommend_request(body));
    if (request.model != pack_.model) return ServerAnswer{410, R"({"error":"this model is gone"})"};
    std::vector<std::string> items = pack_.items.ids;
    items.resize(std::min<std::size_t>(items.size(), request.count));
    const std::vector<float> scores(items.size(), 1);
    return ServerAnswer{200, encode(RecommendAnswer{pack_.model, items, scores})};
  }
  DevicePack pack_;

 public:
  std::string bytes, old;
};

class DeviceTest : public ::testing::Test {
 protected:
  DeviceTest() {
    settings.query.epsilon = 1;
    settings.query.wanted = 50;
    settings.lifetime_epsilon = 2;
  }
  Device open(std::string_view name = "device") {
    auto device = Device::open(folder / name, settings,
                               {[this] { return privacy::ClockReading(now); }, &random, first_use, anchor});
    if (!device) throw std::runtime_error(device.error().message);
    if (agrees && !device->agree(device->terms("paper.example", "A page for you", {.asking = true})))
      throw std::runtime_error("nobody could agree");
    return std::move(*device);
  }
  bool agrees = true;
  bool first_use = true;
  std::shared_ptr<privacy::AnchorStore> anchor;
  TempFolder folder;
  SeededRandom random{7, Purpose::test};
  privacy::UtcTime now{std::chrono::sys_days{std::chrono::year{2026} / 3 / 14} + 12h};
  DeviceSettings settings;
  DevicePack pack = small_pack(40);
  FakeServer server{pack};
};

}  // namespace sotto::device::testing
