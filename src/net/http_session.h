#pragma once
// One connection of the server: reads requests one after the other, hands them to their handlers, writes the
// answers. Private to the server: this header brings Boost.
//
// A session lives in one network thread and is owned by its own coroutine, and by a handler's unanswered
// reply. drain() and cut() must be called in that thread.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <unordered_set>

#include "net/server_shared.h"

namespace sotto {

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
