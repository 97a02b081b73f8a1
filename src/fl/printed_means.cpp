#include "fl/printed_means.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fl/divergence.h"
#include "fl/process_group.h"
#include "privacy/mechanisms/vector_release.h"

namespace sotto::fl {

namespace {

// Whose noise it is: the server's own streams, apart from the users'.
constexpr std::uint32_t update_stream = 0xFFFFFFFF, share_stream = 0xFFFFFFFE;

}  // namespace

PrintedMeans::PrintedMeans(const privacy::AdaptiveClip::Settings& settings, CohortSampler sampler,
                           UserUpdates& training, const torch::Tensor& values,
                           const privacy::NoiseOrigin& noise)
    : settings_(settings),
      sampler_(std::move(sampler)),
      training_(training),
      values_(values),
      noise_(noise),
      bound_(torch::full({1}, settings.initial_bound, torch::kFloat64)) {}

Result<RoundUpdate> PrintedMeans::round(std::uint32_t round) {
  privacy::AdaptiveClip::Settings now = settings_;
  now.initial_bound = bound();
  SOTTO_TRY(auto clip, privacy::AdaptiveClip::create(now));
  std::vector<data::UserId> cohort;
  if (processes().leads()) cohort = sampler_.sample(round);
  processes().from_leader(cohort);
  const double users = static_cast<double>(cohort.size());
  torch::Tensor mean = torch::zeros_like(values_);
  RoundUpdate update;
  std::uint64_t within = 0;
  const auto add = [&](const UserUpdate& own) -> Status {
    const double norm = own.direction.norm().item<double>();
    if (!std::isfinite(norm))
      return diverged(round + 1, "a device's update",
                      "The printed noise was too much for the model: take more users per round, a smaller "
                      "printed_bound or less printed_noise");
    if (norm <= clip.bound()) ++within;
    mean.add_(own.direction, std::min(1.0, clip.bound() / norm) / users);
    update.loss += own.loss / static_cast<double>(std::max<std::uint64_t>(own.samples, 1)) / users;
    update.samples += own.samples;
    return {};
  };
  SOTTO_CHECK(processes().agree(
      training_.each_update(round, processes().share_of(std::span<const data::UserId>(cohort)), add)));
  processes().add(mean);
  std::array<double, 3> all = {update.loss, static_cast<double>(update.samples), static_cast<double>(within)};
  processes().add(std::span<double>(all));
  update.loss = all[0];
  update.samples = static_cast<std::uint64_t>(all[1]);
  within = static_cast<std::uint64_t>(all[2]);
  // The server's noise is drawn once, by the leader.
  update.direction = mean;
  const auto add_noise = [&]() -> Status {
    SOTTO_TRY(update.direction, with_noise(mean, clip, round));
    privacy::NoiseStream share_draws(noise_, Purpose::noise, round, share_stream);
    SOTTO_CHECK(clip.step(within, share_draws.random()));
    bound_.fill_(clip.bound());
    return {};
  };
  SOTTO_CHECK(processes().agree(processes().leads() ? add_noise() : Status()));
  processes().from_leader(update.direction);
  processes().from_leader(bound_);
  update.clients = cohort.size();
  update.bytes_down = update.bytes_up = sizeof(float) * static_cast<std::uint64_t>(mean.numel());
  return update;
}

Result<torch::Tensor> PrintedMeans::with_noise(const torch::Tensor& mean, const privacy::AdaptiveClip& clip,
                                               std::uint32_t round) const {
  const double sensitivity = 2 * clip.bound() / static_cast<double>(settings_.cohort);
  // The optimiser multiplies by α3, which the printed noise is not multiplied by.
  const double sigma = clip.update_sigma() / settings_.server_rate;
  SOTTO_TRY(const auto mechanism,
            privacy::GaussianMechanism::create({.noise_multiplier = sigma / sensitivity,
                                                .l2_sensitivity = sensitivity,
                                                .dimension = static_cast<std::uint64_t>(mean.numel())}));
  const torch::Tensor plain = mean.to(torch::kCPU, torch::kFloat64).contiguous();
  privacy::NoiseStream draws(noise_, Purpose::noise, round, update_stream);
  SOTTO_TRY(
      const auto noisy,
      mechanism.release({plain.data_ptr<double>(), static_cast<std::size_t>(plain.numel())}, draws.random()));
  return torch::tensor(noisy.reals()).to(mean.options());
}

}  // namespace sotto::fl
