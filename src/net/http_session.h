#pragma once
// One connection of the server: reads requests one after the other, hands them to their handlers, writes the
// answers. Private to the server: this header brings Boost.
//
// A session lives in one network thread and is owned by its own coroutine, and by a handler's unanswered
// reply. drain() and cut() must be called in that thread.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "net/address_limits.h"
#include "net/http_server.h"
#include "net/server_metrics.h"
#include "net/tls_context.h"

namespace sotto {

// What all sessions of one server share. Outlives them.
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
  std::int64_t connections() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable all_closed_;
  std::int64_t connections_ = 0;
};

class HttpSession {
 public:
  virtual ~HttpSession() = default;
  virtual void drain() = 0;  // close now if idle, else after the answer
  virtual void cut() = 0;    // close now
};
// The sessions of one network thread, touched by that thread alone.
using SessionSet = std::unordered_set<HttpSession*>;

// Takes over a socket that ServerShared::open() admitted.
void start_session(ServerShared& shared, SessionSet& sessions, boost::asio::ip::tcp::socket socket,
                   const AddressLimits::Address& address);
// Tells a client that there is no room, as far as that works without waiting.
void refuse_connection(boost::asio::ip::tcp::socket socket, bool tls);

}  // namespace sotto
