#pragma once
// What a device says about its items in two private sums. With x the vector of its rows, 1 for an item it
// likes and `low` for one it only knows (rated low), and p the published counts per user:
//
//   counts: x / ‖x‖                                        one number per item, none negative
//   pairs:  upper triangle of y yᵀ, off the diagonal times √2, with
//           y ∝ x / ‖x‖ − centre·p on the chosen items, ‖y‖ = 1
//
// Both have norm 1 (0 for a device without such items); the √2 makes the norm of the triangle that of the
// whole symmetric matrix. What everybody likes is in the counts already: taking a part of it out of y leaves
// more of its length to taste. Pure functions, safe from several threads.

#include <cstdint>
#include <span>
#include <vector>

#include "local/local_trainer.h"
#include "local/vector_ranking.h"

namespace sotto::local {

// Coordinates of the triangle for so many items.
std::uint64_t pair_count(std::uint64_t items);

// The most items whose triangle, packed with so many bits per number, is no larger than an upload should be.
inline constexpr std::uint64_t most_pair_bytes = 1'000'000;
std::uint64_t most_items_of_pairs(unsigned bits);

struct OwnItem {
  ItemRow item;
  float weight;  // above 0
  bool operator==(const OwnItem& other) const { return item == other.item && weight == other.weight; }
};

// Every item once, ascending, with its largest weight; a low of 0 leaves rows that are not positive out.
std::vector<OwnItem> own_items(std::span<const OwnRow> rows, double low);

// own: distinct items of a device. Length: `items`.
std::vector<float> item_shares(std::span<const OwnItem> own, std::size_t items);

// The items with the largest counts, largest first; equal ones by number.
std::vector<ItemRow> most_counted(std::span<const float> counts, std::size_t chosen);

// y above for a device's items (ascending): one number per chosen item; zeros without any of them. counts: of
// all items.
std::vector<float> taste(std::span<const OwnItem> own, std::span<const ItemRow> chosen,
                         std::span<const float> counts, double centre);

// Row by row from the diagonal on: (0,0), (0,1), ..., (1,1), (1,2), ...; length: pair_count(y.size()).
std::vector<float> pair_shares(std::span<const float> y);

// dp-svd on a device: counts in the first round of a campaign, in the second pairs of the chosen items. The
// parameters are the model's as it is published: counts, which choose the items of the second sum and are
// what tastes are centred by, and vectors.
struct ItemSumsSettings {
  std::int64_t catalogue = 0, items = 0, vectors = 64;  // items: that are chosen
  double centre = 0.5;
  std::int64_t max_rows = 100'000;        // latest rows that are read
  RankingWeights weights = {.low = 0.7};  // low: in what is sent as well as in ranking
  EventUse events = {.reads_rows = true};
};

class ItemSumsTrainer final : public LocalTrainer {
 public:
  explicit ItemSumsTrainer(const ItemSumsSettings& settings);
  const Layout& layout() const override { return layout_; }
  std::size_t dimension(std::size_t items, std::uint64_t round) const override;
  EventUse reads() const override { return settings_.events; }
  // The direction is the device's part of the sum; samples are its items, and there is no loss.
  Result<LocalUpdate> train(const RoundInputs& inputs, const OwnEvents& own, RandomSource& draws,
                            const Cancelled& cancelled) const override;
  Result<std::vector<float>> rank(const RoundInputs& inputs, const OwnEvents& own,
                                  const RankingQuestion& question, RandomSource& draws,
                                  const Cancelled& cancelled) const override;

 private:
  Result<std::span<const OwnRow>> latest_rows(const OwnEvents& own) const;  // oldest first
  ItemSumsSettings settings_;
  Layout layout_;
};

}  // namespace sotto::local
