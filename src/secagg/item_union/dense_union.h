#pragma once
// The union of item sets inside a secure sum, one entry per item of the catalogue (Efficient-FedRec).
//
// A device puts a random NON-ZERO number modulo 2^b where it has the item and zero elsewhere; items whose sum
// is not zero are the union. An item with one holder is never missed; with more holders it is with
// probability at most 1/(2^b − 1). The sum of several holders is as good as uniform, so the server learns
// which items somebody holds and, up to that probability, not how many hold them. It does learn items that
// one device alone holds: this is not differential privacy (PrivateUnion is).
//
// Immutable, safe to share between threads.

#include <cstdint>
#include <span>
#include <vector>

#include "privacy/noise/device_random.h"
#include "secagg/vectors/modulus.h"

namespace sotto::secagg {

class DenseUnion {
 public:
  // Fewer bits cost fewer bytes and miss more items: 32 bits miss one in 4·10^9.
  static Result<DenseUnion> create(std::uint64_t catalogue, unsigned bits = 64);

  // One entry per item. Fresh randomness for every round.
  Result<std::vector<std::uint64_t>> encode(std::span<const std::uint32_t> items,
                                            privacy::DeviceRandom random) const;
  // Ascending.
  Result<std::vector<std::uint32_t>> decode(std::span<const std::uint64_t> sum) const;

  const Modulus& modulus() const { return modulus_; }
  std::uint64_t entries() const { return catalogue_; }
  std::size_t bytes_per_device() const;

 private:
  DenseUnion(std::uint64_t catalogue, Modulus modulus) : catalogue_(catalogue), modulus_(modulus) {}
  std::uint64_t catalogue_;
  Modulus modulus_;
};

}  // namespace sotto::secagg
