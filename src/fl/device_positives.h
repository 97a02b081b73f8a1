#pragma once
// What every training device likes, whichever way the data records it: all that matrix factorisation reads.

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "fl/interaction_data.h"

namespace sotto {

// Items of one device, ascending, each once.
using OwnItems = std::vector<std::int64_t>;

// Immutable after preparation.
struct DevicePositives {
  std::vector<UserId> users;    // that train, ascending
  std::vector<OwnItems> items;  // by position in `users`

  const OwnItems& of(UserId user) const;  // a user of `users`
  std::uint64_t count() const;
};

OwnItems each_once(std::vector<std::int64_t> items);
// Items of these rows.
OwnItems own_items(const Dataset& dataset, const std::vector<std::uint64_t>& rows);

// Positive rows of the users who train.
DevicePositives positives_of(const Dataset& dataset, const InteractionData& data);
// What these users (ascending) clicked in impressions of the training split, and before them: the histories
// of these impressions, at full length.
DevicePositives positives_of(const Dataset& dataset, std::span<const UserId> users);

}  // namespace sotto
