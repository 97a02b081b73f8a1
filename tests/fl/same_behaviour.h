#pragma once
// The behaviour of a data set of interactions, told as impressions: the same users train on the same items,
// and test users have the same items on their devices.

#include <string>

#include "data/dataset_builder.h"
#include "fl/interaction_data.h"
#include "test_paths.h"

namespace sotto::fl::testing {

inline data::Dataset as_impressions(const data::Dataset& source, const InteractionData& data,
                                    const TempFolder& folder) {
  data::DatasetBuilder builder("the same", "test");
  for (data::ItemId item = 0; item < source.item_count(); ++item)
    builder.add_item({.id = source.catalogue().ids[item], .title = source.catalogue().titles[item]});
  for (data::UserId user = 0; user < source.user_count(); ++user) builder.user(source.user_ids()[user]);
  const auto items_of = [&](const std::vector<std::uint64_t>& rows) {
    std::vector<data::ItemId> items;
    for (const std::uint64_t row : rows) items.push_back(source.interactions().items[row]);
    return items;
  };
  for (const UserRows& rows : data.rows) {
    // The last positive was clicked; the others came before, the first of them twice.
    auto history = items_of(rows.positive);
    const std::vector<data::ItemId> shown = {source.interactions().items[rows.negative.front()],
                                             history.back()};
    history.back() = history.front();
    const auto length = static_cast<std::uint32_t>(rows.positive.size() > 1 ? history.size() : 0);
    builder.add_impression(rows.user, 1, data::Split::train, builder.add_history(history), length, shown,
                           std::vector<std::uint8_t>{0, 1});
  }
  for (const TestUser& test : data.test) {
    std::vector<data::ItemId> all(source.item_count());
    for (data::ItemId item = 0; item < all.size(); ++item) all[item] = item;
    std::vector<std::uint8_t> clicked(all.size(), 0);
    for (const data::ItemId item : items_of(test.query)) clicked[item] = 1;
    const auto support = items_of(test.support.positive);
    builder.add_impression(test.support.user, 2, data::Split::test, builder.add_history(support),
                           static_cast<std::uint32_t>(support.size()), all, clicked);
  }
  if (!builder.write(folder.path())) throw std::runtime_error("cannot write the data set");
  auto dataset = data::Dataset::open(folder.path());
  if (!dataset) throw std::runtime_error(dataset.error().message);
  return std::move(*dataset);
}

}  // namespace sotto::fl::testing
