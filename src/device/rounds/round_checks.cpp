#include "device/rounds/round_checks.h"

#include <algorithm>

#include "base/chain_hash.h"
#include "rounds/evaluation.h"
#include "rounds/model_version.h"

namespace sotto::device {

namespace {

using Reason = RoundRefusalReason;
using Checked = tl::expected<void, RoundRefusal>;

template <class... Args>
tl::unexpected<RoundRefusal> refuse(Reason reason, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(RoundRefusal{reason, fmt::format(format, std::forward<Args>(args)...)});
}

tl::unexpected<RoundRefusal> because(Reason reason, const Error& error) {
  return tl::unexpected(RoundRefusal{reason, error.message});
}

Checked check_signatures(const RoundOffer& offer, const rounds::OpenedCampaign& campaign,
                         const rounds::OpenedOrder& order, const rounds::OperatorKeys& keys) {
  // The proof that the campaign stands there is looked at below.
  if (const Status good = keys.check(campaign, offer.campaign_entry.index); !good)
    return because(Reason::operator_signature, good.error());
  const rounds::IdentityKey& coordinator = campaign.campaign.coordinator;
  if (!order.is_signed_by(coordinator))
    return refuse(Reason::coordinator_signature, "the order is not signed by the coordinator {}",
                  to_hex(coordinator));
  if (!is_signed_by(offer.head, coordinator))
    return refuse(Reason::coordinator_signature, "the head of the log is not signed by the coordinator {}",
                  to_hex(coordinator));
  return {};
}

Checked check_times(const rounds::OpenedCampaign& campaign, const rounds::RoundOrder& order,
                    rounds::UtcTime now) {
  if (auto valid = rounds::check_time(campaign.campaign, now); !valid)
    return because(Reason::campaign_time, valid.error());
  if (auto fits = rounds::check_order(order, campaign); !fits) return because(Reason::order, fits.error());
  if (now >= order.expires)
    return refuse(Reason::order_time, "the order expired on {}, and it is {}",
                  privacy::to_text(order.expires), privacy::to_text(now));
  return {};
}

// The device's frontier, extended to the head of the order.
tl::expected<rounds::LogFrontier, RoundRefusal> extended_log(const RoundOffer& offer,
                                                             const rounds::RoundOrder& order,
                                                             const rounds::LogFrontier& seen) {
  const rounds::LogHead& head = offer.head.head;
  if (!(head == order.head))
    return refuse(Reason::log, "the order names another head of the log than was shown");
  if (head.size < seen.size())
    return refuse(Reason::log, "the log has {} entries, and {} were seen before", head.size, seen.size());
  if (head.size - seen.size() != offer.new_entries.size())
    return refuse(Reason::log, "{} entries of the log are new, and {} were shown", head.size - seen.size(),
                  offer.new_entries.size());
  rounds::LogFrontier frontier = seen;
  for (const rounds::LogLeaf& entry : offer.new_entries) frontier.append(rounds::leaf_hash(entry));
  if (frontier.root() != head.root)
    return refuse(Reason::log, "the log does not continue the {} entries that were seen before", seen.size());
  const auto holds = [&](rounds::LeafKind kind, const rounds::Digest& hash,
                         const rounds::InclusionProof& proof) {
    return rounds::is_included(rounds::leaf_hash(rounds::LogLeaf{kind, hash}), proof, head.size, head.root);
  };
  if (!holds(rounds::LeafKind::campaign, order.campaign, offer.campaign_entry))
    return refuse(Reason::log, "the campaign {} is not in the log", to_hex(order.campaign));
  if (!holds(rounds::LeafKind::model, order.model, offer.model_entry))
    return refuse(Reason::log, "the model {} is not in the log", to_hex(order.model));
  return frontier;
}

Checked check_witnesses(const RoundOffer& offer, const rounds::Campaign& campaign,
                        const TrainingPolicy& policy) {
  const std::uint64_t needed = std::max<std::uint64_t>(campaign.witnesses_needed, policy.witnesses);
  const std::uint64_t there = rounds::witnesses_of(offer.head, campaign.witnesses);
  if (there >= needed) return {};
  return refuse(Reason::witnesses, "{} of the campaign's witnesses cosigned the log, {} are needed", there,
                needed);
}

Checked check_policy(const rounds::Campaign& campaign, const rounds::CampaignTerms& terms,
                     const TrainingPolicy& policy) {
  constexpr double rounding = 1e-9;
  const auto against = [](std::string_view what, double asked, std::string_view rule, double allowed) {
    return refuse(Reason::policy, "the {} is {:.6g}, and the owner of this device allows {} {:.6g}", what,
                  asked, rule, allowed);
  };
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  // Of all that a device may be asked for, training and evaluations together.
  if (campaign.total_epsilon() > policy.epsilon * (1 + rounding)) {
    const auto all = rounds::cost_of(campaign, campaign.participations, campaign.delta,
                                     campaign.evaluation ? campaign.evaluation->participations : 0);
    if (!all) return because(Reason::terms, all.error());
    if (all->epsilon > policy.epsilon * (1 + rounding))
      return against("epsilon of the campaign", all->epsilon, "at most", policy.epsilon);
  }
  if (campaign.delta > policy.delta)
    return against("delta of the campaign", campaign.delta, "at most", policy.delta);
  if (terms.group.clients < policy.group)
    return against("group", number(terms.group.clients), "at least", number(policy.group));
  const double told = number(terms.group.corrupted) / number(terms.group.clients);
  if (told < policy.corrupted - rounding)
    return against("share of a group that may be corrupted", told, "at least", policy.corrupted);
  if (campaign.server < policy.server.value)
    return refuse(Reason::policy,
                  "the sum withstands a server that follows the protocol, and the owner of this device "
                  "demands one that withstands any");
  if (campaign.security_bits < policy.security_bits)
    return against("security of a group in bits", campaign.security_bits, "at least", policy.security_bits);
  if (terms.bytes.up > policy.upload_bytes)
    return against("upload of a round in bytes", number(terms.bytes.up), "at most",
                   number(policy.upload_bytes));
  if (campaign.max_training_seconds > policy.training_seconds)
    return against("training of a round in seconds", number(campaign.max_training_seconds), "at most",
                   number(policy.training_seconds));
  return {};
}

Checked check_participation(const rounds::Campaign& campaign, const rounds::RoundOrder& order,
                            const RoundKnowledge& knows) {
  if (std::none_of(knows.trainable.begin(), knows.trainable.end(), [&](const Trainable& one) {
        return one.recipe == campaign.recipe && one.layout == campaign.layout;
      }))
    return refuse(Reason::unknown_recipe, "this device does not train '{}' with the layout {}",
                  campaign.recipe, to_hex(campaign.layout));
  const bool evaluates = order.evaluates;
  const std::vector<rounds::Digest> charged = knows.charged(
      order.campaign, evaluates ? privacy::ReleasePurpose::evaluation : privacy::ReleasePurpose::training);
  const std::uint64_t most = evaluates ? campaign.evaluation->participations : campaign.participations;
  if (std::find(charged.begin(), charged.end(), order.round) != charged.end())
    return refuse(Reason::charged_before, "round {} was charged before: it is not paid twice",
                  to_hex(order.round));
  if (charged.size() >= most)
    return refuse(Reason::participations, "this device took part {} times, as often as the campaign allows",
                  charged.size());
  return {};
}

secagg::ClientPolicy client_policy(const rounds::Campaign& campaign, const rounds::CampaignTerms& terms,
                                   const rounds::Digest& order_hash) {
  const auto clients = static_cast<double>(terms.group.clients);
  return {.server = campaign.server,
          .corrupted = static_cast<double>(terms.group.corrupted) / clients,
          .dropped = static_cast<double>(terms.group.dropped) / clients,
          .minimum_alive = terms.group.minimum_alive,
          .order_hash = order_hash,
          .vector = {terms.plan.entries(), terms.plan.modulus().bits()},
          .security_bits = campaign.security_bits};
}

}  // namespace

std::string_view name(RoundRefusalReason reason) {
  switch (reason) {
    case Reason::malformed:
      return "malformed";
    case Reason::operator_signature:
      return "operator-signature";
    case Reason::terms:
      return "terms";
    case Reason::campaign_time:
      return "campaign-time";
    case Reason::coordinator_signature:
      return "coordinator-signature";
    case Reason::order:
      return "order";
    case Reason::order_time:
      return "order-time";
    case Reason::log:
      return "log";
    case Reason::witnesses:
      return "witnesses";
    case Reason::purpose:
      return "purpose";
    case Reason::unknown_recipe:
      return "unknown-recipe";
    case Reason::policy:
      return "policy";
    case Reason::participations:
      return "participations";
    case Reason::charged_before:
      return "charged-before";
    case Reason::group:
      break;
  }
  return "group";
}

tl::expected<rounds::OperatorKeys, RoundRefusal> followed_keys(const RoundOffer& offer,
                                                               const RoundKnowledge& knows) {
  rounds::OperatorKeys keys = knows.keys;
  std::size_t next = 0;
  for (std::size_t i = 0; i < offer.new_entries.size(); ++i) {
    if (offer.new_entries[i].kind != rounds::LeafKind::keys) continue;
    if (next == offer.key_changes.size())
      return refuse(Reason::log, "a change of the operator's key is in the log and was not shown");
    const std::string& document = offer.key_changes[next++];
    if (rounds::blob_hash(document) != offer.new_entries[i].hash)
      return refuse(Reason::log, "the change of the operator's key that was shown is not the log's");
    // What is no change, or nobody's who may say so, changes nothing.
    if (const auto change = rounds::open_key_change(document))
      static_cast<void>(keys.follow(*change, knows.log.size() + i));
  }
  return keys;
}

tl::expected<AcceptedRound, RoundRefusal> check_round_offer(const RoundOffer& offer,
                                                            const RoundKnowledge& knows) {
  auto campaign = rounds::open_campaign(offer.campaign);
  if (!campaign) return because(Reason::malformed, campaign.error());
  auto order = rounds::open_order(offer.order);
  if (!order) return because(Reason::malformed, order.error());
  // Signatures come first: nothing else is worked out for strangers.
  auto keys = followed_keys(offer, knows);
  if (!keys) return tl::unexpected(keys.error());
  if (auto good = check_signatures(offer, *campaign, *order, *keys); !good)
    return tl::unexpected(good.error());
  if (auto good = check_times(*campaign, order->order, knows.now); !good) return tl::unexpected(good.error());
  auto log = extended_log(offer, order->order, knows.log);
  if (!log) return tl::unexpected(log.error());
  if (auto good = check_witnesses(offer, campaign->campaign, knows.policy); !good)
    return tl::unexpected(good.error());
  if (campaign->campaign.purpose != knows.purpose)
    return refuse(Reason::purpose, "the campaign is for '{}', and its person agreed to '{}'",
                  campaign->campaign.purpose, knows.purpose);
  if (auto good = check_participation(campaign->campaign, order->order, knows); !good)
    return tl::unexpected(good.error());
  const bool evaluates = order->order.evaluates;
  auto terms = evaluates ? rounds::evaluation_terms(campaign->campaign)
                         : rounds::terms_of(campaign->campaign, order->order.number);
  if (!terms) return because(Reason::terms, terms.error());
  if (auto good = check_policy(campaign->campaign, *terms, knows.policy); !good)
    return tl::unexpected(good.error());
  privacy::Release release{
      .purpose = evaluates ? privacy::ReleasePurpose::evaluation : privacy::ReleasePurpose::training,
      .event = terms->event,
      .reads = std::nullopt,
      .about = fmt::format("{} {} of campaign {}", evaluates ? "version" : "round", order->order.number,
                           to_hex(std::span(campaign->hash).first(8))),
      .round = privacy::TrainingRound{campaign->hash, order->order.round}};
  secagg::ClientPolicy client = client_policy(campaign->campaign, *terms, order->hash);
  return AcceptedRound{*std::move(campaign),
                       *std::move(terms),
                       *std::move(order),
                       *std::move(log),
                       *std::move(keys),
                       std::move(release),
                       client};
}

tl::expected<void, RoundRefusal> check_group(const AcceptedRound& accepted, const secagg::Round& round) {
  if (!(round.group == accepted.terms.group))
    return refuse(Reason::group,
                  "a group of {} with {} corrupted, {} lost, {} neighbours and {} shares is not the "
                  "campaign's",
                  round.group.clients, round.group.corrupted, round.group.dropped, round.group.degree,
                  round.group.threshold);
  if (!(round.vector == accepted.client.vector))
    return refuse(Reason::group, "a sum of {} entries of {} bits is not the campaign's", round.vector.entries,
                  round.vector.bits);
  if (round.order_hash != accepted.order.hash)
    return refuse(Reason::group, "the group was invited for another order than this device has read");
  return {};
}

}  // namespace sotto::device
