#ifdef SOTTO_HAVE_PROTOCOL

#include "cli/campaign_draft.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/chain_hash.h"
#include "base/utf8.h"

namespace sotto::cli {

namespace {

constexpr std::int64_t largest_integer = std::numeric_limits<std::int64_t>::max();
constexpr double largest_real = 1e300;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return words;
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::uint64_t as_count(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t as_whole(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Result<std::optional<std::uint64_t>> parse_seed(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t seed = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (problem != std::errc() || end != text.data() + text.size())
    return bad_input("rotation_seed is '{}', must be a whole number of 64 bits, or empty: no rotation",
                     printable(text));
  return seed;
}

Result<secagg::EncodingPlan::Settings> encoding_of(const CampaignDraft& draft) {
  secagg::EncodingPlan::Settings encoding;
  encoding.dimension = as_count(draft.dimension);
  encoding.clip = draft.clip;
  encoding.step = draft.step;
  encoding.entry_clip = draft.entry_clip;
  SOTTO_TRY(encoding.rotation_seed, parse_seed(draft.rotation_seed));
  if (draft.clip_bit_weight > 0) encoding.clip_bit_weight = draft.clip_bit_weight;
  encoding.nonnegative = draft.nonnegative;
  encoding.products = draft.products;
  encoding.rounding_beta = draft.rounding_beta;
  encoding.denominator = static_cast<double>(draft.cohort);
  encoding.devices = as_count(draft.group);
  encoding.dropped = as_count(draft.dropped);
  encoding.corrupted = as_count(draft.corrupted);
  encoding.noise =
      draft.noise == "skellam" ? privacy::ShareKind::skellam : privacy::ShareKind::discrete_gaussian;
  encoding.noise_multiplier = draft.noise_multiplier;
  encoding.adjacency = draft.adjacency == privacy::name(privacy::Adjacency::replace_one)
                           ? privacy::Adjacency::replace_one
                           : privacy::Adjacency::add_remove;
  encoding.log2_wrap_probability = draft.log2_wrap_probability;
  return encoding;
}

}  // namespace

Result<rounds::UtcTime> parse_time(std::string_view text, std::string_view what) {
  std::string full(text);
  if (full.size() == 10) full += " 00:00:00 UTC";
  // Whatever these read of another text, it is not what the time is written as.
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    if (at + digits <= full.size()) std::from_chars(full.data() + at, full.data() + at + digits, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (date.ok()) {
    const rounds::UtcTime time = std::chrono::sys_days(date) + std::chrono::hours(number(11, 2)) +
                                 std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2));
    if (privacy::validate(time) && privacy::to_text(time) == full) return time;
  }
  return bad_input("{} is '{}', must be a day or a time as 2026-03-01 or 2026-03-01 06:30:00 UTC", what,
                   printable(text));
}

Result<std::vector<rounds::LocalSetting>> parse_local(std::string_view text) {
  std::vector<rounds::LocalSetting> settings;
  for (const std::string& word : words_of(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad_input("local is '{}', must be settings as name=value with spaces between them",
                       printable(text));
    settings.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  std::sort(settings.begin(), settings.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return settings;
}

void CampaignDraft::bind(SettingsTable& table) {
  table.add("purpose", purpose, "A sentence for the people who are asked")
      .add("recipe", recipe, "What is trained")
      .add("data", data, "Data set that it was drafted for, to try it out with; no part of what is signed")
      .add("layout", layout, "SHA-256 of the names and sizes of what is trained")
      .add("local", local, "Settings of the training on devices: name=value name=value")
      .add("population", population, {0, largest_integer}, "Devices that may be asked")
      .add("cohort", cohort, {0, largest_integer}, "Devices in a round")
      .add("rounds", rounds, {0, largest_integer}, "Rounds of the campaign")
      .add("participations", participations, {0, largest_integer},
           "Rounds that one device takes part in at most")
      .add("epsilon", epsilon, {0, largest_real},
           "What all its participations cost at most, against the server")
      .add("delta", delta, {0, 1}, "delta of that; below one over the population")
      .add("group", group, {0, largest_integer}, "Devices that sum together; the cohort is a multiple")
      .add("dropped", dropped, {0, largest_integer}, "Devices of a group that may be lost")
      .add("corrupted", corrupted, {0, largest_integer}, "Devices of a group that may belong to the server")
      .add("bits", bits, {0, 64}, "Bits of an entry, as the encoding below needs them")
      .add_choice("server", server, {"semi-honest", "active"}, "What the secure sum withstands")
      .add("security_bits", security_bits, {0, 128}, "A group exposes somebody with less than 2^-this")
      .add("correctness_bits", correctness_bits, {0, 128}, "A group fails by chance with less than 2^-this")
      .add("dimension", dimension, {0, largest_integer}, "Numbers in an update")
      .add("clip", clip, {0, largest_real}, "L2 norm that an update is clipped to; 1 where the bound follows")
      .add("clip_bit_weight", clip_bit_weight, {0, largest_real},
           "Of the bit that the bound follows; 0: it stays")
      .add("step", step, {0, largest_real}, "Value of one grid step")
      .add("entry_clip", entry_clip, {0, largest_real}, "Largest entry; 0: as large as the norm")
      .add("rotation_seed", rotation_seed, "Public seed of a rotation; empty: none")
      .add("nonnegative", nonnegative, "Devices cut entries below 0")
      .add("products", products, "Updates are products of a vector with itself: two are at most √2 apart")
      .add("rounding_beta", rounding_beta, {0, 1}, "How rarely rounding is repeated for its norm")
      .add_choice("noise", noise, {"skellam", "discrete-gaussian"}, "Law of a device's share of the noise")
      .add("noise_multiplier", noise_multiplier, {0, largest_real},
           "Noise of a sum over what one device can move")
      .add_choice("adjacency", adjacency, {"replace-one", "add-remove"}, "Which groups must look alike")
      .add("log2_wrap_probability", log2_wrap_probability, {-1000, 0}, "How rarely a sum may wrap around")
      .add("second_dimension", second_dimension, {0, largest_integer},
           "Numbers in an update of every round after the first, where these are about another sum; 0: none "
           "are")
      .add("second_products", second_products, "Updates of that sum are products, which have any signs")
      .add("second_step", second_step, {0, largest_real}, "Value of one grid step in that sum")
      .add("second_noise_multiplier", second_noise_multiplier, {0, largest_real},
           "Noise of that sum over what one device can move")
      .add("second_bits", second_bits, {0, 64}, "Bits of an entry of that sum")
      .add("evaluation_every", evaluation_every, {0, largest_integer},
           "Devices measure the first version, and the one after every so many rounds; 0: none")
      .add("evaluation_held_out", evaluation_held_out, {0, largest_integer},
           "One page in so many is kept out of training for that")
      .add("evaluation_pages", evaluation_pages, {0, largest_integer}, "Pages of a device that count at most")
      .add("evaluation_participations", evaluation_participations, {0, largest_integer},
           "Evaluations that one device takes part in at most")
      .add("evaluation_epsilon", evaluation_epsilon, {0, largest_real},
           "What these cost at most beside training, at the same delta")
      .add("evaluation_step", evaluation_step, {0, largest_real}, "Value of one grid step in their sums")
      .add("evaluation_noise_multiplier", evaluation_noise_multiplier, {0, largest_real},
           "Noise of their sums over what one device can move")
      .add("evaluation_bits", evaluation_bits, {0, 64}, "Bits of an entry of their sums")
      .add("max_upload_bytes", max_upload_bytes, {0, largest_integer}, "Of one device in one round")
      .add("max_training_seconds", max_training_seconds, {0, largest_integer}, "On the device, in one round")
      .add("shortest_phase_seconds", shortest_phase_seconds, {0, largest_integer},
           "That devices are waited for")
      .add("longest_phase_seconds", longest_phase_seconds, {0, largest_integer},
           "That devices are waited for")
      .add("valid_from", valid_from, "Day or time in UTC")
      .add("valid_until", valid_until, "Day or time in UTC")
      .add("coordinator", coordinator, "Public key that signs orders and heads of the log")
      .add("witnesses", witnesses, "Public keys that may cosign the log, with spaces between them")
      .add("witnesses_needed", witnesses_needed, {0, 16}, "Cosignatures under the head of every order");
}

CampaignDraft CampaignDraft::of(const rounds::Campaign& campaign) {
  const secagg::EncodingPlan::Settings& encoding = campaign.encoding;
  CampaignDraft draft;
  draft.purpose = campaign.purpose;
  draft.recipe = campaign.recipe;
  draft.layout = to_hex(campaign.layout);
  for (const rounds::LocalSetting& setting : campaign.local)
    draft.local += fmt::format("{}{}={}", draft.local.empty() ? "" : " ", setting.name, setting.value);
  draft.population = as_whole(campaign.population);
  draft.cohort = as_whole(campaign.cohort);
  draft.rounds = as_whole(campaign.rounds);
  draft.participations = as_whole(campaign.participations);
  draft.epsilon = campaign.epsilon;
  draft.delta = campaign.delta;
  draft.group = as_whole(encoding.devices);
  draft.dropped = as_whole(encoding.dropped);
  draft.corrupted = as_whole(encoding.corrupted);
  draft.bits = as_whole(campaign.bits);
  draft.server = campaign.server == secagg::ServerModel::active ? "active" : "semi-honest";
  draft.security_bits = campaign.security_bits;
  draft.correctness_bits = campaign.correctness_bits;
  draft.dimension = as_whole(encoding.dimension);
  draft.clip = encoding.clip;
  draft.clip_bit_weight = encoding.clip_bit_weight.value_or(0);
  draft.step = encoding.step;
  draft.entry_clip = encoding.entry_clip;
  if (encoding.rotation_seed) draft.rotation_seed = std::to_string(*encoding.rotation_seed);
  draft.nonnegative = encoding.nonnegative;
  draft.products = encoding.products;
  draft.rounding_beta = encoding.rounding_beta;
  draft.noise = encoding.noise == privacy::ShareKind::skellam ? "skellam" : "discrete-gaussian";
  draft.noise_multiplier = encoding.noise_multiplier;
  draft.adjacency = privacy::name(encoding.adjacency);
  draft.log2_wrap_probability = encoding.log2_wrap_probability;
  if (campaign.second) {
    draft.second_dimension = as_whole(campaign.second->dimension);
    draft.second_products = campaign.second->products;
    draft.second_step = campaign.second->step;
    draft.second_noise_multiplier = campaign.second->noise_multiplier;
    draft.second_bits = as_whole(campaign.second->bits);
  }
  if (campaign.evaluation) {
    draft.evaluation_every = as_whole(campaign.evaluation->every);
    draft.evaluation_held_out = as_whole(campaign.evaluation->held_out);
    draft.evaluation_pages = as_whole(campaign.evaluation->pages);
    draft.evaluation_participations = as_whole(campaign.evaluation->participations);
    draft.evaluation_epsilon = campaign.evaluation->epsilon;
    draft.evaluation_step = campaign.evaluation->step;
    draft.evaluation_noise_multiplier = campaign.evaluation->noise_multiplier;
    draft.evaluation_bits = as_whole(campaign.evaluation->bits);
  }
  draft.max_upload_bytes = as_whole(campaign.max_upload_bytes);
  draft.max_training_seconds = as_whole(campaign.max_training_seconds);
  draft.shortest_phase_seconds = as_whole(campaign.shortest_phase_seconds);
  draft.longest_phase_seconds = as_whole(campaign.longest_phase_seconds);
  draft.valid_from = privacy::to_text(campaign.valid_from);
  draft.valid_until = privacy::to_text(campaign.valid_until);
  draft.coordinator = to_hex(campaign.coordinator);
  for (const rounds::IdentityKey& witness : campaign.witnesses)
    draft.witnesses += (draft.witnesses.empty() ? "" : " ") + to_hex(witness);
  draft.witnesses_needed = as_whole(campaign.witnesses_needed);
  return draft;
}

Result<rounds::Campaign> CampaignDraft::campaign() const {
  rounds::Campaign campaign;
  campaign.purpose = purpose;
  campaign.recipe = recipe;
  SOTTO_TRY(campaign.layout, rounds::digest_from_hex(layout, "layout"));
  SOTTO_TRY(campaign.local, parse_local(local));
  campaign.population = as_count(population);
  campaign.cohort = as_count(cohort);
  campaign.rounds = as_count(rounds);
  campaign.participations = as_count(participations);
  campaign.epsilon = epsilon;
  campaign.delta = delta;
  SOTTO_TRY(campaign.encoding, encoding_of(*this));
  campaign.bits = as_count(bits);
  if (second_dimension > 0)
    campaign.second = rounds::SecondSum{as_count(second_dimension), second_products, second_step,
                                        second_noise_multiplier, as_count(second_bits)};
  if (evaluation_every > 0)
    campaign.evaluation =
        rounds::EvaluationSum{as_count(evaluation_every),  as_count(evaluation_held_out),
                              as_count(evaluation_pages),  as_count(evaluation_participations),
                              evaluation_epsilon,          evaluation_step,
                              evaluation_noise_multiplier, as_count(evaluation_bits)};
  campaign.server = server == "active" ? secagg::ServerModel::active : secagg::ServerModel::semi_honest;
  campaign.security_bits = security_bits;
  campaign.correctness_bits = correctness_bits;
  campaign.max_upload_bytes = as_count(max_upload_bytes);
  campaign.max_training_seconds = as_count(max_training_seconds);
  campaign.shortest_phase_seconds = as_count(shortest_phase_seconds);
  campaign.longest_phase_seconds = as_count(longest_phase_seconds);
  SOTTO_TRY(campaign.valid_from, parse_time(valid_from, "valid_from"));
  SOTTO_TRY(campaign.valid_until, parse_time(valid_until, "valid_until"));
  SOTTO_TRY(campaign.coordinator, rounds::digest_from_hex(coordinator, "coordinator"));
  for (const std::string& word : words_of(witnesses)) {
    SOTTO_TRY(const rounds::IdentityKey witness, rounds::digest_from_hex(word, "a key of witnesses"));
    campaign.witnesses.push_back(witness);
  }
  campaign.witnesses_needed = as_count(witnesses_needed);
  return campaign;
}

}  // namespace sotto::cli

#endif
