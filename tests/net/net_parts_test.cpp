#include <gmock/gmock.h>

#include <stdexcept>

#include "net/address_limits.h"
#include "net/http_text.h"
#include "net/metrics.h"
#include "net/negotiation.h"
#include "net/router.h"
#include "proto/serving_generated.h"

namespace sotto::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

HttpRequest request_with(HttpFields headers) {
  HttpRequest request;
  request.headers = std::move(headers);
  return request;
}

TEST(Router, PrefersFixedSegmentsWhateverTheOrder) {
  const auto handler = [](const HttpRequest&) { return HttpResponse{}; };
  Router router;
  router.add(HttpMethod::get, "/a/{x}", handler);
  router.add(HttpMethod::get, "/a/b", handler);
  router.add(HttpMethod::get, "/{y}/b", handler);
  router.add(HttpMethod::put, "/a/{x}", handler);
  const auto pattern = [&](HttpMethod method, std::string_view path) {
    const auto match = router.match(method, path);
    return match.route ? router.routes()[*match.route].pattern : "none: " + match.allowed;
  };
  EXPECT_EQ(pattern(HttpMethod::get, "/a/b"), "/a/b");
  EXPECT_EQ(pattern(HttpMethod::head, "/a/c"), "/a/{x}");
  EXPECT_EQ(pattern(HttpMethod::put, "/a/b"), "/a/{x}");
  EXPECT_EQ(pattern(HttpMethod::get, "/c/b"), "/{y}/b");
  EXPECT_EQ(pattern(HttpMethod::post, "/a/c"), "none: GET, HEAD, PUT");
  EXPECT_EQ(pattern(HttpMethod::get, "/a/b/"), "none: ");
  EXPECT_EQ(pattern(HttpMethod::get, ""), "none: ");
  EXPECT_EQ(pattern(HttpMethod::get, "a/b"), "none: ");
}

TEST(Router, RefusesBrokenAndRepeatedPatterns) {
  const auto handler = [](const HttpRequest&) { return HttpResponse{}; };
  Router router;
  router.add(HttpMethod::get, "/a/{x}", handler);
  EXPECT_THROW(router.add(HttpMethod::get, "/a/{y}", handler), std::logic_error);
  EXPECT_THROW(router.add(HttpMethod::get, "a", handler), std::logic_error);
  EXPECT_THROW(router.add(HttpMethod::get, "/{}", handler), std::logic_error);
  EXPECT_THROW(router.add(HttpMethod::get, "/{x", handler), std::logic_error);
}

TEST(AddressLimits, GiveABurstThenTheRate) {
  AddressLimits limits({.requests_per_second = 10, .burst = 3});
  const AddressLimits::Address one{1};
  const AddressLimits::Address two{2};
  AddressLimits::Clock::time_point now{1h};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limits.request(one, now));
  EXPECT_FALSE(limits.request(one, now));
  EXPECT_TRUE(limits.request(two, now));
  EXPECT_FALSE(limits.request(one, now + 99ms));
  EXPECT_TRUE(limits.request(one, now + 100ms));
  EXPECT_FALSE(limits.request(one, now + 100ms));
  now += 1h;
  int taken = 0;
  while (limits.request(one, now)) ++taken;
  EXPECT_EQ(taken, 3);
}

