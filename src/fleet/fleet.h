#pragma once
// Many devices in one process, each with a folder, a ledger and a key of its own, against a real coordinator
// over HTTP: for end-to-end tests, load and rehearsals of a deployment. Its people agree to everything, which
// is why it is a rehearsal. One thread per device. run() blocks until all rounds are done; Ctrl-C ends it.

#include <functional>
#include <map>
#include <optional>

#include "data/dataset.h"
#include "device/rounds/participant.h"
#include "fleet/faulty_transport.h"
#include "net/http_client.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::fleet {

struct FleetSettings {
  std::size_t devices = 0;
  std::uint64_t rounds = 0;  // of the campaign to take part in, together
  net::HttpClientSettings server;
  fs::path folder;  // of the devices' stores
  rounds::IdentityKey operator_key{};
  std::vector<std::string> tokens;            // of the operator, one for each device that is not enrolled yet
  std::optional<std::uint64_t> reproducible;  // seed: noise of a simulation, which protects nobody
  double vanishing = 0;                       // share of devices that vanish in a round, in some phase
  std::string vanishing_phase = "upload";
  double lying = 0;                      // share that send wrong shares when they reveal
  std::chrono::milliseconds slowest{0};  // a device waits up to so long before every post
  std::chrono::seconds clock_skew{0};    // a device's clock is wrong by up to so much
  std::chrono::seconds patience{600};    // without a finished round, then the fleet gives up
  double lifetime_epsilon = 100;         // budget of each ledger
  std::uint64_t seed = 1;                // of who misbehaves, and who trains
  // Draws that a simulation of the same seed makes too.
  std::uint64_t split_seed() const { return reproducible.value_or(seed); }
};

struct FleetReport {
  std::uint64_t rounds = 0;  // that were folded while the fleet ran
  std::uint64_t participations = 0, ended = 0, refused = 0, charged = 0;
  std::map<std::string, std::uint64_t> reasons;  // of refusals and ends
  std::uint64_t bytes_up = 0, bytes_down = 0;    // of all participations
  double seconds = 0;
  // Of the device that was charged most often; none: no device was.
  std::optional<privacy::LedgerStatement> ledger;
};

using OnFleetRound = std::function<void(std::uint64_t rounds_done)>;

// `dataset`: whose readers the devices belong to.
Result<FleetReport> run_fleet(const FleetSettings& settings, const data::Dataset& dataset,
                              const std::function<bool()>& cancelled, const OnFleetRound& on_round);

}  // namespace sotto::fleet
