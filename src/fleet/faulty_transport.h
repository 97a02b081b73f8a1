#pragma once
// A device that misbehaves as networks and people do: it vanishes, is slow, or sends wrong shares. For
// fleets, which show what a coordinator makes of it.

#include "device/rounds/round_transport.h"

namespace sotto::fleet {

// What one device does wrong in one round.
struct Fault {
  enum class Kind : std::uint8_t { none, vanishes, lies } kind = Kind::none;
  std::string phase;                   // from which on it is gone, or in which it lies
  std::chrono::milliseconds delay{0};  // before every post
};

// Refers to both. One call at a time.
class FaultyTransport final : public device::RoundTransport {
 public:
  FaultyTransport(device::RoundTransport& real, const secagg::Identity& identity)
      : real_(real), identity_(identity) {}
  void set(Fault fault) { fault_ = std::move(fault); }

  Result<std::optional<std::string>> fetch_offer() override { return real_.fetch_offer(); }
  std::optional<rounds::ComeBack> come_back() const override { return real_.come_back(); }
  Result<std::string> fetch_log(std::uint64_t from) override { return real_.fetch_log(from); }
  Result<std::string> fetch_blob(const rounds::Digest& hash) override { return real_.fetch_blob(hash); }
  Result<Reply> enrol(std::string_view body) override { return real_.enrol(body); }
  Result<Reply> post(std::string_view path, std::string_view body, const rounds::IdentityKey& device,
                     const rounds::Signature& signature) override;

 private:
  device::RoundTransport& real_;
  const secagg::Identity& identity_;
  Fault fault_;
};

}  // namespace sotto::fleet
