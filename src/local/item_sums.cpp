#include "local/item_sums.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "local/check_numbers.h"

namespace sotto::local {

std::uint64_t pair_count(std::uint64_t items) { return items * (items + 1) / 2; }

std::uint64_t most_items_of_pairs(unsigned bits) {
  std::uint64_t items = 1;
  while (pair_count(items + 1) * bits <= 8 * most_pair_bytes) ++items;
  return items;
}

std::vector<OwnItem> own_items(std::span<const OwnRow> rows, double low) {
  std::vector<OwnItem> own;
  for (const OwnRow& row : rows) {
    const auto weight = static_cast<float>(row.positive ? 1 : low);
    if (weight > 0) own.push_back({row.item, weight});
  }
  std::sort(own.begin(), own.end(), [](const OwnItem& a, const OwnItem& b) {
    return a.item != b.item ? a.item < b.item : a.weight > b.weight;
  });
  own.erase(std::unique(own.begin(), own.end(),
                        [](const OwnItem& a, const OwnItem& b) { return a.item == b.item; }),
            own.end());
  return own;
}

namespace {

double length_of(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

// To length 1; zeros stay.
void normalise(std::span<float> values) {
  const double length = length_of(values);
  if (length == 0) return;
  for (float& value : values) value = static_cast<float>(value / length);
}

}  // namespace

std::vector<float> item_shares(std::span<const OwnItem> own, std::size_t items) {
  std::vector<float> shares(items, 0);
  for (const OwnItem& one : own) shares[one.item] = one.weight;
  normalise(shares);
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

std::vector<float> taste(std::span<const OwnItem> own, std::span<const ItemRow> chosen,
                         std::span<const float> counts, double centre) {
  std::vector<float> y(chosen.size(), 0);
  for (std::size_t place = 0; place < chosen.size(); ++place) {
    const auto found = std::lower_bound(own.begin(), own.end(), chosen[place],
                                        [](const OwnItem& one, ItemRow item) { return one.item < item; });
    if (found != own.end() && found->item == chosen[place]) y[place] = found->weight;
  }
  if (length_of(y) == 0) return y;
  normalise(y);
  for (std::size_t place = 0; place < y.size(); ++place)  // noise makes counts negative
    y[place] -= static_cast<float>(centre * std::max(counts[chosen[place]], 0.0F));
  normalise(y);
  return y;
}

std::vector<float> pair_shares(std::span<const float> y) {
  std::vector<float> shares(pair_count(y.size()));
  float* next = shares.data();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto beside = static_cast<float>(std::numbers::sqrt2 * y[i]);
    *next++ = y[i] * y[i];
    for (std::size_t j = i + 1; j < y.size(); ++j) *next++ = beside * y[j];
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

Result<std::span<const OwnRow>> ItemSumsTrainer::latest_rows(const OwnEvents& own) const {
  const std::size_t read = std::min(own.rows.size(), static_cast<std::size_t>(settings_.max_rows));
  const auto rows = std::span(own.rows).last(read);
  for (const OwnRow& row : rows)
    if (row.item >= settings_.catalogue)
      return bad_input("a row names item {} of {}: leave items out that the model does not know", row.item,
                       settings_.catalogue);
  return rows;
}

Result<LocalUpdate> ItemSumsTrainer::train(const RoundInputs& inputs, const OwnEvents& own,
                                           RandomSource& /*draws*/, const Cancelled& cancelled) const {
  SOTTO_CHECK(check_parameters(layout_, inputs.parameters));
  if (inputs.round > 2) return bad_input("round {} has no sum: there are two", inputs.round);
  if (cancelled()) return failed("the training was stopped before it began");
  SOTTO_TRY(const auto rows, latest_rows(own));
  const std::vector<OwnItem> known = own_items(rows, settings_.weights.low);
  LocalUpdate update;
  update.samples = known.size();
  const auto catalogue = static_cast<std::size_t>(settings_.catalogue);
  if (inputs.round == 1) {
    update.direction = item_shares(known, catalogue);
    return update;
  }
  const auto counts = inputs.parameters.first(catalogue);
  const auto chosen = most_counted(counts, static_cast<std::size_t>(settings_.items));
  update.direction = pair_shares(taste(known, chosen, counts, settings_.centre));
  return update;
}

Result<std::vector<float>> ItemSumsTrainer::rank(const RoundInputs& inputs, const OwnEvents& own,
                                                 const RankingQuestion& question, RandomSource& /*draws*/,
                                                 const Cancelled& cancelled) const {
  SOTTO_CHECK(check_parameters(layout_, inputs.parameters));
  if (cancelled()) return failed("the ranking was stopped before it began");
  SOTTO_TRY(const auto rows, latest_rows(own));
  std::vector<ItemRow> liked, known;
  for (const OwnRow& row : rows) (row.positive ? liked : known).push_back(row.item);
  const auto catalogue = static_cast<std::size_t>(settings_.catalogue);
  const VectorRanking ranking(inputs.parameters.first(catalogue), inputs.parameters.subspan(catalogue),
                              settings_.weights);
  return chosen_scores(ranking.scores(liked, known), question.items);
}

}  // namespace sotto::local
