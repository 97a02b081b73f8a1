#include "privacy/audit/synthetic_training.h"

#include <cmath>
#include <optional>

#include "base/distributions.h"
#include "privacy/audit/audited_mechanism.h"
#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/noise_share.h"
#include "privacy/mechanisms/vector_release.h"

namespace sotto::privacy {

namespace {

class GridSum final : public PrivateSum {
 public:
  // Without shares the mean's own noise is added.
  GridSum(ClippedMean mean, std::optional<NoiseShare> share, std::uint64_t devices)
      : mean_(std::move(mean)), share_(std::move(share)), devices_(devices), sum_(mean_.empty_sum()) {}

  Status add(std::span<const double> update) override {
    SOTTO_TRY(const GridVector contribution, mean_.contribution(update));
    return mean_.accumulate(sum_, contribution);
  }

  std::vector<double> exact() const override { return sum_.reals(); }

  Result<std::vector<double>> release(DeviceRandom random) override {
    GridVector sum = std::exchange(sum_, mean_.empty_sum());
    if (!share_) {
      SOTTO_TRY(const GridVector released, mean_.release(sum, random));
      return released.reals();
    }
    for (std::uint64_t i = 0; i < devices_; ++i) share_->add_to(sum.steps, random);
    return sum.reals();
  }

  PrivacyEvent round_event() const override { return share_ ? share_->event() : mean_.event(); }

 private:
  ClippedMean mean_;
  std::optional<NoiseShare> share_;
  std::uint64_t devices_;
  GridVector sum_;
};

class LaplaceSum final : public PrivateSum {
 public:
  LaplaceSum(LaplaceMechanism mechanism, double clip, std::uint64_t dimension)
      : mechanism_(std::move(mechanism)), clip_(clip), sum_(dimension) {}

  Status add(std::span<const double> update) override {
    if (update.size() != sum_.size())
      return bad_input("an update of {} numbers, not {}", update.size(), sum_.size());
    std::vector<double> clipped(update.begin(), update.end());
    SOTTO_CHECK(clip_l1(clipped, clip_));
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += clipped[i];
    return {};
  }

  std::vector<double> exact() const override { return sum_; }

  Result<std::vector<double>> release(DeviceRandom random) override {
    const std::vector<double> sum = std::exchange(sum_, std::vector<double>(sum_.size()));
    SOTTO_TRY(const GridVector released, mechanism_.release(sum, random));
    return released.reals();
  }

  PrivacyEvent round_event() const override { return mechanism_.event(); }

 private:
  LaplaceMechanism mechanism_;
  double clip_;
  std::vector<double> sum_;
};

}  // namespace

Result<std::unique_ptr<PrivateSum>> PrivateSum::create(const Settings& settings) {
  if (settings.noise == SumNoise::laplace_at_server) {
    SOTTO_TRY(auto mechanism, LaplaceMechanism::create({.epsilon = 1 / settings.noise_multiplier,
                                                        .l1_sensitivity = settings.clip,
                                                        .dimension = settings.dimension,
                                                        .adjacency = Adjacency::add_remove}));
    return std::make_unique<LaplaceSum>(std::move(mechanism), settings.clip, settings.dimension);
  }
  SOTTO_TRY(auto mean, ClippedMean::create({.clip = settings.clip,
                                            .noise_multiplier = settings.noise_multiplier,
                                            .dimension = settings.dimension,
                                            .denominator = 1}));
  std::optional<NoiseShare> share;
  if (settings.noise == SumNoise::skellam_on_devices) {
    // In grid steps one contribution adds at most its clipped norm and its rounding.
    const double sensitivity =
        settings.clip / mean.empty_sum().step + snapping_l2_charge(1, settings.dimension) / 2;
    SOTTO_TRY(share, NoiseShare::create({.kind = ShareKind::skellam,
                                         .central_sigma = settings.noise_multiplier * sensitivity,
                                         .l2_sensitivity = sensitivity,
                                         .dimension = settings.dimension,
                                         .devices = settings.devices}));
  }
  return std::make_unique<GridSum>(std::move(mean), std::move(share), settings.devices);
}

namespace {

constexpr double clip_bound = 1;

}  // namespace

Result<std::unique_ptr<PrivateSum>> SyntheticTraining::sum_with(double noise_multiplier) const {
  return PrivateSum::create(
      {settings_.noise, clip_bound, noise_multiplier, settings_.canaries, settings_.users});
}

Result<AuditClaim> SyntheticTraining::claim_with(double noise_multiplier) const {
  SOTTO_TRY(const auto sum, sum_with(noise_multiplier));
  PrivacyEvent rounds = sum->round_event();
  if (const auto* pure = std::get_if<PureDp>(&rounds.mechanism)) {
    rounds.mechanism = PureDp{pure->epsilon * static_cast<double>(settings_.rounds)};
  } else {
    rounds.count = settings_.rounds;
  }
  return claim_of(rounds, settings_.delta);
}

double SyntheticTraining::applied_multiplier() const {
  return settings_.fault == Fault::noise_halved ? settings_.noise_multiplier / 2 : settings_.noise_multiplier;
}

Result<AuditClaim> SyntheticTraining::claim() const {
  SOTTO_TRY(AuditClaim claim, claim_with(settings_.noise_multiplier));
  SOTTO_TRY(const AuditClaim truth, claim_with(applied_multiplier()));
  claim.holds = settings_.fault == Fault::noise_missing ? std::nullopt : truth.holds;
  return claim;
}

Status SyntheticTraining::train(std::span<const unsigned char> included, DeviceRandom random) {
  const std::uint64_t dimension = settings_.canaries;
  if (included.size() != dimension) {
    return bad_input("{} coins for {} canaries", included.size(), dimension);
  }
  SOTTO_TRY(const auto sum, sum_with(applied_multiplier()));
  std::vector<std::vector<double>> held(settings_.users, std::vector<double>(dimension));
  for (auto& vector : held) {
    for (double& value : vector) value = normal(random.source()) / std::sqrt(static_cast<double>(dimension));
  }
  std::vector<double> model(dimension), update(dimension);
  seen_.assign(dimension, 0);
  for (std::uint64_t round = 0; round < settings_.rounds; ++round) {
    for (const auto& vector : held) {
      for (std::uint64_t i = 0; i < dimension; ++i) update[i] = vector[i] - model[i];
      SOTTO_CHECK(sum->add(update));
    }
    const std::vector<double> known = sum->exact();
    for (std::uint64_t canary = 0; canary < dimension; ++canary) {
      if (included[canary] == 0) continue;
      update.assign(dimension, 0);
      update[canary] = clip_bound;
      SOTTO_CHECK(sum->add(update));
    }
    std::vector<double> released = sum->exact();
    SOTTO_TRY(auto noisy, sum->release(random));
    if (settings_.fault != Fault::noise_missing) released = std::move(noisy);
    for (std::uint64_t i = 0; i < dimension; ++i) {
      model[i] += released[i] / static_cast<double>(settings_.users);
      seen_[i] += released[i] - known[i];
    }
  }
  return {};
}

Result<std::vector<double>> SyntheticTraining::scores() const {
  if (seen_.empty()) return failed("nothing was trained yet: call train first");
  return seen_;  // canary i pushes along axis i
}

}  // namespace sotto::privacy
