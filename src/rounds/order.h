#pragma once
// The order of one round: signed by the coordinator with a key that is kept online, so it may only choose
// what the campaign leaves open. Its hash is what secure aggregation binds into every message of the round:
// devices that were given different orders, or were shown different logs, cannot sum together.

#include "rounds/campaign.h"
#include "rounds/public_log.h"

namespace sotto::rounds {

struct RoundOrder {
  Digest round{};            // fresh: a device is charged for it once
  std::uint64_t number = 0;  // from 1; of an evaluation the version's, from 0
  Digest campaign{};         // hash of the document
  Digest model{};            // hash of the version to train, or to measure
  double bound = 1;          // one unit of the plan: a device divides its update by it
  LogHead head;              // of the log that has campaign and model
  UtcTime expires{};
  bool evaluates = false;  // measures the version (rounds/evaluation.h), and trains nothing
};

inline constexpr DocumentKind order_kind{"order", "SOTTOORD", 1, "sotto round order 1", 1 << 10};

std::string encode(const RoundOrder& order);  // the body
Result<RoundOrder> decode_order(std::string_view body);

// Refuses what check_order() refuses.
Result<std::string> sign_order(const RoundOrder& order, const OpenedCampaign& campaign, const Identity& key);

struct OpenedOrder {
  RoundOrder order;
  Digest hash{};
  Signature signature{};
  bool is_signed_by(const IdentityKey& coordinator) const { return verify(signature, hash, coordinator); }
};
Result<OpenedOrder> open_order(std::string_view bytes);

// Is this an order of the campaign, whoever signed it?
Status check_order(const RoundOrder& order, const OpenedCampaign& campaign);

}  // namespace sotto::rounds
