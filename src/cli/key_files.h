#pragma once
// Signing keys as files of one line: the secret one for its owner alone, the public one beside it for
// everybody.

#ifdef SOTTO_HAVE_PROTOCOL

#include "base/files.h"
#include "rounds/document.h"

namespace sotto::cli {

// FILE and FILE.pub. Refuses to replace either.
Result<rounds::IdentityKey> write_key_files(const fs::path& secret);
// Refuses a file that others may read.
Result<rounds::Identity> read_secret_key(const fs::path& path);
// Refuses a secret key, which should not be handed around.
Result<rounds::IdentityKey> read_public_key(const fs::path& path);

}  // namespace sotto::cli

#endif
