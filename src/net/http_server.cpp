#include "net/http_server.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <future>
#include <thread>

#include "base/log.h"
#include "base/settings.h"
#include "net/free_memory.h"
#include "net/http_session.h"
#include "net/negotiation.h"

namespace sotto::net {

void HttpServerSettings::bind(SettingsTable& table) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  table.add("address", address, "Address to listen on; anything but loopback should have a certificate")
      .add("port", port, {0, 65535}, "Port to listen on; 0 takes any free one")
      .add("network_threads", network_threads, {1, 256}, "Threads that take and answer requests")
      .add("certificate", certificate, "Certificate chain (PEM); with private-key this turns TLS on")
      .add("private_key", private_key, "Private key of the certificate (PEM), readable by its owner alone")
      .add("max_header_bytes", max_header_bytes, {256, 1 << 20}, "Largest request head")
      .add("max_body_bytes", max_body_bytes, {0, std::int64_t{1} << 32}, "Largest request body")
      .add("max_anonymous_body_bytes", max_anonymous_body_bytes, {0, std::int64_t{1} << 32},
           "Largest request body where no credential is asked for")
      .add("max_connection_bytes", max_connection_bytes, {64 << 10, most_bytes},
           "What one connection may make the server hold: head, body and answer")
      .add("max_buffered_bytes", max_buffered_bytes, {1 << 20, most_bytes},
           "What all connections together may make the server hold; then 503")
      .add("max_connections", max_connections, {0, 1'000'000},
           "Open connections in all; 0 for as many as the system has descriptors")
      .add("max_connections_per_address", max_connections_per_address, {0, 1'000'000},
           "Open connections of one address; 0 for no limit")
      .add("requests_per_second", requests_per_second, {0, 1e9}, "Requests of one address; 0 for no limit")
      .add("request_burst", request_burst, {1, 1e9}, "Requests of one address at once, after a pause")
      .add("idle_seconds", idle_seconds, {0, 86400},
           "How long a connection may wait between requests; 0 for no limit")
      .add("read_seconds", read_seconds, {0, 86400},
           "How long a request head may take, and a body at less than the least rate; 0 for no limit")
      .add("handler_seconds", handler_seconds, {0, 86400},
           "How long an answer may take to compute; 0 for no limit")
      .add("write_seconds", write_seconds, {0, 86400},
           "How long a response may be taken at less than the least rate; 0 for no limit")
      .add("min_bytes_per_second", min_bytes_per_second, {0, 1'000'000'000},
           "Least rate of a body or response; 0: only a standstill counts")
      .add("trusted_proxies", trusted_proxies,
           "Proxies whose X-Forwarded-For is believed: addresses or networks, separated by commas");
}

void add_operator_routes(Router& router, MetricsRegistry& metrics, std::function<Status()> health) {
  router.add(HttpMethod::get, "/healthz", [health = std::move(health)](const HttpRequest& request) {
    if (const Status status = health ? health() : Status{}; !status) {
      return error_response(request, 503, status.error().message);
    }
    return json_response("{\"status\":\"ok\"}\n");
  });
  router.add(HttpMethod::get, "/metrics", [&metrics](const HttpRequest&) {
    HttpResponse response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = metrics.to_text();
    return response;
  });
}

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// A network thread and the sessions that live in it.
struct Worker {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  SessionSet sessions;
  std::thread thread;
};

// Of the network thread that asks; null elsewhere.
thread_local asio::io_context* own_context = nullptr;

void run(asio::io_context& context) {
  own_context = &context;
  context.run();
  own_context = nullptr;
}

PeerAddress key_of(const tcp::endpoint& endpoint) {
  const asio::ip::address address = endpoint.address();
  return address.is_v4() ? asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4()).to_bytes()
                         : address.to_v6().to_bytes();
}

Error explain_listen(const error_code& wrong, const HttpServerSettings& settings) {
  std::string advice = "check --address and --port";
  if (wrong == asio::error::address_in_use) {
    advice = "another program has that port: choose another --port, or 0 for any free one";
  } else if (wrong == asio::error::access_denied) {
    advice = "ports below 1024 need privileges: choose a higher --port";
  } else if (wrong == boost::system::errc::address_not_available) {
    advice = "this machine does not have that address: use 127.0.0.1, or 0.0.0.0 for all";
  }
  return Error{ErrorKind::bad_input, fmt::format("cannot listen on {} port {} ({}): {}", settings.address,
                                                 settings.port, wrong.message(), advice)};
}

Result<tcp::acceptor> listen(asio::io_context& context, const HttpServerSettings& settings) {
  error_code wrong;
  const auto address = asio::ip::make_address(settings.address, wrong);
  if (wrong)
    return bad_input("\"{}\" is no network address: write 127.0.0.1 or ::1, for example", settings.address);
  const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(settings.port));
  tcp::acceptor acceptor(context);
  acceptor.open(endpoint.protocol(), wrong);
  if (!wrong) acceptor.set_option(tcp::acceptor::reuse_address(true), wrong);
  if (!wrong) acceptor.bind(endpoint, wrong);
  if (!wrong) acceptor.listen(asio::socket_base::max_listen_connections, wrong);
  if (wrong) return tl::unexpected(explain_listen(wrong, settings));
  if (!address.is_loopback() && settings.certificate.empty()) {
    warn(
        "listening on {} without TLS: whoever is on the way reads and changes everything; give --certificate "
        "and "
        "--private-key, or put a proxy with TLS in front",
        settings.address);
  }
  return acceptor;
}

