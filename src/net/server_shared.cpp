#include "net/server_shared.h"

namespace sotto {

ServerShared::ServerShared(const HttpServerSettings& given, Router routes, MetricsRegistry& registry,
                           TlsContext tls_context)
    : settings(given),
      router(std::move(routes)),
      metrics(registry, router),
      addresses({.connections = given.max_connections_per_address,
                 .requests_per_second = given.requests_per_second,
                 .burst = given.request_burst}),
      tls(std::move(tls_context)) {}

bool ServerShared::open(const AddressLimits::Address& address) {
  const std::lock_guard lock(mutex_);
  if (connections_ >= settings.max_connections || !addresses.connect(address, AddressLimits::Clock::now())) {
    metrics.refused_connections.add();
    return false;
  }
  metrics.connections.set(++connections_);
  return true;
}

void ServerShared::close(const AddressLimits::Address& address) {
  addresses.disconnect(address);
  const std::lock_guard lock(mutex_);
  metrics.connections.set(--connections_);
  if (connections_ == 0) all_closed_.notify_all();
}

bool ServerShared::wait_until_closed(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return all_closed_.wait_for(lock, limit, [&] { return connections_ == 0; });
}

}  // namespace sotto
