#pragma once
// What a device checks before it takes part in a round, and before it is charged for it. The server is not
// believed: whatever a campaign, an order or a group states is worked out again here. Pure functions: a
// refusal changes nothing.

#include <functional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "privacy/ledger/charge.h"
#include "rounds/operator_keys.h"
#include "rounds/order.h"
#include "secagg/client/secagg_client.h"

namespace sotto::device {

// What the owner of a device lets training be. Nothing has a default that could be forgotten.
struct TrainingPolicy {
  secagg::Stated<double> epsilon, delta;           // of one campaign at most, against the server
  secagg::Stated<std::uint64_t> group;             // devices that sum together at least
  secagg::Stated<double> corrupted;                // share of a group that may belong to the server, at least
  secagg::Stated<secagg::ServerModel> server;      // that a sum withstands, at least
  secagg::Stated<std::uint64_t> witnesses;         // of the log, at least
  secagg::Stated<std::uint64_t> upload_bytes;      // a round at most
  secagg::Stated<std::uint64_t> training_seconds;  // a round at most
  double security_bits = 40;
};

// What a device can train: a recipe over numbers laid out in one way.
struct Trainable {
  std::string recipe;
  rounds::Digest layout{};
};

// What a device knows by itself.
struct RoundKnowledge {
  rounds::OperatorKeys keys;  // as far as their changes were followed
  std::string purpose;        // that its person agreed to
  TrainingPolicy policy;
  std::vector<Trainable> trainable;
  rounds::UtcTime now{};    // by the ledger's clock
  rounds::LogFrontier log;  // as far as it was seen
  // The rounds of a campaign that were charged for this: Ledger::rounds_of.
  std::function<std::vector<rounds::Digest>(const rounds::Digest& campaign, privacy::ReleasePurpose purpose)>
      charged;
};

// As the server sent it.
struct RoundOffer {
  std::string campaign, order;  // documents
  rounds::SignedHead head;
  std::vector<rounds::LogLeaf> new_entries;  // of the log, since the device's frontier
  std::vector<std::string> key_changes;      // what the entries of kind `keys` name, in their order
  rounds::InclusionProof campaign_entry, model_entry;
};

enum class RoundRefusalReason : std::uint8_t {
  malformed,              // no campaign, no order
  operator_signature,     // the campaign is not by the operator, or by a key that was replaced
  terms,                  // the campaign cannot keep what it states
  campaign_time,          // before its beginning, after its end
  coordinator_signature,  // the order or the head is not by the campaign's coordinator
  order,                  // the order is of another campaign, or chooses what it may not
  order_time,             // the order has expired
  log,                    // the log does not continue what was seen, or lacks campaign or model
  witnesses,              // too few cosigned the log
  purpose,                // not what the person agreed to
  unknown_recipe,         // nothing that this device trains
  policy,                 // the owner does not allow it
  participations,         // as many as the campaign allows
  charged_before,         // this round, or one with its name
  group,                  // its numbers are not the plan's
};
std::string_view name(RoundRefusalReason reason);

struct RoundRefusal {
  RoundRefusalReason reason = RoundRefusalReason::malformed;
  std::string message;
};

// A round that may be trained for, joined and, immediately before the upload, charged.
struct AcceptedRound {
  rounds::OpenedCampaign campaign;
  rounds::CampaignTerms terms;
  rounds::OpenedOrder order;
  rounds::LogFrontier log;      // to be kept
  rounds::OperatorKeys keys;    // to be kept
  privacy::Release release;     // to be charged
  secagg::ClientPolicy client;  // to join with
};

// The keys behind the changes that an offer brings. A change that is missing, or is not what the log names,
// is refused.
tl::expected<rounds::OperatorKeys, RoundRefusal> followed_keys(const RoundOffer& offer,
                                                               const RoundKnowledge& knows);

tl::expected<AcceptedRound, RoundRefusal> check_round_offer(const RoundOffer& offer,
                                                            const RoundKnowledge& knows);

// Of the group that an invitation forms: its numbers must be the plan's.
tl::expected<void, RoundRefusal> check_group(const AcceptedRound& accepted, const secagg::Round& round);

}  // namespace sotto::device
