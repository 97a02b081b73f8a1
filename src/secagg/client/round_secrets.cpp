#include "secagg/client/round_secrets.h"

#include <new>

namespace sotto {

RoundSecrets::RoundSecrets(Seed seed, KeyPair channel_pair, KeyPair mask_pair, DeviceRandom random,
                           std::pmr::memory_resource* memory)
    : mask_seed(std::move(seed)),
      self_seed(Seed::random(random)),
      channel(std::move(channel_pair)),
      mask(std::move(mask_pair)),
      neighbours(memory) {}

Result<RoundSecrets::Pointer> RoundSecrets::create(const Digest& context, DeviceRandom random,
                                                   std::pmr::memory_resource* memory) {
  Seed mask_seed = Seed::random(random);
  const Seed channel_seed = Seed::random(random);
  SOTTO_TRY(auto channel, KeyPair::from_seed(channel_seed, KeyUse::channel, context));
  SOTTO_TRY(auto mask, KeyPair::from_seed(mask_seed, KeyUse::mask, context));
  void* const place = memory->allocate(sizeof(RoundSecrets), alignof(RoundSecrets));
  return Pointer(new (place)
                     RoundSecrets(std::move(mask_seed), std::move(channel), std::move(mask), random, memory),
                 Deleter{memory});
}

void RoundSecrets::Deleter::operator()(RoundSecrets* secrets) const {
  secrets->~RoundSecrets();
  // What is left are public keys and the bookkeeping of a vector; the memory goes back all zero.
  sodium_memzero(static_cast<void*>(secrets), sizeof(RoundSecrets));
  memory->deallocate(secrets, sizeof(RoundSecrets), alignof(RoundSecrets));
}

}  // namespace sotto
