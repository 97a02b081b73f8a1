#include "privacy/audit/synthetic_training.h"

#include <cmath>

#include "base/distributions.h"
#include "privacy/audit/audited_mechanism.h"

namespace sotto {

namespace {

constexpr double kClip = 1;

}  // namespace

Result<std::unique_ptr<PrivateSum>> SyntheticTraining::sum_with(double noise_multiplier) const {
  return PrivateSum::create({settings_.noise, kClip, noise_multiplier, settings_.canaries, settings_.users});
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
      update[canary] = kClip;
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

}  // namespace sotto
