#pragma once
// What all sessions of one server share: settings, routes, limits, counts. Outlives them. Thread-safe.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "net/address_limits.h"
#include "net/http_server.h"
#include "net/server_metrics.h"
#include "net/tls_context.h"

namespace sotto {

struct ServerShared {
  ServerShared(const HttpServerSettings& given, Router routes, MetricsRegistry& registry,
               TlsContext tls_context);

  const HttpServerSettings settings;
  const Router router;
  ServerMetrics metrics;
  AddressLimits addresses;
  TlsContext tls;  // none: plain HTTP
  std::atomic<bool> draining{false};

  // Open connections, counted so that stop() can wait for the last.
  bool open(const AddressLimits::Address& address);
  void close(const AddressLimits::Address& address);
  bool wait_until_closed(std::chrono::milliseconds limit);

 private:
  std::mutex mutex_;
  std::condition_variable all_closed_;
  std::int64_t connections_ = 0;
};

}  // namespace sotto
