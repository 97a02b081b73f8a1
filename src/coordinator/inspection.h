#pragma once
// What a coordinator can be held to: its campaign, its public log and how far it has come, read in its store
// or asked over HTTP. What is signed or hashed has been verified when it is returned; how it stands over HTTP
// is the coordinator's word. Reading changes nothing, and works beside a coordinator that runs.

#include "net/http_client.h"
#include "rounds/campaign.h"
#include "rounds/public_log.h"

namespace sotto::coordinator {

struct Inspection {
  std::string where;
  rounds::OpenedCampaign campaign;  // the newest one; whether the operator signed it needs the operator's key
  // Worked out here; second: of the second sum, where the campaign has one.
  rounds::CampaignTerms terms;
  std::optional<rounds::CampaignTerms> second = {};
  std::string state = {};
  std::uint64_t rounds_done = 0;
  // Orders, to train and to measure, for which devices may have been charged: whether a version came of them
  // or not.
  std::uint64_t orders_charged = 0, evaluations_charged = 0;
  std::uint64_t enrolled = 0;
  std::uint64_t campaigns = 1;   // that stand in the log, this one included
  std::uint64_t versions = 0;    // that stand in the log
  rounds::SignedHead head = {};  // signed by the coordinator that the campaign names
  rounds::Digest version{};      // the current one; in the log
  bool is_trial = false;         // keys lie beside the store, and whoever asks is given a token
};

// A folder, or postgresql://…
Result<Inspection> inspect_store(std::string_view location);
Result<Inspection> inspect_server(const net::HttpClientSettings& settings);

}  // namespace sotto::coordinator
