#pragma once
// What the parties of a round send each other, in numbers that were made up: written down once for each
// version (compatibility/), and read by all that come after.

#include "device/sdk/consent.h"
#include "rounds/enrolment.h"
#include "rounds/group_invitation.h"
#include "rounds/operator_keys.h"
#include "rounds/round_messages.h"
#include "rounds/small_campaign.h"
#include "secagg/shared/messages.h"

namespace sotto::device::testing {

inline constexpr std::uint32_t sample_clients = 20;

template <class Bytes>
Bytes filled(std::uint8_t with) {
  Bytes bytes{};
  std::fill(bytes.begin(), bytes.end(), with);
  return bytes;
}
inline secagg::Digest sample_digest(std::uint8_t with) { return filled<secagg::Digest>(with); }

inline secagg::MemberSet sample_members() {
  secagg::MemberSet members(sample_clients);
  for (std::uint32_t client = 0; client < sample_clients; ++client)
    if (client != 3 && client != 11) members.insert(client);
  return members;
}

inline std::vector<secagg::AddressedShares> sample_shares() {
  std::vector<secagg::AddressedShares> shares;
  for (const std::uint32_t client : {1U, 4U, 17U}) {
    secagg::AddressedShares one;
    one.client = client;
    one.sealed = filled<secagg::SealedShares>(static_cast<std::uint8_t>(client));
    one.signature = filled<secagg::Signature>(9);
    shares.push_back(one);
  }
  return shares;
}

// By the names of their files.
inline std::vector<std::pair<std::string, std::string>> sample_messages() {
  const auto text = [](const secagg::Bytes& bytes) { return std::string(as_text(bytes)); };
  const rounds::CampaignTerms terms = rounds::terms_of(rounds::small_campaign()).value();
  const secagg::VectorShape shape{terms.plan.entries(), terms.plan.modulus().bits()};
  const std::vector<secagg::ClientSignature> signatures = {{2, filled<secagg::Signature>(7)},
                                                           {5, filled<secagg::Signature>(8)}};
  secagg::Invitation invitation;
  invitation.round = {sample_digest(1), {sample_digest(2)}, {3}, terms.group, shape};
  invitation.identities = sample_digest(4);
  auto vector = secagg::RingVector::zeros(shape.entries, shape.bits).value();
  std::vector<secagg::ClientKeys> keys(3);
  keys[0].client = 1, keys[1].client = 4, keys[2].client = 17;
  std::vector<secagg::RevealedShare> revealed(2);
  revealed[0].client = 3, revealed[1].client = 11;
  std::vector<rounds::IdentityKey> members;
  for (std::uint8_t i = 0; i < sample_clients; ++i) members.push_back(rounds::test_key(i).public_key());
  const rounds::Identity next = rounds::test_key(61), device = rounds::test_key(5);
  rounds::OperatorKeys followed(rounds::operator_key().public_key(), rounds::test_key(60).public_key());
  const std::string change =
      rounds::sign_key_change(
          {{rounds::operator_key().public_key()}, next.public_key(), false, rounds::campaign_begin},
          rounds::operator_key())
          .value();
  static_cast<void>(followed.follow(rounds::open_key_change(change).value(), 5));
  const rounds::Enrolment enrolment =
      rounds::enrolment_of(
          rounds::sign_token({sample_digest(6), true, rounds::campaign_begin}, rounds::operator_key()),
          device, rounds::operator_key().public_key())
          .value();
  return {
      {"enrolment", encode(enrolment)},
      {"check_in", encode(rounds::CheckIn{sample_digest(1)})},
      {"group_place", encode(rounds::GroupPlace{sample_digest(2), "an invitation"})},
      {"group_invitation", encode(rounds::GroupInvitation{members, text(encode(invitation))})},
      {"consent", encode(Consent{terms_of({.ranking = "local"}, "https://train.example.org",
                                          "Better front pages", true, false),
                                 rounds::campaign_begin})},
      {"key_change", change},
      {"operator_keys", followed.encode()},
      {"invitation", text(encode(invitation))},
      {"advertisement", text(encode(secagg::Advertisement{sample_digest(1), {}}))},
      {"roster", text(encode(secagg::Roster{sample_digest(1), sample_digest(2), sample_members(), keys}))},
      {"dealt_shares",
       text(encode(secagg::DealtShares{sample_digest(2), sample_digest(3), sample_shares(), true}))},
      {"delivered_shares",
       text(encode(secagg::DeliveredShares{sample_digest(2), sample_members(), sample_shares(), true}))},
      {"masked_vector",
       text(secagg::encode_masked(sample_digest(2), vector, filled<secagg::Signature>(7)).value())},
      {"arrivals", text(encode(secagg::Arrivals{sample_digest(2), sample_members(), signatures}))},
      {"arrivals_signature",
       text(encode(secagg::ArrivalsSignature{sample_digest(2), filled<secagg::Signature>(7)}))},
      {"unmask_request", text(encode(secagg::UnmaskRequest{sample_digest(2), sample_members(), signatures}))},
      {"revealed_shares", text(encode(secagg::RevealedShares{sample_digest(2), revealed}))},
  };
}

}  // namespace sotto::device::testing
