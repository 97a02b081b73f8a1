#pragma once
// A device that takes part in training, from the offer of a round to its end: fetch, check, train, and only
// then check in, so that it is present for seconds. It joins at a time that follows from the clock and the
// campaign, never from how long training took, which would tell how much there is to train on. Without
// anything to learn from it sends zeros and noise like everybody.
//
// The log it was shown is kept before it is charged. Ends, whatever happens, with the order's expiry. Refers
// to all it is given.

#include <functional>
#include <memory>
#include <vector>

#include "device/conversation.h"
#include "device/history/impression_store.h"
#include "device/history/row_store.h"
#include "device/rounds/round_draws.h"
#include "device/rounds/round_session.h"

namespace sotto::device {

struct ParticipantParts {
  std::shared_ptr<const secagg::Identity> identity;
  privacy::Ledger& ledger;
  std::function<privacy::ClockReading()> clock;
  std::shared_ptr<rounds::OperatorKeys> keys;  // followed as they change
  std::string purpose;                         // that the device's person agreed to
  TrainingPolicy policy;
  fs::path log_file;    // how much of the public log was seen
  fs::path keys_file;   // the operator's keys
  fs::path items_file;  // the table of items that was fetched last: it is large, public, and seldom another
  const std::vector<StoredImpression>& impressions;
  const StoredRows& rows;
  RoundDraws& draws;
  std::function<bool()> cancelled;  // asked between steps and while it trains; true ends the round
  // For when to join: a clock that never runs back.
  std::function<std::chrono::steady_clock::time_point()> steady = std::chrono::steady_clock::now;
};

struct Participation {
  enum class Outcome : std::uint8_t {
    no_round,   // none is open
    not_now,    // the conditions that the owner demands are not met, for the reason given
    refused,    // by this device, for the reason given: nothing was sent or charged
    ended,      // before the end, for the reason given
    took_part,  // the coordinator has all it asked for
  };
  // By what this device found that others were shown the same.
  struct Checked {
    rounds::Digest campaign{}, model{}, log_root{};
    std::uint64_t log_entries = 0, campaign_entry = 0;  // of how many, and which one names the campaign
    std::uint64_t witnesses = 0, witnesses_needed = 0;  // that cosigned this log
  };
  Outcome outcome = Outcome::no_round;
  std::optional<RoundRefusalReason> refusal;
  std::optional<Checked> checked;  // of an offer that was not refused
  std::string why;
  rounds::Digest round{};
  std::uint64_t number = 0;
  bool evaluates = false;  // a version was measured
  bool was_charged = false;
  double loss = 0;  // stays here
  std::uint64_t samples = 0;
  std::uint64_t bytes_up = 0, bytes_down = 0;
  // From now on, until the coordinator wants to be asked again; none: it did not say, or it is time.
  std::optional<std::chrono::milliseconds> come_back;
};
std::string_view name(Participation::Outcome outcome);

// An error means that the coordinator could not be reached, or this device's own files not be used.
Talk<Result<Participation>> take_part(Exchange& exchange, ParticipantParts parts);

}  // namespace sotto::device
