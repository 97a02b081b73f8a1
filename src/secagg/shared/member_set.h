#pragma once
// A set of clients of one group, as bits in the order of their indices: what the messages carry.

#include <bit>
#include <cstdint>

#include "base/result.h"
#include "secagg/shared/bytes.h"

namespace sotto::secagg {

class MemberSet {
 public:
  MemberSet() = default;
  explicit MemberSet(std::uint32_t clients) : clients_(clients), bits_((clients + 7) / 8) {}
  // Refuses any length but that of `clients` bits, and bits behind the last client.
  static Result<MemberSet> from_bytes(ByteView bytes, std::uint32_t clients) {
    MemberSet set(clients);
    if (bytes.size() != set.bits_.size()) {
      return bad_input("a set of {} clients takes {} bytes, not {}", clients, set.bits_.size(), bytes.size());
    }
    if (clients % 8 != 0 && bytes.back() >> (clients % 8) != 0) {
      return bad_input("a set names clients beyond the {} of the group", clients);
    }
    set.bits_.assign(bytes.begin(), bytes.end());
    return set;
  }

  std::uint32_t clients() const { return clients_; }
  const Bytes& bytes() const { return bits_; }
  bool contains(std::uint32_t client) const {
    return client < clients_ && (bits_[client / 8] >> (client % 8) & 1) != 0;
  }
  void insert(std::uint32_t client) { bits_[client / 8] |= static_cast<std::uint8_t>(1U << (client % 8)); }
  void erase(std::uint32_t client) { bits_[client / 8] &= static_cast<std::uint8_t>(~(1U << (client % 8))); }
  std::uint32_t count() const {
    std::uint32_t total = 0;
    for (const std::uint8_t byte : bits_) total += static_cast<std::uint32_t>(std::popcount(byte));
    return total;
  }
  bool subset_of(const MemberSet& other) const {
    if (clients_ != other.clients_) return false;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if ((bits_[i] & ~other.bits_[i]) != 0) return false;
    }
    return true;
  }
  bool operator==(const MemberSet&) const = default;

 private:
  std::uint32_t clients_ = 0;
  Bytes bits_;
};

}  // namespace sotto::secagg
