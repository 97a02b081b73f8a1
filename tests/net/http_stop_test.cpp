#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "raw_socket.h"
#include "test_server.h"

namespace sotto::net {
namespace {

TEST(HttpStop, LetsRequestsThatHaveBegunFinish) {
  std::promise<HttpReply> held;
  Router router = echo_routes();
  router.add(HttpMethod::get, "/slow",
             HttpHandler([&](HttpRequest&&, HttpReply reply) { held.set_value(std::move(reply)); }));
  TestServer test({}, std::move(router));
  auto answer = std::async(std::launch::async, [&] { return test.client().get("/slow"); });
  HttpReply reply = held.get_future().get();
  HttpClient idle = test.client();
  ASSERT_EQ(idle.get("/hello")->status, 200);

  auto stopped = std::async(std::launch::async, [&] { test.server->stop(); });
  while (!test.server->draining()) std::this_thread::yield();
  std::move(reply)(json_response("\"done\""));
  const auto response = answer.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "\"done\"");
  EXPECT_EQ(response->header("Connection"), "close");
  stopped.get();
  EXPECT_FALSE(idle.get("/hello"));
}

TEST(HttpStop, AnswersWhatHadArrivedAndRefusesWhatHadNot) {
  std::promise<void> entered, release;
  std::shared_future<void> released = release.get_future();
  Router router = echo_routes();
  router.add(HttpMethod::get, "/block", [&](const HttpRequest&) {
    entered.set_value();
    released.wait();
    return json_response("\"done\"");
  });
  TestServer test({}, std::move(router));
  // Connections go to the two network threads in turn. The second one is held up by the last request, so that
  // the others of that thread have sent and were not read when the server stops.
  RawSocket first_thread(test.port());
  RawSocket arrived(test.port());
  RawSocket first_thread_too(test.port());
  RawSocket half(test.port());
  RawSocket again_first_thread(test.port());
  RawSocket blocking(test.port());
  for (RawSocket* socket : {&arrived, &half}) {
    socket->send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(socket->read_until("\"hello\""), ::testing::HasSubstr("200 OK"));
  }
  blocking.send("GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
  entered.get_future().get();
  auto stopped = std::async(std::launch::async, [&] { return test.server->stop(); });
  EXPECT_EQ(first_thread.read_all(), "");  // the first thread is already stopping
  EXPECT_EQ(first_thread_too.read_all(), "");
  arrived.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /items/7 HTTP/1.1\r\nHost: x\r\n\r\n");
  half.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  release.set_value();
  const std::string answers = arrived.read_all();
  EXPECT_THAT(answers, ::testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answers, ::testing::EndsWith("Connection: close\r\n\r\n7"));
  EXPECT_THAT(half.read_all(), ::testing::StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(blocking.read_all(), ::testing::EndsWith("\"done\""));
  const HttpServer::StopReport report = stopped.get();
  EXPECT_EQ(report.answered, 3U);
  EXPECT_EQ(report.refused, 1U);
  EXPECT_EQ(report.cut, 0U);
}

TEST(HttpStop, CutsOffWhatDoesNotFinishInTime) {
  std::promise<HttpReply> held;
  Router router;
  router.add(HttpMethod::get, "/never",
             HttpHandler([&](HttpRequest&&, HttpReply reply) { held.set_value(std::move(reply)); }));
  TestServer test({}, std::move(router));
  RawSocket half(test.port());
  half.send("POST /never HTTP/1.1\r\nHost: x\r\nContent-Le");
  auto answer = std::async(std::launch::async, [&] { return test.client().get("/never"); });
  HttpReply reply = held.get_future().get();
  EXPECT_EQ(test.server->stop(std::chrono::milliseconds(50)).cut, 1U);
  EXPECT_FALSE(answer.get());
  std::move(reply)(json_response("nobody reads this"));
}

TEST(HttpStop, UnderLoadEveryRequestIsAnsweredOrNotTaken) {
  TestServer test;
  constexpr int client_count = 8;
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < client_count; ++i) {
    clients.emplace_back([&] {
      HttpClient client = test.client();
      while (true) {
        const auto answer = client.get("/hello");
        if (!answer) return;  // refused: the server is gone
        (answer->status == 200 && answer->body == "\"hello\"" ? answered : wrong)++;
      }
    });
  }
  while (answered < 500) std::this_thread::yield();
  test.server->stop();
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(test.metrics.gauge("sotto_http_connections", "").value(), 0);
  const auto& counted = test.metrics.counter("sotto_http_requests_total", "",
                                             {{"method", "GET"}, {"route", "/hello"}, {"status", "200"}});
  EXPECT_EQ(counted.value(), static_cast<std::uint64_t>(answered));
}

TEST(HttpStop, MayBeCalledTwiceAndFreesThePort) {
  HttpServerSettings settings;
  TestServer first(settings);
  settings.port = first.port();
  first.server->stop();
  first.server->stop();
  TestServer second(settings);
  EXPECT_EQ(second.client().get("/hello")->status, 200);
}

}  // namespace
}  // namespace sotto::net
