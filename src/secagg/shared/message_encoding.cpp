#include <algorithm>

#include "proto/secagg_generated.h"
#include "secagg/shared/messages.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::secagg {

namespace {

using flatbuffers::FlatBufferBuilder;

template <class Wire, std::size_t N>
Wire wire_bytes(const std::array<std::uint8_t, N>& bytes) {
  return Wire(flatbuffers::span<const std::uint8_t, N>(bytes.data(), N));
}

wire::Bytes32 wire32(const std::array<std::uint8_t, 32>& bytes) { return wire_bytes<wire::Bytes32>(bytes); }
wire::Bytes64 wire64(const std::array<std::uint8_t, 64>& bytes) { return wire_bytes<wire::Bytes64>(bytes); }

wire::ClientKeys to_wire(const ClientKeys& keys) {
  return {keys.client, wire32(keys.channel_key), wire32(keys.mask_key), wire64(keys.signature)};
}
wire::SealedShares to_wire(const AddressedShares& shares) {
  return {shares.client, wire_bytes<wire::SealedBytes>(shares.sealed), wire32(shares.commitments.mask_key),
          wire32(shares.commitments.self_mask)};
}
wire::ClientSignature to_wire(const ClientSignature& signature) {
  return {signature.client, wire64(signature.signature)};
}
wire::RevealedShare to_wire(const RevealedShare& share) { return {share.client, wire32(share.share)}; }

template <class Item>
auto list(FlatBufferBuilder& builder, const std::vector<Item>& items) {
  std::vector<decltype(to_wire(items[0]))> wire;
  wire.reserve(items.size());
  std::transform(items.begin(), items.end(), std::back_inserter(wire),
                 [](const Item& item) { return to_wire(item); });
  return builder.CreateVectorOfStructs(wire);
}

// No list at all where nothing is signed.
flatbuffers::Offset<flatbuffers::Vector<const wire::Bytes64*>> signatures_of(
    FlatBufferBuilder& builder, const std::vector<AddressedShares>& shares, bool are_signed) {
  if (!are_signed) return 0;
  std::vector<wire::Bytes64> signatures;
  signatures.reserve(shares.size());
  std::transform(shares.begin(), shares.end(), std::back_inserter(signatures),
                 [](const AddressedShares& each) { return wire64(each.signature); });
  return builder.CreateVectorOfStructs(signatures);
}

template <class Table>
Bytes finish(FlatBufferBuilder& builder, flatbuffers::Offset<Table> body) {
  const auto kind = wire::BodyTraits<Table>::enum_value;
  wire::FinishMessageBuffer(builder, wire::CreateMessage(builder, protocol_version, kind, body.Union()));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace

Bytes encode(const Invitation& message) {
  FlatBufferBuilder builder;
  const Round& round = message.round;
  const GroupParameters& group = round.group;
  const auto id = wire32(round.id), order = wire32(round.order_hash), seed = wire32(round.graph_seed);
  const auto identities = wire32(message.identities);
  return finish(builder, wire::CreateInvitation(
                             builder, &id, &order, &seed, &identities, group.clients, group.corrupted,
                             group.dropped, group.degree, group.threshold, group.minimum_alive, group.quorum,
                             static_cast<std::uint8_t>(group.server), group.security_bits,
                             group.correctness_bits, round.vector.entries, round.vector.bits));
}

Bytes encode(const Advertisement& message) {
  FlatBufferBuilder builder;
  const auto context = wire32(message.context);
  const auto keys = to_wire(message.keys);
  return finish(builder, wire::CreateAdvertisement(builder, &context, &keys));
}

Bytes encode(const Roster& message) {
  FlatBufferBuilder builder;
  const auto context = wire32(message.context), transcript = wire32(message.transcript);
  const auto advertised = builder.CreateVector(message.advertised.bytes());
  const auto neighbours = list(builder, message.neighbours);
  return finish(builder, wire::CreateRoster(builder, &context, &transcript, advertised, neighbours));
}

Bytes encode(const DealtShares& message) {
  FlatBufferBuilder builder;
  const auto transcript = wire32(message.transcript), commitment = wire32(message.self_seed_commitment);
  const auto shares = list(builder, message.shares);
  const auto signatures = signatures_of(builder, message.shares, message.is_signed);
  return finish(builder, wire::CreateDealtShares(builder, &transcript, &commitment, shares, signatures));
}

Bytes encode(const DeliveredShares& message) {
  FlatBufferBuilder builder;
  const auto transcript = wire32(message.transcript);
  const auto sharing = builder.CreateVector(message.sharing.bytes());
  const auto shares = list(builder, message.shares);
  const auto signatures = signatures_of(builder, message.shares, message.is_signed);
  return finish(builder, wire::CreateDeliveredShares(builder, &transcript, sharing, shares, signatures));
}

Bytes encode(const Arrivals& message) {
  FlatBufferBuilder builder;
  const auto transcript = wire32(message.transcript);
  const auto alive = builder.CreateVector(message.alive.bytes());
  const auto signatures = list(builder, message.signatures);
  return finish(builder, wire::CreateArrivals(builder, &transcript, alive, signatures));
}

Bytes encode(const ArrivalsSignature& message) {
  FlatBufferBuilder builder;
  const auto transcript = wire32(message.transcript);
  const auto signature = wire64(message.signature);
  return finish(builder, wire::CreateArrivalsSignature(builder, &transcript, &signature));
}

Bytes encode(const UnmaskRequest& message) {
  FlatBufferBuilder builder;
  const auto transcript = wire32(message.transcript);
  const auto alive = builder.CreateVector(message.alive.bytes());
  const auto signatures = list(builder, message.signatures);
  return finish(builder, wire::CreateUnmaskRequest(builder, &transcript, alive, signatures));
}

Bytes encode(const RevealedShares& message) {
  FlatBufferBuilder builder;
  const auto transcript = wire32(message.transcript);
  const auto shares = list(builder, message.shares);
  return finish(builder, wire::CreateRevealedShares(builder, &transcript, shares));
}

Result<Bytes> encode_masked(const Digest& transcript, const RingVector& vector,
                            const std::optional<Signature>& signature) {
  const std::size_t size = packed_bytes(vector.size(), vector.bits());
  FlatBufferBuilder builder(size + 512);  // no growing, which would copy the vector again
  std::uint8_t* packed = nullptr;
  const auto entries = builder.CreateUninitializedVector<std::uint8_t>(size, &packed);
  SOTTO_CHECK(vector.pack_into({packed, size}));
  const auto transcript_bytes = wire32(transcript);
  const auto signature_bytes = wire64(signature.value_or(Signature{}));
  return finish(builder, wire::CreateMaskedVector(builder, &transcript_bytes, entries,
                                                  signature ? &signature_bytes : nullptr));
}

}  // namespace sotto::secagg
