// Messages: what is written is read again, and what was not written is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "secagg/protocol_harness.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::secagg::testing_round {
namespace {

using ::testing::HasSubstr;

GroupParameters group_of(std::uint32_t clients) {
  const auto group =
      find_parameters({.clients = clients, .corrupted = 0.1, .dropping = 0.2, .server = ServerModel::active});
  EXPECT_TRUE(group);
  return group.value_or(GroupParameters{});
}

const Outcome& recorded_round() {
  static const auto* outcome = [] {
    Devices devices(10, {50, 12}, 5);
    return new Outcome(run_round(devices, {.group = group_of(10)}));
  }();
  return *outcome;
}

// Decodes as what the phase expects from the client.
bool readable(ServerPhase phase, ByteView bytes) {
  switch (phase) {
    case ServerPhase::advertising:
      return decode_advertisement(bytes).has_value();
    case ServerPhase::sharing:
      return decode_dealt_shares(bytes, 10).has_value();
    case ServerPhase::uploading:
      return decode_masked_vector(bytes, {50, 12}).has_value();
    case ServerPhase::confirming:
      return decode_arrivals_signature(bytes).has_value();
    default:
      return decode_revealed_shares(bytes, 10).has_value();
  }
}

TEST(Messages, AreReadAsWritten) {
  const Round round{
      .id = {1, 2}, .order_hash = {4}, .graph_seed = {3}, .group = group_of(10), .vector = {50, 12}};
  const auto invitation = decode_invitation(encode(Invitation{round, Digest{9}}));
  ASSERT_TRUE(invitation) << invitation.error().message;
  EXPECT_EQ(invitation->round, round);
  EXPECT_EQ(invitation->identities, Digest{9});

  Roster roster{{1}, {2}, MemberSet(10), {{3, {4}, {5}, {6}}, {7, {8}, {9}, {10}}}};
  roster.advertised.insert(7);
  const auto read = decode_roster(encode(roster), 10);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->advertised, roster.advertised);
  ASSERT_EQ(read->neighbours.size(), 2U);
  EXPECT_EQ(read->neighbours[1].client, 7U);
  EXPECT_EQ(read->neighbours[1].channel_key, PublicKey{8});
  EXPECT_EQ(read->neighbours[1].mask_key, PublicKey{9});
  EXPECT_EQ(read->neighbours[1].signature, Signature{10});
}

TEST(Messages, AreReadFromAnyAddress) {
  for (const auto& [key, message] : recorded_round().sent) {
    for (std::size_t shift = 1; shift < 8; ++shift) {
      Bytes moved(message.size() + 16);
      std::copy(message.begin(), message.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
      EXPECT_TRUE(readable(key.second, ByteView(moved).subspan(shift, message.size())));
    }
  }
  const auto& vector = recorded_round().sent.at({0, ServerPhase::uploading});
  Bytes moved(vector.size() + 1);
  std::copy(vector.begin(), vector.end(), moved.begin() + 1);
  const auto here = decode_masked_vector(vector, {50, 12});
  const auto there = decode_masked_vector(ByteView(moved).subspan(1), {50, 12});
  ASSERT_TRUE(here && there);
  EXPECT_TRUE(std::equal(here->packed.begin(), here->packed.end(), there->packed.begin()));
}

TEST(Messages, AreRefusedWhenCutShort) {
  for (const auto& [key, message] : recorded_round().sent) {
    if (key.first != 0) continue;
    for (std::size_t length = 0; length < message.size() / 2; length += 3) {
      EXPECT_FALSE(readable(key.second, ByteView(message).first(length)));
    }
  }
}

RC_GTEST_PROP(Messages, NeverCrashTheReaderWhenBytesChange, ()) {
  const auto& sent = recorded_round().sent;
  auto chosen = sent.begin();
  std::advance(chosen, *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(sent.size())));
  Bytes message = chosen->second;
  for (int i = 0; i < 4; ++i) {
    message[*rc::gen::inRange<std::size_t>(0, message.size())] = *rc::gen::arbitrary<std::uint8_t>();
  }
  readable(chosen->first.second, message);
}

TEST(Messages, BoundTheirListsByTheGroup) {
  RevealedShares revealed{{}, {}};
  for (std::uint32_t client = 0; client < 11; ++client) revealed.shares.push_back({client, {}});
  EXPECT_TRUE(decode_revealed_shares(encode(revealed), 11));
  EXPECT_THAT(decode_revealed_shares(encode(revealed), 10).error().message, HasSubstr("11 items"));
  revealed.shares.resize(2);
  revealed.shares[1].client = 10;
  EXPECT_THAT(decode_revealed_shares(encode(revealed), 10).error().message, HasSubstr("client 10 of 10"));
  revealed.shares[1].client = 0;
  EXPECT_THAT(decode_revealed_shares(encode(revealed), 10).error().message, HasSubstr("twice"));
  EXPECT_THAT(decode_revealed_shares(Bytes(100000), 10).error().message, HasSubstr("at most"));
}

TEST(Messages, BoundTheirSetsByTheGroup) {
  const Arrivals arrivals{{}, MemberSet(12), {}};
  EXPECT_TRUE(decode_arrivals(encode(arrivals), 12));
  EXPECT_FALSE(decode_arrivals(encode(arrivals), 8));
  MemberSet beyond(16);
  beyond.insert(13);
  EXPECT_FALSE(decode_arrivals(encode(Arrivals{{}, beyond, {}}), 12));
}

// The sizes that docs/secagg/protocol.md states, and the bound on what secrecy costs a client in bytes.
TEST(Messages, CostAClientLittleMoreThanItsVector) {
  const VectorShape shape{std::uint64_t{1} << 20, 16};
  for (const ServerModel server : {ServerModel::semi_honest, ServerModel::active}) {
    const auto group = find_parameters({.clients = 100, .corrupted = 0.1, .dropping = 0.1, .server = server});
    ASSERT_TRUE(group);
    // All messages but the vector do not depend on its length, so a short one tells.
    Devices devices(100, {8, 16}, 5);
    const auto outcome = run_round(devices, {.group = *group});
    ASSERT_EQ(outcome.phase, ServerPhase::done);
    double bytes = static_cast<double>(packed_bytes(shape.entries, shape.bits));
    const double vector = bytes;
    for (const auto& [key, message] : outcome.sent) bytes += key.first == 7 ? double(message.size()) : 0;
    for (const auto& [key, message] : outcome.received) bytes += key.first == 7 ? double(message.size()) : 0;
    EXPECT_LT(bytes, (server == ServerModel::active ? 1.04 : 1.01) * vector);
  }
}

}  // namespace
}  // namespace sotto::secagg::testing_round
