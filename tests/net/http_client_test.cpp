#include "net/http_client.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "test_server.h"

namespace sotto::net {
namespace {

using ::testing::HasSubstr;

// Accepts one connection and answers it with fixed bytes, whatever is asked.
class FixedAnswer {
 public:
  explicit FixedAnswer(std::string bytes, bool then_wait = false)
      : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 1) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, bytes = std::move(bytes), then_wait] {
      const int connection = accept(listener_, nullptr, nullptr);
      char ignored[4096];
      recv(connection, ignored, sizeof ignored, 0);
      send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (then_wait) recv(connection, ignored, sizeof ignored, 0);  // until the client gives up
      close(connection);
    });
  }
  ~FixedAnswer() {
    thread_.join();
    close(listener_);
  }
  FixedAnswer(const FixedAnswer&) = delete;
  FixedAnswer& operator=(const FixedAnswer&) = delete;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

Result<HttpResponse> ask(HttpClientSettings settings) {
  SOTTO_TRY(auto client, HttpClient::create(settings));
  return client.get("/");
}

TEST(HttpClient, SaysWhenNobodyListens) {
  std::string url;
  {
    TestServer gone;
    url = gone.server->url();
  }
  const auto answer = ask({.url = url});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("is the server running there?"));
}

TEST(HttpClient, GivesUpOnAServerThatDoesNotFinish) {
  for (const std::string_view part :
       {"", "HTTP/1.1 200 OK\r\nContent-Len", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"}) {
    const FixedAnswer server{std::string(part), true};
    const auto answer = ask({.url = server.url(), .timeout = std::chrono::milliseconds(100)});
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("too long"));
  }
}

TEST(HttpClient, IsCancelledFromElsewhere) {
  FixedAnswer server("HTTP/1.1 200 OK\r\n", true);
  HttpClientSettings settings;
  settings.url = server.url();
  auto client = HttpClient::create(settings).value();
  const auto begun = std::chrono::steady_clock::now();
  std::thread elsewhere([&client] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    client.cancel();
  });
  EXPECT_FALSE(client.get("/"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10))
      << "it waits for 30 s otherwise";
  elsewhere.join();
  const auto again = client.get("/");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("was cancelled"));
}

TEST(HttpClient, RefusesAnswersThatAreTooLargeOrNotHttp) {
  {
    const FixedAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
    EXPECT_THAT(ask({.url = server.url(), .max_body_bytes = 1000}).error().message,
                HasSubstr("larger than the 1000"));
  }
  for (const char* announced : {"1001", "99999999999", "18446744073709551615"}) {
    const FixedAnswer server("HTTP/1.1 200 OK\r\nContent-Length: " + std::string(announced) + "\r\n\r\nx");
    EXPECT_THAT(ask({.url = server.url(), .max_body_bytes = 1000}).error().message,
                HasSubstr("larger than the 1000"))
        << announced;
  }
  {
    const FixedAnswer server("HTTP/1.1 200 OK\r\n\r\n" + std::string(5000, 'x'));
    EXPECT_THAT(ask({.url = server.url(), .max_body_bytes = 1000}).error().message,
                HasSubstr("larger than the 1000"));
  }
  {
    const FixedAnswer server("HTTP/1.1 200 OK\r\nX: " + std::string(5000, 'x') + "\r\n\r\n");
    EXPECT_THAT(ask({.url = server.url(), .max_header_bytes = 1000}).error().message,
                HasSubstr("larger than the 1000"));
  }
  {
    const FixedAnswer server("SSH-2.0-OpenSSH_9.2\r\n");
    EXPECT_THAT(ask({.url = server.url()}).error().message, HasSubstr("does not answer in HTTP"));
  }
  {
    const FixedAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
    EXPECT_FALSE(ask({.url = server.url()}));
  }
}

// Extensions and trailers of chunks are no body, and a server can send them without end.
TEST(HttpClient, HoldsAndHearsNoMoreThanItsLimitsOfAChunkedAnswer) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "1;" + std::string(100, 'a') + "\r\nx\r\n";
  for (const std::string& answer :
       {"2;" + std::string(8 << 20, 'a'), "0\r\nX: " + std::string(8 << 20, 'a'), lines}) {
    const FixedAnswer server(head + answer, true);
    const auto heard = ask({.url = server.url(), .max_body_bytes = 1 << 20});
    ASSERT_FALSE(heard);
    EXPECT_THAT(heard.error().message, HasSubstr("larger around its body"));
  }
  const FixedAnswer good(head + "3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n");
  EXPECT_EQ(ask({.url = good.url(), .max_body_bytes = 1 << 20})->body, "abc");
}

TEST(HttpClient, ReadsABodyThatEndsWithTheConnection) {
  const FixedAnswer server("HTTP/1.0 200 OK\r\n\r\nabc");
  EXPECT_EQ(ask({.url = server.url()})->body, "abc");
}

TEST(HttpClient, SendsOnlyValidRequests) {
  TestServer test;
  HttpClient client = test.client();
  EXPECT_FALSE(client.get("hello"));
  EXPECT_FALSE(client.get("/a b"));
  EXPECT_FALSE(client.get("/a\r\nX: y"));
  EXPECT_FALSE(client.get("/hello", {{"X", "a\r\nY: b"}}));
  EXPECT_FALSE(HttpClient::create({.url = "gopher://x"}));
  EXPECT_EQ(client.get("/hello")->status, 200);
}

}  // namespace
}  // namespace sotto::net
