#pragma once
// The two towers of a device's model, on a tape. The trainers that rank clicks above non-clicks know nothing
// else about a model (ranking_trainer.h).
//
// Letters: M items, W clicks, U histories, D numbers of a vector.

#include <span>

#include "base/random.h"
#include "local/examples.h"
#include "local/layout.h"
#include "local/local_trainer.h"
#include "local/tape/ragged.h"
#include "local/tape/rows.h"

namespace sotto::local {

// A pass of a model: its parameters in the order of its layout, and where dropout comes from.
struct Pass {
  Tape<float>& tape;
  std::span<const Value<float>> parameters;
  RandomSource& draws;
};

// Histories as rows of a table of item vectors. An empty one has one row that stands for a blank item.
struct Histories {
  RowNumbers rows;            // [W]
  Offsets offsets = {0};      // [U + 1]
  std::vector<Index> clicks;  // [U], 0 for an empty one
};

// Immutable.
class RankingModel {
 public:
  virtual ~RankingModel() = default;
  virtual const Layout& layout() const = 0;
  // Whether what was fetched is what the model reads.
  virtual Status check(const RoundInputs& inputs) const = 0;
  // Vectors of these items: [M, D].
  virtual Value<float> items(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const = 0;
  // User vectors [U, D] from item vectors whose last row is the blank item's, zeros.
  virtual Value<float> users(Pass& pass, const Value<float>& vectors, const Histories& histories) const = 0;
  // About the numbers that a pass keeps for a click or a candidate.
  virtual std::size_t numbers_per_row() const = 0;
};

}  // namespace sotto::local
