#include "fl/device_positives.h"

#include <algorithm>

namespace sotto {

const OwnItems& DevicePositives::of(UserId user) const {
  const auto position = std::lower_bound(users.begin(), users.end(), user) - users.begin();
  return items.at(static_cast<std::size_t>(position));
}

std::uint64_t DevicePositives::count() const {
  std::uint64_t total = 0;
  for (const OwnItems& own : items) total += own.size();
  return total;
}

OwnItems each_once(std::vector<std::int64_t> items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

namespace {

OwnItems clicked_in_training(const Dataset& dataset, UserId user) {
  OwnItems items;
  const auto [first, last] = dataset.impressions_of(user);
  for (std::size_t index = first; index < last; ++index) {
    const Impression impression = dataset.impression(index);
    if (impression.split != Split::train) continue;
    items.insert(items.end(), impression.history.begin(), impression.history.end());
    for (std::size_t position = 0; position < impression.shown.size(); ++position)
      if (impression.clicked[position] != 0) items.push_back(impression.shown[position]);
    // Histories mostly repeat those of earlier impressions: never hold more than a few copies.
    items = each_once(std::move(items));
  }
  return items;
}

}  // namespace

OwnItems own_items(const Dataset& dataset, const std::vector<std::uint64_t>& rows) {
  OwnItems items;
  for (const std::uint64_t row : rows) items.push_back(dataset.interactions().items[row]);
  return each_once(std::move(items));
}

DevicePositives positives_of(const Dataset& dataset, const InteractionData& data) {
  DevicePositives positives{data.users, {}};
  for (const UserRows& rows : data.rows) positives.items.push_back(own_items(dataset, rows.positive));
  return positives;
}

DevicePositives positives_of(const Dataset& dataset, std::span<const UserId> users) {
  DevicePositives positives{{users.begin(), users.end()}, {}};
  for (const UserId user : users) positives.items.push_back(clicked_in_training(dataset, user));
  return positives;
}

}  // namespace sotto
