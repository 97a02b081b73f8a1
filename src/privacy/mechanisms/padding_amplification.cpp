#include "privacy/mechanisms/padding_amplification.h"

#include <cmath>

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

EpsilonDelta amplified_by_padding(EpsilonDelta before, double padding) {
  // log(1 + (1-p)(e^ε - 1)) = ε + log(1 - p + p e^-ε), which does not overflow.
  const double epsilon = before.epsilon > 1
                             ? before.epsilon + std::log((1 - padding) + padding * std::exp(-before.epsilon))
                             : std::log1p((1 - padding) * std::expm1(before.epsilon));
  return {epsilon, (1 - padding) * before.delta};
}

EpsilonDelta budget_before_padding(EpsilonDelta after, double padding) {
  const double epsilon =
      after.epsilon > 1 ? after.epsilon + std::log((1 - padding * std::exp(-after.epsilon)) / (1 - padding))
                        : std::log1p(std::expm1(after.epsilon) / (1 - padding));
  return {epsilon, after.delta / (1 - padding)};
}

Result<std::vector<unsigned char>> draw_padding(std::size_t items, double padding, DeviceRandom random) {
  SOTTO_CHECK(require_padding(padding));
  const auto threshold = static_cast<std::uint64_t>(std::ceil(std::ldexp(padding, 64)));
  std::vector<unsigned char> padded(items);
  for (unsigned char& flag : padded) flag = random.source()() < threshold ? 1 : 0;
  return padded;
}

}  // namespace sotto
