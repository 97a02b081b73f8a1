#pragma once
// What the server counts: requests by route and status, latency by route, connections, bytes.
//
// Thread-safe; looking up a counter that was used before takes no lock.

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "net/metrics.h"
#include "net/router.h"

namespace sotto {

class ServerMetrics {
 public:
  ServerMetrics(MetricsRegistry& registry, const Router& router);

  // route: position in the router, or no_route() for requests that none takes.
  std::size_t no_route() const { return routes_.size() - 1; }
  void answered(std::size_t route, int status, double seconds);

  Gauge& connections;
  Counter& refused_connections;
  Counter& bytes_in;
  Counter& bytes_out;

 private:
  struct PerRoute {
    std::string method, pattern;
    Histogram* seconds = nullptr;
    std::array<std::atomic<Counter*>, 500> by_status{};  // 100 to 599, made when first needed
  };
  MetricsRegistry& registry_;
  std::vector<std::unique_ptr<PerRoute>> routes_;
};

}  // namespace sotto
