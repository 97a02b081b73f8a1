#include <algorithm>
#include <cstdint>
#include <optional>

#include "proto/secagg_generated.h"
#include "secagg/shared/messages.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::secagg {

namespace {

// The largest message of a group apart from the masked vector: one list with an item per client (sealed
// shares with commitments and signature are 212 bytes), one or two sets and fixed fields.
std::size_t largest_message(std::uint32_t clients) { return 1024 + std::size_t{clients} * 216; }

bool is_aligned(ByteView bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) == 0;
}

// The root of a message, if aligned bytes are one.
const wire::Message* root_of(ByteView bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), /*max_depth=*/4, /*max_tables=*/4);
  if (bytes.size() < 8 || !wire::VerifyMessageBuffer(verifier)) return nullptr;
  return wire::GetMessage(bytes.data());
}

// The body of a verified message, in the sender's bytes or, where these are not aligned as FlatBuffers reads
// them, in an aligned copy that lives as long as this.
template <class Table>
class Received {
 public:
  static Result<Received> open(ByteView bytes, std::size_t largest) {
    if (bytes.size() > largest) {
      return bad_input("a message of {} bytes where at most {} make sense", bytes.size(), largest);
    }
    Received received;
    if (!is_aligned(bytes)) {
      received.copy_.assign(bytes.begin(), bytes.end());
      bytes = received.copy_;
    }
    const wire::Message* message = root_of(bytes);
    if (message == nullptr) return bad_input("the bytes are not a message of secure aggregation");
    if (message->version() != protocol_version) {
      return bad_input("a message of protocol version {}: this is version {}", message->version(),
                       protocol_version);
    }
    received.body_ = message->body_as<Table>();
    if (received.body_ == nullptr) {
      return bad_input("the message is of another kind ({}) than this step expects ({})",
                       wire::EnumNameBody(message->body_type()),
                       wire::EnumNameBody(wire::BodyTraits<Table>::enum_value));
    }
    return received;
  }
  const Table* operator->() const { return body_; }
  // Where the bytes lie that the body was read from.
  const std::uint8_t* start(ByteView sender) const { return copy_.empty() ? sender.data() : copy_.data(); }

 private:
  Bytes copy_;
  const Table* body_ = nullptr;
};

template <class Wire>
auto plain_bytes(const Wire& wire) {
  std::array<std::uint8_t, sizeof(Wire)> bytes;
  std::copy_n(wire.bytes()->data(), sizeof(Wire), bytes.begin());
  return bytes;
}

ClientKeys plain(const wire::ClientKeys& keys) {
  return {keys.client(), plain_bytes(keys.channel_key()), plain_bytes(keys.mask_key()),
          plain_bytes(keys.signature())};
}
AddressedShares plain(const wire::SealedShares& shares) {
  return {shares.client(),
          plain_bytes(shares.sealed()),
          {plain_bytes(shares.mask_key_commitment()), plain_bytes(shares.self_mask_commitment())},
          {}};
}
ClientSignature plain(const wire::ClientSignature& signature) {
  return {signature.client(), plain_bytes(signature.signature())};
}
RevealedShare plain(const wire::RevealedShare& share) { return {share.client(), plain_bytes(share.share())}; }

// Items name clients of the group, ascending: none twice, and no more than there are.
template <class Wire>
auto plain_list(const flatbuffers::Vector<const Wire*>& items, std::uint32_t clients)
    -> Result<std::vector<decltype(plain(*items.Get(0)))>> {
  std::vector<decltype(plain(*items.Get(0)))> result;
  if (items.size() > clients) return bad_input("a list of {} items in a group of {}", items.size(), clients);
  result.reserve(items.size());
  for (const Wire* item : items) {
    if (item->client() >= clients) return bad_input("a list names client {} of {}", item->client(), clients);
    if (!result.empty() && item->client() <= result.back().client) {
      return bad_input("a list is not in the order of the clients or names client {} twice", item->client());
    }
    result.push_back(plain(*item));
  }
  return result;
}

// Puts the signatures beside the shares they are for; true when there are any.
Result<bool> add_signatures(const flatbuffers::Vector<const wire::Bytes64*>* signatures,
                            std::vector<AddressedShares>& shares) {
  if (signatures == nullptr) return false;
  if (signatures->size() != shares.size()) {
    return bad_input("{} signatures for {} sealed shares", signatures->size(), shares.size());
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i].signature = plain_bytes(*signatures->Get(static_cast<flatbuffers::uoffset_t>(i)));
  }
  return true;
}

Result<MemberSet> plain_set(const flatbuffers::Vector<std::uint8_t>& bytes, std::uint32_t clients) {
  return MemberSet::from_bytes({bytes.data(), bytes.size()}, clients);
}

}  // namespace

std::optional<ClientMessage> kind_of(ByteView bytes) {
  Bytes copy;
  if (!is_aligned(bytes)) {
    copy.assign(bytes.begin(), bytes.end());
    bytes = copy;
  }
  const wire::Message* message = root_of(bytes);
  if (message == nullptr) return std::nullopt;
  switch (message->body_type()) {
    case wire::Body::Advertisement:
      return ClientMessage::advertisement;
    case wire::Body::DealtShares:
      return ClientMessage::dealt_shares;
    case wire::Body::MaskedVector:
      return ClientMessage::masked_vector;
    case wire::Body::ArrivalsSignature:
      return ClientMessage::arrivals_signature;
    case wire::Body::RevealedShares:
      return ClientMessage::revealed_shares;
    default:
      return std::nullopt;
  }
}