TEST(AddressLimits, CountsASubscriberOfIpv6Once) {
  AddressLimits limits({.connections = 1});
  const AddressLimits::Clock::time_point now{};
  const AddressLimits::Address a{0x20, 1, 0, 0, 0, 0, 0, 7, 1};
  const AddressLimits::Address same_64{0x20, 1, 0, 0, 0, 0, 0, 7, 2};
  const AddressLimits::Address other_64{0x20, 1, 0, 0, 0, 0, 0, 8, 1};
  AddressLimits::Address v4_a{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  AddressLimits::Address v4_b = v4_a;
  v4_b[15] = 2;
  EXPECT_TRUE(limits.connect(a, now));
  EXPECT_FALSE(limits.connect(same_64, now));
  EXPECT_TRUE(limits.connect(other_64, now));
  EXPECT_TRUE(limits.connect(v4_a, now));
  EXPECT_TRUE(limits.connect(v4_b, now));
  limits.disconnect(a);
  EXPECT_TRUE(limits.connect(same_64, now));
}

TEST(AddressLimits, RemembersABoundedNumberOfAddresses) {
  AddressLimits limits({.connections = 5, .requests_per_second = 1, .burst = 2, .max_idle = 100});
  const AddressLimits::Clock::time_point now{};
  const AddressLimits::Address connected{99};
  EXPECT_TRUE(limits.connect(connected, now));
  for (unsigned i = 0; i < 10'000; ++i) {
    const AddressLimits::Address address{1, static_cast<unsigned char>(i),
                                         static_cast<unsigned char>(i >> 8U)};
    EXPECT_TRUE(limits.request(address, now));
    ASSERT_LE(limits.remembered(), 102U);
  }
  // Those with a connection are never forgotten.
  for (int i = 1; i < 5; ++i) EXPECT_TRUE(limits.connect(connected, now));
  EXPECT_FALSE(limits.connect(connected, now));
}

TEST(Negotiation, AnswersInTheFormThatIsWanted) {
  EXPECT_EQ(wanted_form(request_with({})), BodyForm::json);
  EXPECT_EQ(wanted_form(request_with({{"Accept", "*/*"}})), BodyForm::json);
  EXPECT_EQ(wanted_form(request_with({{"accept", "Application/X-FlatBuffers"}})), BodyForm::flatbuffers);
  EXPECT_EQ(wanted_form(request_with({{"Content-Type", "application/x-flatbuffers"}})),
            BodyForm::flatbuffers);
  EXPECT_EQ(wanted_form(request_with(
                {{"Content-Type", "application/x-flatbuffers"}, {"Accept", "application/json"}})),
            BodyForm::json);
  EXPECT_EQ(
      wanted_form(request_with({{"Accept", "application/x-flatbuffers;q=0.5, application/json;v=1;q=0.9"}})),
      BodyForm::json);
  EXPECT_EQ(wanted_form(request_with({{"Accept", "application/json;q=0.1,application/x-flatbuffers"}})),
            BodyForm::flatbuffers);
  EXPECT_EQ(*sent_form(request_with({{"Content-Type", "application/json; charset=utf-8"}})), BodyForm::json);
  EXPECT_THAT(sent_form(request_with({{"Content-Type", "text/xml"}})).error().message,
              HasSubstr("application/json"));
}

TEST(Negotiation, WritesErrorsInBothForms) {
  EXPECT_EQ(error_response(BodyForm::json, 400, "a \"b\" \xff").body,
            "{\"error\":\"a \\\"b\\\" \xef\xbf\xbd\"}\n");
  const HttpResponse binary = error_response(BodyForm::flatbuffers, 404, "gone");
  EXPECT_EQ(binary.content_type, flat_buffers_type);
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(binary.body.data()),
                                 binary.body.size());
  ASSERT_TRUE(verifier.VerifyBuffer<wire::ServingError>("SOSV"));
  const auto* read = flatbuffers::GetRoot<wire::ServingError>(binary.body.data());
  EXPECT_EQ(read->status(), 404);
  EXPECT_EQ(read->message()->str(), "gone");
}

TEST(Negotiation, ReadsErrorsOfBothForms) {
  for (const BodyForm form : {BodyForm::json, BodyForm::flatbuffers}) {
    EXPECT_EQ(error_text(error_response(form, 404, "gone")), "gone");
    EXPECT_EQ(error_text(error_response(form, 404, "a\x1b[2Jb")), "a[2Jb");
    HttpResponse damaged = error_response(form, 404, "gone");
    damaged.body.resize(5);
    EXPECT_EQ(error_text(damaged), "Not Found");
  }
}

TEST(Metrics, AreWrittenInPrometheusForm) {
  MetricsRegistry registry;
  registry.counter("requests_total", "Requests", {{"route", "/a\"b\\c\n"}}).add(3);
  registry.counter("requests_total", "ignored", {{"route", "/a\"b\\c\n"}}).add();
  registry.gauge("open", "Open").set(-2);
  const double bounds[] = {0.5, 1};
  Histogram& seconds = registry.histogram("seconds", "Seconds", bounds, {{"route", "/"}});
  for (const double value : {0.25, 0.5, 0.75, 4.0}) seconds.observe(value);
  EXPECT_EQ(registry.to_text(),
            "# HELP open Open\n# TYPE open gauge\nopen -2\n"
            "# HELP requests_total Requests\n# TYPE requests_total counter\n"
            "requests_total{route=\"/a\\\"b\\\\c\\n\"} 4\n"
            "# HELP seconds Seconds\n# TYPE seconds histogram\n"
            "seconds_bucket{route=\"/\",le=\"0.5\"} 2\nseconds_bucket{route=\"/\",le=\"1\"} 3\n"
            "seconds_bucket{route=\"/\",le=\"+Inf\"} 4\nseconds_sum{route=\"/\"} "
            "5.5\nseconds_count{route=\"/\"} 4\n");
  EXPECT_THROW(registry.gauge("requests_total", ""), std::logic_error);
  EXPECT_THROW(registry.gauge("1x", ""), std::logic_error);
}

