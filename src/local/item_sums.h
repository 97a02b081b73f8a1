#pragma once
// What a device says about its items in two private sums. With x the 0/1 vector of a device's items:
//
//   counts: x / ‖x‖                                               one number per item
//   pairs:  upper triangle of y yᵀ, y = x on the chosen items, ‖y‖ = 1; off the diagonal times √2
//
// Both vectors have norm 1 (0 for a device without such items) and no negative entry; the √2 makes the norm
// of the triangle that of the whole symmetric matrix. Pure functions, safe from several threads.

#include <cstdint>
#include <span>
#include <vector>

#include "local/local_trainer.h"
#include "local/vector_ranking.h"

namespace sotto::local {

// Coordinates of the triangle for so many items.
std::uint64_t pair_count(std::uint64_t items);

// own: distinct items of a device. Length: `items`.
std::vector<float> item_shares(std::span<const ItemRow> own, std::size_t items);

// The items with the largest counts, largest first; equal ones by number.
std::vector<ItemRow> most_counted(std::span<const float> counts, std::size_t chosen);

// Where a device's items (ascending) stand among the chosen ones, ascending.
std::vector<std::uint32_t> places_among(std::span<const ItemRow> own, std::span<const ItemRow> chosen);

// own: distinct positions (below `items`) of a device's items among the chosen ones, ascending.
// Row by row from the diagonal on: (0,0), (0,1), ..., (1,1), (1,2), ...; length: pair_count(items).
std::vector<float> pair_shares(std::span<const std::uint32_t> own, std::size_t items);

// dp-svd on a device: its items in the first round of a campaign, in the second which of the chosen ones it
// likes together; of its positive rows. The parameters are the model's as it is published: counts, which
// choose the items of the second sum, and vectors.
struct ItemSumsSettings {
  std::int64_t catalogue = 0, items = 0, vectors = 64;  // items: that are chosen
  std::int64_t max_rows = 100'000;                      // latest rows that are read
  RankingWeights weights;
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
  Result<std::vector<ItemRow>> liked(const OwnEvents& own) const;  // oldest first
  ItemSumsSettings settings_;
  Layout layout_;
};

}  // namespace sotto::local
