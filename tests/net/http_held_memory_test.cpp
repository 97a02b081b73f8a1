// What strangers make the server hold is what they are charged: the heap's growth is held against the budget.

#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <sys/wait.h>

#include <thread>

#include "heap_in_use.h"
#include "net/published_body.h"
#include "raw_socket.h"
#include "test_certificate.h"
#include "test_paths.h"
#include "test_server.h"

namespace sotto::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int patience = 5000;  // milliseconds, of which a good server needs few

template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < patience; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

std::string get(std::string_view path, std::string_view more = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(more) + "\r\n";
}

std::string text(std::size_t bytes) { return std::string(bytes, 'x'); }

TEST(KeptBytes, CostNothingWhileTheyAreKeptAndThenOnceForAllReaders) {
  const auto budget = std::make_shared<ProcessBudget>(4 << 20);
  auto bytes = std::make_shared<KeptBytes>(text(1 << 20));
  int cut = 0;
  const auto cut_off = [&] { ++cut; };
  auto one = KeptBytes::read(bytes, budget, cut_off);
  auto two = KeptBytes::read(bytes, budget, cut_off);
  EXPECT_EQ(budget->held(), 0);
  bytes->let_go();
  EXPECT_EQ(budget->held(), static_cast<std::int64_t>(bytes->bytes.capacity()));
  auto late = KeptBytes::read(bytes, budget, cut_off);
  ASSERT_TRUE(one && two && late);
  EXPECT_EQ(budget->held(), static_cast<std::int64_t>(bytes->bytes.capacity()));
  one.reset();
  two.reset();
  EXPECT_GT(budget->held(), 0);
  late.reset();
  EXPECT_EQ(budget->held(), 0);
  EXPECT_EQ(cut, 0);
}

TEST(KeptBytes, TheirReadersAreCutOffWhenThereIsNoRoomForThem) {
  const auto budget = std::make_shared<ProcessBudget>(1 << 20);
  auto bytes = std::make_shared<KeptBytes>(text(1 << 20));
  int cut = 0;
  auto one = KeptBytes::read(bytes, budget, [&] { ++cut; });
  auto two = KeptBytes::read(bytes, budget, [&] { ++cut; });
  ASSERT_TRUE(one && two) << "whatever their size, as long as they are kept";
  bytes->let_go();
  bytes->let_go();
  EXPECT_EQ(cut, 2);
  EXPECT_EQ(budget->held(), 0);
  EXPECT_FALSE(KeptBytes::read(bytes, budget, [] {}));
  one.reset();
  two.reset();
  EXPECT_EQ(budget->held(), 0);
}

// Lists that are made for one question each, and that nobody keeps.
Router lists(std::size_t bytes) {
  Router router = echo_routes();
  router.add(HttpMethod::get, "/list/{n}", [bytes](const HttpRequest& request) {
    return std::make_shared<const PublishedBody>(text(bytes), request.parameter("n"), "text/plain", 0)
        ->respond(request);
  });
  return router;
}

