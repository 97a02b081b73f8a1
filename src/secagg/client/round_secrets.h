#pragma once
// Everything a client must forget when a round ends, in one place.

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <vector>

#include "base/result.h"
#include "secagg/shared/key_exchange.h"
#include "secagg/shared/sealed_shares.h"
#include "secagg/shared/secret_bytes.h"

namespace sotto {

// What a client keeps about one neighbour.
struct NeighbourSecrets {
  Key opening_key;                  // for the shares this neighbour seals for us
  std::optional<SharePair> shares;  // what it gave us, if that is what it committed to
};

// The secrets of one client in one round. Lives in memory from the given resource and nowhere else, all of it
// wiped before it is given back: a test's resource can look.
class RoundSecrets {
 public:
  struct Deleter {
    std::pmr::memory_resource* memory;
    void operator()(RoundSecrets* secrets) const;
  };
  using Pointer = std::unique_ptr<RoundSecrets, Deleter>;

  // Fresh seeds and the key pairs that follow from them.
  static Result<Pointer> create(const Digest& context, DeviceRandom random,
                                std::pmr::memory_resource* memory);

  RoundSecrets(const RoundSecrets&) = delete;
  RoundSecrets& operator=(const RoundSecrets&) = delete;
  ~RoundSecrets() = default;

  Seed mask_seed;  // shared out: opens the mask key pair when this client drops out
  Seed self_seed;  // shared out: opens its own mask when its vector arrived
  KeyPair channel;
  KeyPair mask;
  std::pmr::vector<NeighbourSecrets> neighbours;

 private:
  RoundSecrets(Seed mask_seed, KeyPair channel, KeyPair mask, DeviceRandom random,
               std::pmr::memory_resource* memory);
};

}  // namespace sotto
