#pragma once
// A device that misbehaves as networks and people do: it vanishes, is slow, or sends wrong shares. For
// fleets, which show what a coordinator makes of it.

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
  void set(Fault fault) { fault_ = std::move(fault); }

  Result<device::ServerAnswer> send(const device::ServerCall& call) override;

 private:
  device::Transport& real_;
  const secagg::Identity& identity_;
  Fault fault_;
};

}  // namespace sotto::fleet
