#pragma once
// How much one network address may ask for: open connections, and requests per second by a token bucket.
//
// Addresses are kept in memory only, as long as they have a connection or a bucket that is not full, and are
// never written anywhere. IPv6 addresses count by their /64, which is what one subscriber gets. Thread-safe.
// Time is handed in.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "net/peer_address.h"

namespace sotto {

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

  // False: refuse. Every true must be followed by one disconnect().
  bool connect(const Address& address, Clock::time_point now);
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
  struct Hash {
    std::size_t operator()(const Address& address) const;
  };
  Entry& entry(const Address& address, Clock::time_point now);
  void forget_idle(Clock::time_point now);
  double tokens_at(const Entry& entry, Clock::time_point now) const;

  Settings settings_;
  mutable std::mutex mutex_;
  std::unordered_map<Address, Entry, Hash> entries_;
  std::size_t connected_ = 0;  // entries with a connection
};

}  // namespace sotto
