#pragma once
// An HTTP/1.1 server: keep-alive, pipelining, TLS when a certificate is given, and a limit on everything a
// stranger can make large or slow.
//
// start() returns when the port is open. Handlers run on the server's threads and may answer later from any
// thread (HttpReply). stop() takes no more connections, lets requests that have begun finish, and returns
// when every connection is closed: within the grace period, after which the rest is cut off. The destructor
// stops too. The metrics registry must outlive the server. start and stop belong to one owner; port() and
// draining() are safe from any thread.
//
// Bodies, queries, header values and addresses are never logged, nor handed to anything that could.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/metrics.h"
#include "net/router.h"

namespace sotto {

class SettingsTable;

struct HttpServerSettings {
  std::string address = "127.0.0.1";
  std::int64_t port = 0;  // 0: any free one
  std::int64_t threads = 2;
  std::string certificate;  // PEM chain; TLS when both are given
  std::string private_key;

  std::int64_t max_header_bytes = 16 << 10;
  std::int64_t max_body_bytes = 16 << 20;  // and less where a route says so
  std::int64_t max_connections = 10'000;
  std::int64_t max_connections_per_address = 1'000;  // 0: no limit (behind a proxy)
  double requests_per_second = 0;                    // per address; 0: no limit
  double request_burst = 100;
  double idle_seconds = 60;     // between requests
  double read_seconds = 10;     // for a header, and again for a body
  double handler_seconds = 30;  // until a handler answers
  double write_seconds = 30;    // for a response

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
  void stop(std::chrono::milliseconds grace = default_grace);

  std::uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:8080"
  bool draining() const;    // stop() was called

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// GET /healthz (200, or 503 with the error's message) and GET /metrics. The registry must outlive the server.
void add_operator_routes(Router& router, MetricsRegistry& metrics, std::function<Status()> health = {});

}  // namespace sotto
