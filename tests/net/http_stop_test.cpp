#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "raw_socket.h"
#include "test_server.h"

namespace sotto {
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

TEST(HttpStop, CutsOffWhatDoesNotFinishInTime) {
  std::promise<HttpReply> held;
  Router router;
  router.add(HttpMethod::get, "/never",
             HttpHandler([&](HttpRequest&&, HttpReply reply) { held.set_value(std::move(reply)); }));
  TestServer test({}, std::move(router));
  RawSocket half(test.port());
  half.send("POST /never HTTP/1.1\r\nContent-Le");
  auto answer = std::async(std::launch::async, [&] { return test.client().get("/never"); });
  HttpReply reply = held.get_future().get();
  test.server->stop(std::chrono::milliseconds(50));
  EXPECT_FALSE(answer.get());
  std::move(reply)(json_response("nobody reads this"));
}

TEST(HttpStop, UnderLoadEveryRequestIsAnsweredOrNotTaken) {
  TestServer test;
  constexpr int kClients = 8;
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
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
}  // namespace sotto
