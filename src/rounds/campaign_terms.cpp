// What a campaign amounts to, and what no campaign may say.

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "privacy/accounting/account.h"
#include "rounds/evaluation.h"
#include "secagg/shared/messages.h"
#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/two_sums.h"

namespace sotto::rounds {

namespace {

constexpr std::size_t longest_purpose = 200, longest_word = 64;

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= longest_word &&
         std::all_of(text.begin(), text.end(), [](char letter) {
           return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-' ||
                  letter == '_';
         });
}

Status check_texts(const Campaign& campaign) {
  if (campaign.purpose.empty() || campaign.purpose.size() > longest_purpose ||
      !is_printable(campaign.purpose))
    return bad_input("the purpose is '{}', must be a sentence of 1 to {} bytes for the people who are asked",
                     printable(campaign.purpose), longest_purpose);
  if (!is_word(campaign.recipe))
    return bad_input("the recipe is '{}', must be a name as 'sotto recipes' lists them",
                     printable(campaign.recipe));
  for (std::size_t i = 0; i < campaign.local.size(); ++i) {
    const LocalSetting& setting = campaign.local[i];
    if (!is_word(setting.name) || setting.value.empty() || setting.value.size() > longest_word ||
        !is_printable(setting.value) || setting.value.find(' ') != std::string::npos)
      return bad_input(
          "the local setting '{}={}' must be a word and a value without spaces, each of 1 to {} characters",
          printable(setting.name), printable(setting.value), longest_word);
    if (i > 0 && campaign.local[i - 1].name >= setting.name)
      return bad_input(
          "the local setting '{}' does not follow '{}' in the alphabet: name each once, in order",
          setting.name, campaign.local[i - 1].name);
  }
  return {};
}

Status check_counts(const Campaign& campaign) {
  const std::uint64_t group = campaign.encoding.devices;
  if (group == 0 || campaign.cohort == 0 || campaign.cohort % group != 0)
    return bad_input("a cohort of {} is not made of groups of {}: choose a multiple", campaign.cohort, group);
  if (campaign.population < campaign.cohort)
    return bad_input("a cohort of {} cannot be drawn from a population of {}", campaign.cohort,
                     campaign.population);
  if (campaign.encoding.denominator != static_cast<double>(campaign.cohort))
    return bad_input("the mean is over {}, must be over the cohort of {}", campaign.encoding.denominator,
                     campaign.cohort);
  if (campaign.rounds == 0 || campaign.participations == 0 || campaign.participations > campaign.rounds)
    return bad_input("{} participations in {} rounds: at least 1 and at most one per round are possible",
                     campaign.participations, campaign.rounds);
  return {};
}

Status check_limits(const Campaign& campaign) {
  if (campaign.max_training_seconds == 0 || campaign.shortest_phase_seconds == 0)
    return bad_input("training may take {} s and a phase lasts at least {} s: both must be at least 1",
                     campaign.max_training_seconds, campaign.shortest_phase_seconds);
  if (campaign.longest_phase_seconds < campaign.shortest_phase_seconds)
    return bad_input("a phase lasts at least {} s and at most {} s: the second must not be smaller",
                     campaign.shortest_phase_seconds, campaign.longest_phase_seconds);
  if (campaign.valid_until <= campaign.valid_from)
    return bad_input("the campaign is valid from {} until {}: the end must come after the beginning",
                     privacy::to_text(campaign.valid_from), privacy::to_text(campaign.valid_until));
  return {};
}

Status check_keys(const Campaign& campaign) {
  std::vector<IdentityKey> keys = campaign.witnesses;
  keys.push_back(campaign.coordinator);
  std::sort(keys.begin(), keys.end());
  if (std::adjacent_find(keys.begin(), keys.end()) != keys.end())
    return bad_input("one key is there twice among the coordinator's and the witnesses': each needs its own");
  if (keys.front() == IdentityKey{}) return bad_input("a key is all zeros: 'sotto campaign keys' makes one");
  if (campaign.witnesses_needed > campaign.witnesses.size())
    return bad_input("{} witnesses must cosign, and {} are named: name more, or need fewer",
                     campaign.witnesses_needed, campaign.witnesses.size());
  return {};
}

Result<secagg::GroupParameters> group_of(const Campaign& campaign) {
  const secagg::EncodingPlan::Settings& encoding = campaign.encoding;
  if (encoding.devices > secagg::max_group_clients)
    return bad_input("a group of {} devices: at most {} are possible, choose smaller groups",
                     encoding.devices, secagg::max_group_clients);
  const auto devices = static_cast<double>(encoding.devices);
  return secagg::find_parameters({.clients = static_cast<std::uint32_t>(encoding.devices),
                                  .corrupted = static_cast<double>(encoding.corrupted) / devices,
                                  .dropping = static_cast<double>(encoding.dropped) / devices,
                                  .server = campaign.server,
                                  .security_bits = campaign.security_bits,
                                  .correctness_bits = campaign.correctness_bits});
}

// The one large message, by a small one: 64 entries fill whole words whatever their width, so both are padded
// alike.
Result<std::uint64_t> masked_bytes(const secagg::VectorShape& shape, bool is_signed) {
  constexpr std::uint64_t whole = 64;
  const std::uint64_t few = shape.entries < 2 * whole ? shape.entries : shape.entries % whole + whole;
  SOTTO_TRY(const auto vector, secagg::RingVector::zeros(few, shape.bits));
  SOTTO_TRY(const secagg::Bytes message,
            secagg::encode_masked({}, vector, is_signed ? std::optional(Signature{}) : std::nullopt));
  return message.size() - secagg::packed_bytes(few, shape.bits) +
         secagg::packed_bytes(shape.entries, shape.bits);
}

// The sizes of the messages themselves, of a round in which everybody stays.
Result<RoundBytes> protocol_bytes(const secagg::GroupParameters& group, const secagg::VectorShape& shape) {
  const bool active = group.server == secagg::ServerModel::active;
  const secagg::MemberSet everybody(group.clients);
  const std::vector<secagg::AddressedShares> shares(group.degree);
  const std::vector<secagg::ClientSignature> signatures(active ? group.clients : 0);
  SOTTO_TRY(RoundBytes bytes, masked_bytes(shape, active).map([](std::uint64_t up) {
    return RoundBytes{up, 0};
  }));
  bytes.up += encode(secagg::Advertisement{}).size();
  bytes.up += encode(secagg::DealtShares{{}, {}, shares, active}).size();
  bytes.up += encode(secagg::RevealedShares{{}, std::vector<secagg::RevealedShare>(group.degree)}).size();
  bytes.down += encode(secagg::Invitation{{.group = group, .vector = shape}, {}}).size();
  bytes.down +=
      encode(secagg::Roster{{}, {}, everybody, std::vector<secagg::ClientKeys>(group.degree)}).size();
  bytes.down += encode(secagg::DeliveredShares{{}, everybody, shares, active}).size();
  bytes.down += encode(secagg::UnmaskRequest{{}, everybody, signatures}).size();
  if (active) {
    bytes.up += encode(secagg::ArrivalsSignature{}).size();
    bytes.down += encode(secagg::Arrivals{{}, everybody, signatures}).size();
  }
  return bytes;
}

// One of the sums that a campaign asks for.
struct SumTerms {
  secagg::EncodingPlan plan;
  privacy::PrivacyEvent event;
  RoundBytes bytes;
};

Result<privacy::PrivacyEvent> event_of(const secagg::EncodingPlan& plan) {
  if (const auto event = plan.event()) return *event;
  return bad_input("the noise multiplier is 0: no campaign asks for sums without noise");
}

Result<SumTerms> sum_terms(const Campaign& campaign, const secagg::EncodingPlan::Settings& settings,
                           std::uint64_t stated, const secagg::GroupParameters& group) {
  SOTTO_TRY(secagg::EncodingPlan plan, secagg::EncodingPlan::create(settings));
  SOTTO_TRY(const privacy::PrivacyEvent event, event_of(plan));
  if (plan.modulus().bits() != stated)
    return bad_input("the encoding needs {} bits an entry, and the campaign states {}: state the same",
                     plan.modulus().bits(), stated);
  if (plan.entries() > secagg::max_entries || !secagg::is_wire_width(plan.modulus().bits()))
    return bad_input("{} entries of {} bits cannot be sent: at most {} of 8 to 32 bits", plan.entries(),
                     plan.modulus().bits(), secagg::max_entries);
  SOTTO_TRY(const RoundBytes bytes, protocol_bytes(group, {plan.entries(), plan.modulus().bits()}));
  if (bytes.up > campaign.max_upload_bytes)
    return bad_input(
        "a device would send {} bytes in a round, and the campaign allows {}: train fewer numbers, choose "
        "fewer bits or smaller groups, or raise max_upload_bytes",
        bytes.up, campaign.max_upload_bytes);
  return SumTerms{std::move(plan), event, bytes};
}

Status check_second(const Campaign& campaign) {
  if (!campaign.second) return {};
  if (campaign.rounds < 2)
    return bad_input("the campaign describes a second sum and has {} round: it needs two", campaign.rounds);
  if (campaign.follows_bound())
    return bad_input("a campaign of two sums has a clip bit: a bound follows what one sum says of the next");
  return {};
}

Status check_evaluation(const Campaign& campaign) {
  if (!campaign.evaluation) return {};
  const EvaluationSum& sum = *campaign.evaluation;
  if (campaign.second)
    return bad_input("a campaign of two sums measures no versions: the first makes none that ranks");
  if (sum.every == 0 || sum.every > campaign.rounds)
    return bad_input("a version is measured after every {} of {} rounds: choose 1 to {}", sum.every,
                     campaign.rounds, campaign.rounds);
  if (sum.held_out < 2 || sum.pages == 0)
    return bad_input(
        "one page in {} is kept out of training and {} of a device count: it must be one in 2 or more, and "
        "at "
        "least 1",
        sum.held_out, sum.pages);
  if (const std::uint64_t times = campaign.rounds / sum.every + 1;
      sum.participations == 0 || sum.participations > times)
    return bad_input("{} participations where versions are measured {} times: at least 1 and at most {}",
                     sum.participations, times, times);
  return {};
}

Result<privacy::Guarantee> guarantee_of(const Campaign& campaign) {
  if (!(campaign.delta > 0 && campaign.delta * static_cast<double>(campaign.population) < 1))
    return bad_input(
        "delta is {:g}, must be above 0 and below one over the population, {:g}: with more, somebody could "
        "be "
        "told apart for certain",
        campaign.delta, 1 / static_cast<double>(campaign.population));
  const auto accounted = cost_of(campaign, campaign.participations, campaign.delta);
  if (!accounted)
    return bad_input(
        "{} participations with the noise multiplier {:.6g} show no epsilon at delta {:g}: raise the noise "
        "({})",
        campaign.participations, campaign.encoding.noise_multiplier, campaign.delta,
        accounted.error().message);
  privacy::Guarantee guarantee = *accounted;
  constexpr double rounding = 1e-9;
  if (!(guarantee.epsilon <= campaign.epsilon * (1 + rounding)))
    return bad_input(
        "{} participations cost epsilon {:.6g} against the server, and the campaign states {:.6g}: raise the "
        "noise multiplier of {:.6g}, or allow fewer participations",
        campaign.participations, guarantee.epsilon, campaign.epsilon, campaign.encoding.noise_multiplier);
  return guarantee;
}

// Of all evaluations that a device takes part in.
Result<privacy::Guarantee> evaluation_guarantee(const Campaign& campaign) {
  const EvaluationSum& sum = *campaign.evaluation;
  const auto accounted = cost_of(campaign, 0, campaign.delta, sum.participations);
  if (!accounted)
    return bad_input("{} evaluations with the noise multiplier {:.6g} show no epsilon at delta {:g} ({})",
                     sum.participations, sum.noise_multiplier, campaign.delta, accounted.error().message);
  constexpr double rounding = 1e-9;
  if (!(accounted->epsilon <= sum.epsilon * (1 + rounding)))
    return bad_input(
        "{} evaluations cost epsilon {:.6g} against the server, and the campaign states {:.6g}: raise their "
        "noise multiplier of {:.6g}, or allow fewer",
        sum.participations, accounted->epsilon, sum.epsilon, sum.noise_multiplier);
  return *accounted;
}

Result<SumTerms> evaluation_sum(const Campaign& campaign, const secagg::GroupParameters& group) {
  return sum_terms(campaign, campaign.evaluation_encoding(), campaign.evaluation->bits, group);
}

}  // namespace

