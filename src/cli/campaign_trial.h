#pragma once
// A campaign to try out on one machine: a draft, signed by keys that lie beside the coordinator's store.
// Whoever can read the store can sign campaigns, so no device of anybody else should accept it.

#ifdef SOTTO_HAVE_NET

#include "cli/campaign_draft.h"

namespace sotto::cli {

struct TrialCampaign {
  std::string document;
  rounds::Identity operator_key, coordinator_key;
  fs::path data;  // that it was drafted for; empty: nobody said
};

// Keys and signed campaign are made once and found again. Another draft than the one that was signed is
// refused.
Result<TrialCampaign> trial_campaign(const fs::path& draft, const fs::path& store);

// A token that expires in a day.
std::string trial_token(const rounds::Identity& operator_key);

}  // namespace sotto::cli

#endif
