#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include "raw_socket.h"
#include "test_certificate.h"
#include "test_paths.h"
#include "test_server.h"

namespace sotto::net {
namespace {

using ::testing::HasSubstr;

HttpServerSettings with(const TestCertificate& certificate) {
  HttpServerSettings settings;
  settings.certificate = certificate.certificate;
  settings.private_key = certificate.key;
  return settings;
}

Result<HttpResponse> ask(const TestServer& test, const fs::path& trusted) {
  SOTTO_TRY(auto client, HttpClient::create({.url = test.server->url(), .authorities = trusted}));
  return client.get("/hello");
}

TEST(HttpTls, ServesWhoeverTrustsTheCertificate) {
  const TempFolder folder;
  const TestCertificate good(folder.path(), "good", "IP:127.0.0.1");
  TestServer test(with(good));
  HttpClient client =
      HttpClient::create({.url = test.server->url(), .authorities = good.certificate}).value();
  const std::string body(300'000, 'x');
  for (int i = 0; i < 20; ++i) {
    const auto answer = client.post("/echo", body, "text/plain");
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_TRUE(answer->body == body) << answer->status;
  }
  EXPECT_EQ(test.metrics.gauge("sotto_http_connections", "").value(), 1);
}

TEST(HttpTls, TheClientRefusesBadCertificates) {
  const TempFolder folder;
  const TestCertificate good(folder.path(), "good", "IP:127.0.0.1");
  const TestCertificate other(folder.path(), "other", "IP:127.0.0.1");
  const TestCertificate wrong_name(folder.path(), "name", "DNS:elsewhere.example");
  const TestCertificate expired(folder.path(), "expired", "IP:127.0.0.1", -7200, -3600);
  const TestCertificate early(folder.path(), "early", "IP:127.0.0.1", 3600, 7200);
  TestServer test(with(good));
  EXPECT_TRUE(ask(test, good.certificate));
  const auto untrusted = ask(test, other.certificate);
  ASSERT_FALSE(untrusted);
  EXPECT_THAT(untrusted.error().message, HasSubstr("trusted authority"));
  EXPECT_THAT(untrusted.error().message, HasSubstr("(self-signed certificate)"));
  EXPECT_FALSE(ask(test, {}));  // the system does not know it either
  for (const auto* bad : {&wrong_name, &expired, &early}) {
    TestServer server(with(*bad));
    const auto refused = ask(server, bad->certificate);
    ASSERT_FALSE(refused) << bad->certificate;
    EXPECT_THAT(refused.error().message, HasSubstr(bad == &wrong_name ? "(it does not name 127.0.0.1)"
                                                   : bad == &expired  ? "(certificate has expired)"
                                                                      : "(certificate is not yet valid)"));
  }
}

TEST(HttpTls, TheClientSaysWhichOfHttpAndHttpsIsMeant) {
  const TempFolder folder;
  const TestCertificate good(folder.path(), "good", "IP:127.0.0.1");
  const TestServer with_tls(with(good)), plain{HttpServerSettings{}};
  const auto told = [&](const std::string& url) {
    HttpClientSettings settings{.url = url, .authorities = good.certificate};
    settings.connect_timeout = std::chrono::milliseconds(1000);
    const auto answer = HttpClient::create(settings).value().get("/hello");
    return answer ? "answered" : answer.error().message;
  };
  const auto address = [](const TestServer& test) {
    const std::string url = test.server->url();
    return url.substr(url.find(':'));
  };
  EXPECT_THAT(told("http" + address(with_tls)), HasSubstr("write https://"));
  EXPECT_THAT(told("https" + address(plain)), HasSubstr("write http://"));
}

TEST(HttpTls, TheServerExplainsBadFiles) {
  const TempFolder folder;
  const TestCertificate one(folder.path(), "one", "IP:127.0.0.1");
  const TestCertificate two(folder.path(), "two", "IP:127.0.0.1");
  MetricsRegistry metrics;
  const auto start = [&](const fs::path& certificate, const fs::path& key) {
    HttpServerSettings settings;
    settings.certificate = certificate;
    settings.private_key = key;
    const auto server = HttpServer::start(settings, {}, metrics);
    return server ? "started" : server.error().message;
  };
  EXPECT_THAT(start(one.certificate, two.key), HasSubstr("key"));
  EXPECT_THAT(start(folder / "missing", one.key), HasSubstr("cannot read the certificate"));
  EXPECT_THAT(start(one.key, one.key), HasSubstr("cannot read the certificate"));
  fs::permissions(one.certificate, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(start(one.certificate, one.certificate), HasSubstr("cannot use the private key"));
  EXPECT_THAT(start(one.certificate, {}), HasSubstr("needs both"));
  EXPECT_EQ(start(one.certificate, one.key), "started");
}

TEST(HttpTls, AKeyThatOthersCanReadIsRefused) {
  const TempFolder folder;
  const TestCertificate one(folder.path(), "one", "IP:127.0.0.1");
  for (const auto more : {fs::perms::group_read, fs::perms::others_read}) {
    fs::permissions(one.key, fs::perms::owner_read | fs::perms::owner_write | more);
    MetricsRegistry metrics;
    const auto server = HttpServer::start(with(one), {}, metrics);
    ASSERT_FALSE(server);
    EXPECT_THAT(server.error().message, HasSubstr(one.key.string()));
    EXPECT_THAT(server.error().message, HasSubstr(more == fs::perms::group_read ? "mode 0640" : "mode 0604"));
    EXPECT_THAT(server.error().message, HasSubstr("chmod 600"));
  }
}

TEST(HttpTls, PlainHttpAndOldProtocolsGetNowhere) {
  const TempFolder folder;
  const TestCertificate good(folder.path(), "good", "IP:127.0.0.1");
  TestServer test(with(good));
  RawSocket plain(test.port());
  plain.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(plain.read_all(), ::testing::Not(HasSubstr("HTTP/1.1")));

  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  SSL_CTX_set_security_level(context.get(), 0);
  const auto agrees = [&](int version) {
    SSL_CTX_set_min_proto_version(context.get(), version);
    SSL_CTX_set_max_proto_version(context.get(), version);
    const std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context.get()), SSL_free);
    RawSocket socket(test.port());
    SSL_set_fd(session.get(), socket.descriptor());
    return SSL_connect(session.get()) == 1;
  };
  EXPECT_FALSE(agrees(TLS1_VERSION));
  EXPECT_FALSE(agrees(TLS1_1_VERSION));
  EXPECT_TRUE(agrees(TLS1_2_VERSION));
  EXPECT_TRUE(agrees(TLS1_3_VERSION));
}

TEST(HttpTls, AHandshakeThatStallsIsCutOff) {
  const TempFolder folder;
  const TestCertificate good(folder.path(), "good", "IP:127.0.0.1");
  HttpServerSettings settings = with(good);
  settings.read_seconds = 0.2;
  TestServer test(settings);
  RawSocket silent(test.port());
  silent.send("\x16\x03\x01");
  silent.read_all();  // ends by itself
  EXPECT_TRUE(ask(test, good.certificate));
}

}  // namespace
}  // namespace sotto::net
