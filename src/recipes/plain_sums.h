#pragma once
// The page for secure sums as Efficient-FedRec prints them: without noise.

#include <cstdint>

#include "privacy/accounting/datasheet.h"

namespace sotto {

// No differential privacy holds, and the page says why.
PrivacyDatasheet plain_sums_datasheet(std::int64_t group);

}  // namespace sotto
