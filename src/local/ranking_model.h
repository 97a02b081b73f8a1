#pragma once
// The two towers of a device's model, on a tape. The trainer that ranks clicks above non-clicks knows nothing
// else about a model (ranking_trainer.h).
//
// Letters: M items, W clicks, U histories, D numbers of a vector.

#include <span>
#include <vector>

#include "base/random.h"
#include "local/local_trainer.h"
#include "local/tape/ragged.h"
#include "local/tape/rows.h"

namespace sotto::local {

// A pass of a model: its parameters in the order of its layout, and where dropout comes from.
struct Pass {
  Tape<float>& tape;
  std::span<const Value<float>> parameters;
  RandomSource& draws;
  bool trains = true;  // otherwise nothing is dropped
};

// Histories as rows of a table of item vectors. An empty one has one row, which stands for a blank item.
struct Histories {
  RowNumbers rows;            // [W]
  Offsets offsets = {0};      // [U + 1]
  std::vector<Index> clicks;  // [U], 0 for an empty one
};

// What becomes of the gradients of item vectors.
enum class ItemGradients {
  none,      // vectors are public and stay as they are
  returned,  // they stand before those of the parameters: the server has the rest of the model
  learned,   // they pass through the item encoder, whose parameters are among the model's
};

// Immutable.
class RankingModel {
 public:
  virtual ~RankingModel() = default;
  virtual const Layout& layout() const = 0;
  virtual Index vector_size() const = 0;  // D
  virtual ItemGradients item_gradients() const = 0;
  // How many items were fetched; refuses what the model cannot read.
  virtual Result<std::size_t> count_items(const RoundInputs& inputs) const = 0;
  // Vectors of these items, which were counted: [M, D].
  virtual Value<float> items(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const = 0;
  // User vectors [U, D] from item vectors whose last row is the blank item's, zeros.
  virtual Value<float> users(Pass& pass, const Value<float>& vectors, const Histories& histories) const = 0;
  // About the numbers that a pass keeps for an item that it encodes, and for a click that it reads.
  virtual std::size_t numbers_for(const RoundInputs& inputs, ItemRow item) const = 0;
  virtual std::size_t numbers_per_click() const = 0;
};

}  // namespace sotto::local
