#pragma once
// Ed25519 identities. Assumption of the whole protocol: a device learns the identity keys of its group from a
// registry that the aggregation server cannot write to.

#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/secret_bytes.h"

namespace sotto {

// The long-lived signing key of one device. Owned by the device, outlives many rounds; wiped with the object.
class Identity {
 public:
  static Identity create(DeviceRandom random);

  const IdentityKey& public_key() const { return public_key_; }
  Signature sign(const Digest& statement) const;

 private:
  Identity() = default;
  SecretBytes<64> secret_;
  IdentityKey public_key_{};
};

bool verify(const Signature& signature, const Digest& statement, const IdentityKey& signer);

}  // namespace sotto
