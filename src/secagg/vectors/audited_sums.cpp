#include "secagg/vectors/audited_sums.h"

#include <array>
#include <functional>
#include <memory>

#include "privacy/mechanisms/summed_noise.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::secagg {

namespace {

using privacy::AuditedMechanism;
using privacy::Neighbour;

using Update = std::vector<double>;

// Ten devices, two of which vanish and one of which tells the server what it sent: seven protect the sum.
EncodingPlan::Settings round_of_ten() {
  EncodingPlan::Settings settings;
  settings.dimension = 4;
  settings.clip = 1;
  settings.step = 1.0 / 1024;
  settings.denominator = 10;
  settings.devices = 10;
  settings.dropped = 2;
  settings.corrupted = 1;
  settings.noise_multiplier = 1;
  settings.adjacency = privacy::Adjacency::replace_one;
  return settings;
}

// What the server publishes of a round: the mean, and with a clip bit the share of devices within the bound.
Result<Update> published(const EncodingPlan& plan, std::span<const std::uint32_t> sum) {
  SumDecoder decoder(plan);
  SOTTO_CHECK(decoder.add_group(sum));
  SOTTO_TRY(DecodedMean mean, decoder.decode());
  if (mean.fraction_within) mean.update.push_back(*mean.fraction_within);
  return std::move(mean.update);
}

// `replaced`: the update of one device on either neighbour; the others send zeros.
Result<std::vector<std::uint32_t>> summed(const UpdateEncoder& encoder, const Update& replaced,
                                          std::uint64_t senders, privacy::DeviceRandom random) {
  const Modulus modulus = encoder.plan().modulus();
  const Update nothing(replaced.size());
  std::vector<std::uint32_t> sum(encoder.plan().entries());
  for (std::uint64_t device = 0; device < senders; ++device) {
    SOTTO_TRY(const auto entries, encoder.encode(device == 0 ? replaced : nothing, random));
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] = static_cast<std::uint32_t>(modulus.wrap(static_cast<std::int64_t>(sum[i]) + entries[i]));
  }
  return sum;
}

// The same as a simulation makes it by its law: whole numbers are added before any noise, and that of all who
// arrived is drawn once. Without a law: without noise.
Result<std::vector<std::uint32_t>> summed_by_law(const UpdateEncoder& encoder,
                                                 const privacy::SummedNoise* noise, const Update& replaced,
                                                 std::uint64_t senders, privacy::DeviceRandom random) {
  const std::vector<float> own(replaced.begin(), replaced.end()), nothing(replaced.size());
  std::vector<std::int32_t> whole(encoder.plan().entries());
  std::vector<std::int64_t> sum(whole.size());
  for (std::uint64_t device = 0; device < senders; ++device) {
    SOTTO_CHECK(encoder.round(device == 0 ? own : nothing, random.source(), whole));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += whole[i];
  }
  if (noise != nullptr) noise->add_to(sum, random);
  std::vector<std::uint32_t> entries(sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i)
    entries[i] = static_cast<std::uint32_t>(encoder.plan().modulus().wrap(sum[i]));
  return entries;
}

enum class Summing { by_shares, by_law };

using NoisySum =
    std::function<Result<std::vector<std::uint32_t>>(const Update& replaced, privacy::DeviceRandom random)>;

Result<NoisySum> noisy_sum(const EncodingPlan& plan, Summing summing) {
  const auto& settings = plan.settings();
  const std::uint64_t senders = settings.devices - settings.dropped - settings.corrupted;
  auto encoder = std::make_shared<const UpdateEncoder>(plan);
  if (summing == Summing::by_shares)
    return NoisySum([encoder, senders](const Update& replaced, privacy::DeviceRandom random) {
      return summed(*encoder, replaced, senders, random);
    });
  std::shared_ptr<const privacy::SummedNoise> noise;
  if (plan.noise_share()) {
    SOTTO_TRY(auto law, privacy::SummedNoise::create(*plan.noise_share(), senders));
    noise = std::make_shared<const privacy::SummedNoise>(std::move(law));
  }
  return NoisySum([encoder, noise, senders](const Update& replaced, privacy::DeviceRandom random) {
    return summed_by_law(*encoder, noise.get(), replaced, senders, random);
  });
}

Result<AuditedMechanism> audited(const EncodingPlan::Settings& settings, const std::array<Update, 2>& updates,
                                 Summing summing = Summing::by_shares) {
  SOTTO_TRY(const EncodingPlan plan, EncodingPlan::create(settings));
  if (!plan.event()) return bad_input("a sum without noise claims no epsilon: there is nothing to audit");
  SOTTO_TRY(const auto claim, privacy::claim_of(*plan.event(), privacy::subject::audited_delta));
  AuditedMechanism subject{.claim = claim};

  auto silent_settings = settings;
  silent_settings.noise_multiplier = 0;
  SOTTO_TRY(const EncodingPlan silent, EncodingPlan::create(silent_settings));
  SOTTO_TRY(const NoisySum silent_sum, noisy_sum(silent, summing));
  // Little is rounded: both updates lie on the grid, or nearly.
  SeededRandom rounding(1, Purpose::noise, 0, 0);
  for (std::size_t neighbour = 0; neighbour < 2; ++neighbour) {
    SOTTO_TRY(const auto sum, silent_sum(updates[neighbour], privacy::DeviceRandom::simulated(rounding)));
    SOTTO_TRY(subject.noiseless[neighbour], published(silent, sum));
  }

  SOTTO_TRY(const NoisySum noisy, noisy_sum(plan, summing));
  subject.release = [plan, noisy, updates](Neighbour neighbour,
                                           privacy::DeviceRandom random) -> Result<Update> {
    SOTTO_TRY(const auto sum, noisy(updates[static_cast<std::size_t>(neighbour)], random));
    return published(plan, sum);
  };
  Update sigmas(settings.dimension, plan.sigma_of_mean());
  if (settings.clip_bit_weight) sigmas.push_back(plan.sigma_of_mean() / *settings.clip_bit_weight);
  subject.statistics.push_back(
      privacy::projection(subject.noiseless[0], subject.noiseless[1], std::move(sigmas)));
  return subject;
}

