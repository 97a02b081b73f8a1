// What strangers tried, and what the server makes of it: memory, framing, credentials.

#include <gmock/gmock.h>

#include "net/memory_budget.h"
#include "net/request_reader.h"
#include "raw_socket.h"
#include "test_server.h"

namespace sotto::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::size_t answers_in(std::string_view text) {
  std::size_t found = 0;
  for (std::size_t at = text.find("\r\nDate: "); at != std::string_view::npos;
       at = text.find("\r\nDate: ", at + 1)) {
    ++found;
  }
  return found;
}

std::optional<HttpResponse> only_for_alice(const HttpRequest& head) {
  if (head.header("Authorization") == "alice") return std::nullopt;
  return json_response("\"who are you?\"", 401);
}

Router guarded_routes(std::uint64_t body_limit) {
  const auto count = [](const HttpRequest& request) {
    return json_response(std::to_string(request.body.size()));
  };
  Router router;
  router.add(HttpMethod::put, "/guarded", count, body_limit, only_for_alice);
  router.add(HttpMethod::put, "/open", count, body_limit);
  router.add(HttpMethod::get, "/hello", [](const HttpRequest&) { return json_response("\"hello\""); });
  return router;
}

// A request read from bytes that come in pieces of this size.
struct ReadRequest {
  explicit ReadRequest(const Router& routes, std::string_view bytes, std::size_t piece,
                       const RequestLimits& limits = {})
      : process(std::make_shared<ProcessBudget>(64 << 20)),
        reader(routes, limits, std::make_shared<ConnectionBudget>(process, 32 << 20)) {
    std::string buffer;
    while (true) {
      std::string_view unread = buffer;
      step = reader.take(unread);
      buffer.erase(0, buffer.size() - unread.size());
      most_held = std::max(most_held, process->held() + static_cast<std::int64_t>(buffer.size()));
      if (step == RequestReader::Step::head) {
        step = reader.admit();
        if (step == RequestReader::Step::more) continue;
      }
      if (step != RequestReader::Step::more || bytes.empty()) break;
      buffer += bytes.substr(0, piece);
      bytes.remove_prefix(std::min(piece, bytes.size()));
    }
    unused = buffer.size() + bytes.size();
  }
  std::shared_ptr<ProcessBudget> process;
  RequestReader reader;
  RequestReader::Step step = RequestReader::Step::more;
  std::int64_t most_held = 0;
  std::size_t unused = 0;
};

