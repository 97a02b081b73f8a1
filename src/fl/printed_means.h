#pragma once
// DP-PrivRec's rounds as its Algorithm 2 prints them, for comparison: every difference is clipped to S, the
// server adds N(0, (2Sz/M)²/(1−h)) to its step α3 · mean Δ and moves S by a noisy share of users within it.
// The bit is taken before clipping (the listing takes it after, where it is always 1). The noise is not
// scaled by α3, so the true multiplier is z/α3; AdaptiveClip's event says what that is worth.

#include "fl/cohort_sampler.h"
#include "fl/round_update.h"
#include "privacy/mechanisms/adaptive_clip.h"
#include "privacy/noise/noise_origin.h"

namespace sotto::fl {

// Refers to training and values, the current parameters. The server's optimiser must be plain sgd with step
// settings.server_rate.
class PrintedMeans final : public UpdateSource {
 public:
  PrintedMeans(const privacy::AdaptiveClip::Settings& settings, CohortSampler sampler, UserUpdates& training,
               const torch::Tensor& values, const privacy::NoiseOrigin& noise);
  Result<RoundUpdate> round(std::uint32_t round) override;
  std::vector<torch::Tensor*> state() override { return {&bound_}; }
  double bound() const { return bound_.item<double>(); }

 private:
  Result<torch::Tensor> with_noise(const torch::Tensor& mean, const privacy::AdaptiveClip& clip,
                                   std::uint32_t round) const;

  privacy::AdaptiveClip::Settings settings_;
  CohortSampler sampler_;
  UserUpdates& training_;
  const torch::Tensor& values_;
  privacy::NoiseOrigin noise_;
  torch::Tensor bound_;
};

}  // namespace sotto::fl
