#pragma once
// Items as the index knows them: the dot products of their vectors with a few public directions (basis
// vectors or prototypes), computed once when an item enters.
//
// Immutable; safe to share between threads.

#include <span>
#include <vector>

#include "base/result.h"

namespace sotto::serving {

class Projection {
 public:
  // directions: back to back, `dimension` numbers each.
  static Result<Projection> create(std::vector<float> directions, std::size_t dimension);

  std::size_t dimension() const { return dimension_; }  // of item vectors
  std::size_t directions() const { return directions_.size() / dimension_; }
  std::span<const float> direction(std::size_t i) const {
    return std::span(directions_).subspan(i * dimension_, dimension_);
  }
  // products: one per direction. vector.size() == dimension().
  void apply(std::span<const float> vector, std::span<float> products) const;

 private:
  Projection(std::vector<float> directions, std::size_t dimension)
      : directions_(std::move(directions)), dimension_(dimension) {}
  std::vector<float> directions_;
  std::size_t dimension_;
};

}  // namespace sotto::serving
