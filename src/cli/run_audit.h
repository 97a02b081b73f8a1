#pragma once
// The audit of what one trained run did: a round of its own sum, and its own query.

#include <string>
#include <vector>

#include "base/files.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/audit/audit_catalogue.h"

namespace sotto::cli {

// RUN/privacy.json. A folder without one is refused: it is no run, or a run of a recipe that guarantees
// nothing.
Result<privacy::PrivacyDatasheet> datasheet_of(const fs::path& run);

// One entry for each sum and for the query of the datasheet. run: its folder, where the settings of queries
// stand that are no choice of a prototype; empty: there is none.
Result<std::vector<privacy::AuditEntry>> audits_of(const privacy::PrivacyDatasheet& sheet,
                                                   const fs::path& run);

// Whether the run's recipe asks the server and these settings put no noise on its questions: then no ε holds
// for them, nor for training and questions together.
Result<bool> asks_without_noise(const privacy::PrivacyDatasheet& sheet, const fs::path& run);

// Releases per neighbour that some seconds are enough for: every device of a sum draws its own share, and a
// question draws for every number of its vector.
std::uint64_t affordable_samples(const privacy::PrivacyDatasheet& sheet);

}  // namespace sotto::cli
