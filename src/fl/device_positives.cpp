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

// Collects the clicks of one user after the other. Most histories repeat those of earlier impressions, so
// items are marked rather than sorted out.
class TrainingClicks {
 public:
  explicit TrainingClicks(const Dataset& dataset) : dataset_(dataset), taken_(dataset.item_count(), 0) {}

  OwnItems of(UserId user) {
    OwnItems items;
    const auto take = [&](ItemId item) {
      if (taken_[item] == 0) items.push_back(item);
      taken_[item] = 1;
    };
    const auto [first, last] = dataset_.impressions_of(user);
    for (std::size_t index = first; index < last; ++index) {
      const Impression impression = dataset_.impression(index);
      if (impression.split != Split::train) continue;
      for (const ItemId item : impression.history) take(item);
      for (std::size_t position = 0; position < impression.shown.size(); ++position)
        if (impression.clicked[position] != 0) take(impression.shown[position]);
    }
    for (const std::int64_t item : items) taken_[static_cast<std::size_t>(item)] = 0;
    std::sort(items.begin(), items.end());
    return items;
  }

 private:
  const Dataset& dataset_;
  std::vector<std::uint8_t> taken_;  // 1 for items of the current user
};

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
  TrainingClicks clicks(dataset);
  for (const UserId user : users) positives.items.push_back(clicks.of(user));
  return positives;
}

}  // namespace sotto
