#include "net/published_body.h"

#include <gmock/gmock.h>

#include "net/content_coding.h"
#include "test_server.h"

namespace sotto::net {
namespace {

std::string compressible() {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

HttpResponse answer(const PublishedBody& body, HttpFields headers) {
  HttpRequest request;
  request.headers = std::move(headers);
  return body.respond(request);
}

TEST(PublishedBody, IsNotSentAgainToWhoeverHasIt) {
  const PublishedBody body(compressible(), "v1", "x/y", 3);
  for (const std::string has : {"\"v1\"", "W/\"v1\"", "*", "\"v0\", \"v1\"", "\"v1-zstd\"", "\"v1-gzip\""}) {
    const auto unchanged = answer(body, {{"If-None-Match", has}});
    EXPECT_EQ(unchanged.status, 304) << has;
    EXPECT_EQ(unchanged.header("ETag"), "\"v1\"");
    EXPECT_EQ(unchanged.bytes(), "");
  }
  for (const std::string has : {"", "\"v2\"", "v1", "\"v1"}) {
    EXPECT_EQ(answer(body, {{"If-None-Match", has}}).bytes(), compressible());
  }
}

TEST(PublishedBody, IsCompressedForWhoeverCanTakeThat) {
  const PublishedBody body(compressible(), "v1", "x/y", 3);
  EXPECT_EQ(answer(body, {}).header("Content-Encoding"), "");
  EXPECT_EQ(answer(body, {}).header("Vary"), "Accept-Encoding");
  EXPECT_EQ(answer(body, {{"Accept-Encoding", "br, gzip;q=0"}}).header("Content-Encoding"), "");
  EXPECT_EQ(answer(body, {{"Accept-Encoding", "gzip, zstd;q=0.5"}}).header("Content-Encoding"), "gzip");
  const auto coded = answer(body, {{"Accept-Encoding", "gzip, zstd"}});
  EXPECT_EQ(coded.header("Content-Encoding"), "zstd");
  EXPECT_EQ(coded.header("ETag"), "\"v1-zstd\"");
  EXPECT_LT(coded.bytes().size(), compressible().size() / 2);
  EXPECT_EQ(decompress_zstd(coded.bytes(), 1 << 20).value(), compressible());
  const PublishedBody dense("0123456789abcdef", "v1", "x/y", 3);
  EXPECT_EQ(answer(dense, {{"Accept-Encoding", "zstd"}}).header("Content-Encoding"), "")
      << "it would not help";
}

TEST(PublishedBody, IsHandedOutInParts) {
  const PublishedBody body("0123456789", "v1", "x/y", 3);
  const auto part = [&](const std::string& range) { return answer(body, {{"Range", range}}); };
  EXPECT_EQ(part("bytes=2-4").status, 206);
  EXPECT_EQ(part("bytes=2-4").bytes(), "234");
  EXPECT_EQ(part("bytes=2-4").header("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(part("bytes=7-").bytes(), "789");
  EXPECT_EQ(part("bytes=7-99").bytes(), "789");
  EXPECT_EQ(part("bytes=7-18446744073709551615").bytes(), "789");
  EXPECT_EQ(part("bytes=7-18446744073709551615").header("Content-Range"), "bytes 7-9/10");
  EXPECT_EQ(part("bytes=0-18446744073709551615").bytes(), "0123456789");
  EXPECT_EQ(part("bytes=-3").bytes(), "789");
  EXPECT_EQ(part("bytes=-99").bytes(), "0123456789");
  EXPECT_EQ(part("bytes=10-").status, 416);
  EXPECT_EQ(part("bytes=-0").status, 416);
  EXPECT_EQ(part("bytes=10-").header("Content-Range"), "bytes */10");
  for (const char* ignored :
       {"bytes=1-2,4-5", "bytes=4-2", "bytes=a-b", "bytes=", "bytes=-", "items=1-2", "bytes=1-x"}) {
    EXPECT_EQ(part(ignored).status, 200) << ignored;
    EXPECT_EQ(part(ignored).bytes(), "0123456789") << ignored;
  }
  EXPECT_EQ(answer(body, {{"Range", "bytes=2-4"}, {"If-Range", "\"v1\""}}).bytes(), "234");
  EXPECT_EQ(answer(body, {{"Range", "bytes=2-4"}, {"If-Range", "\"v0\""}}).bytes(), "0123456789")
      << "it changed";
}

TEST(PublishedBody, ATransferThatBrokeOffGoesOnInItsCoding) {
  const auto body = std::make_shared<const PublishedBody>(compressible(), "v1", "x/y", 3);
  Router router;
  router.add(HttpMethod::get, "/body", [body](const HttpRequest& request) { return body->respond(request); });
  TestServer test({}, std::move(router));
  HttpClient client = test.client();
  const auto whole = client.get("/body", {{"Accept-Encoding", "zstd"}}).value();
  const std::string begin = whole.body.substr(0, 1000);
  const auto rest = client
                        .get("/body", {{"Accept-Encoding", "zstd"},
                                       {"Range", "bytes=1000-"},
                                       {"If-Range", std::string(whole.header("ETag"))}})
                        .value();
  EXPECT_EQ(rest.status, 206);
  EXPECT_EQ(rest.header("Content-Length"), std::to_string(whole.body.size() - 1000));
  EXPECT_EQ(decompress_zstd(begin + rest.body, 1 << 20).value(), compressible());
}

TEST(ContentCoding, RefusesDamagedAndEndlessData) {
  const std::string bomb = compress(ContentCoding::zstd, std::string(10 << 20, '\0'), 3).value();
  EXPECT_EQ(decompress_zstd(bomb, 10 << 20)->size(), std::size_t{10} << 20);
  EXPECT_FALSE(decompress_zstd(bomb, (10 << 20) - 1));
  EXPECT_FALSE(decompress_zstd(bomb.substr(0, bomb.size() / 2), 10 << 20));
  EXPECT_FALSE(decompress_zstd(bomb + "x", 10 << 20));
  EXPECT_FALSE(decompress_zstd("garbage", 10 << 20));
  EXPECT_FALSE(decompress_zstd("", 10 << 20));
}

}  // namespace
}  // namespace sotto::net
