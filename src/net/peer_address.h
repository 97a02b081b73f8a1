#pragma once
// Who a request counts for: the peer, or behind a proxy that the operator trusts, whom that proxy names in
// X-Forwarded-For. Anybody may send that field, so it is believed from those proxies alone.

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sotto {

using PeerAddress = std::array<unsigned char, 16>;  // IPv4 as ::ffff:a.b.c.d

// "192.0.2.1" or "2001:db8::1"; nothing for anything else.
std::optional<PeerAddress> parse_address(std::string_view text);

class TrustedProxies {
 public:
  // "10.0.0.7, 192.0.2.0/24, 2001:db8::/32"; empty: none.
  static Result<TrustedProxies> parse(std::string_view list);

  bool contain(const PeerAddress& address) const;
  // The last address in the list that is no trusted proxy itself; the peer when there is none, or when the
  // peer is not trusted. Everything before that address could have been written by the client.
  PeerAddress client_of(const PeerAddress& peer, std::string_view forwarded_for) const;

 private:
  struct Network {
    PeerAddress address{};
    int bits = 128;
  };
  std::vector<Network> networks_;
};

}  // namespace sotto
