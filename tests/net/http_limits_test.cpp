#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "net/http_server.h"
#include "raw_socket.h"
#include "test_server.h"

namespace sotto {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(HttpLimits, AHeadThatIsTooLargeGets431) {
  HttpServerSettings settings;
  settings.max_header_bytes = 1024;
  TestServer test(settings);
  RawSocket large(test.port());
  large.send("GET /hello HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
  EXPECT_THAT(large.read_all(), StartsWith("HTTP/1.1 431 "));
  RawSocket endless(test.port());
  endless.send("GET /" + std::string(100'000, 'x'));
  EXPECT_THAT(endless.read_all(), StartsWith("HTTP/1.1 431 "));
  RawSocket fits(test.port());
  fits.send("GET /hello HTTP/1.1\r\nConnection: close\r\nX: " + std::string(500, 'x') + "\r\n\r\n");
  EXPECT_THAT(fits.read_all(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpLimits, ABodyThatIsTooLargeGets413) {
  HttpServerSettings settings;
  settings.max_body_bytes = 1000;
  TestServer test(settings);
  HttpClient client = test.client();
  EXPECT_EQ(client.post("/echo", std::string(1000, 'x'), "text/plain")->status, 200);
  EXPECT_EQ(client.post("/echo", std::string(1001, 'x'), "text/plain")->status, 413);
  // Announced and never sent: refused without waiting for it.
  RawSocket announced(test.port());
  announced.send("POST /echo HTTP/1.1\r\nContent-Length: 9000000000\r\n\r\n");
  EXPECT_THAT(announced.read_all(), StartsWith("HTTP/1.1 413 "));
  RawSocket chunked(test.port());
  chunked.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" + std::string(1024, 'x') +
               "\r\n0\r\n\r\n");
  EXPECT_THAT(chunked.read_all(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpLimits, ARouteMayTakeLessThanTheServer) {
  Router router = echo_routes();
  router.add(
      HttpMethod::post, "/small", [](const HttpRequest& request) { return json_response(request.body); }, 10);
  TestServer test({}, std::move(router));
  HttpClient client = test.client();
  EXPECT_EQ(client.post("/small", "0123456789", "text/plain")->status, 200);
  EXPECT_EQ(client.post("/small", "0123456789+", "text/plain")->status, 413);
  EXPECT_EQ(client.post("/nowhere", std::string(1 << 20, 'x'), "text/plain")->status, 413);
}

TEST(HttpLimits, ASlowHeadOrBodyGets408) {
  HttpServerSettings settings;
  settings.read_seconds = 0.2;
  TestServer test(settings);
  for (const std::string_view part :
       {"GET /hello HTTP/1.1\r\nX-Slow: ", "POST /echo HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc"}) {
    RawSocket slow(test.port());
    slow.send(part);
    EXPECT_THAT(slow.read_all(), StartsWith("HTTP/1.1 408 ")) << part;
  }
}

TEST(HttpLimits, DripFeedingDoesNotExtendTheTime) {
  HttpServerSettings settings;
  settings.read_seconds = 0.3;
  TestServer test(settings);
  RawSocket slowloris(test.port());
  slowloris.send("GET /hello HTTP/1.1\r\n");
  auto answer = std::async(std::launch::async, [&] { return slowloris.read_all(); });
  // A byte every few milliseconds, for as long as the server listens: it must end by itself.
  int sent = 0;
  while (answer.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready && sent < 4000) {
    slowloris.send("X");
    ++sent;
  }
  EXPECT_LT(sent, 4000);
  EXPECT_THAT(answer.get(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpLimits, SlowClientsDoNotKeepOthersWaiting) {
  TestServer test;
  std::vector<std::unique_ptr<RawSocket>> stalled;
  for (int i = 0; i < 100; ++i) {
    stalled.push_back(std::make_unique<RawSocket>(test.port()));
    stalled.back()->send("POST /echo HTTP/1.1\r\nContent-Length: 10\r\n\r\nx");
  }
  EXPECT_EQ(test.client().get("/hello")->status, 200);
}

TEST(HttpLimits, AnIdleConnectionIsClosedWithoutAWord) {
  HttpServerSettings settings;
  settings.idle_seconds = 0.1;
  TestServer test(settings);
  RawSocket silent(test.port());
  EXPECT_EQ(silent.read_all(), "");
  // The client notices that its connection is gone and opens another.
  HttpClient client = test.client();
  EXPECT_EQ(client.get("/hello")->status, 200);
  RawSocket(test.port()).read_all();  // as long as the client's connection may idle
  EXPECT_EQ(client.get("/hello")->status, 200);
}

TEST(HttpLimits, TooManyConnectionsGet503) {
  for (const bool per_address : {false, true}) {
    HttpServerSettings settings;
    (per_address ? settings.max_connections_per_address : settings.max_connections) = 3;
    TestServer test(settings);
    std::vector<HttpClient> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(test.client());
      ASSERT_EQ(clients.back().get("/hello")->status, 200);
    }
    RawSocket fourth(test.port());
    const std::string answer = fourth.read_all();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
    EXPECT_EQ(test.metrics.counter("sotto_http_refused_connections_total", "").value(), 1U);
    for (auto& client : clients) EXPECT_EQ(client.get("/hello")->status, 200);

    clients.pop_back();  // the server hears of it soon
    std::string again;
    for (int tries = 0; tries < 2000 && !again.starts_with("HTTP/1.1 200"); ++tries) {
      RawSocket late(test.port());
      late.send("GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n");
      again = late.read_all();
    }
    EXPECT_THAT(again, StartsWith("HTTP/1.1 200 "));
  }
}

TEST(HttpLimits, TooManyRequestsGet429) {
  HttpServerSettings settings;
  settings.requests_per_second = 0.001;
  settings.request_burst = 5;
  TestServer test(settings);
  HttpClient client = test.client();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.get("/hello")->status, 200);
  const auto refused = client.get("/hello");
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->header("Retry-After"), "1");
  EXPECT_EQ(test.client().get("/hello")->status, 429);  // a new connection does not help
}

TEST(HttpLimits, AnAnswerThatTakesTooLongGets503) {
  HttpServerSettings settings;
  settings.handler_seconds = 0.1;
  std::vector<HttpReply> kept;
  Router router = echo_routes();
  router.add(HttpMethod::get, "/never",
             HttpHandler([&](HttpRequest&&, HttpReply reply) { kept.push_back(std::move(reply)); }));
  auto test = std::make_unique<TestServer>(settings, std::move(router));
  HttpClient client = test->client();
  EXPECT_EQ(client.get("/never")->status, 503);
  EXPECT_EQ(client.get("/hello")->status, 200);
  // Too late: dropped, and not taken for the answer to another request, whether the server lives or not.
  EXPECT_EQ(client.get("/never")->status, 503);
  std::move(kept[0])(json_response("\"late\""));
  EXPECT_EQ(client.get("/hello")->body, "\"hello\"");
  test.reset();
  std::move(kept[1])(json_response("\"very late\""));
}

TEST(HttpLimits, AnswersMayComeFromOtherThreads) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  Router router;
  router.add(HttpMethod::get, "/later/{n}", HttpHandler([&](HttpRequest&& request, HttpReply reply) {
               const std::lock_guard lock(mutex);
               threads.emplace_back(
                   [body = std::string(request.parameter("n")), reply = std::move(reply)]() mutable {
                     std::move(reply)(json_response(std::move(body)));
                   });
             }));
  {
    TestServer test({}, std::move(router));
    HttpClient client = test.client();
    for (int i = 0; i < 200; ++i) {
      const std::string n = std::to_string(i);
      ASSERT_EQ(client.get("/later/" + n)->body, n);
    }
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HttpLimits, AHandlerThatThrowsOrForgetsAnswers500) {
  Router router;
  router.add(HttpMethod::get, "/throws",
             [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("secret"); });
  router.add(HttpMethod::get, "/forgets", HttpHandler([](HttpRequest&&, HttpReply) {}));
  TestServer test({}, std::move(router));
  HttpClient client = test.client();
  const auto thrown = client.get("/throws");
  EXPECT_EQ(thrown->status, 500);
  EXPECT_THAT(thrown->body, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(client.get("/forgets")->status, 500);
}

}  // namespace
}  // namespace sotto