TEST(HttpAttacks, ChunkExtensionsAndTrailersHoldNoMemory) {
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Router routes = echo_routes();
  for (const std::string& start :
       {"2;" + std::string(), std::string("0\r\nX-Trailer: "), std::string("2\r\nab\r\n2;x=\"")}) {
    const ReadRequest read(routes, head + start + std::string(8 << 20, 'a'), 1000);
    EXPECT_EQ(read.step, RequestReader::Step::refused) << start;
    EXPECT_LT(read.most_held, 20'000) << start;
    TestServer test;
    RawSocket attacker(test.port());
    attacker.send(head + start + std::string(1 << 20, 'a'));
    EXPECT_THAT(attacker.read_all(), StartsWith("HTTP/1.1 400 ")) << start;
  }
  TestServer test;
  RawSocket attacker(test.port());
  attacker.send("POST /nope HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;" +
                std::string(1 << 20, 'a'));
  EXPECT_THAT(attacker.read_all(), StartsWith("HTTP/1.1 404 ")) << "from the head alone";
}

TEST(HttpAttacks, ManySmallFieldsGet431) {
  std::string fields;
  for (std::size_t i = 0; i < RequestReader::most_fields; ++i) fields += "a:\r\n";
  TestServer test;
  RawSocket many(test.port());
  many.send("GET /hello HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n");
  EXPECT_THAT(many.read_all(), StartsWith("HTTP/1.1 431 "));
  RawSocket fits(test.port());
  fits.send("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + fields.substr(8) + "\r\n");
  EXPECT_THAT(fits.read_all(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpAttacks, TheCredentialIsAskedForBeforeTheBody) {
  TestServer test({}, guarded_routes(16 << 20));
  for (const std::string more : {"Content-Length: 16000000\r\n", "Transfer-Encoding: chunked\r\n",
                                 "Content-Length: 9\r\nExpect: 100-continue\r\n"}) {
    RawSocket stranger(test.port());
    stranger.send("PUT /guarded HTTP/1.1\r\nHost: x\r\n" + more + "\r\n");  // and no body
    const std::string answer = stranger.read_all();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  }
  HttpClient::Call call{
      .method = HttpMethod::put, .path = "/guarded", .headers = {{"Authorization", "alice"}}};
  const std::string body(3 << 20, 'x');
  call.body = body;
  EXPECT_EQ(test.client().send(call)->body, std::to_string(3 << 20));
}

TEST(HttpAttacks, BodiesWithoutACredentialAreSmall) {
  TestServer test({}, guarded_routes(16 << 20));
  const std::string fits(64 << 10, 'x');
  EXPECT_EQ(test.client().send({.method = HttpMethod::put, .path = "/open", .body = fits})->status, 200);
  const std::string large = fits + "x";
  EXPECT_EQ(test.client().send({.method = HttpMethod::put, .path = "/open", .body = large})->status, 413);
}

TEST(HttpAttacks, BodiesBeyondTheBudgetOfTheProcessGet503) {
  HttpServerSettings settings;
  settings.max_buffered_bytes = 8 << 20;
  TestServer test(settings, guarded_routes(1 << 20));
  const std::string head =
      "PUT /guarded HTTP/1.1\r\nHost: x\r\nAuthorization: alice\r\nContent-Length: 1000000\r\n\r\n";
  std::vector<std::unique_ptr<RawSocket>> holding;
  for (int i = 0; i < 12; ++i) {
    holding.push_back(std::make_unique<RawSocket>(test.port()));
    holding.back()->send(head + std::string(900'000, 'x'));
  }
  std::vector<pollfd> answered;
  for (const auto& socket : holding) answered.push_back({socket->descriptor(), POLLIN, 0});
  ASSERT_GT(poll(answered.data(), answered.size(), 20'000), 0) << "somebody is turned away";
  for (std::size_t i = 0; i < holding.size(); ++i) {
    if ((answered[i].revents & POLLIN) == 0) continue;
    const std::string answer = holding[i]->read_until("\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  }
  EXPECT_EQ(test.client().get("/hello")->status, 200) << "small requests are answered meanwhile";
  holding.clear();
  HttpClient::Call call{
      .method = HttpMethod::put, .path = "/guarded", .headers = {{"Authorization", "alice"}}};
  const std::string body(1'000'000, 'x');
  call.body = body;
  int status = 503;
  for (int tries = 0; tries < 2000 && status == 503; ++tries) status = test.client().send(call)->status;
  EXPECT_EQ(status, 200) << "the budget is free again";
}

TEST(HttpAttacks, ARequestStaysChargedUntilItsHandlerLetsGo) {
  auto process = std::make_shared<ProcessBudget>(1000);
  auto connection = std::make_shared<ConnectionBudget>(process, 600);
  HeldBytes request(connection);
  EXPECT_TRUE(request.hold(600));
  EXPECT_FALSE(HeldBytes(connection).hold(1)) << "one connection";
  auto other = std::make_shared<ConnectionBudget>(process, 600);
  EXPECT_FALSE(HeldBytes(other).hold(401)) << "the process";
  connection.reset();
  EXPECT_EQ(process->held(), 600);
  const HeldBytes kept = std::move(request);
  EXPECT_EQ(process->held(), 600);
  request = HeldBytes(other);
  EXPECT_TRUE(request.hold(400));
  request.hold(0);
  EXPECT_EQ(process->held(), 600);
}

TEST(HttpAttacks, LargeRequestsLeaveAQuarterToSmallOnes) {
  auto process = std::make_shared<ProcessBudget>(1 << 20);
  HeldBytes large(std::make_shared<ConnectionBudget>(process, 1 << 20));
  EXPECT_FALSE(large.hold((768 << 10) + 1));
  EXPECT_TRUE(large.hold(768 << 10));
  HeldBytes small(std::make_shared<ConnectionBudget>(process, 1 << 20));
  EXPECT_TRUE(small.hold(ConnectionBudget::small_bytes));
  EXPECT_FALSE(small.hold(ConnectionBudget::small_bytes + 1));
}

TEST(HttpAttacks, WhatAProxyCouldReadDifferentlyIsRefusedAndTheConnectionClosed) {
  const std::string second = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string requests[] = {
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nab",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\nab",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
      "chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab",
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\n\r\nab",
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\nab",
      "GET /hello HTTP/1.1\r\nHost: x\r\nX-Folded: a\r\n b\r\n\r\n",
      "GET /hello HTTP/1.1\r\n Host: x\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
      "GET /hello HTTP/1.1\r\n\r\n",
      "GET /hello HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
      "GET /hello HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n",
      "GET /hello HTTP/1.1\r\nHost: x, y\r\n\r\n",
      "GET /hello HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
      "GET /hello HTTP/1.1\r\nHost: x\rX: y\r\n\r\n",
      "GET /hello HTTP/1.1\r\nHost: x\r\nX : y\r\n\r\n",
  };
  TestServer test;
  for (const std::string& request : requests) {
    RawSocket socket(test.port());
    socket.send(request + second);
    const std::string answer = socket.read_all();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n")) << request;
    EXPECT_EQ(answers_in(answer), 1U) << request;
    EXPECT_THAT(answer, Not(HasSubstr("hello"))) << request;
  }
  RawSocket old(test.port());
  old.send("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.read_all(), StartsWith("HTTP/1.1 200 ")) << "HTTP/1.0 has no Host";
}

TEST(HttpAttacks, ARequestReadsTheSameHoweverItIsCutIntoPieces) {
  const Router routes = guarded_routes(1 << 20);
  const std::string requests[] = {
      "PUT /open HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
      "PUT /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nT: "
      "u\r\n\r\n",
      "PUT /guarded HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
      "GET /hello?a=b HTTP/1.1\r\nHost: x\r\n\r\n",
  };
  for (const std::string& request : requests) {
    const ReadRequest whole(routes, request + "rest", 1000);
    for (std::size_t piece = 1; piece < request.size(); ++piece) {
      const ReadRequest pieces(routes, request + "rest", piece);
      EXPECT_EQ(pieces.step, whole.step) << request << piece;
      EXPECT_EQ(pieces.unused, whole.unused) << request << piece;
      EXPECT_EQ(pieces.reader.request.body, whole.reader.request.body) << request << piece;
      EXPECT_EQ(pieces.reader.request.query, whole.reader.request.query);
    }
  }
}

TEST(HttpAttacks, AQuotedExtensionEndsOnItsLineHoweverItIsCutIntoPieces) {
  const Router routes = guarded_routes(1 << 20);
  const std::string head = "PUT /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body = "\r\n" + std::string(0xff3, 'x') + "\r\n0\r\n\r\n";
  const std::string unfinished = head + "ff3;a=\"b" + body;
  const std::string finished = head + "ff3;a=\"b\"" + body;
  for (std::size_t piece :
       {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{64}, unfinished.size()}) {
    EXPECT_EQ(ReadRequest(routes, unfinished, piece).step, RequestReader::Step::refused) << piece;
    EXPECT_EQ(ReadRequest(routes, finished, piece).step, RequestReader::Step::complete) << piece;
  }
}

TEST(HttpAttacks, TheBodyInMemoryGrowsWithWhatHasComeNotWithWhatIsAnnounced) {
  const Router routes = guarded_routes(16 << 20);
  const std::string head =
      "PUT /guarded HTTP/1.1\r\nHost: x\r\nAuthorization: alice\r\nContent-Length: 16000000\r\n\r\n";
  const ReadRequest announced(routes, head + std::string(10'000, 'x'), 1000);
  EXPECT_EQ(announced.step, RequestReader::Step::more);
  EXPECT_LT(announced.most_held, 100'000);
  const ReadRequest whole(routes, head + std::string(16'000'000, 'x'), 16 << 10);
  EXPECT_EQ(whole.step, RequestReader::Step::complete);
  EXPECT_EQ(whole.reader.request.body.size(), 16'000'000U);
  // And no further than what may come, when nothing is announced.
  const std::string chunked =
      "PUT /guarded HTTP/1.1\r\nHost: x\r\nAuthorization: alice\r\nTransfer-Encoding: "
      "chunked\r\n\r\n1000000\r\n";
  const ReadRequest most(routes, chunked + std::string(16 << 20, 'x') + "\r\n0\r\n\r\n", 16 << 10);
  EXPECT_EQ(most.step, RequestReader::Step::complete);
  EXPECT_LT(most.most_held, 32 << 20);
}

}  // namespace
}  // namespace sotto::net
