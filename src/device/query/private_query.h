#pragma once
// The only way from clicks to a query that leaves the device: settings, charge, draw, memory, and only then
// bytes to send.
//
// One answer is drawn per period of the clock and used again until the period ends, whatever was clicked
// meanwhile and whichever pack came in. When the budget is spent the last answer goes on being used (drawn
// and paid once, sending it again tells nothing new); without one there is no answer.
//
// Uses the ledger and the generator, which must outlive it. Movable. One call at a time.

#include <optional>

#include "device/query/query_mechanism.h"
#include "privacy/ledger/answer_cache.h"

namespace sotto {

struct PaidQuery {
  DrawnQuery query;
  UtcTime drawn, valid_until;
  bool is_new = false;   // drawn and charged by this call
  bool expired = false;  // the budget refused a new one
};

class PrivateQuery {
 public:
  // phase: when in the period answers are refreshed; drawn once per device.
  static Result<PrivateQuery> open(const std::filesystem::path& answers, Ledger& ledger,
                                   const QuerySettings& settings, std::chrono::seconds phase,
                                   DeviceRandom random);

  // None: the budget is spent and nothing was ever drawn.
  Result<std::optional<PaidQuery>> ask(const QueryMechanism& mechanism, const ReadableHistory& history,
                                       const ClockReading& now);

 private:
  PrivateQuery(Ledger& ledger, AnswerCache cache, DeviceRandom random)
      : ledger_(&ledger), cache_(std::move(cache)), random_(random) {}
  Ledger* ledger_;
  AnswerCache cache_;
  DeviceRandom random_;
};

}  // namespace sotto
