#include "secagg/vectors/noisy_entries.h"

#include <string.h>

#include <algorithm>
#include <array>

namespace sotto {

std::vector<std::uint32_t> noisy_entries(std::span<const std::int32_t> values, const NoiseShare* share,
                                         Modulus modulus, DeviceRandom random) {
  std::vector<std::uint32_t> entries(values.size());
  std::array<std::int32_t, 1024> noise{};
  for (std::size_t begin = 0; begin < values.size(); begin += noise.size()) {
    const auto part = std::span(noise).first(std::min(noise.size(), values.size() - begin));
    if (share != nullptr) share->fill(part, random);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::int64_t value = values[begin + i];
      entries[begin + i] = static_cast<std::uint32_t>(modulus.wrap(value + part[i]));
    }
  }
  explicit_bzero(noise.data(), sizeof noise);  // who knows the noise knows the value
  return entries;
}

}  // namespace sotto
