// A device against a real server on loopback; the server's answers are canned, the wire is not.

#include "transport/http_transport.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "device/device.h"
#include "device/small_pack.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"
#include "device/wire/server_calls.h"
#include "net/cutting_server.h"
#include "net/http_server.h"
#include "net/http_text.h"
#include "net/negotiation.h"
#include "net/published_body.h"
#include "test_paths.h"

namespace sotto::transport {
namespace {

using ::testing::HasSubstr;
using Source = device::Recommendations::Source;

class HttpTransportTest : public ::testing::Test {
 protected:
  HttpTransportTest() : now_(encode(60)) {
    net::Router router;
    router.add(net::HttpMethod::get, "/v1/pack", [this](const net::HttpRequest& request) {
      const auto from = net::query_value(request.query, "from");
      if (from && *from == *device::pack_version(before_)) {
        net::HttpResponse response;
        response.content_type = net::flat_buffers_type;
        response.headers = {{"Sotto-Delta-From", *from}};
        response.body = *device::encode_delta(before_, *now_);
        return response;
      }
      return net::PublishedBody(*now_, *device::pack_version(*now_), net::flat_buffers_type, 3)
          .respond(request);
    });
    router.add(net::HttpMethod::post, "/v1/recommend", [this](const net::HttpRequest& request) {
      header_names_.clear();
      for (const auto& [name, value] : request.headers) header_names_.push_back(name);
      const auto asked = device::decode_recommend_request(request.body);
      if (!asked) return net::error_response(request, 400, asked.error().message);
      if (refuse_) return net::error_response(request, 410, "this model is gone");
      net::HttpResponse response;
      response.content_type = net::flat_buffers_type;
      response.body = device::encode(device::RecommendAnswer{asked->model, {"N1", "N2", "N3"}, {3, 2, 1}});
      return response;
    });
    server_.emplace(*net::HttpServer::start({}, std::move(router), metrics_));
    transport_.emplace(*HttpTransport::create({.url = server_->url()}));
  }
  static std::shared_ptr<const std::string> encode(std::size_t items) {
    return std::make_shared<const std::string>(*device::encode_pack(device::testing::small_pack(items)));
  }

  std::shared_ptr<const std::string> now_;
  std::string before_ = *device::encode_pack(device::testing::small_pack(50));
  std::vector<std::string> header_names_;
  std::atomic<bool> refuse_{false};
  net::MetricsRegistry metrics_;
  std::optional<net::HttpServer> server_;
  std::optional<HttpTransport> transport_;
};

TEST_F(HttpTransportTest, FetchesWholePacksDeltasAndNothing) {
  const auto whole = transport_->send(device::pack_call(""));
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->status, 200);
  EXPECT_EQ(whole->body, *now_);
  const auto delta = transport_->send(device::pack_call(*device::pack_version(before_)));
  EXPECT_EQ(*device::apply_delta(before_, delta->body), *now_);
  EXPECT_EQ(transport_->send(device::pack_call(*device::pack_version(*now_)))->status, 304);
}

TEST_F(HttpTransportTest, CarriesADeviceThroughADay) {
  const TempFolder folder;
  SeededRandom random(1, Purpose::test);
  device::DeviceSettings settings;
  settings.query.epsilon = 1;
  settings.lifetime_epsilon = 1;
  auto device = device::Device::open(folder / "device", settings, {{}, &random, true});
  ASSERT_TRUE(device) << device.error().message;
  ASSERT_TRUE(device->agree(device->terms(server_->url(), "A page for you", {.asking = true})));
  ASSERT_TRUE(device->install(before_));
  EXPECT_TRUE(*device->refresh(*transport_));
  EXPECT_FALSE(*device->refresh(*transport_));
  ASSERT_TRUE(device->click("N2"));
  const auto page = device->recommend(*transport_, 10);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->source, Source::fresh_query);
  EXPECT_EQ(page->items.size(), 2U);
  // Nothing in the request's head is a device's own.
  EXPECT_THAT(header_names_,
              ::testing::UnorderedElementsAre("Host", "Content-Type", "Content-Length", "Accept"));

  refuse_ = true;
  const auto refused = device->recommend(*transport_, 10);
  EXPECT_EQ(refused->source, Source::local);
  EXPECT_EQ(refused->note, "the server answers 410: this model is gone");
  server_->stop();
  EXPECT_EQ(device->recommend(*transport_, 10)->source, Source::local);
}

// Hands on to the server what it is asked, and breaks off every answer after so many bytes of its body.
net::CuttingServer::Answer cut_after(std::size_t bytes, const std::string& url) {
  return [bytes, url](const std::string& request) {
    std::vector<std::string> lines;
    for (std::size_t at = 0, end = 0; (end = request.find("\r\n", at)) != at; at = end + 2)
      lines.push_back(request.substr(at, end - at));
    net::HttpClient::Call call;
    call.path = lines[0].substr(4, lines[0].rfind(' ') - 4);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::size_t colon = lines[i].find(": ");
      if (!lines[i].starts_with("Host"))
        call.headers.emplace_back(lines[i].substr(0, colon), lines[i].substr(colon + 2));
    }
    auto client = net::HttpClient::create({.url = url}).value();
    net::HttpResponse answer = client.send(call).value();
    std::erase_if(answer.headers, [](const net::HttpField& field) {
      return field.first == "Content-Length" || field.first == "Content-Type";
    });
    return std::pair(answer, bytes);
  };
}

TEST_F(HttpTransportTest, APackComesThroughThoughItsConnectionsBreakOff) {
  const auto coded =
      net::HttpClient::create({.url = server_->url()})->get("/v1/pack", {{"Accept-Encoding", "zstd"}});
  ASSERT_EQ(coded->header("Content-Encoding"), "zstd");
  const std::size_t third = coded->body.size() / 3;
  net::CuttingServer cutting(cut_after(third, server_->url()));
  auto transport = HttpTransport::create({.url = cutting.url()});
  const auto pack = transport->send(device::pack_call(""));
  ASSERT_TRUE(pack) << pack.error().message;
  EXPECT_EQ(pack->status, 200);
  EXPECT_TRUE(pack->body == *now_);
  EXPECT_GE(cutting.stop().size(), 3U);
}

TEST_F(HttpTransportTest, WhatIsSentIsSentOnce) {
  net::CuttingServer cutting([](const std::string&) {
    net::HttpResponse answer;
    answer.headers = {{"ETag", "\"v1\""}, {"Accept-Ranges", "bytes"}};
    answer.body = "an answer";
    return std::pair(answer, std::size_t{3});
  });
  auto transport = HttpTransport::create({.url = cutting.url()});
  EXPECT_FALSE(transport->send({"POST", "/v1/recommend", {}, "a question"}));
  EXPECT_EQ(cutting.stop().size(), 1U);
}

}  // namespace
}  // namespace sotto::transport
