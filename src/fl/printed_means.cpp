#include "fl/printed_means.h"

#include <algorithm>

#include "privacy/noise/simulated_noise.h"

namespace sotto::fl {

namespace {

// Whose noise it is: the server's own streams, apart from the users'.
constexpr std::uint32_t update_stream = 0xFFFFFFFF, share_stream = 0xFFFFFFFE;

}  // namespace

PrintedMeans::PrintedMeans(const privacy::AdaptiveClip::Settings& settings, CohortSampler sampler,
                           UserUpdates& training, const torch::Tensor& values, std::uint64_t seed)
    : settings_(settings),
      sampler_(std::move(sampler)),
      training_(training),
      values_(values),
      seed_(seed),
      bound_(torch::full({1}, settings.initial_bound, torch::kFloat64)) {}

Result<RoundUpdate> PrintedMeans::round(std::uint32_t round) {
  privacy::AdaptiveClip::Settings now = settings_;
  now.initial_bound = bound();
  SOTTO_TRY(auto clip, privacy::AdaptiveClip::create(now));
  const auto cohort = sampler_.sample(round);
  const double users = static_cast<double>(cohort.size());
  torch::Tensor mean = torch::zeros_like(values_);
  RoundUpdate update;
  std::uint64_t within = 0;
  const Status summed = training_.each_update(round, cohort, [&](const UserUpdate& own) -> Status {
    const double norm = own.direction.norm().item<double>();
    if (norm <= clip.bound()) ++within;
    mean.add_(own.direction, std::min(1.0, clip.bound() / norm) / users);
    update.loss += own.loss / static_cast<double>(std::max<std::uint64_t>(own.samples, 1)) / users;
    update.samples += own.samples;
    return {};
  });
  SOTTO_CHECK(summed);
  torch::Tensor noise = torch::zeros({mean.numel()}, torch::kFloat32);
  SeededRandom draws(seed_, Purpose::noise, round, update_stream);
  SOTTO_CHECK(privacy::SimulatedNoise(draws).add_gaussian(
      std::span<float>(noise.data_ptr<float>(), static_cast<std::size_t>(noise.numel())),
      clip.update_sigma()));
  // The optimiser multiplies by α3, which the printed noise is not multiplied by.
  update.direction = mean.add_(noise.to(mean.device()), 1 / settings_.server_rate);
  SeededRandom share_draws(seed_, Purpose::noise, round, share_stream);
  SOTTO_CHECK(clip.step(within, privacy::DeviceRandom::simulated(share_draws)));
  bound_.fill_(clip.bound());
  update.clients = cohort.size();
  update.bytes_down = update.bytes_up = sizeof(float) * static_cast<std::uint64_t>(mean.numel());
  return update;
}

}  // namespace sotto::fl
