#pragma once
// A trained run's own questions as the audit sees them, with the run's settings.

#include "privacy/audit/audited_mechanism.h"
#include "privacy/mechanisms/private_attention.h"
#include "privacy/mechanisms/user_embedding_release.h"

namespace sotto::privacy::subject {

// One query by weights of basis vectors, for the whole history, which padding does not hide. Refuses a single
// basis vector, of which every query says the same.
Result<AuditedMechanism> attention_query(const PrivateAttention::Settings& settings);

// One query by a noisy user vector, against what holds for it, which in paper mode is not what the paper
// says.
Result<AuditedMechanism> embedding_query(const UserEmbeddingRelease::Settings& settings);

}  // namespace sotto::privacy::subject
