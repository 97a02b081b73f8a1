#include "net/http_server.h"

#include <gmock/gmock.h>

#include <future>
#include <optional>
#include <thread>

#include "raw_socket.h"
#include "test_server.h"

namespace sotto::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(HttpServer, AnswersAThousandRequestsOverOneConnection) {
  TestServer test;
  HttpClient client = test.client();
  for (int i = 0; i < 1000; ++i) {
    const std::string body(static_cast<std::size_t>(i), 'x');
    const auto answer = client.post("/echo", body, "application/octet-stream");
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->status, 200);
    ASSERT_EQ(answer->body, body);
  }
  EXPECT_THAT(test.metrics.to_text(),
              HasSubstr("sotto_http_requests_total{method=\"POST\",route=\"/echo\",status=\"200\"} 1000\n"));
  EXPECT_EQ(test.metrics.gauge("sotto_http_connections", "").value(), 1);
}

TEST(HttpServer, HandsDecodedPathParametersToTheHandler) {
  TestServer test;
  HttpClient client = test.client();
  EXPECT_EQ(client.get("/items/N%2F12%20a")->body, "N/12 a");
  EXPECT_EQ(client.get("/items/%00")->status, 400);
  EXPECT_EQ(client.get("/items/")->status, 404);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  TestServer test;
  RawSocket socket(test.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += "GET /items/" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  requests += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  requests += "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  socket.send(requests);
  const std::string answers = socket.read_all();
  EXPECT_EQ(count(answers, "HTTP/1.1 200 OK\r\n"), 52U);
  std::size_t at = 0;
  for (int i = 0; i < 50; ++i) {
    at = answers.find("\r\n\r\n" + std::to_string(i) + "HTTP/1.1", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_THAT(answers, ::testing::EndsWith("\r\n\r\n\"hello\""));
}

TEST(HttpServer, RunsWhatAHandlerLeavesForTheEndOfItsTurnOnTheSameThread) {
  Router router;
  router.add(HttpMethod::get, "/later", HttpHandler([](HttpRequest&&, HttpReply reply) {
               const auto later = std::make_shared<HttpReply>(std::move(reply));
               const auto thread = std::this_thread::get_id();
               const bool taken = run_after_ready_requests([later, thread] {
                 std::move (*later)(json_response(std::this_thread::get_id() == thread ? "true" : "false"));
               });
               EXPECT_TRUE(taken);
             }));
  TestServer test({}, std::move(router));
  HttpClient client = test.client();
  EXPECT_EQ(client.get("/later")->body, "true");
  EXPECT_EQ(client.get("/later")->body, "true");
  EXPECT_FALSE(run_after_ready_requests([] { FAIL() << "this is no network thread"; }));
}

TEST(HttpServer, SaysWhetherAnybodyStillWaitsForAnAnswer) {
  std::promise<HttpReply> asked;
  Router router;
  router.add(HttpMethod::get, "/later",
             HttpHandler([&](HttpRequest&&, HttpReply reply) { asked.set_value(std::move(reply)); }));
  TestServer server({}, std::move(router));
  std::optional<RawSocket> client(std::in_place, server.port());
  client->send("GET /later HTTP/1.1\r\nHost: a\r\n\r\nGET /next");
  HttpReply reply = asked.get_future().get();
  EXPECT_TRUE(reply.is_live()) << "also while something unread is there";
  client.reset();
  for (int i = 0; i < 5000 && reply.is_live(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(reply.is_live());
  std::move(reply)(json_response("\"late\""));
  EXPECT_FALSE(reply.is_live()) << "it was used";
}

TEST(HttpServer, AnswersAClientThatClosedItsSendingSide) {
  TestServer test;
  RawSocket socket(test.port());
  socket.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  socket.close_sending_side();
  EXPECT_THAT(socket.read_all(), ::testing::EndsWith("\r\n\r\nhello"));
}

TEST(HttpServer, TellsAClientThatEndedTooEarly) {
  TestServer test;
  RawSocket socket(test.port());
  socket.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe");
  socket.close_sending_side();
  EXPECT_THAT(socket.read_all(), StartsWith("HTTP/1.1 400 "));
}

TEST(HttpServer, RefusesWhatIsNotHttp) {
  TestServer test;
  const std::string requests[] = {
      std::string("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", 11) + std::string(200, '\x7f') + "\r\n\r\n",
      std::string(100, '\0') + "\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nBroken Header: x\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
      // Two framings of one body: the classical way to smuggle a second request past a proxy.
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
      "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
  };
  for (const std::string& request : requests) {
    RawSocket socket(test.port());
    socket.send(request);
    const std::string answer = socket.read_all();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  }
  RawSocket old(test.port());
  old.send("GET / HTTP/3.0\r\n\r\n");
  EXPECT_THAT(old.read_all(), StartsWith("HTTP/1.1 505 "));
  EXPECT_EQ(test.client().get("/hello")->status, 200);
}

TEST(HttpServer, TakesChunkedBodiesAndExpectations) {
  TestServer test;
  RawSocket chunked(test.port());
  chunked.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_THAT(chunked.read_all(), ::testing::EndsWith("\r\n\r\nabcde"));

  RawSocket expecting(test.port());
  expecting.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\nExpect: "
      "100-continue\r\n\r\n");
  EXPECT_EQ(expecting.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  expecting.send("ok");
  EXPECT_THAT(expecting.read_all(), ::testing::EndsWith("\r\n\r\nok"));
}

TEST(HttpServer, NamesTheMethodsOfAPath) {
  TestServer test;
  HttpClient client = test.client();
  const auto wrong = client.post("/hello", "", "application/json");
  EXPECT_EQ(wrong->status, 405);
  EXPECT_EQ(wrong->header("Allow"), "GET, HEAD");
  EXPECT_EQ(client.send({.method = HttpMethod::options, .path = "/hello"})->status, 204);
  EXPECT_EQ(client.get("/nowhere")->body, "{\"error\":\"there is nothing at this path\"}\n");
  const auto head = client.send({.method = HttpMethod::head, .path = "/hello"});
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->header("Content-Length"), "7");
  EXPECT_EQ(head->body, "");
  RawSocket unknown(test.port());
  unknown.send("BREW /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(unknown.read_all(), StartsWith("HTTP/1.1 501 "));
}

TEST(HttpServer, ExplainsAPortThatIsTaken) {
  TestServer test;
  HttpServerSettings settings;
  settings.port = test.port();
  MetricsRegistry metrics;
  const auto second = HttpServer::start(settings, {}, metrics);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("choose another --port"));
  settings.address = "192.0.2.1";
  EXPECT_THAT(HttpServer::start(settings, {}, metrics).error().message,
              HasSubstr("does not have that address"));
  settings.address = "localhost!";
  EXPECT_THAT(HttpServer::start(settings, {}, metrics).error().message, HasSubstr("is no network address"));
}

TEST(HttpServer, DoesNotLetAHandlerSplitTheResponse) {
  Router router;
  router.add(HttpMethod::get, "/evil", [](const HttpRequest&) {
    HttpResponse response;
    response.content_type = "text/plain\r\nX-Split: 1";
    response.headers = {
        {"X-Value", "a\r\nX-Split: 1"}, {"X Name", "a"}, {"Content-Length", "0"}, {"X-Good", "b"}};
    response.body = "body";
    return response;
  });
  TestServer test({}, std::move(router));
  const auto answer = test.client().get("/evil");
  EXPECT_EQ(answer->body, "body");
  EXPECT_EQ(answer->header("X-Split"), "");
  EXPECT_EQ(answer->header("X-Good"), "b");
}

TEST(HttpServer, ServesHealthAndMetrics) {
  MetricsRegistry own;
  bool healthy = true;
  Router router = echo_routes();
  add_operator_routes(router, own,
                      [&]() -> Status { return healthy ? Status{} : failed("the model is not loaded"); });
  auto server = HttpServer::start({}, std::move(router), own);
  ASSERT_TRUE(server);
  HttpClient client = HttpClient::create({.url = server->url()}).value();
  EXPECT_EQ(client.get("/healthz")->status, 200);
  client.get("/hello");
  const auto metrics = client.get("/metrics");
  EXPECT_THAT(metrics->body,
              HasSubstr("sotto_http_requests_total{method=\"GET\",route=\"/hello\",status=\"200\"} 1\n"));
  EXPECT_THAT(metrics->body, HasSubstr("# TYPE sotto_http_request_seconds histogram\n"));
  EXPECT_THAT(metrics->body, HasSubstr("sotto_http_connections 1\n"));
  healthy = false;
  EXPECT_EQ(client.get("/healthz")->status, 503);
}

}  // namespace
}  // namespace sotto::net
