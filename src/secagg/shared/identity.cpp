#include "secagg/shared/identity.h"

#include <sodium.h>

namespace sotto {

Identity Identity::create(DeviceRandom random) {
  Identity identity;
  const Key seed = Key::random(random);
  crypto_sign_seed_keypair(identity.public_key_.data(), identity.secret_.data(), seed.data());
  return identity;
}

Signature Identity::sign(const Digest& statement) const {
  Signature signature;
  crypto_sign_detached(signature.data(), nullptr, statement.data(), statement.size(), secret_.data());
  return signature;
}

bool verify(const Signature& signature, const Digest& statement, const IdentityKey& signer) {
  return crypto_sign_verify_detached(signature.data(), statement.data(), statement.size(), signer.data()) ==
         0;
}

}  // namespace sotto