Result<privacy::Guarantee> cost_of(const Campaign& campaign, std::uint64_t participations, double delta,
                                   std::uint64_t evaluations) {
  SOTTO_TRY(const secagg::EncodingPlan plan, campaign.plan(1));
  SOTTO_TRY(privacy::PrivacyEvent event, event_of(plan));
  if (evaluations > 0) {
    if (!campaign.evaluation) return bad_input("the campaign measures no versions");
    SOTTO_TRY(const auto measuring, secagg::EncodingPlan::create(campaign.evaluation_encoding()));
    SOTTO_TRY(privacy::PrivacyEvent measured, event_of(measuring));
    event.count = participations, measured.count = evaluations;
    std::vector<privacy::PrivacyEvent> events = {measured};
    if (participations > 0) events.push_back(event);
    return privacy::account_best(events, delta, privacy::Adversary::server);
  }
  if (campaign.second) {
    SOTTO_TRY(const secagg::EncodingPlan next, campaign.plan(2));
    SOTTO_TRY(const privacy::PrivacyEvent second, event_of(next));
    return secagg::worst_of_two_sums(event, second, participations, delta);
  }
  event.count = participations;
  return privacy::account_best(std::span(&event, 1), delta, privacy::Adversary::server);
}

Result<CampaignTerms> terms_of(const Campaign& campaign, std::uint64_t round) {
  SOTTO_CHECK(check_texts(campaign));
  SOTTO_CHECK(check_counts(campaign));
  SOTTO_CHECK(check_limits(campaign));
  SOTTO_CHECK(check_keys(campaign));
  SOTTO_CHECK(check_second(campaign));
  SOTTO_CHECK(check_evaluation(campaign));
  SOTTO_TRY(const secagg::GroupParameters group, group_of(campaign));
  SOTTO_TRY(SumTerms first, sum_terms(campaign, campaign.encoding_of(1), campaign.bits, group));
  std::optional<SumTerms> second;
  if (campaign.second) {
    SOTTO_TRY(second, sum_terms(campaign, campaign.encoding_of(2), campaign.second->bits, group));
  }
  SOTTO_TRY(auto guarantee, guarantee_of(campaign));
  if (campaign.evaluation) {
    SOTTO_CHECK(evaluation_sum(campaign, group));
    SOTTO_CHECK(evaluation_guarantee(campaign));
  }
  SumTerms& asked = round > 1 && second ? *second : first;
  return CampaignTerms{std::move(asked.plan), asked.event, std::move(guarantee), group, asked.bytes};
}

Result<CampaignTerms> evaluation_terms(const Campaign& campaign) {
  if (!campaign.evaluation) return bad_input("the campaign measures no versions");
  SOTTO_CHECK(terms_of(campaign));
  SOTTO_TRY(const secagg::GroupParameters group, group_of(campaign));
  SOTTO_TRY(SumTerms sum, evaluation_sum(campaign, group));
  SOTTO_TRY(auto guarantee, evaluation_guarantee(campaign));
  return CampaignTerms{std::move(sum.plan), sum.event, std::move(guarantee), group, sum.bytes};
}

Status check_time(const Campaign& campaign, UtcTime now) {
  if (now < campaign.valid_from)
    return bad_input("the campaign begins on {}, and it is {}", privacy::to_text(campaign.valid_from),
                     privacy::to_text(now));
  if (now >= campaign.valid_until)
    return bad_input("the campaign ended on {}, and it is {}: sign another",
                     privacy::to_text(campaign.valid_until), privacy::to_text(now));
  return {};
}

}  // namespace sotto::rounds
