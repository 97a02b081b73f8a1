#pragma once
// From a verified chain of bytes to books.

#include "privacy/ledger/journal_format.h"
#include "privacy/ledger/ledger_books.h"

namespace sotto {

// The chain says that nothing was changed since it was written; this says that it was written sensibly.
Result<LedgerBooks> replay(const journal_format::Journal& journal);

}  // namespace sotto
