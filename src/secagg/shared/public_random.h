#pragma once
// Reproducible draws from a public seed: everybody who knows the seed gets the same graph and the same
// groups.

#include <cstdint>

#include "base/random.h"
#include "secagg/shared/bytes.h"

namespace sotto {

// ChaCha20 under the seed. Nothing secret may come from it. Not thread-safe.
class PublicRandom final : public RandomSource {
 public:
  explicit PublicRandom(const Digest& seed) : seed_(seed) {}
  void fill(std::span<std::uint64_t> out) override;

 private:
  Digest seed_;
  std::uint64_t fills_ = 0;
};

}  // namespace sotto