TEST(HttpHeldMemory, SlowReadersOfDifferentListsHoldNoMoreThanTheBudget) {
  constexpr std::int64_t budget = 16 << 20;
  HttpServerSettings settings;
  settings.max_buffered_bytes = budget;
  TestServer test(settings, lists(400'000));
  ASSERT_EQ(test.client().get("/list/0")->status, 200);
  const std::int64_t before = heap_in_use();
  std::vector<std::unique_ptr<RawSocket>> readers;
  int taken = 0;
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    readers.push_back(std::make_unique<RawSocket>(test.port(), 4 << 10));
    readers.back()->send(get("/list/" + std::to_string(i)));
    const std::string head = readers.back()->read_until("\r\n\r\n");
    if (head.starts_with("HTTP/1.1 200 ")) ++taken;
    if (!head.starts_with("HTTP/1.1 503 ")) continue;
    ++refused;
    EXPECT_THAT(head, HasSubstr("Retry-After: 1\r\n"));
  }
  EXPECT_EQ(taken + refused, 150);
  EXPECT_GT(taken, 10);
  EXPECT_GT(refused, 50);
  EXPECT_LT(heap_in_use() - before, budget);
  EXPECT_EQ(test.client().get("/hello")->status, 200) << "small answers go on";
  readers.clear();
  EXPECT_TRUE(soon([&] { return test.client().get("/list/1")->status == 200; })) << "the room is free again";
}

TEST(HttpHeldMemory, ABodyThatItsOwnerKeepsCostsItsReadersNothing) {
  HttpServerSettings settings;
  settings.max_buffered_bytes = 16 << 20;
  const std::size_t sizes[] = {4 << 20, 14 << 20};
  auto fits = std::make_shared<const PublishedBody>(text(sizes[0]), "fits", "text/plain", 0);
  auto large = std::make_shared<const PublishedBody>(text(sizes[1]), "large", "text/plain", 0);
  Router router;
  router.add(HttpMethod::get, "/fits", [&](const HttpRequest& request) { return fits->respond(request); });
  router.add(HttpMethod::get, "/large", [&](const HttpRequest& request) { return large->respond(request); });
  TestServer test(settings, std::move(router));
  std::vector<std::unique_ptr<RawSocket>> of_fitting;
  std::vector<std::unique_ptr<RawSocket>> of_large;
  for (int i = 0; i < 10; ++i) {
    for (auto* readers : {&of_fitting, &of_large}) {
      readers->push_back(std::make_unique<RawSocket>(test.port(), 16 << 10));
      readers->back()->send(get(readers == &of_large ? "/large" : "/fits", "Connection: close\r\n"));
      EXPECT_THAT(readers->back()->read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
    }
  }
  fits.reset();
  large.reset();
  std::vector<std::thread> threads;
  std::atomic<int> whole{0}, broken{0};
  for (auto* readers : {&of_fitting, &of_large}) {
    const std::size_t size = sizes[readers == &of_large ? 1 : 0];
    for (auto& reader : *readers) {
      threads.emplace_back([&, size] { ++(reader->read_all().size() > size - (1 << 20) ? whole : broken); });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(whole, 10) << "what fits into the budget is read to its end";
  EXPECT_EQ(broken, 10) << "the other body's readers were cut off";
  EXPECT_EQ(test.metrics.counter("sotto_http_shed_connections_total", "").value(), 10U);
}

// The account that is kept is brought up to date every second.
void expect_charged(TestServer& test, std::int64_t grown) {
  auto& held = test.metrics.gauge("sotto_http_buffered_bytes", "");
  EXPECT_TRUE(soon([&] { return held.value() >= grown; })) << held.value() << " charged of " << grown;
}

TEST(HttpHeldMemory, IdleConnectionsAreChargedWhatTheyHold) {
  TestServer test;
  ASSERT_EQ(test.client().get("/hello")->status, 200);
  const std::int64_t before = heap_in_use();
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (int i = 0; i < 300; ++i) {
    idle.push_back(std::make_unique<RawSocket>(test.port()));
    idle.back()->send(get("/hello"));
    idle.back()->read_until("\"hello\"");
  }
  expect_charged(test, heap_in_use() - before);
  idle.clear();
  EXPECT_TRUE(soon([&] { return test.metrics.gauge("sotto_http_buffered_bytes", "").value() == 0; }));
}

TEST(HttpHeldMemory, RequestsAreChargedWhatTheyHoldWhateverTheirShape) {
  std::string tiny;
  for (int i = 0; i < 126; ++i) tiny += "a:\r\n";
  std::string medium;
  for (int i = 0; i < 120; ++i) medium += "some-field: a value of twenty\r\n";
  const std::string shapes[] = {get("/keep"), get("/keep", tiny), get("/keep", medium),
                                get("/keep", "X: " + text(12'000) + "\r\n"), get("/keep?" + text(12'000))};
  for (const std::string& shape : shapes) {
    std::mutex mutex;
    std::vector<std::pair<HttpRequest, HttpReply>> kept;
    kept.reserve(100);
    Router router = echo_routes();
    router.add(HttpMethod::get, "/keep", HttpHandler([&](HttpRequest&& request, HttpReply reply) {
                 const std::lock_guard lock(mutex);
                 kept.emplace_back(std::move(request), std::move(reply));
               }));
    TestServer test({}, std::move(router));
    ASSERT_EQ(test.client().get("/hello")->status, 200);
    const std::int64_t before = heap_in_use();
    std::vector<std::unique_ptr<RawSocket>> waiting;
    for (std::size_t i = 0; i < 100; ++i) {
      waiting.push_back(std::make_unique<RawSocket>(test.port()));
      waiting.back()->send(shape);
      ASSERT_TRUE(soon([&] {
        const std::lock_guard lock(mutex);
        return kept.size() == i + 1;
      }));
    }
    SCOPED_TRACE(shape.substr(0, 60));
    expect_charged(test, heap_in_use() - before);
    const std::lock_guard lock(mutex);
    kept.clear();
  }
}

// Half a release in the middle of an attack's end must not leave the other half with the allocator.
TEST(ProcessBudget, WhatIsLeftGoesBackToTheSystemWhenItIsQuiet) {
  constexpr std::int64_t block = 64 << 10, left = 100 * block;
  ProcessBudget budget(64 << 20);
  ASSERT_TRUE(budget.take(20 << 20, false));
  std::vector<std::string> blocks, between;
  for (std::int64_t i = 0; i < left / block; ++i) {
    blocks.push_back(text(block));
    between.push_back(text(100));
  }
  budget.give_back((20 << 20) - left);
  budget.release_free_pages();
  const std::int64_t before = resident_memory();
  blocks = {};
  budget.give_back(left);
  EXPECT_EQ(budget.held(), 0);
  budget.release_free_pages();
  EXPECT_LT(resident_memory() - before, -left * 3 / 4);
}

// Large bodies that never end, each beside a connection that stays: what those hold lies between the freed
// bodies, and an allocator by itself would keep all of it.
TEST(HttpHeldMemory, GoesBackToTheSystemWhenAnAttackIsOver) {
  constexpr std::size_t body = 900'000, attackers = 60;
  constexpr std::int64_t whole = body * attackers;
  text(30 << 20);  // freed at once: glibc would learn from it to keep twice as much
  TestServer test;
  ASSERT_EQ(test.client().get("/hello")->status, 200);
  const std::int64_t before = resident_memory();
  std::vector<std::unique_ptr<RawSocket>> attacking, staying;
  for (std::size_t i = 0; i < attackers; ++i) {
    attacking.push_back(std::make_unique<RawSocket>(test.port()));
    attacking.back()->send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nf4240\r\n");
    for (std::size_t sent = 0; sent < body; sent += body / 30) attacking.back()->send(text(body / 30));
    staying.push_back(std::make_unique<RawSocket>(test.port()));
    staying.back()->send(get("/hello"));
    staying.back()->read_until("\"hello\"");
  }
  ASSERT_TRUE(soon([&] { return resident_memory() - before > whole * 3 / 4; })) << resident_memory() - before;
  attacking.clear();
  EXPECT_TRUE(soon([&] { return resident_memory() - before < whole / 8; }))
      << "still held: " << resident_memory() - before;
  staying.back()->send(get("/hello"));
  EXPECT_THAT(staying.back()->read_until("\"hello\""), HasSubstr("200 OK"));
}

// A process of its own connects, so that its half of TLS is not in this one's heap.
class TlsClients {
 public:
  TlsClients() {
    if (pipe(to_) != 0 || pipe(from_) != 0) throw std::runtime_error("no pipe");
    process_ = fork();
    if (process_ == 0) std::_Exit(connect_when_told());
  }
  ~TlsClients() {
    close(to_[1]);
    waitpid(process_, nullptr, 0);
  }
  TlsClients(const TlsClients&) = delete;
  TlsClients& operator=(const TlsClients&) = delete;
  // How many are connected, each with one request answered.
  int connect(std::uint16_t port) {
    int connected = 0;
    if (write(to_[1], &port, sizeof port) != sizeof port) return -1;
    return read(from_[0], &connected, sizeof connected) == sizeof connected ? connected : -1;
  }

 private:
  int connect_when_told() {
    close(to_[1]);
    std::uint16_t port = 0;
    if (read(to_[0], &port, sizeof port) != sizeof port) return 1;
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    std::vector<std::unique_ptr<RawSocket>> sockets;
    int connected = 0;
    for (int i = 0; i < 100; ++i) {
      sockets.push_back(std::make_unique<RawSocket>(port));
      SSL* session = SSL_new(context);
      SSL_set_fd(session, sockets.back()->descriptor());
      if (SSL_connect(session) != 1) break;
      const std::string ask = get("/hello");
      char answer[1000];
      if (SSL_write(session, ask.data(), static_cast<int>(ask.size())) <= 0) break;
      if (SSL_read(session, answer, sizeof answer) <= 0) break;
      ++connected;
    }
    if (write(from_[1], &connected, sizeof connected) != sizeof connected) return 1;
    return read(to_[0], &port, sizeof port) == 0 ? 0 : 1;  // until the test is over
  }
  int to_[2]{}, from_[2]{};
  pid_t process_ = 0;
};

TEST(HttpHeldMemory, TlsConnectionsAreChargedWhatTheyHold) {
  TlsClients clients;
  const TempFolder folder;
  const TestCertificate certificate(folder.path(), "good", "IP:127.0.0.1");
  HttpServerSettings settings;
  settings.certificate = certificate.certificate;
  settings.private_key = certificate.key;
  TestServer test(settings);
  {
    auto client =
        HttpClient::create({.url = test.server->url(), .authorities = certificate.certificate}).value();
    ASSERT_EQ(client.get("/hello")->status, 200);
  }
  ASSERT_TRUE(soon([&] { return test.metrics.gauge("sotto_http_connections", "").value() == 0; }));
  const std::int64_t before = heap_in_use();
  ASSERT_EQ(clients.connect(test.port()), 100);
  expect_charged(test, heap_in_use() - before);
}

TEST(HttpHeldMemory, TlsConnectionsBeyondTheBudgetMakeRoomForOneAnother) {
  const TempFolder folder;
  const TestCertificate certificate(folder.path(), "good", "IP:127.0.0.1");
  HttpServerSettings settings;
  settings.certificate = certificate.certificate;
  settings.private_key = certificate.key;
  settings.max_buffered_bytes = 4 << 20;
  settings.read_seconds = settings.idle_seconds = 0;  // nobody is closed for being silent alone
  TestServer test(settings);
  EXPECT_LT(test.metrics.gauge("sotto_http_connection_limit", "").value(), 100);
  std::vector<std::unique_ptr<RawSocket>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<RawSocket>(test.port()));
  // At once, but for connections that were taken so lately that they do not wait yet.
  EXPECT_TRUE(soon([&] {
    auto client =
        HttpClient::create({.url = test.server->url(), .authorities = certificate.certificate}).value();
    const auto answer = client.get("/hello");
    return answer && answer->status == 200;
  })) << "those that say nothing are closed";
  EXPECT_LE(test.metrics.gauge("sotto_http_buffered_bytes", "").value(), 4 << 20);
}

}  // namespace
}  // namespace sotto::net