Result<Invitation> decode_invitation(ByteView bytes) {
  SOTTO_TRY(const auto wire, Received<wire::Invitation>::open(bytes, largest_message(0)));
  Invitation result;
  Round& round = result.round;
  round.id = plain_bytes(*wire->round_id());
  round.order_hash = plain_bytes(*wire->order_hash());
  round.graph_seed = plain_bytes(*wire->graph_seed());
  result.identities = plain_bytes(*wire->identities());
  round.group = {.clients = wire->clients(),
                 .corrupted = wire->corrupted(),
                 .dropped = wire->dropped(),
                 .degree = wire->degree(),
                 .threshold = wire->threshold(),
                 .minimum_alive = wire->minimum_alive(),
                 .quorum = wire->quorum(),
                 .server = static_cast<ServerModel>(wire->server()),
                 .security_bits = wire->security_bits(),
                 .correctness_bits = wire->correctness_bits()};
  round.vector = {.entries = wire->entries(), .bits = wire->bits()};
  SOTTO_CHECK(check_round(round));
  return result;
}

Result<Advertisement> decode_advertisement(ByteView bytes) {
  SOTTO_TRY(const auto wire, Received<wire::Advertisement>::open(bytes, largest_message(0)));
  return Advertisement{plain_bytes(*wire->context()), plain(*wire->keys())};
}

Result<Roster> decode_roster(ByteView bytes, std::uint32_t clients) {
  SOTTO_TRY(const auto wire, Received<wire::Roster>::open(bytes, largest_message(clients)));
  SOTTO_TRY(auto advertised, plain_set(*wire->advertised(), clients));
  SOTTO_TRY(auto neighbours, plain_list(*wire->neighbours(), clients));
  return Roster{plain_bytes(*wire->context()), plain_bytes(*wire->transcript()), std::move(advertised),
                std::move(neighbours)};
}

Result<DealtShares> decode_dealt_shares(ByteView bytes, std::uint32_t clients) {
  SOTTO_TRY(const auto wire, Received<wire::DealtShares>::open(bytes, largest_message(clients)));
  SOTTO_TRY(auto shares, plain_list(*wire->shares(), clients));
  SOTTO_TRY(const bool is_signed, add_signatures(wire->signatures(), shares));
  return DealtShares{plain_bytes(*wire->transcript()), plain_bytes(*wire->self_seed_commitment()),
                     std::move(shares), is_signed};
}

Result<DeliveredShares> decode_delivered_shares(ByteView bytes, std::uint32_t clients) {
  SOTTO_TRY(const auto wire, Received<wire::DeliveredShares>::open(bytes, largest_message(clients)));
  SOTTO_TRY(auto sharing, plain_set(*wire->sharing(), clients));
  SOTTO_TRY(auto shares, plain_list(*wire->shares(), clients));
  SOTTO_TRY(const bool is_signed, add_signatures(wire->signatures(), shares));
  return DeliveredShares{plain_bytes(*wire->transcript()), std::move(sharing), std::move(shares), is_signed};
}

Result<MaskedVector> decode_masked_vector(ByteView bytes, const VectorShape& shape) {
  const std::size_t size = packed_bytes(shape.entries, shape.bits);
  SOTTO_TRY(const auto wire, Received<wire::MaskedVector>::open(bytes, size + largest_message(0)));
  if (wire->entries()->size() != size) {
    return bad_input("{} entries of {} bits take {} bytes, the message has {}", shape.entries, shape.bits,
                     size, wire->entries()->size());
  }
  MaskedVector result;
  result.transcript = plain_bytes(*wire->transcript());
  // The offset is the same in an aligned copy, and the caller's bytes live longer.
  const std::uint8_t* const start = wire.start(bytes);
  result.packed = bytes.subspan(static_cast<std::size_t>(wire->entries()->data() - start), size);
  if (wire->signature() != nullptr) result.signature = plain_bytes(*wire->signature());
  return result;
}

Result<Arrivals> decode_arrivals(ByteView bytes, std::uint32_t clients) {
  SOTTO_TRY(const auto wire, Received<wire::Arrivals>::open(bytes, largest_message(clients)));
  SOTTO_TRY(auto alive, plain_set(*wire->alive(), clients));
  SOTTO_TRY(auto signatures, plain_list(*wire->signatures(), clients));
  return Arrivals{plain_bytes(*wire->transcript()), std::move(alive), std::move(signatures)};
}

Result<ArrivalsSignature> decode_arrivals_signature(ByteView bytes) {
  SOTTO_TRY(const auto wire, Received<wire::ArrivalsSignature>::open(bytes, largest_message(0)));
  return ArrivalsSignature{plain_bytes(*wire->transcript()), plain_bytes(*wire->signature())};
}

Result<UnmaskRequest> decode_unmask_request(ByteView bytes, std::uint32_t clients) {
  SOTTO_TRY(const auto wire, Received<wire::UnmaskRequest>::open(bytes, largest_message(clients)));
  SOTTO_TRY(auto alive, plain_set(*wire->alive(), clients));
  SOTTO_TRY(auto signatures, plain_list(*wire->signatures(), clients));
  return UnmaskRequest{plain_bytes(*wire->transcript()), std::move(alive), std::move(signatures)};
}

Result<RevealedShares> decode_revealed_shares(ByteView bytes, std::uint32_t clients) {
  SOTTO_TRY(const auto wire, Received<wire::RevealedShares>::open(bytes, largest_message(clients)));
  SOTTO_TRY(auto shares, plain_list(*wire->shares(), clients));
  return RevealedShares{plain_bytes(*wire->transcript()), std::move(shares)};
}

}  // namespace sotto::secagg
