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
      layout_({{"counts", 1, settings.catalogue}, {"vectors", settings.catalogue, settings.vectors}}) {}

std::size_t ItemSumsTrainer::dimension(std::size_t /*items*/, std::uint64_t round) const {
  const auto catalogue = static_cast<std::uint64_t>(settings_.catalogue),
             chosen = static_cast<std::uint64_t>(settings_.items);
  return round == 1 ? catalogue : pair_count(std::min(chosen, catalogue));
}

Result<std::vector<ItemRow>> ItemSumsTrainer::liked(const OwnEvents& own) const {
  const std::size_t read = std::min(own.rows.size(), static_cast<std::size_t>(settings_.max_rows));
  std::vector<ItemRow> items;
  for (const OwnRow& row : std::span(own.rows).last(read)) {
    if (row.item >= settings_.catalogue)
      return bad_input("a row names item {} of {}: leave items out that the model does not know", row.item,
                       settings_.catalogue);
    if (row.positive) items.push_back(row.item);
  }
  return items;
}

Result<LocalUpdate> ItemSumsTrainer::train(const RoundInputs& inputs, const OwnEvents& own,
                                           RandomSource& /*draws*/, const Cancelled& cancelled) const {
  SOTTO_CHECK(check_parameters(layout_, inputs.parameters));
  if (inputs.round > 2) return bad_input("round {} has no sum: there are two", inputs.round);
  if (cancelled()) return failed("the training was stopped before it began");
  SOTTO_TRY(std::vector<ItemRow> own_items, liked(own));
  std::sort(own_items.begin(), own_items.end());
  own_items.erase(std::unique(own_items.begin(), own_items.end()), own_items.end());
  LocalUpdate update;
  update.samples = own_items.size();
  const auto catalogue = static_cast<std::size_t>(settings_.catalogue);
  if (inputs.round == 1) {
    update.direction = item_shares(own_items, catalogue);
    return update;
  }
  const auto chosen =
      most_counted(inputs.parameters.first(catalogue), static_cast<std::size_t>(settings_.items));
  update.direction = pair_shares(places_among(own_items, chosen), chosen.size());
  return update;
}

Result<std::vector<float>> ItemSumsTrainer::rank(const RoundInputs& inputs, const OwnEvents& own,
                                                 const RankingQuestion& question, RandomSource& /*draws*/,
                                                 const Cancelled& cancelled) const {
  SOTTO_CHECK(check_parameters(layout_, inputs.parameters));
  if (cancelled()) return failed("the ranking was stopped before it began");
  SOTTO_TRY(const std::vector<ItemRow> history, liked(own));
  const auto catalogue = static_cast<std::size_t>(settings_.catalogue);
  const VectorRanking ranking(inputs.parameters.first(catalogue), inputs.parameters.subspan(catalogue),
                              settings_.weights);
  return chosen_scores(ranking.scores(history), question.items);
}

}  // namespace sotto::local
