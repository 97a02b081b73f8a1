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
#include <vector>

#include "device/pack/device_pack.h"
#include "device/query/drawn_query.h"
#include "device/query/query_settings.h"
#include "privacy/ledger/charge.h"
#include "privacy/noise/device_random.h"

namespace sotto {

// Clicks whose vectors are known, oldest first. CategorisedClick::item is the row in `vectors`.
struct ReadableHistory {
  std::vector<CategorisedClick> clicks;
  std::vector<float> vectors;  // rows of the pack's dimension
};

PublicVectors public_vectors(const DevicePack& pack);

// The newest `count` rows of the clicks chosen (by row), one behind the other.
std::vector<float> newest_rows(const ReadableHistory& history, std::span<const std::uint64_t> chosen,
                               std::size_t count, std::size_t dimension);
// The true user vector: for ranking on the device, not for sending.
std::vector<float> user_vector(const UserModel& model, const DevicePack& pack,
                               const ReadableHistory& history);

class QueryMechanism {
 public:
  static Result<QueryMechanism> create(const QuerySettings& settings, const DevicePack& pack,
                                       ServingMechanisms table = serving_mechanisms());

  // What a draw will cost under a ledger's settings.
  Release release(const LedgerSettings& ledger) const;
  // What the server learns from one draw: for statements and audits. None: it reads unprotected clicks only.
  std::optional<PrivacyEvent> event() const;

  // On all clicks, with noise. Refused when the settings ask for unprotected clicks only.
  Result<DrawnQuery> draw(const ReadableHistory& history, DeviceRandom random) const;
  // Exactly, on clicks that may leave the device as they are.
  Result<DrawnQuery> draw_unprotected(const ReadableHistory& history,
                                      const SensitivitySettings& sensitivity) const;

 private:
  struct Parts;
  explicit QueryMechanism(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace sotto
