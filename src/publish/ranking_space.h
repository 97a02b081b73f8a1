#pragma once
// The coordinates in which readers are compared by how they rank.
//
// Items v with mean m and covariance C = E Λ Eᵀ become z = Λ^(-1/2) Eᵀ (v − m), a reader u becomes
// w = Λ^(1/2) Eᵀ u, made length 1. Then w·z orders items exactly as u·v does (a shift and a positive factor
// per reader apart), and the cosine of two readers is the correlation of their scores over the catalogue: the
// right distance for prototypes. Directions in which items do not differ carry no ranking and are left out.
//
// Made from items alone, so as public as they are. Immutable, safe to share between threads.

#include "base/result.h"
#include "publish/rows.h"

namespace sotto::publish {

class RankingSpace {
 public:
  // At least two items that differ.
  static Result<RankingSpace> of_items(const Rows& items);

  std::size_t dimension() const { return items_.width; }
  const Rows& items() const { return items_; }  // [N, dimension()], in the order given
  Rows readers(const Rows& user_vectors) const;
  // The user vectors themselves, each made so long that its scores over the catalogue have variance 1: means
  // of these rank as means of readers() do.
  Rows comparable(Rows user_vectors) const;

 private:
  RankingSpace(Rows items, Rows to_space) : items_(std::move(items)), to_space_(std::move(to_space)) {}
  Rows items_;
  Rows to_space_;  // [dimension(), d]: Λ^(1/2) Eᵀ
};

}  // namespace sotto::publish
