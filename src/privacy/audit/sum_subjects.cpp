#include <cmath>
#include <memory>

#include "privacy/audit/mechanism_subjects.h"
#include "privacy/mechanisms/adaptive_clip.h"
#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/noise_share.h"
#include "privacy/mechanisms/partition_selection.h"

namespace sotto::privacy::subject {

namespace {

using Vector = std::vector<double>;

// Ten devices, two of which vanish and one of which tells the server its share: seven shares protect the sum.
// One more device's update is there or not; its norm is the whole sensitivity.
Result<AuditedMechanism> shares(ShareKind kind) {
  constexpr std::int64_t sensitivity = 40;  // grid steps
  SOTTO_TRY(auto created, NoiseShare::create({.kind = kind,
                                              .central_sigma = sensitivity,
                                              .l2_sensitivity = sensitivity,
                                              .dimension = 4,
                                              .devices = 10,
                                              .dropped = 2,
                                              .corrupted = 1}));
  SOTTO_TRY(const AuditClaim claim, claim_of(created.event(), audited_delta));
  AuditedMechanism subject{.claim = claim, .noiseless = {Vector(4, sensitivity / 2.0), Vector(4, 0)}};
  subject.release = [share = std::make_shared<const NoiseShare>(std::move(created))](
                        Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    std::vector<std::int64_t> sum(4, neighbour == Neighbour::first ? sensitivity / 2 : 0);
    for (std::uint64_t i = 0; i < share->surely_present(); ++i) share->add_to(sum, random);
    return Vector(sum.begin(), sum.end());
  };
  subject.statistics.push_back(projection(subject.noiseless[0], subject.noiseless[1]));
  return subject;
}

}  // namespace

Result<AuditedMechanism> clipped_mean() {
  SOTTO_TRY(auto created,
            ClippedMean::create({.clip = 1, .noise_multiplier = 1, .dimension = 4, .denominator = 3}));
  SOTTO_TRY(const AuditClaim claim, claim_of(created.event(), audited_delta));
  const auto mean = std::make_shared<const ClippedMean>(std::move(created));
  // Two users on both neighbours; the third, far beyond the clipping bound, on the first alone.
  std::array<GridVector, 2> sums{mean->empty_sum(), mean->empty_sum()};
  for (const Vector& update : {Vector{0.5, 0, 0, 0}, Vector{0, -2, 0, 1}, Vector{30, 30, 30, 30}}) {
    SOTTO_TRY(const GridVector contribution, mean->contribution(update));
    SOTTO_CHECK(mean->accumulate(sums[0], contribution));
    if (update[0] < 1) SOTTO_CHECK(mean->accumulate(sums[1], contribution));
  }
  AuditedMechanism subject{.claim = claim, .noiseless = {mean->mean(sums[0]), mean->mean(sums[1])}};
  subject.release = [mean, sums](Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const GridVector released, mean->release(sums[static_cast<std::size_t>(neighbour)], random));
    return mean->mean(released);
  };
  subject.statistics.push_back(projection(subject.noiseless[0], subject.noiseless[1]));
  return subject;
}

Result<AuditedMechanism> adaptive_clip() {
  // One user is replaced: its update flips from one end of the ball to the other, and its norm leaves the
  // bound. The observer sees the noisy mean and the noisy fraction of the same round.
  constexpr double multiplier = 1, sampled_share = 0.05, bound = 1;
  constexpr std::uint64_t cohort_size = 10;
  SOTTO_TRY(const auto clip, AdaptiveClip::create({.initial_bound = bound,
                                                   .smallest_bound = 0.01,
                                                   .quantile = 0.5,
                                                   .rate = 0.1,
                                                   .budget_share = sampled_share,
                                                   .noise_multiplier = multiplier,
                                                   .cohort = cohort_size}));
  SOTTO_TRY(const AuditClaim claim, claim_of(clip.round_event(), audited_delta));
  const double apart = 2 * bound / cohort_size;
  SOTTO_TRY(auto update, GaussianMechanism::create({clip.update_sigma() / apart, apart}));
  AuditedMechanism subject{.claim = claim, .noiseless = {Vector{apart / 2, 0.6}, Vector{-apart / 2, 0.5}}};
  subject.release = [clip, update = std::make_shared<const GaussianMechanism>(std::move(update)), apart](
                        Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    const bool first = neighbour == Neighbour::first;
    const double mean = first ? apart / 2 : -apart / 2;
    SOTTO_TRY(const GridVector noisy, update->release(std::span(&mean, 1), random));
    AdaptiveClip round = clip;
    SOTTO_TRY(const double fraction, round.step(first ? 6 : 5, random));
    return Vector{noisy.reals()[0], fraction};
  };
  const double fraction_sigma = multiplier / std::sqrt(sampled_share) / cohort_size;
  subject.statistics.push_back(
      projection(subject.noiseless[0], subject.noiseless[1], {clip.update_sigma(), fraction_sigma}));
  return subject;
}

Result<AuditedMechanism> skellam_shares() { return shares(ShareKind::skellam); }
Result<AuditedMechanism> discrete_gaussian_shares() { return shares(ShareKind::discrete_gaussian); }

Result<AuditedMechanism> public_catalogue() {
  // One user more, who holds as many items as the cap allows.
  constexpr std::uint32_t cap = 4;
  constexpr std::uint64_t item_count = 6;
  SOTTO_TRY(auto created, PublicCatalogue::create(2, cap, item_count));
  SOTTO_TRY(const AuditClaim claim, claim_of(created.event(), audited_delta));
  const std::array<std::vector<std::uint64_t>, 2> counts{std::vector<std::uint64_t>{5, 1, 1, 9, 0, 3},
                                                         std::vector<std::uint64_t>{4, 0, 0, 8, 0, 3}};
  AuditedMechanism subject{
      .claim = claim,
      .noiseless = {Vector(counts[0].begin(), counts[0].end()), Vector(counts[1].begin(), counts[1].end())}};
  subject.release = [mechanism = std::make_shared<const PublicCatalogue>(std::move(created)), counts](
                        Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const auto noisy, mechanism->noisy_counts(counts[static_cast<std::size_t>(neighbour)], random));
    return Vector(noisy.begin(), noisy.end());
  };
  subject.statistics.push_back(projection(subject.noiseless[0], subject.noiseless[1]));
  return subject;
}

}  // namespace sotto::privacy::subject
