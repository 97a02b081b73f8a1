#pragma once
// One connection of the server: reads requests one after the other, hands them to their handlers, writes the
// answers. Private to the server: this header brings Boost.
//
// A session lives in one network thread and is owned by its own coroutine, and by a handler's unanswered
// reply.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/server_shared.h"

namespace sotto::net {

// Takes over a socket that ServerShared::open() admitted.
void start_session(ServerShared& shared, SessionSet& sessions, boost::asio::ip::tcp::socket socket,
                   const PeerAddress& address);
// Tells a client that there is no room, as far as that works without waiting.
void refuse_connection(boost::asio::ip::tcp::socket socket, bool tls);

}  // namespace sotto::net
