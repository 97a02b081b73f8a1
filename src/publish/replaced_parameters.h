#pragma once
// Other parameters in the place of those that a run was trained to, and what is said of them in the place of
// what was said of the run's own.

#include <string>
#include <vector>

#include "base/files.h"
#include "privacy/accounting/datasheet.h"

namespace sotto::publish {

// layout: what the numbers are of, which must be the run's (FlatParameters::layout). Zeros may follow them.
// At no time do the parameters stand beside a datasheet of others.
Status replace_parameters(const fs::path& run, const std::string& layout, std::vector<float> numbers,
                          const privacy::PrivacyDatasheet& sheet);

}  // namespace sotto::publish
