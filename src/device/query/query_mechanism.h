#pragma once
// The step from a history to what a server may see, and its price: a mechanism of the table
// (privacy/serving/serving_mechanism.h) over the vectors and the user model of a pack. Knows no ledger and no
// network: PrivateQuery pays before it draws. A draw fails for reasons that lie in the pack or the settings
// only, never because of the clicks.
//
// Immutable after creation, safe to share between threads.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/pack/device_pack.h"
#include "device/query/query_settings.h"
#include "privacy/ledger/answer_cache.h"
#include "privacy/ledger/charge.h"
#include "privacy/noise/device_random.h"
#include "privacy/serving/serving_mechanism.h"

namespace sotto::device {

// What was drawn and may now be sent as often as wanted: everything in it is noise-protected or public.
struct DrawnQuery {
  std::string model;  // version whose basis or prototypes it refers to
  privacy::ServingQuery answer;
  bool operator==(const DrawnQuery&) const = default;
};

// As an answer cache keeps it.
std::string encode(const DrawnQuery& query);
Result<DrawnQuery> decode_drawn_query(std::string_view bytes);

// Clicks whose vectors are known, oldest first. CategorisedClick::item is the row in `vectors`.
struct ReadableHistory {
  std::vector<privacy::CategorisedClick> clicks;
  std::vector<float> vectors;  // rows of the pack's dimension
};

privacy::PublicVectors public_vectors(const DevicePack& pack);

// The newest `count` rows of the clicks chosen (by row), one behind the other.
std::vector<float> newest_rows(const ReadableHistory& history, std::span<const std::uint64_t> chosen,
                               std::size_t count, std::size_t dimension);
// The true user vector: for ranking on the device, not for sending.
std::vector<float> user_vector(const UserModel& model, const DevicePack& pack,
                               const ReadableHistory& history);

class QueryMechanism {
 public:
  static Result<QueryMechanism> create(const QuerySettings& settings, const DevicePack& pack,
                                       privacy::ServingMechanisms table = privacy::serving_mechanisms());

  // What a draw will cost under a ledger's settings.
  privacy::Release release(const privacy::LedgerSettings& ledger) const;
  // What the server learns from one draw: for statements and audits. None: it reads unprotected clicks only.
  std::optional<privacy::PrivacyEvent> event() const;

  // On all clicks, with noise. Refused when the settings ask for unprotected clicks only.
  Result<DrawnQuery> draw(const ReadableHistory& history, privacy::DeviceRandom random) const;
  // Exactly, on clicks that may leave the device as they are.
  Result<DrawnQuery> draw_unprotected(const ReadableHistory& history,
                                      const privacy::SensitivitySettings& sensitivity) const;

 private:
  struct Parts;
  explicit QueryMechanism(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

// The only way from clicks to a query that leaves the device: settings, charge, draw, memory, and only then
// bytes to send.
//
// One answer is drawn per period of the clock and used again until the period ends, whatever was clicked
// meanwhile and whichever pack came in. When the budget is spent the last answer goes on being used (drawn
// and paid once, sending it again tells nothing new); without one there is no answer.
//
// Uses the ledger and the generator, which must outlive it. Movable. One call at a time.
struct PaidQuery {
  DrawnQuery query;
  privacy::UtcTime drawn, valid_until;
  bool is_new = false;   // drawn and charged by this call
  bool expired = false;  // the budget refused a new one
};

class PrivateQuery {
 public:
  // phase: when in the period answers are refreshed; drawn once per device.
  static Result<PrivateQuery> open(const std::filesystem::path& answers, privacy::Ledger& ledger,
                                   const QuerySettings& settings, std::chrono::seconds phase,
                                   privacy::DeviceRandom random);

  // None: the budget is spent and nothing was ever drawn.
  Result<std::optional<PaidQuery>> ask(const QueryMechanism& mechanism, const ReadableHistory& history,
                                       const privacy::ClockReading& now);

 private:
  PrivateQuery(privacy::Ledger& ledger, privacy::AnswerCache cache, privacy::DeviceRandom random)
      : ledger_(&ledger), cache_(std::move(cache)), random_(random) {}
  privacy::Ledger* ledger_;
  privacy::AnswerCache cache_;
  privacy::DeviceRandom random_;
};

}  // namespace sotto::device
