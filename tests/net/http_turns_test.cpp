// A connection that asks for much does not keep others waiting: its turn ends with every request, and with
// every piece of an answer. One network thread, held up until all requests have arrived, shows the order.

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "net/published_body.h"
#include "raw_socket.h"
#include "test_server.h"

namespace sotto::net {
namespace {

constexpr std::size_t large_bytes = 64 << 20;

class HttpTurns : public ::testing::Test {
 protected:
  HttpTurns() {
    Router router = echo_routes();
    router.add(HttpMethod::get, "/gate", [this](const HttpRequest&) {
      arrived_.set_value();
      open_.get_future().wait();
      return json_response("\"open\"");
    });
    router.add(HttpMethod::get, "/much", [this](const HttpRequest&) {
      ++much_;
      return json_response("1");
    });
    router.add(HttpMethod::get, "/large",
               [this](const HttpRequest& request) { return large_.respond(request); });
    router.add(HttpMethod::get, "/little", [this](const HttpRequest&) {
      much_before_ = much_;
      sent_before_ = test_->metrics.counter("sotto_http_sent_bytes_total", "").value();
      return json_response("\"little\"");
    });
    HttpServerSettings settings;
    settings.network_threads = 1;
    test_ = std::make_unique<TestServer>(settings, std::move(router));
    greedy_ = std::make_unique<RawSocket>(test_->port());
    modest_ = std::make_unique<RawSocket>(test_->port());
    for (RawSocket* socket : {greedy_.get(), modest_.get()}) {
      socket->send(ask("/hello"));
      socket->read_until("\"hello\"");
    }
  }
  static std::string ask(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  // The greedy connection's requests lie there, then the modest one's; then the thread goes on.
  void ask_both(const std::string& greedy) {
    greedy_->send(ask("/gate") + greedy);
    arrived_.get_future().wait();
    modest_->send(ask("/little"));
    open_.set_value();
    modest_->read_until("\"little\"");
  }

  const PublishedBody large_{std::string(large_bytes, 'x'), "large", "text/plain", 0};
  std::promise<void> arrived_, open_;
  int much_ = 0, much_before_ = -1;  // by the network thread alone
  std::uint64_t sent_before_ = 0;
  std::unique_ptr<TestServer> test_;
  std::unique_ptr<RawSocket> greedy_, modest_;
};

TEST_F(HttpTurns, EndWithEveryRequestOfAPipeline) {
  std::string pipeline;
  for (int i = 0; i < 400; ++i) pipeline += ask("/much");
  ask_both(pipeline);
  EXPECT_GE(much_before_, 0);
  EXPECT_LT(much_before_, 20) << "of 400 that had come before";
}

TEST_F(HttpTurns, EndWithEveryPieceOfAnAnswer) {
  auto taken = std::async(std::launch::async, [&] {
    std::size_t bytes = 0;
    char piece[1 << 16];
    while (bytes < large_bytes) {
      const ssize_t got = recv(greedy_->descriptor(), piece, sizeof piece, 0);
      if (got <= 0) break;
      bytes += static_cast<std::size_t>(got);
    }
    return bytes;
  });
  ask_both(ask("/large"));
  EXPECT_LT(sent_before_, std::size_t{2} << 20) << "of 64 MiB that had been asked for before";
  EXPECT_GE(taken.get(), large_bytes);
}

}  // namespace
}  // namespace sotto::net
