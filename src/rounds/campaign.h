#pragma once
// A campaign: what devices are asked to train, how, for how long, and what that costs them at most. The
// operator signs it with a key that is kept offline; every order of a round names it by its hash.
//
// Nothing derived is believed: terms_of() works out plan, privacy event, group and bytes by itself and
// refuses a campaign that cannot keep what it states. Plain values and pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/accounting/event.h"
#include "rounds/document.h"
#include "secagg/shared/parameters.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::rounds {

// How devices train by themselves, as their recipe reads it.
struct LocalSetting {
  std::string name, value;
  bool operator==(const LocalSetting&) const = default;
};

// What is other in the second sum of a campaign that asks for two.
struct SecondSum {
  std::uint64_t dimension = 0;
  bool products = false;  // its updates are; then none of its entries is cut at 0
  double step = 0, noise_multiplier = 0;
  std::uint64_t bits = 0;
  bool operator==(const SecondSum&) const = default;
};

// How versions are measured (rounds/evaluation.h), where a campaign asks for that: by sums beside those of
// training, with an ε of their own.
struct EvaluationSum {
  std::uint64_t every = 0;           // the first version, and the one after every so many rounds
  std::uint64_t held_out = 0;        // one page in so many is kept out of training
  std::uint64_t pages = 0;           // of a device that count at most
  std::uint64_t participations = 0;  // of one device at most
  double epsilon = 0;                // of these at most, at the campaign's delta, against the server
  double step = 0, noise_multiplier = 0;
  std::uint64_t bits = 0;
  bool operator==(const EvaluationSum&) const = default;
};

struct Campaign {
  std::string purpose;  // a sentence for the people who are asked
  std::string recipe;
  Digest layout{};                  // SHA-256 of the names and sizes of what is trained
  std::vector<LocalSetting> local;  // ascending by name

  std::uint64_t population = 0;  // devices that may be asked
  std::uint64_t cohort = 0;      // devices in a round, in groups of encoding.devices
  std::uint64_t rounds = 0;
  std::uint64_t participations = 0;  // of one device at most
  double epsilon = 0, delta = 0;     // of all its participations at most, against the server

  secagg::EncodingPlan::Settings encoding;
  std::uint64_t bits = 0;  // of an entry, as the encoding must give them
  // Of every round after the first, where these are about another sum.
  std::optional<SecondSum> second;
  std::optional<EvaluationSum> evaluation;
  secagg::ServerModel server = secagg::ServerModel::semi_honest;
  double security_bits = 40, correctness_bits = 20;

  std::uint64_t max_upload_bytes = 0;      // of one device in one round
  std::uint64_t max_training_seconds = 0;  // on the device
  std::uint64_t shortest_phase_seconds = 0, longest_phase_seconds = 0;
  UtcTime valid_from{}, valid_until{};

  IdentityKey coordinator{};  // signs orders and the heads of the log
  std::vector<IdentityKey> witnesses;
  std::uint64_t witnesses_needed = 0;  // cosignatures under the head of an order

  // Of a round, from 1.
  secagg::EncodingPlan::Settings encoding_of(std::uint64_t round) const;
  Result<secagg::EncodingPlan> plan(std::uint64_t round) const;
  // Of an evaluation: the groups and their noise are those of training. The campaign must have one.
  secagg::EncodingPlan::Settings evaluation_encoding() const;
  // Of all that one device may take part in, at most.
  double total_epsilon() const { return epsilon + (evaluation ? evaluation->epsilon : 0); }
  bool follows_bound() const { return encoding.clip_bit_weight.has_value(); }
};

// Of "name:size name:size ", the numbers that are trained in their order.
Digest layout_hash(std::string_view layout);

inline constexpr DocumentKind campaign_kind{"campaign", "SOTTOCMP", 1, "sotto campaign 1", 1 << 16};

std::string encode(const Campaign& campaign);  // the body
// One encoding: bytes that are not what encode() writes are refused. What they say is judged by terms_of().
Result<Campaign> decode_campaign(std::string_view body);

// Refuses to sign a campaign that terms_of() refuses.
Result<std::string> sign_campaign(const Campaign& campaign, const Identity& operator_key);

struct OpenedCampaign {
  Campaign campaign;
  Digest hash{};
  Signature signature{};
  bool is_signed_by(const IdentityKey& operator_key) const { return verify(signature, hash, operator_key); }
};
Result<OpenedCampaign> open_campaign(std::string_view bytes);

// Bytes that secure aggregation makes one device send and fetch in a round at most: exact when everybody
// stays. The model itself is not in it.
struct RoundBytes {
  std::uint64_t up = 0, down = 0;
};

struct CampaignTerms {
  secagg::EncodingPlan plan;     // of the round
  privacy::PrivacyEvent event;   // of the round
  privacy::Guarantee guarantee;  // of all participations, against the server
  secagg::GroupParameters group;
  RoundBytes bytes;
};
// What a campaign amounts to, and one of its rounds, from 1. A refusal names the value, the rule and what to
// change.
Result<CampaignTerms> terms_of(const Campaign& campaign, std::uint64_t round = 1);

// What so many participations of one device cost against the server, in whichever rounds: of two sums in the
// costlier one every time, because a sum that failed is gathered again. With those in evaluations.
Result<privacy::Guarantee> cost_of(const Campaign& campaign, std::uint64_t participations, double delta,
                                   std::uint64_t evaluations = 0);

// Within its validity?
Status check_time(const Campaign& campaign, UtcTime now);

}  // namespace sotto::rounds