// The update of the one device on either neighbour, as far apart as the plan allows. What lies beyond the
// bound is cut.
std::array<Update, 2> furthest(const EncodingPlan::Settings& settings) {
  const double bound = settings.clip, beyond = 30 * settings.clip;
  Update first(settings.dimension), second(settings.dimension);
  if (settings.clip_bit_weight) {  // the update flips and leaves the bound, so the bit flips with it
    first[0] = bound, second[0] = -beyond;
  } else if (settings.nonnegative) {  // without negative entries two updates are at most √2 apart
    first[0] = beyond, second[1] = bound;
  } else if (settings.products) {  // of one item each: the first and the last entry of the diagonal
    first.front() = beyond, second.back() = bound;
  } else {  // from one end of the ball to the other
    first[0] = beyond, second[0] = -bound;
  }
  return {first, second};
}

Result<AuditedMechanism> whole_update() { return audited(round_of_ten(), furthest(round_of_ten())); }

Result<AuditedMechanism> counts() {
  auto settings = round_of_ten();
  settings.nonnegative = true;
  return audited(settings, furthest(settings));
}

Result<AuditedMechanism> products() {
  auto settings = round_of_ten();
  settings.dimension = 3;
  settings.products = true;
  return audited(settings, furthest(settings));
}

Result<AuditedMechanism> with_clip_bit() {
  auto settings = round_of_ten();
  settings.clip_bit_weight = 0.5;
  return audited(settings, furthest(settings));
}

Result<AuditedMechanism> by_law() {
  return audited(round_of_ten(), furthest(round_of_ten()), Summing::by_law);
}

Result<AuditedMechanism> by_law_with_clip_bit() {
  auto settings = round_of_ten();
  settings.clip_bit_weight = 0.5;
  return audited(settings, furthest(settings), Summing::by_law);
}

}  // namespace

std::span<const privacy::MechanismEntry> audited_sums() {
  static const std::array entries = {
      privacy::MechanismEntry{"sum-of-updates", "what a round of training publishes, 3 of 10 devices missing",
                              false, &whole_update},
      privacy::MechanismEntry{"sum-of-counts", "a round of training without negative entries", false,
                              &counts},
      privacy::MechanismEntry{"sum-of-products", "a round of training whose updates are products", false,
                              &products},
      privacy::MechanismEntry{"sum-with-clip-bit",
                              "a round of training whose clipping bound follows a quantile", false,
                              &with_clip_bit},
      privacy::MechanismEntry{"sum-by-law", "a round of training with sums=law, as of 1,000 devices", false,
                              &by_law},
      privacy::MechanismEntry{"sum-by-law-with-clip-bit",
                              "the same when the clipping bound follows a quantile", false,
                              &by_law_with_clip_bit}};
  return entries;
}

privacy::SumRecord record_of(const EncodingPlan& plan, std::string of) {
  const EncodingPlan::Settings& settings = plan.settings();
  return {.of = std::move(of),
          .clip = settings.clip,
          .step = settings.step,
          .noise_multiplier = settings.noise_multiplier,
          .clip_bit_weight = settings.clip_bit_weight,
          .nonnegative = settings.nonnegative,
          .products = settings.products,
          .devices = settings.devices,
          .dropped = settings.dropped,
          .corrupted = settings.corrupted};
}

Result<privacy::AuditedMechanism> audited_sum(const privacy::SumRecord& sum) {
  if (sum.devices > most_audited_devices)
    return bad_input("a sum of {} devices is too large to be drawn again: at most {} can be audited",
                     sum.devices, most_audited_devices);
  EncodingPlan::Settings settings;
  settings.dimension = sum.products ? 3 : 2;
  settings.clip = sum.clip;
  settings.step = sum.step;
  settings.clip_bit_weight = sum.clip_bit_weight;
  settings.nonnegative = sum.nonnegative;
  settings.products = sum.products;
  settings.denominator = static_cast<double>(sum.devices);
  settings.devices = sum.devices;
  settings.dropped = sum.dropped;
  settings.corrupted = sum.corrupted;
  settings.noise_multiplier = sum.noise_multiplier;
  settings.adjacency = privacy::Adjacency::replace_one;
  return audited(settings, furthest(settings));
}

}  // namespace sotto::secagg
