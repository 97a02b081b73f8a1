#include "privacy/mechanisms/summed_noise.h"

#include <string.h>

#include <algorithm>
#include <array>

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

Result<SummedNoise> SummedNoise::create(const NoiseShare& share, std::uint64_t shares) {
  SOTTO_CHECK(require_at_least(shares, 1, "number of noise shares"));
  if (share.kind() != ShareKind::skellam) return SummedNoise({{share.noise(), shares}});
  // A share's variance is a multiple of 1/1024, and so is that of so many: nothing is rounded.
  const double own = share.share_variance();
  const auto most = static_cast<std::uint64_t>(std::max(1.0, largest_sigma * largest_sigma / own));
  std::vector<Part> parts;
  const auto add = [&](std::uint64_t together, std::uint64_t draws) -> Status {
    if (together == 0 || draws == 0) return {};
    SOTTO_TRY(Skellam noise, Skellam::create(own * static_cast<double>(together)));
    parts.push_back({std::move(noise), draws});
    return {};
  };
  SOTTO_CHECK(add(most, shares / most));
  SOTTO_CHECK(add(shares % most, 1));
  return SummedNoise(std::move(parts));
}

void SummedNoise::add_to(std::span<std::int64_t> sum, DeviceRandom random) const {
  std::array<std::int32_t, 1024> buffer;
  for (; !sum.empty(); sum = sum.subspan(std::min(buffer.size(), sum.size()))) {
    const auto drawn = std::span(buffer).first(std::min(buffer.size(), sum.size()));
    for (const Part& part : parts_) {
      for (std::uint64_t draw = 0; draw < part.draws; ++draw) {
        part.noise.fill(drawn, random.source());
        for (std::size_t i = 0; i < drawn.size(); ++i) sum[i] += drawn[i];
      }
    }
  }
  explicit_bzero(buffer.data(), sizeof buffer);  // who knows the noise knows the value
}

std::uint64_t SummedNoise::draws() const {
  std::uint64_t all = 0;
  for (const Part& part : parts_) all += part.draws;
  return all;
}

double SummedNoise::variance() const {
  double all = 0;
  for (const Part& part : parts_) all += part.noise.variance() * static_cast<double>(part.draws);
  return all;
}

}  // namespace sotto::privacy
