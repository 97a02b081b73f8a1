#include "local/item_sums.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "local/check_numbers.h"

namespace sotto::local {

std::uint64_t pair_count(std::uint64_t items) { return items * (items + 1) / 2; }

std::vector<float> item_shares(std::span<const ItemRow> own, std::size_t items) {
  std::vector<float> shares(items, 0);
  const auto share = static_cast<float>(1 / std::sqrt(static_cast<double>(own.size())));
  for (const ItemRow item : own) shares[item] = share;
  return shares;
}

std::vector<ItemRow> most_counted(std::span<const float> counts, std::size_t chosen) {
  std::vector<ItemRow> order(counts.size());
  std::iota(order.begin(), order.end(), ItemRow{0});
  chosen = std::min(chosen, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(chosen), order.end(),
      [&](ItemRow a, ItemRow b) { return counts[a] != counts[b] ? counts[a] > counts[b] : a < b; });
  order.resize(chosen);
  return order;
}

std::vector<std::uint32_t> places_among(std::span<const ItemRow> own, std::span<const ItemRow> chosen) {
  std::vector<std::uint32_t> places;
  for (std::size_t place = 0; place < chosen.size(); ++place)
    if (std::binary_search(own.begin(), own.end(), chosen[place]))
      places.push_back(static_cast<std::uint32_t>(place));
  return places;
}

std::vector<float> pair_shares(std::span<const std::uint32_t> own, std::size_t items) {
  std::vector<float> shares(pair_count(items), 0);
  const double once = 1 / static_cast<double>(own.size());
  const auto diagonal = static_cast<float>(once), beside = static_cast<float>(once * std::numbers::sqrt2);
  for (std::size_t i = 0; i < own.size(); ++i) {
    // Rows before this one hold items, items − 1, ... coordinates; this one starts at its diagonal.
    const std::size_t row = own[i], start = row * items - row * (row + 1) / 2;
    shares[start + row] = diagonal;
    for (std::size_t j = i + 1; j < own.size(); ++j) shares[start + own[j]] = beside;
  }
  return shares;
}

ItemSumsTrainer::ItemSumsTrainer(const ItemSumsSettings& settings)
    : settings_(settings),
      layout_({{"counts", 1, settings.items}, {"vectors", settings.items, settings.vectors}}) {}

std::size_t ItemSumsTrainer::dimension(std::size_t /*items*/) const {
  const auto items = static_cast<std::uint64_t>(settings_.items),
             chosen = static_cast<std::uint64_t>(settings_.chosen);
  return chosen == 0 ? items : pair_count(std::min(chosen, items));
}

Result<LocalUpdate> ItemSumsTrainer::train(const RoundInputs& inputs, const OwnEvents& own,
                                           RandomSource& /*draws*/, const Cancelled& cancelled) const {
  SOTTO_CHECK(check_parameters(layout_, inputs.parameters));
  if (cancelled()) return failed("the training was stopped before it began");
  const auto items = static_cast<std::size_t>(settings_.items);
  const std::size_t read = std::min(own.rows.size(), static_cast<std::size_t>(settings_.max_rows));
  std::vector<ItemRow> liked;
  for (const OwnRow& row : std::span(own.rows).last(read)) {
    if (row.item >= items)
      return bad_input("a row names item {} of {}: leave items out that the model does not know", row.item,
                       items);
    if (row.positive) liked.push_back(row.item);
  }
  std::sort(liked.begin(), liked.end());
  liked.erase(std::unique(liked.begin(), liked.end()), liked.end());
  LocalUpdate update;
  update.samples = liked.size();
  if (settings_.chosen == 0) {
    update.direction = item_shares(liked, items);
    return update;
  }
  const auto chosen =
      most_counted(inputs.parameters.first(items), static_cast<std::size_t>(settings_.chosen));
  update.direction = pair_shares(places_among(liked, chosen), chosen.size());
  return update;
}

}  // namespace sotto::local