TEST(TrustedProxies, AreNamedByAddressOrNetwork) {
  const TrustedProxies proxies = TrustedProxies::parse("10.0.0.7, 192.0.2.0/25,2001:db8::/33").value();
  const auto trusted = [&](std::string_view text) { return proxies.contain(*parse_address(text)); };
  EXPECT_TRUE(trusted("10.0.0.7"));
  EXPECT_FALSE(trusted("10.0.0.6"));
  EXPECT_TRUE(trusted("192.0.2.127"));
  EXPECT_FALSE(trusted("192.0.2.128"));
  EXPECT_TRUE(trusted("2001:db8:7fff::1"));
  EXPECT_FALSE(trusted("2001:db8:8000::1"));
  EXPECT_FALSE(TrustedProxies::parse("").value().contain(*parse_address("10.0.0.7")));
  for (const char* wrong :
       {"proxy", "10.0.0.7/33", "10.0.0.7/", "10.0.0.7/-1", "::1/129", "::1/2147483647"}) {
    EXPECT_THAT(TrustedProxies::parse(wrong).error().message, HasSubstr(wrong));
  }
  const PeerAddress proxy = *parse_address("10.0.0.7");
  const auto client = [&](std::string_view field) { return proxies.client_of(proxy, field); };
  EXPECT_EQ(client("203.0.113.5"), *parse_address("203.0.113.5"));
  EXPECT_EQ(client("198.51.100.1, 203.0.113.5, 192.0.2.1"), *parse_address("203.0.113.5")) << "two proxies";
  EXPECT_EQ(client("203.0.113.5:5678"), *parse_address("203.0.113.5")) << "some proxies name the port";
  EXPECT_EQ(client("203.0.113.5, 192.0.2.1:80"), *parse_address("203.0.113.5"));
  EXPECT_EQ(client("[2001:db9::1]:443"), *parse_address("2001:db9::1"));
  EXPECT_EQ(client("[2001:db9::1]"), *parse_address("2001:db9::1"));
  EXPECT_EQ(client("2001:db9::1"), *parse_address("2001:db9::1"));
  EXPECT_EQ(client("\"[2001:db9::1]:443\""), *parse_address("2001:db9::1"));
  for (const char* none : {"[2001:db9::1", "[2001:db9::1]443", "[]", "\"", ":80", "unknown:80"}) {
    EXPECT_EQ(client(none), proxy) << none;
  }
  EXPECT_EQ(client("unknown"), proxy);
  EXPECT_EQ(client(""), proxy);
  const PeerAddress stranger = *parse_address("198.51.100.9");
  EXPECT_EQ(proxies.client_of(stranger, "203.0.113.5"), stranger);
}

TEST(HttpText, ParsesUrlsStrictly) {
  const HttpUrl plain = *parse_url("http://127.0.0.1:8080/base/");
  EXPECT_EQ(plain.host, "127.0.0.1");
  EXPECT_EQ(plain.port, 8080);
  EXPECT_EQ(plain.path, "/base");
  const HttpUrl six = *parse_url("https://[::1]");
  EXPECT_EQ(six.host, "::1");
  EXPECT_EQ(six.port, 443);
  EXPECT_TRUE(six.tls);
  for (const std::string_view wrong :
       {"", "ftp://x", "http://", "http://x:0", "http://x:65536", "http://x:1y", "http://u@x", "http://x/?q",
        "http://[::1", "http://[::1]x", "http://x y"}) {
    EXPECT_FALSE(parse_url(wrong)) << wrong;
  }
}

TEST(HttpText, PercentCodingRoundTrips) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
  for (const std::string_view wrong : {"%", "%1", "%1g", "%00", "a%"})
    EXPECT_FALSE(percent_decode(wrong)) << wrong;
  EXPECT_EQ(query_value("a=1&b=x%20y&c", "b"), "x y");
  EXPECT_EQ(query_value("a=1&b=x%20y&c", "c"), "");
  EXPECT_EQ(query_value("a=1&b=x%20y&c", "d"), std::nullopt);
}

}  // namespace
}  // namespace sotto::net
