#pragma once
// The messages as plain values. encode() writes the FlatBuffer of proto/secagg.fbs; the decode functions take
// hostile bytes: size, structure, version and kind are checked, lists are bounded by the group and ascending
// without repetition, sets have the size of the group. What only the protocol's state can judge (round,
// signatures, who may say what) is left to client and server.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/member_set.h"
#include "secagg/shared/ring_vector.h"
#include "secagg/shared/round.h"
#include "secagg/shared/sealed_shares.h"

namespace sotto::secagg {

inline constexpr std::uint16_t protocol_version = 2;

struct Invitation {
  Round round;
  Digest identities{};
};

struct Advertisement {
  Digest context{};
  ClientKeys keys;
};

struct Roster {
  Digest context{};
  Digest transcript{};
  MemberSet advertised;
  std::vector<ClientKeys> neighbours;
};

struct AddressedShares {
  std::uint32_t client = 0;
  SealedShares sealed{};
  ShareCommitments commitments;
  Signature signature{};  // active server only: over the dealing statement
};

struct DealtShares {
  Digest transcript{};
  Digest self_seed_commitment{};
  std::vector<AddressedShares> shares;  // by receiver
  bool is_signed = false;               // every one of them, or none
};

struct DeliveredShares {
  Digest transcript{};
  MemberSet sharing;
  std::vector<AddressedShares> shares;  // by sender
  bool is_signed = false;
};

struct MaskedVector {
  Digest transcript{};
  ByteView packed;  // lies in the message: which must outlive this
  std::optional<Signature> signature;
};

struct ClientSignature {
  std::uint32_t client = 0;
  Signature signature{};
};

struct Arrivals {
  Digest transcript{};
  MemberSet alive;
  std::vector<ClientSignature> signatures;  // over the sharing statement
};

struct ArrivalsSignature {
  Digest transcript{};
  Signature signature{};
};

struct UnmaskRequest {
  Digest transcript{};
  MemberSet alive;
  std::vector<ClientSignature> signatures;  // over the arrivals statement
};

struct RevealedShare {
  std::uint32_t client = 0;
  std::array<std::uint8_t, share_bytes> share{};
};

struct RevealedShares {
  Digest transcript{};
  std::vector<RevealedShare> shares;
};

// What a client can say, in the order of the phases.
enum class ClientMessage : std::uint8_t {
  advertisement,
  dealt_shares,
  masked_vector,
  arrivals_signature,
  revealed_shares,
};
// Which of them the bytes say they are; none for what no client says. Nothing else in them is looked at.
std::optional<ClientMessage> kind_of(ByteView bytes);

Bytes encode(const Invitation& message);
Bytes encode(const Advertisement& message);
Bytes encode(const Roster& message);
Bytes encode(const DealtShares& message);
Bytes encode(const DeliveredShares& message);
Bytes encode(const Arrivals& message);
Bytes encode(const ArrivalsSignature& message);
Bytes encode(const UnmaskRequest& message);
Bytes encode(const RevealedShares& message);
// Packs straight into the message: the vector is the one large thing here.
Result<Bytes> encode_masked(const Digest& transcript, const RingVector& vector,
                            const std::optional<Signature>& signature);

Result<Invitation> decode_invitation(ByteView bytes);
Result<Advertisement> decode_advertisement(ByteView bytes);
Result<Roster> decode_roster(ByteView bytes, std::uint32_t clients);
Result<DealtShares> decode_dealt_shares(ByteView bytes, std::uint32_t clients);
Result<DeliveredShares> decode_delivered_shares(ByteView bytes, std::uint32_t clients);
Result<MaskedVector> decode_masked_vector(ByteView bytes, const VectorShape& shape);
Result<Arrivals> decode_arrivals(ByteView bytes, std::uint32_t clients);
Result<ArrivalsSignature> decode_arrivals_signature(ByteView bytes);
Result<UnmaskRequest> decode_unmask_request(ByteView bytes, std::uint32_t clients);
Result<RevealedShares> decode_revealed_shares(ByteView bytes, std::uint32_t clients);

}  // namespace sotto::secagg
