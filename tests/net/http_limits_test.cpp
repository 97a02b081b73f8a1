#include <gmock/gmock.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>

#include "base/settings.h"
#include "net/http_server.h"
#include "net/published_body.h"
#include "raw_socket.h"
#include "test_server.h"

namespace sotto::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(HttpLimits, AHeadThatIsTooLargeGets431) {
  HttpServerSettings settings;
  settings.max_header_bytes = 1024;
  TestServer test(settings);
  RawSocket large(test.port());
  large.send("GET /hello HTTP/1.1\r\nHost: x\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
  EXPECT_THAT(large.read_all(), StartsWith("HTTP/1.1 431 "));
  RawSocket endless(test.port());
  endless.send("GET /" + std::string(100'000, 'x'));
  EXPECT_THAT(endless.read_all(), StartsWith("HTTP/1.1 431 "));
  RawSocket fits(test.port());
  fits.send("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: " + std::string(500, 'x') +
            "\r\n\r\n");
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
  announced.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\n\r\n");
  EXPECT_THAT(announced.read_all(), StartsWith("HTTP/1.1 413 "));
  RawSocket chunked(test.port());
  chunked.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" +
               std::string(1024, 'x') + "\r\n0\r\n\r\n");
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
  EXPECT_EQ(client.post("/nowhere", std::string(1 << 20, 'x'), "text/plain")->status, 404);
}

TEST(HttpLimits, ASlowHeadOrBodyGets408) {
  HttpServerSettings settings;
  settings.read_seconds = 0.2;
  TestServer test(settings);
  for (const std::string_view part : {"GET /hello HTTP/1.1\r\nHost: x\r\nX-Slow: ",
                                      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"}) {
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
  slowloris.send("GET /hello HTTP/1.1\r\nHost: x\r\n");
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
    stalled.back()->send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx");
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

TEST(HttpLimits, TooManyConnectionsOfOneAddressGet503) {
  HttpServerSettings settings;
  settings.max_connections_per_address = 3;
  std::array<std::promise<HttpReply>, 3> held;
  std::atomic<std::size_t> asked{0};
  Router router = echo_routes();
  router.add(HttpMethod::get, "/poll",
             HttpHandler([&](HttpRequest&&, HttpReply reply) { held[asked++].set_value(std::move(reply)); }));
  TestServer test(settings, std::move(router));
  std::vector<std::future<Result<HttpResponse>>> polled;
  std::vector<HttpReply> replies;
  for (auto& promise : held) {
    polled.push_back(std::async(std::launch::async, [&] { return test.client().get("/poll"); }));
    replies.push_back(promise.get_future().get());
  }
  RawSocket fourth(test.port());
  const std::string answer = fourth.read_all();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_EQ(test.metrics.counter("sotto_http_refused_connections_total", "").value(), 1U);
  EXPECT_EQ(test.metrics.counter("sotto_http_shed_connections_total", "").value(), 0U);
  for (std::size_t i = 0; i < held.size(); ++i) {
    std::move(replies[i])(json_response("1"));
    EXPECT_EQ(polled[i].get()->status, 200);
  }
  // Their clients are gone, or the server hears of it soon.
  std::string again;
  for (int tries = 0; tries < 2000 && !again.starts_with("HTTP/1.1 200"); ++tries) {
    RawSocket late(test.port());
    late.send("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    again = late.read_all();
  }
  EXPECT_THAT(again, StartsWith("HTTP/1.1 200 "));
}

TEST(HttpLimits, TheIdlestConnectionMakesRoomWhenAllAreTaken) {
  HttpServerSettings settings;
  settings.max_connections = 3;
  TestServer test(settings);
  EXPECT_EQ(test.metrics.gauge("sotto_http_connection_limit", "").value(), 3);
  RawSocket silent(test.port());
  silent.send("G");
  RawSocket dripping(test.port());
  const std::string half_a_head = "GET /hello HTTP/1.1\r\nX-Dri";  // is no request
  dripping.send(half_a_head);
  // Both have been taken, by threads of their own: which of them waits longer is not known, that both have
  // waited longer than the next one is.
  auto& received = test.metrics.counter("sotto_http_received_bytes_total", "");
  for (int look = 0; look < 10'000'000 && received.value() < 1 + half_a_head.size(); ++look)
    std::this_thread::yield();
  HttpClient active = test.client();
  ASSERT_EQ(active.get("/hello")->status, 200);
  HttpClient first_new = test.client();
  EXPECT_EQ(first_new.get("/hello")->status, 200);
  HttpClient second_new = test.client();
  EXPECT_EQ(second_new.get("/hello")->status, 200);
  EXPECT_EQ(silent.read_all(), "");
  EXPECT_EQ(dripping.read_all(), "");
  EXPECT_EQ(test.metrics.counter("sotto_http_shed_connections_total", "").value(), 2U);
  EXPECT_EQ(active.get("/hello")->status, 200) << "the same connection";
  EXPECT_EQ(test.metrics.counter("sotto_http_shed_connections_total", "").value(), 2U);
}

TEST(HttpLimits, ConnectionsThatWaitForAnAnswerAreNotShed) {
  HttpServerSettings settings;
  settings.max_connections = 1;
  std::promise<HttpReply> held;
  Router router;
  router.add(HttpMethod::get, "/poll",
             HttpHandler([&](HttpRequest&&, HttpReply reply) { held.set_value(std::move(reply)); }));
  TestServer test(settings, std::move(router));
  auto polled = std::async(std::launch::async, [&] { return test.client().get("/poll"); });
  HttpReply reply = held.get_future().get();
  RawSocket second(test.port());
  EXPECT_THAT(second.read_all(), StartsWith("HTTP/1.1 503 "));
  std::move(reply)(json_response("1"));
  EXPECT_EQ(polled.get()->status, 200);
}

TEST(HttpLimits, TheSlowestTransferMakesRoomWhenAllAreBusy) {
  const PublishedBody large(std::string(32 << 20, 'x'), "large", "text/plain", 0);
  Router router = echo_routes();
  router.add(HttpMethod::get, "/large", [&](const HttpRequest& request) { return large.respond(request); });
  HttpServerSettings settings;
  settings.max_connections = 3;
  settings.min_bytes_per_second = 0;
  settings.write_seconds = 0;  // nobody is cut off for being slow alone
  TestServer test(settings, std::move(router));
  const std::string ask = "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  RawSocket first(test.port(), 16 << 10);
  RawSocket second(test.port(), 16 << 10);
  RawSocket brisk(test.port());
  // Each is answered by now: a connection whose request has not arrived would be the idlest.
  std::string begun;
  for (RawSocket* socket : {&first, &second, &brisk}) {
    socket->send(ask);
    begun = socket->read_until("\r\n\r\n");
  }
  std::atomic<bool> made_room = false;  // only then may it end and leave room by itself
  auto whole = std::async(std::launch::async, [&] {
    return brisk.read_slowly(128 << 10, std::chrono::milliseconds(40), &made_room);
  });
  // Every transfer has a second's credit, so the first tries are refused.
  auto& shed = test.metrics.counter("sotto_http_shed_connections_total", "");
  std::string answer;
  for (int tries = 0; tries < 20'000 && !answer.starts_with("HTTP/1.1 200 "); ++tries) {
    RawSocket late(test.port());
    late.send("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    answer = late.read_all();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  made_room = true;
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_GE(shed.value(), 1U);
  EXPECT_LE(shed.value(), 2U);
  EXPECT_TRUE((begun + whole.get()).ends_with(std::string(32 << 20, 'x')))
      << "whoever reads briskly is left alone";
}

// 0 when a server makes the most of what the system gives.
int serve_with_few_descriptors() {
  const rlimit low{100, 400};
  if (setrlimit(RLIMIT_NOFILE, &low) != 0) return 1;
  TestServer test;
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  const auto connections = test.metrics.gauge("sotto_http_connection_limit", "").value();
  if (now.rlim_cur != 400 || connections <= 250 || connections > 400 - 64) return 2;
  // Of the 10,000 connections that were asked for, an address may have a tenth.
  std::vector<std::unique_ptr<RawSocket>> sockets;
  for (int i = 0; i < connections / 10; ++i) {
    sockets.push_back(std::make_unique<RawSocket>(test.port()));
    sockets.back()->send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
    if (!sockets.back()->read_until("\"hello\"").starts_with("HTTP/1.1 200 ")) return 3;
  }
  // One more takes the place of its own idlest, though the server has room.
  RawSocket one_more(test.port());
  one_more.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  if (!one_more.read_until("\"hello\"").starts_with("HTTP/1.1 200 ")) return 4;
  return sockets.front()->read_all().empty() ? 0 : 5;
}

// In a process of its own: a hard limit cannot be raised again.
TEST(HttpLimitsDeathTest, TheDescriptorLimitIsRaisedAReserveIsKeptAndNoAddressGetsMoreThanItsShare) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(serve_with_few_descriptors()), ::testing::ExitedWithCode(0),
              "connections at once instead of 10000");
}

TEST(HttpLimits, ALargeAnswerMayTakeAsLongAsItIsTaken) {
  const std::string large(8 << 20, 'x');
  Router router;
  router.add(HttpMethod::get, "/large", [&](const HttpRequest&) { return json_response(large); });
  HttpServerSettings settings;
  settings.write_seconds = 0.1;
  settings.min_bytes_per_second = 1000;
  TestServer test(settings, std::move(router));
  RawSocket slow(test.port(), 16 << 10);
  slow.send("GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  // A few milliseconds for every 64 KiB: many times what a standstill may last.
  const std::string answer = slow.read_slowly(64 << 10, std::chrono::milliseconds(4));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(answer.ends_with(large));
}

TEST(HttpLimits, AClientThatTakesNothingIsCutOff) {
  const std::string large(16 << 20, 'x');
  Router router;
  router.add(HttpMethod::get, "/large", [&](const HttpRequest&) { return json_response(large); });
  for (const std::int64_t least_rate : {1'000'000'000, 0}) {
    HttpServerSettings settings;
    settings.write_seconds = 0.1;
    settings.min_bytes_per_second = least_rate;
    TestServer test(settings, router);
    RawSocket stalled(test.port(), 16 << 10);
    stalled.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    while (test.metrics.gauge("sotto_http_connections", "").value() == 0) std::this_thread::yield();
    for (int i = 0; i < 20'000 && test.metrics.gauge("sotto_http_connections", "").value() > 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(test.metrics.gauge("sotto_http_connections", "").value(), 0);
    EXPECT_LT(stalled.read_all().size(), large.size());
  }
}

TEST(HttpLimits, ABodyMayTakeLongerTheMoreOfItHasCome) {
  HttpServerSettings settings;
  settings.read_seconds = 0.2;
  settings.min_bytes_per_second = 100;
  TestServer test(settings);
  RawSocket slow(test.port());
  slow.send("POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 300\r\n\r\n");
  auto answer = std::async(std::launch::async, [&] { return slow.read_all(); });
  for (int i = 0; i < 30; ++i) {  // 0.6 s and more in all, at about 500 bytes a second
    slow.send("0123456789");
    answer.wait_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(answer.get(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpLimits, ZeroTurnsLimitsOff) {
  HttpServerSettings settings;
  settings.max_connections = settings.max_connections_per_address = settings.min_bytes_per_second = 0;
  settings.idle_seconds = settings.read_seconds = settings.write_seconds = settings.handler_seconds = 0;
  TestServer test(settings);
  EXPECT_GT(test.metrics.gauge("sotto_http_connection_limit", "").value(), 100);
  HttpClient client = test.client();
  EXPECT_EQ(client.get("/hello")->status, 200);
  EXPECT_EQ(client.post("/echo", std::string(100'000, 'x'), "text/plain")->status, 200);
}

TEST(HttpLimits, AllComeFromTheirTable) {
  HttpServerSettings settings;
  SettingsTable table;
  settings.bind(table);
  ASSERT_TRUE(table.set("max_connections", "0"));
  ASSERT_TRUE(table.set("trusted_proxies", "10.0.0.1"));
  ASSERT_TRUE(table.set("min_bytes_per_second", "77"));
  EXPECT_EQ(settings.max_connections, 0);
  EXPECT_EQ(settings.trusted_proxies, "10.0.0.1");
  EXPECT_EQ(settings.min_bytes_per_second, 77);
  EXPECT_FALSE(table.set("max_buffered_bytes", "0")) << "memory has no off";
}

TEST(HttpLimits, AProxyIsBelievedOnlyWhenItIsTrusted) {
  HttpServerSettings settings;
  settings.requests_per_second = 0.001;
  settings.request_burst = 2;
  settings.max_connections_per_address = 1;
  const auto ask = [](HttpClient& client, const char* from) {
    return client.get("/hello", {{"X-Forwarded-For", from}})->status;
  };
  {
    TestServer strangers(settings);
    HttpClient client = strangers.client();
    EXPECT_EQ(ask(client, "192.0.2.1"), 200);
    EXPECT_EQ(ask(client, "192.0.2.2"), 200);
    EXPECT_EQ(ask(client, "192.0.2.3"), 429) << "the field names whom it likes";
  }
  settings.trusted_proxies = "127.0.0.0/8";
  TestServer behind_proxy(settings);
  HttpClient one = behind_proxy.client();
  HttpClient two = behind_proxy.client();  // a proxy has many connections
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(one, "192.0.2.1"), 200);
  EXPECT_EQ(ask(one, "192.0.2.1"), 429);
  EXPECT_EQ(ask(two, "192.0.2.1"), 429);
  EXPECT_EQ(ask(two, "192.0.2.2"), 200);
  EXPECT_EQ(ask(two, "192.0.2.9, 192.0.2.1"), 429) << "what stands before the last was the client's to write";
  EXPECT_EQ(two.get("/hello", {{"X-Forwarded-For", "192.0.2.9"}, {"X-Forwarded-For", "192.0.2.1"}})->status,
            429)
      << "in a line of its own too";
  settings.trusted_proxies = "10.0.0.300";
  MetricsRegistry metrics;
  EXPECT_THAT(HttpServer::start(settings, {}, metrics).error().message, HasSubstr("\"10.0.0.300\""));
}

TEST(HttpLimits, HandlersDoNotLearnWhoAsked) {
  Router router;
  router.add(HttpMethod::get, "/fields", [](const HttpRequest& request) {
    std::string names;
    for (const auto& [name, value] : request.headers) names += name + " ";
    return json_response(names);
  });
  TestServer test({}, std::move(router));
  const HttpFields fields = {
      {"X-Forwarded-For", "192.0.2.1"}, {"Forwarded", "for=192.0.2.1"}, {"x-real-ip", "::1"}};
  EXPECT_EQ(test.client().get("/fields", fields)->body, "Host ");
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

TEST(HttpLimits, HeadsThatAreRefusedCountAsRequests) {
  HttpServerSettings settings;
  settings.requests_per_second = 0.001;
  settings.request_burst = 3;
  TestServer test(settings);
  const auto answer_to = [&](std::string_view head) {
    RawSocket socket(test.port());
    socket.send(head);
    return socket.read_all();
  };
  EXPECT_THAT(answer_to("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to("GET /hello HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to("BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 501 "));
  const std::string refused = answer_to("nonsense\r\n\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
}

TEST(HttpLimits, ASmallLimitOfHeadsLeavesRoomForTheLinesOfChunks) {
  HttpServerSettings settings;
  settings.max_header_bytes = 256;
  TestServer test(settings);
  RawSocket socket(test.port());
  const std::string begun =
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(3000, 'a');
  socket.send(begun);
  auto& received = test.metrics.counter("sotto_http_received_bytes_total", "");
  for (int look = 0; look < 10'000'000 && received.value() < begun.size(); ++look) std::this_thread::yield();
  socket.send("\r\nhello\r\n0\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(socket.read_until("hello"), StartsWith("HTTP/1.1 200 "));
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
  const auto never = client.get("/never");
  EXPECT_EQ(never->status, 503);
  EXPECT_EQ(never->header("Retry-After"), "1");
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
  EXPECT_THAT(thrown->body, ::testing::Not(HasSubstr("secret")));
  EXPECT_EQ(client.get("/forgets")->status, 500);
}

}  // namespace
}  // namespace sotto::net
