#include "net/http_fetch.h"

#include <gmock/gmock.h>

#include <charconv>

#include "cutting_server.h"

namespace sotto::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t all_of_it = std::string::npos;

std::string some_bytes(std::size_t size, char first) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(first + i / 7 + i * i % 251);
  return bytes;
}

HttpResponse whole(std::string body, std::string tag = "\"v1\"") {
  HttpResponse response;
  response.headers = {{"ETag", std::move(tag)}, {"Accept-Ranges", "bytes"}};
  response.body = std::move(body);
  return response;
}

std::size_t range_begin(const std::string& request) {
  const std::size_t at = request.find("Range: bytes=");
  std::size_t begin = 0;
  if (at != std::string::npos) std::from_chars(&request[at + 13], request.data() + request.size(), begin);
  return begin;
}

HttpResponse part(const std::string& body, std::size_t begin) {
  HttpResponse response = whole(body.substr(begin));
  response.status = 206;
  response.headers.emplace_back("Content-Range", "bytes " + std::to_string(begin) + "-" +
                                                     std::to_string(body.size() - 1) + "/" +
                                                     std::to_string(body.size()));
  return response;
}

Result<HttpResponse> fetch_from(const CuttingServer& server) {
  SOTTO_TRY(auto client, HttpClient::create({.url = server.url()}));
  return fetch(client, {.path = "/pack"});
}

TEST(HttpFetch, GoesOnWhereAConnectionBrokeOff) {
  const std::string body = some_bytes(1'000'000, 'a');
  CuttingServer server([&](const std::string& request) {
    const std::size_t begin = range_begin(request);
    return std::pair(begin == 0 ? whole(body) : part(body, begin), std::size_t{300'000});
  });
  const auto fetched = fetch_from(server);
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(fetched->status, 200);
  EXPECT_TRUE(fetched->body == body) << fetched->body.size();
  const auto& requests = server.stop();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_THAT(requests[0], Not(HasSubstr("Range")));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_THAT(requests[i], HasSubstr("\r\nRange: bytes=" + std::to_string(i * 300'000) + "-\r\n"));
    EXPECT_THAT(requests[i], HasSubstr("\r\nIf-Range: \"v1\"\r\n"));
  }
}

TEST(HttpFetch, TakesOtherBytesWhole) {
  const std::string before = some_bytes(1'000, 'a'), now = some_bytes(2'000, 'b');
  CuttingServer server([&](const std::string& request) {
    if (range_begin(request) == 0) return std::pair(whole(before), std::size_t{900});
    return std::pair(whole(now, "\"v2\""), all_of_it);
  });
  const auto fetched = fetch_from(server);
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_TRUE(fetched->body == now);
  EXPECT_EQ(fetched->header("ETag"), "\"v2\"");
}

TEST(HttpFetch, RefusesAnotherPartThanItAskedFor) {
  const std::string body = some_bytes(1'000, 'a');
  const std::function<void(HttpResponse&)> spoils[] = {
      [](HttpResponse& rest) { rest.headers[2].second = "bytes 500-999/1000"; },
      [](HttpResponse& rest) { rest.headers[2].second = "bytes 400-999/1001"; },
      [](HttpResponse& rest) { rest.headers.pop_back(); },
      [](HttpResponse& rest) { rest.headers[0].second = "\"v2\""; },
      [](HttpResponse& rest) { rest.headers.emplace_back("Content-Encoding", "zstd"); },
      [](HttpResponse& rest) { rest.body.pop_back(); },
      [](HttpResponse& rest) { rest.body += "more"; },
  };
  for (const auto& spoil : spoils) {
    CuttingServer server([&](const std::string& request) {
      if (range_begin(request) == 0) return std::pair(whole(body), std::size_t{400});
      HttpResponse rest = part(body, 400);
      spoil(rest);
      return std::pair(rest, all_of_it);
    });
    const auto fetched = fetch_from(server);
    ASSERT_FALSE(fetched);
    EXPECT_THAT(fetched.error().message, HasSubstr("the server sends"));
  }
}

TEST(HttpFetch, DoesNotGoOnWithBytesThatNothingNames) {
  const std::string body = some_bytes(1'000, 'a');
  const std::function<void(HttpResponse&)> lacks[] = {
      [](HttpResponse& answer) { answer.headers[0].second = "W/\"v1\""; },
      [](HttpResponse& answer) { answer.headers.erase(answer.headers.begin()); },
      [](HttpResponse& answer) { answer.headers.pop_back(); },
      [](HttpResponse& answer) { answer.status = 404; },
  };
  for (const auto& lack : lacks) {
    CuttingServer server([&](const std::string&) {
      HttpResponse answer = whole(body);
      lack(answer);
      return std::pair(answer, std::size_t{400});
    });
    EXPECT_FALSE(fetch_from(server));
    EXPECT_EQ(server.stop().size(), 1U);
  }
}

TEST(HttpFetch, EndsWhenNothingMoreComes) {
  const std::string body = some_bytes(1'000, 'a');
  CuttingServer server([&](const std::string& request) {
    const std::size_t begin = range_begin(request);
    return begin == 0 ? std::pair(whole(body), std::size_t{400})
                      : std::pair(part(body, begin), std::size_t{0});
  });
  EXPECT_FALSE(fetch_from(server));
  EXPECT_EQ(server.stop().size(), 2U);
}

TEST(HttpFetch, HandsOnWhatElseTheServerAnswers) {
  const std::string body = some_bytes(1'000, 'a');
  CuttingServer server([&](const std::string& request) {
    if (range_begin(request) == 0) return std::pair(whole(body), std::size_t{400});
    HttpResponse busy;
    busy.status = 503;
    return std::pair(busy, all_of_it);
  });
  EXPECT_EQ(fetch_from(server)->status, 503);
}

}  // namespace
}  // namespace sotto::net
