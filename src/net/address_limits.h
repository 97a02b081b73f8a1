#pragma once
// How much one network address may ask for: open connections, and requests per second by a token bucket.
//
// Addresses are kept in memory only, as long as they have a connection or a bucket that is not full, and are
// never written anywhere. IPv6 addresses count by their /64, which is what one subscriber gets. Thread-safe.
// Time is handed in.

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace sotto::net {

// Who a request counts for: the peer, or behind a proxy that the operator trusts, whom that proxy names in
// X-Forwarded-For. Anybody may send that field, so it is believed from those proxies alone.
using PeerAddress = std::array<unsigned char, 16>;  // IPv4 as ::ffff:a.b.c.d

// "192.0.2.1" or "2001:db8::1"; nothing for anything else.
std::optional<PeerAddress> parse_address(std::string_view text);

// Whom an address counts for: itself, or its /64.
PeerAddress subscriber(PeerAddress address);
struct AddressHash {
  std::size_t operator()(const PeerAddress& address) const;
};

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

class AddressLimits {
 public:
  using Clock = std::chrono::steady_clock;
  using Address = PeerAddress;

  struct Settings {
    std::int64_t connections = 0;      // per address; 0: no limit
    double requests_per_second = 0;    // per address; 0: no limit
    double burst = 0;                  // requests at once after a pause
    std::size_t max_idle = 1U << 16U;  // addresses remembered without a connection
  };
  explicit AddressLimits(const Settings& settings) : settings_(settings) {}

  // False: the address has its share already. Every true must be followed by one disconnect().
  bool connect(const Address& address, Clock::time_point now);
  // Beyond the share, where another connection of that address is being closed for this one.
  void connect_instead(const Address& address, Clock::time_point now);
  void disconnect(const Address& address);
  // Takes one token; false: too many requests.
  bool request(const Address& address, Clock::time_point now);

  std::size_t remembered() const;

 private:
  struct Entry {
    std::int64_t connections = 0;
    double tokens = 0;
    Clock::time_point counted_at;
  };
  Entry& entry(const Address& address, Clock::time_point now);
  void count(Entry& entry);
  void forget_idle(Clock::time_point now);
  double tokens_at(const Entry& entry, Clock::time_point now) const;

  Settings settings_;
  mutable std::mutex mutex_;
  std::unordered_map<Address, Entry, AddressHash> entries_;
  std::size_t connected_ = 0;  // entries with a connection
};

}  // namespace sotto::net
