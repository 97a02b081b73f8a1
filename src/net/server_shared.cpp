#include "net/server_shared.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

#include "base/log.h"

namespace sotto::net {

namespace {

constexpr std::string_view requests_help = "Requests answered, by route and status";
constexpr std::int64_t kept_descriptors = 64;  // for files, and for connections on their way in or out
constexpr std::chrono::seconds between_lines{10};
// A transfer slower than this makes room for somebody else when all connections are taken; every transfer
// begins with one second's credit.
constexpr double slow_bytes_per_second = 64 << 10;
// The session with its coroutines, and the head of an answer; with TLS records in both directions, some of
// them twice, and OpenSSL's state too. Tests hold both against the allocator.
constexpr std::int64_t plain_connection_bytes = 8 << 10;
constexpr std::int64_t tls_connection_bytes = 112 << 10;

std::int64_t descriptors_in_use() {
  std::error_code problem;
  const std::filesystem::directory_iterator open("/proc/self/fd", problem);
  return problem ? 0 : std::distance(begin(open), end(open));
}

// How many connections there may be. Asks the system for the descriptors they need; what it does not give
// cannot be promised.
std::int64_t allowed_connections(std::int64_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  constexpr std::int64_t no_limit = 1'000'000;
  const std::int64_t others = descriptors_in_use() + kept_descriptors;
  const auto needed = static_cast<rlim_t>((wanted == 0 ? no_limit : wanted) + others);
  if (limit.rlim_cur < needed) {
    rlimit more = limit;
    more.rlim_cur = std::min(needed, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &more) == 0) limit = more;
  }
  const std::int64_t possible =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(limit.rlim_cur, needed)) - others);
  if (possible < wanted) {
    warn(
        "{} connections at once instead of {}: the system gives this process {} descriptors; raise 'ulimit "
        "-n'",
        possible, wanted, limit.rlim_cur);
  }
  return possible;
}

std::int64_t fitting_connections(const HttpServerSettings& settings, std::int64_t bytes_each) {
  const std::int64_t by_descriptors = allowed_connections(settings.max_connections);
  const std::int64_t by_memory =
      std::max<std::int64_t>(1, ProcessBudget::for_large(settings.max_buffered_bytes) / bytes_each);
  if (by_memory < by_descriptors) {
    info("{} connections at once instead of {}: each holds {} KiB of --max-buffered-bytes", by_memory,
         by_descriptors, bytes_each >> 10);
  }
  return std::min(by_descriptors, by_memory);
}

// Of fewer connections than were asked for, an address gets the same share.
std::int64_t allowed_per_address(const HttpServerSettings& settings, std::int64_t connections) {
  const std::int64_t wanted = settings.max_connections_per_address;
  if (wanted == 0 || connections >= settings.max_connections) return wanted;
  return std::max<std::int64_t>(1, wanted * connections / settings.max_connections);
}

}  // namespace

ServerMetrics::ServerMetrics(MetricsRegistry& registry, const Router& router)
    : connections(registry.gauge("sotto_http_connections", "Open connections")),
      connection_limit(registry.gauge("sotto_http_connection_limit",
                                      "Connections there may be, by setting and by descriptors")),
      buffered_bytes(registry.gauge("sotto_http_buffered_bytes", "Bytes held for connections")),
      refused_connections(
          registry.counter("sotto_http_refused_connections_total", "Connections refused by a limit")),
      shed_connections(registry.counter("sotto_http_shed_connections_total",
                                        "Connections closed to make room, the longest idle first")),
      failed_accepts(registry.counter("sotto_http_failed_accepts_total",
                                      "Connections that the system could not hand over")),
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
        "sotto_http_requests_total", requests_help,
        {{"method", counted.method}, {"route", counted.pattern}, {"status", std::to_string(code)}});
    slot.store(counter, std::memory_order_release);
  }
  counter->add();
}

ServerShared::ServerShared(const HttpServerSettings& given, Router routes, MetricsRegistry& registry,
                           TlsContext tls_context, TrustedProxies trusted)
    : settings(given),
      router(std::move(routes)),
      request_limits{static_cast<std::size_t>(given.max_header_bytes),
                     static_cast<std::size_t>(given.max_body_bytes),
                     static_cast<std::size_t>(given.max_anonymous_body_bytes)},
      proxies(std::move(trusted)),
      budget(std::make_shared<ProcessBudget>(given.max_buffered_bytes)),
      connection_bytes(tls_context ? tls_connection_bytes : plain_connection_bytes),
      connection_limit(fitting_connections(given, connection_bytes)),
      metrics(registry, router),
      addresses({.connections = allowed_per_address(given, connection_limit),
                 .requests_per_second = given.requests_per_second,
                 .burst = given.request_burst}),
      tls(std::move(tls_context)) {
  metrics.connection_limit.set(connection_limit);
}

