#pragma once
// One round as everybody in it sees it: its description, and the statements that are hashed and signed.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/member_set.h"
#include "secagg/shared/parameters.h"
#include "secagg/shared/sealed_shares.h"

namespace sotto::secagg {

// The shape of what is summed.
struct VectorShape {
  std::uint64_t entries = 0;
  unsigned bits = 0;  // per entry: 8 … 32, or 64; sums are modulo 2^bits
  bool operator==(const VectorShape&) const = default;
};

inline constexpr std::uint64_t max_entries = std::uint64_t{1} << 28;

struct Round {
  Digest id{};          // fresh for every round: what is said in one means nothing in another
  Digest order_hash{};  // of what is asked for, as the caller wrote it down: devices sum for one order only
  Digest graph_seed{};  // public
  GroupParameters group;
  VectorShape vector;
  bool operator==(const Round&) const = default;
};

// The identity keys of a group, by index. Shared by all rounds and machines of the group, never changed.
using GroupIdentities = std::shared_ptr<const std::vector<IdentityKey>>;

// The public keys of one client for one round, with its identity's signature over them.
struct ClientKeys {
  std::uint32_t client = 0;
  PublicKey channel_key{};
  PublicKey mask_key{};
  Signature signature{};
};

// Parameters that are safe and a vector that is possible; identities as many as clients and all different.
Status check_round(const Round& round);
Status check_identities(const std::vector<IdentityKey>& identities, std::uint32_t clients);
Digest hash_of_identities(const std::vector<IdentityKey>& identities);

// Hash of the whole description and of who is in the group. Before all keys are known, this names the round.
Digest context_of(const Round& round, const Digest& identities);

// Hash of the context and of the keys of all who advertised, ascending by client. From then on this names the
// round: whoever saw other keys has another transcript, and nothing they derive fits together.
Digest transcript_of(const Digest& context, const std::vector<ClientKeys>& advertised);

// What a client's identity signs, each at most once in a round.
Digest keys_statement(const Digest& context, const ClientKeys& keys);
// "These are the shares I sealed for one neighbour and my commitments to them": active server only.
Digest dealing_statement(const Dealing& dealing, const SealedShares& sealed,
                         const ShareCommitments& commitments);
// "I made my masks for this set of sharing clients": active server only.
Digest sharing_statement(const Digest& transcript, const MemberSet& sharing);
// "I was shown this set of arrivals": active server only.
Digest arrivals_statement(const Digest& transcript, const MemberSet& sharing, const MemberSet& alive);

}  // namespace sotto::secagg
