#include "net/server_metrics.h"

#include <algorithm>

namespace sotto {

namespace {
constexpr std::string_view kRequestsHelp = "Requests answered, by route and status";
}  // namespace

ServerMetrics::ServerMetrics(MetricsRegistry& registry, const Router& router)
    : connections(registry.gauge("sotto_http_connections", "Open connections")),
      refused_connections(
          registry.counter("sotto_http_refused_connections_total", "Connections refused by a limit")),
      bytes_in(registry.counter("sotto_http_received_bytes_total", "Bytes of requests, decrypted")),
      bytes_out(registry.counter("sotto_http_sent_bytes_total", "Bytes of responses, before encryption")),
      registry_(registry) {
  const auto add = [&](std::string_view method, const std::string& pattern) {
    auto route = std::make_unique<PerRoute>();
    route->method = method;
    route->pattern = pattern;
    route->seconds =
        &registry.histogram("sotto_http_request_seconds", "Time from the last byte in to the answer",
                            latency_bounds(), {{"method", route->method}, {"route", pattern}});
    routes_.push_back(std::move(route));
  };
  for (const Router::Route& route : router.routes()) add(name(route.method), route.pattern);
  add("any", "none");
}

void ServerMetrics::answered(std::size_t route, int status, double seconds) {
  PerRoute& counted = *routes_[route];
  counted.seconds->observe(seconds);
  const int code = std::clamp(status, 100, 599);
  std::atomic<Counter*>& slot = counted.by_status[static_cast<std::size_t>(code - 100)];
  Counter* counter = slot.load(std::memory_order_acquire);
  if (counter == nullptr) {
    counter = &registry_.counter(
        "sotto_http_requests_total", kRequestsHelp,
        {{"method", counted.method}, {"route", counted.pattern}, {"status", std::to_string(code)}});
    slot.store(counter, std::memory_order_release);
  }
  counter->add();
}

}  // namespace sotto