bool ServerShared::open(const PeerAddress& address) {
  const bool counted = !proxies.contain(address);
  const auto now = AddressLimits::Clock::now();
  bool admitted = !counted || addresses.connect(address, now);
  const std::lock_guard lock(mutex_);
  // As above all: one that is shed needs a moment to close, and until then an address may have one too many.
  if (!admitted && shed_idlest_of(address)) {
    addresses.connect_instead(address, now);
    admitted = true;
  }
  if (!admitted || !has_room()) {
    if (admitted && counted) addresses.disconnect(address);
    metrics.refused_connections.add();
    return false;
  }
  metrics.connections.set(++connections_);
  return true;
}

// Charges the connection, too. One that is shed needs a moment to close: until then there may be one too
// many, within the descriptors and the memory that are kept.
bool ServerShared::has_room() {
  if (connections_ < connection_limit && budget->take(connection_bytes, false)) return true;
  say_full();
  return connections_ < connection_limit + kept_descriptors / 2 && shed_one() &&
         budget->take(connection_bytes, true);
}

bool ServerShared::shed_one() { return shed_idlest() || shed_slowest(); }

bool ServerShared::shed_idlest() {
  if (waiting_.empty()) return false;
  shed_waiting(waiting_.begin());
  return true;
}

bool ServerShared::shed_idlest_of(const PeerAddress& address) {
  const auto home = neighbourhood_.find(subscriber(address));
  if (home == neighbourhood_.end() || home->second.waiting.empty()) return false;
  shed_waiting(home->second.waiting.front());
  return true;
}

void ServerShared::shed_waiting(PlaceOf place) {
  move(place, false);
  place->session->shed();
  metrics.shed_connections.add();
}

bool ServerShared::shed_slowest() {
  const auto now = Place::Clock::now();
  double least = slow_bytes_per_second;
  Place* slowest = nullptr;
  for (Place& place : busy_) {
    const auto rate = place.rate(now);
    if (!rate || *rate >= least) continue;
    least = *rate;
    slowest = &place;
  }
  if (slowest == nullptr) return false;
  slowest->end_transfer();
  slowest->session->shed();
  metrics.shed_connections.add();
  return true;
}

std::optional<double> ServerShared::Place::rate(Clock::time_point now) const {
  const Clock::rep begun = begun_;
  if (begun == none) return std::nullopt;
  const double passed =
      std::chrono::duration<double>(now - Clock::time_point(Clock::duration(begun))).count();
  return (static_cast<double>(moved_) + slow_bytes_per_second) / std::max(passed, 1e-3);
}

void ServerShared::say_full() {
  const auto now = std::chrono::steady_clock::now();
  if (now < said_full_ + between_lines) return;
  said_full_ = now;
  warn(
      "all {} connections are taken ({} were closed for others and {} refused so far): raise "
      "--max-connections or "
      "'ulimit -n', or lower --max-connections-per-address",
      connection_limit, metrics.shed_connections.value(), metrics.refused_connections.value());
}

void ServerShared::close(const PeerAddress& address) {
  if (!proxies.contain(address)) addresses.disconnect(address);
  budget->give_back(connection_bytes);
  const std::lock_guard lock(mutex_);
  metrics.connections.set(--connections_);
  if (connections_ == 0) all_closed_.notify_all();
}

bool ServerShared::wait_until_closed(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return all_closed_.wait_for(lock, limit, [&] { return connections_ == 0; });
}

void ServerShared::make_room() {
  const std::lock_guard lock(mutex_);
  metrics.failed_accepts.add();
  say_full();
  shed_one();
}

ServerShared::PlaceOf ServerShared::enter(HttpSession& session, const PeerAddress& address) {
  const std::lock_guard lock(mutex_);
  Neighbourhood::value_type& home = *neighbourhood_.try_emplace(subscriber(address)).first;
  ++home.second.places;
  const PlaceOf place = busy_.emplace(busy_.end(), session, home);
  place->among = place->apart.insert(place->apart.end(), place);
  return place;
}

void ServerShared::set_waiting(PlaceOf place, bool waiting) {
  const std::lock_guard lock(mutex_);
  if (place->waiting == waiting) return;  // or it was chosen to make room
  move(place, waiting);
}

void ServerShared::move(PlaceOf place, bool waiting) {
  place->waiting = waiting;
  std::list<PlaceOf>& neighbours = place->home->second.waiting;
  if (waiting) {
    waiting_.splice(waiting_.end(), busy_, place);
    neighbours.splice(neighbours.end(), place->apart);
  } else {
    busy_.splice(busy_.end(), waiting_, place);
    place->apart.splice(place->apart.end(), neighbours, place->among);
  }
}

void ServerShared::leave(PlaceOf place) {
  const std::lock_guard lock(mutex_);
  if (place->waiting) move(place, false);
  Neighbourhood::value_type& home = *place->home;
  if (--home.second.places == 0) neighbourhood_.erase(PeerAddress(home.first));
  busy_.erase(place);
}

}  // namespace sotto::net
