#include "secagg/shared/round.h"

#include <algorithm>
#include <bit>

#include "secagg/shared/field_hash.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::secagg {

Status check_round(const Round& round) {
  SOTTO_CHECK(check_parameters(round.group));
  if (!is_wire_width(round.vector.bits)) {
    return bad_input("entries of {} bits: 8 to 32 bits or 64 are possible", round.vector.bits);
  }
  if (round.vector.entries == 0 || round.vector.entries > max_entries) {
    return bad_input("a vector of {} entries: 1 to {} are possible", round.vector.entries, max_entries);
  }
  return {};
}

Status check_identities(const std::vector<IdentityKey>& identities, std::uint32_t clients) {
  if (identities.size() != clients) {
    return bad_input("{} identity keys for a group of {}", identities.size(), clients);
  }
  auto sorted = identities;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return bad_input("one identity key is in the group twice");
  }
  return {};
}

Digest hash_of_identities(const std::vector<IdentityKey>& identities) {
  FieldHash hash("sotto secagg identities 1");
  for (const IdentityKey& identity : identities) hash.bytes(identity);
  return hash.finish();
}

Digest context_of(const Round& round, const Digest& identities) {
  const GroupParameters& group = round.group;
  return FieldHash("sotto secagg context 2")
      .bytes(round.id)
      .bytes(round.order_hash)
      .bytes(round.graph_seed)
      .bytes(identities)
      .number(group.clients)
      .number(group.corrupted)
      .number(group.dropped)
      .number(group.degree)
      .number(group.threshold)
      .number(group.minimum_alive)
      .number(group.quorum)
      .number(static_cast<std::uint64_t>(group.server))
      .number(std::bit_cast<std::uint64_t>(group.security_bits))
      .number(std::bit_cast<std::uint64_t>(group.correctness_bits))
      .number(round.vector.entries)
      .number(round.vector.bits)
      .finish();
}

Digest transcript_of(const Digest& context, const std::vector<ClientKeys>& advertised) {
  FieldHash hash("sotto secagg transcript 1");
  hash.bytes(context);
  for (const ClientKeys& keys : advertised) {
    hash.number(keys.client).bytes(keys.channel_key).bytes(keys.mask_key);
  }
  return hash.finish();
}

Digest keys_statement(const Digest& context, const ClientKeys& keys) {
  return FieldHash("sotto secagg signed keys 1")
      .bytes(context)
      .number(keys.client)
      .bytes(keys.channel_key)
      .bytes(keys.mask_key)
      .finish();
}

Digest dealing_statement(const Dealing& dealing, const SealedShares& sealed,
                         const ShareCommitments& commitments) {
  return FieldHash("sotto secagg signed shares 2")
      .bytes(dealing.transcript)
      .number(dealing.dealer)
      .number(dealing.receiver)
      .bytes(sealed)
      .bytes(commitments.mask_key)
      .bytes(commitments.self_mask)
      .finish();
}

Digest sharing_statement(const Digest& transcript, const MemberSet& sharing) {
  return FieldHash("sotto secagg signed sharing 1").bytes(transcript).bytes(sharing.bytes()).finish();
}

Digest arrivals_statement(const Digest& transcript, const MemberSet& sharing, const MemberSet& alive) {
  return FieldHash("sotto secagg signed arrivals 1")
      .bytes(transcript)
      .bytes(sharing.bytes())
      .bytes(alive.bytes())
      .finish();
}

}  // namespace sotto::secagg
