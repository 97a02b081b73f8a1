#pragma once
// The ε of a plan against everybody who sees what is published, and nothing else: account() from above, many
// times as fast where losses are composed, because nothing proves how close it is. Pure function.

#include "privacy/accounting/plan.h"

namespace sotto::privacy {

Result<double> plan_epsilon(const PrivacyPlan& plan);

}  // namespace sotto::privacy
