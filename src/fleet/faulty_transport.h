#pragma once
// A device that misbehaves as networks and people do: it vanishes, is slow, or sends wrong shares. For
// fleets, which show what a coordinator makes of it.

#include <functional>

#include "device/conversation.h"
#include "secagg/shared/key_exchange.h"

namespace sotto::fleet {

// What one device does wrong in one round.
struct Fault {
  enum class Kind : std::uint8_t { none, vanishes, lies } kind = Kind::none;
  std::string phase;                   // from which on it is gone, or in which it lies
  std::chrono::milliseconds delay{0};  // before every post
};

// Refers to both. One call at a time.
class FaultyTransport final : public device::Transport {
 public:
  FaultyTransport(device::Transport& real, const secagg::Identity& identity)
      : real_(real), identity_(identity) {}
  // Asked with every order that is fetched, for the number of its round.
  void set(std::function<Fault(std::uint64_t round)> faults) { faults_ = std::move(faults); }

  Result<device::ServerAnswer> send(const device::ServerCall& call) override;

 private:
  void take_order(const device::ServerAnswer& answer);
  device::Transport& real_;
  const secagg::Identity& identity_;
  std::function<Fault(std::uint64_t round)> faults_;
  Fault fault_;
};

}  // namespace sotto::fleet