asio::awaitable<void> accept_connections(tcp::acceptor& acceptor, ServerShared& shared,
                                         std::vector<std::unique_ptr<Worker>>& workers) {
  for (std::size_t turn = 0; acceptor.is_open(); ++turn) {
    Worker& worker = *workers[turn % workers.size()];
    error_code wrong;
    tcp::socket socket =
        co_await acceptor.async_accept(worker.context, asio::redirect_error(asio::use_awaitable, wrong));
    if (wrong == asio::error::operation_aborted || wrong == asio::error::bad_descriptor) co_return;
    if (wrong) {
      // Out of descriptors, most likely: trying again at once would only burn time.
      shared.make_room();
      asio::steady_timer pause(acceptor.get_executor(), std::chrono::milliseconds(50));
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, wrong));
      continue;
    }
    const tcp::endpoint peer = socket.remote_endpoint(wrong);
    if (wrong) continue;
    socket.set_option(tcp::no_delay(true), wrong);
    if (shared.open(key_of(peer))) {
      start_session(shared, worker.sessions, std::move(socket), key_of(peer));
    } else {
      refuse_connection(std::move(socket), shared.tls != nullptr);
    }
  }
}

}  // namespace

bool run_after_ready_requests(std::function<void()> task) {
  if (own_context == nullptr) return false;
  // Behind the operations that the last poll found ready.
  asio::post(*own_context, std::move(task));
  return true;
}

struct HttpServer::State {
  State(const HttpServerSettings& settings, Router router, MetricsRegistry& metrics, TlsContext tls,
        TrustedProxies proxies)
      : shared(settings, std::move(router), metrics, std::move(tls), std::move(proxies)) {
    for (std::int64_t i = 0; i < settings.network_threads; ++i) workers.push_back(std::make_unique<Worker>());
  }

  // What no request should wait for.
  void keep_house() {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::seconds(1), [this] { return stopped; })) {
      shared.metrics.buffered_bytes.set(shared.budget->held());
      shared.budget->release_free_pages();
    }
  }

  template <class Act>
  void for_each_session(Act act) {
    for (auto& worker : workers) {
      asio::post(worker->context, [&sessions = worker->sessions, act] {
        const SessionSet now = sessions;  // closing one may change the set
        for (HttpSession* session : now) {
          if (sessions.contains(session)) act(*session);
        }
      });
    }
  }

  ServerShared shared;
  std::vector<std::unique_ptr<Worker>> workers;
  std::optional<tcp::acceptor> acceptor;
  std::uint16_t port = 0;
  std::mutex mutex;
  std::condition_variable ended;
  bool stopped = false;
  std::thread housekeeping;
};

Result<HttpServer> HttpServer::start(const HttpServerSettings& settings, Router router,
                                     MetricsRegistry& metrics) {
  if (settings.certificate.empty() != settings.private_key.empty()) {
    return bad_input("TLS needs both --certificate and --private-key");
  }
  TlsContext tls;
  if (!settings.certificate.empty()) {
    SOTTO_TRY(tls, make_server_tls(settings.certificate, settings.private_key));
  }
  SOTTO_TRY(TrustedProxies proxies, TrustedProxies::parse(settings.trusted_proxies));
  keep_little_free_memory();
  auto state =
      std::make_unique<State>(settings, std::move(router), metrics, std::move(tls), std::move(proxies));
  SOTTO_TRY(auto acceptor, listen(state->workers.front()->context, settings));
  state->acceptor.emplace(std::move(acceptor));
  error_code wrong;
  state->port = state->acceptor->local_endpoint(wrong).port();
  asio::co_spawn(state->workers.front()->context,
                 accept_connections(*state->acceptor, state->shared, state->workers), asio::detached);
  for (auto& worker : state->workers) {
    worker->thread = std::thread([&context = worker->context] { run(context); });
  }
  state->housekeeping = std::thread([raw = state.get()] { raw->keep_house(); });
  return HttpServer(std::move(state));
}

HttpServer::StopReport HttpServer::stop(std::chrono::milliseconds grace) {
  if (!state_ || state_->stopped) return {};
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
  }
  state_->ended.notify_all();
  state_->housekeeping.join();
  ServerShared& shared = state_->shared;
  shared.draining = true;
  std::promise<void> port_is_free;
  asio::post(state_->workers.front()->context, [&] {
    error_code ignored;
    state_->acceptor->close(ignored);
    port_is_free.set_value();
  });
  port_is_free.get_future().wait();
  state_->for_each_session([](HttpSession& session) { session.drain(); });
  if (!shared.wait_until_closed(grace)) {
    state_->for_each_session([](HttpSession& session) { session.cut(); });
    shared.wait_until_closed(default_grace);
  }
  for (auto& worker : state_->workers) worker->work.reset();
  for (auto& worker : state_->workers) worker->thread.join();
  const StopReport report{shared.answered_while_stopping, shared.refused_while_stopping,
                          shared.cut_while_stopping};
  if (report.answered + report.refused + report.cut == 0) return report;
  info("stopped: {} requests that had arrived were answered, {} that had not were refused, {} were cut off",
       report.answered, report.refused, report.cut);
  return report;
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&& other) noexcept {
  if (this != &other) {
    stop();
    state_ = std::move(other.state_);
  }
  return *this;
}
HttpServer::~HttpServer() { stop(); }

std::uint16_t HttpServer::port() const { return state_->port; }
bool HttpServer::draining() const { return state_->shared.draining; }

std::string HttpServer::url() const {
  const HttpServerSettings& settings = state_->shared.settings;
  const bool v6 = settings.address.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", state_->shared.tls ? "https" : "http", v6 ? "[" : "", settings.address,
                     v6 ? "]" : "", state_->port);
}

}  // namespace sotto::net
