#pragma once
// An HTTP/1.1 server: keep-alive, pipelining, TLS when a certificate is given, and a limit on everything a
// stranger can make large or slow.
//
// start() returns when the port is open; it raises the process's limit on descriptors as far as the
// connections need and the system allows. Handlers run on the server's threads and may answer later from any
// thread (HttpReply). stop() takes no more connections, answers the requests that have arrived completely,
// refuses the others with 503, and returns when every connection is closed: within the grace period, after
// which the rest is cut off. The destructor stops too. The metrics registry must outlive the server. start
// and stop belong to one owner; port() and draining() are safe from any thread.
//
// Bodies, queries, header values and addresses are never logged, nor handed to anything that could.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/metrics.h"
#include "net/router.h"

namespace sotto {
class SettingsTable;
}

namespace sotto::net {

struct HttpServerSettings {
  std::string address = "127.0.0.1";
  std::int64_t port = 0;  // 0: any free one
  std::int64_t network_threads = 2;
  std::string certificate;  // PEM chain; TLS when both are given
  std::string private_key;

  // What strangers can make the server hold. These have no "off": whoever stands before the server, the
  // memory is its own.
  std::int64_t max_header_bytes = 16 << 10;
  std::int64_t max_body_bytes = 16 << 20;                      // and less where a route says so
  std::int64_t max_anonymous_body_bytes = 64 << 10;            // where the route asks for no credential
  std::int64_t max_connection_bytes = std::int64_t{32} << 20;  // one connection: head, body and answer
  std::int64_t max_buffered_bytes = std::int64_t{256} << 20;   // all connections together

  // The others are off at 0, for use behind a proxy that has them.
  std::int64_t max_connections = 10'000;  // and what the system's descriptors allow
  std::int64_t max_connections_per_address = 1'000;
  double requests_per_second = 0;  // per address
  double request_burst = 100;
  double idle_seconds = 60;                  // between requests
  double read_seconds = 10;                  // for a head; for a body, as long as it keeps the least rate
  double handler_seconds = 30;               // until a handler answers
  double write_seconds = 30;                 // for a response, as long as it is taken at the least rate
  std::int64_t min_bytes_per_second = 4096;  // of a body or a response; 0: only a standstill counts
  // Proxies whose X-Forwarded-For says whom a request counts for: "10.0.0.7, 192.0.2.0/24".
  std::string trusted_proxies;

  void bind(SettingsTable& table);
};

class HttpServer {
 public:
  static Result<HttpServer> start(const HttpServerSettings& settings, Router router,
                                  MetricsRegistry& metrics);
  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) noexcept;
  ~HttpServer();  // stop(default_grace)

  static constexpr std::chrono::milliseconds default_grace{10'000};
  struct StopReport {
    std::uint64_t answered = 0;  // requests that had arrived
    std::uint64_t refused = 0;   // that had not arrived completely: answered 503, nothing was done
    std::uint64_t cut = 0;       // that were taken and had no answer when the time was over
  };
  StopReport stop(std::chrono::milliseconds grace = default_grace);  // logs what there is to report

  std::uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:8080"
  bool draining() const;    // stop() was called

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Called by a handler: runs `task` on the same network thread, after the requests that had arrived by then
// have been given to their handlers. False, and nothing happens, on any other thread.
bool run_after_ready_requests(std::function<void()> task);

// GET /healthz (200, or 503 with the error's message) and GET /metrics. The registry must outlive the server.
void add_operator_routes(Router& router, MetricsRegistry& metrics, std::function<Status()> health = {});

}  // namespace sotto::net
