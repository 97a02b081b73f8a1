#pragma once
// What all sessions of one server share: settings, routes, limits, counts. Outlives them. Thread-safe.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "net/address_limits.h"
#include "net/http_server.h"
#include "net/memory_budget.h"
#include "net/request_reader.h"
#include "net/tls_context.h"

namespace sotto::net {

// A connection as the server sees it. drain() and cut() are called in the session's own thread.
class HttpSession {
 public:
  virtual ~HttpSession() = default;
  virtual void drain() = 0;  // close as soon as no complete request is at hand
  virtual void cut() = 0;    // close now
  virtual void shed() = 0;   // make room: now, or after the answer if a handler is at it; from any thread
};
// The sessions of one network thread, touched by that thread alone.
using SessionSet = std::unordered_set<HttpSession*>;

// What the server counts. Looking up a counter that was used before takes no lock.
class ServerMetrics {
 public:
  ServerMetrics(MetricsRegistry& registry, const Router& router);

  // route: position in the router, or no_route() for requests that none takes.
  std::size_t no_route() const { return routes_.size() - 1; }
  void answered(std::size_t route, int status, double seconds);

  Gauge& connections;
  Gauge& connection_limit;
  Gauge& buffered_bytes;
  Counter& refused_connections;
  Counter& shed_connections;
  Counter& failed_accepts;
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

struct ServerShared {
  ServerShared(const HttpServerSettings& given, Router routes, MetricsRegistry& registry,
               TlsContext tls_context, TrustedProxies trusted);

  const HttpServerSettings settings;
  const Router router;
  const RequestLimits request_limits;
  const TrustedProxies proxies;
  const std::shared_ptr<ProcessBudget> budget;
  // What a connection holds by being open, and how many there may be: as many as the settings, the system's
  // descriptors and the budget allow.
  const std::int64_t connection_bytes;
  const std::int64_t connection_limit;
  ServerMetrics metrics;
  AddressLimits addresses;
  TlsContext tls;  // none: plain HTTP

  // While stopping: what became of the requests at hand.
  std::atomic<bool> draining{false};
  std::atomic<std::uint64_t> answered_while_stopping{0}, refused_while_stopping{0}, cut_while_stopping{0};

  // Open connections, counted so that stop() can wait for the last, and charged to the budget. When all are
  // taken, the one that has gone longest without a complete request makes room; when none waits for a
  // request, the slowest transfer does, if it is slow. When an address has all of its share, its own idlest
  // makes room: readers behind one address are not locked out by a neighbour that says nothing.
  bool open(const PeerAddress& address);
  void close(const PeerAddress& address);
  bool wait_until_closed(std::chrono::milliseconds limit);
  // No descriptor was left for a connection that waits to be accepted.
  void make_room();

  class Place;
  using PlaceOf = std::list<Place>::iterator;
  // The connections of one address: how many, and those that wait, longest first.
  struct Neighbours {
    std::size_t places = 0;
    std::list<PlaceOf> waiting;
  };
  using Neighbourhood = std::unordered_map<PeerAddress, Neighbours, AddressHash>;

  // A session waits for a request from the answer before it, or from its first byte on, until the head is
  // complete: a TLS handshake is such a wait, and so is the moment that a client has for closing after the
  // last answer. Then it reads a body, waits for its handler, and writes the answer: reading and writing are
  // transfers.
  class Place {
   public:
    using Clock = std::chrono::steady_clock;
    Place(HttpSession& of, Neighbourhood::value_type& at) : session(&of), home(&at) {}
    void begin_transfer(Clock::time_point now) {
      moved_ = 0;
      begun_ = now.time_since_epoch().count();
    }
    void moved(std::size_t bytes) { moved_ = bytes; }  // since it began
    void end_transfer() { begun_ = none; }
    // Bytes per second, more for one that has just begun; nothing when there is no transfer.
    std::optional<double> rate(Clock::time_point now) const;

    HttpSession* session;
    bool waiting = false;  // by the lists below
    Neighbourhood::value_type* home;
    std::list<PlaceOf> apart;            // this one, while it is not among its waiting neighbours
    std::list<PlaceOf>::iterator among;  // itself, in that list or in theirs

   private:
    static constexpr Clock::rep none = std::numeric_limits<Clock::rep>::min();
    std::atomic<Clock::rep> begun_{none};
    std::atomic<std::size_t> moved_{0};
  };
  PlaceOf enter(HttpSession& session, const PeerAddress& address);
  void set_waiting(PlaceOf place, bool waiting);
  void leave(PlaceOf place);

 private:
  // With mutex_ held.
  bool has_room();
  bool shed_one();
  bool shed_idlest();
  bool shed_idlest_of(const PeerAddress& address);
  bool shed_slowest();
  void shed_waiting(PlaceOf place);
  void move(PlaceOf place, bool waiting);
  void say_full();

  std::mutex mutex_;
  std::condition_variable all_closed_;
  std::int64_t connections_ = 0;
  std::list<Place> waiting_, busy_;  // those that wait: longest first. The others, and those that were shed
  Neighbourhood neighbourhood_;
  std::chrono::steady_clock::time_point said_full_{};
};

}  // namespace sotto::net
