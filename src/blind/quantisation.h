#pragma once
// Vectors as small whole numbers: items by their distance from the centroid of their cluster, in steps of the
// cluster; user vectors in steps of their own length. With e ≈ centroid + step·q and u ≈ w/scale
//
//   u·e ≈ u·centroid + (step/scale)·(w·q)
//
// of which the device knows all but w·q, which it decrypts. All vectors are rotated (rotation.h).
//
// Who asks about a cluster looks its way, so an error along the cluster's taste t costs more than one across:
// what is rounded is not each number for itself, but so that |δ|² + taste_weight·(δ·t)² is small.

#include <cstdint>
#include <span>
#include <vector>

#include "blind/parameters.h"

namespace sotto::blind {

// The step with which the items of a cluster are rounded: fine, but with no norm above item_norm and few
// entries beyond item_most. residuals: rows of `dimension` numbers, finite.
float step_of(std::span<const float> residuals, const Parameters& parameters);
// taste: of length 1. out: dimension numbers between -item_most and item_most. Their norm is at most
// item_norm, whatever is given: where step_of did not see this item, it is shortened.
void quantise_item(std::span<const float> residual, std::span<const float> taste, float step,
                   const Parameters& parameters, std::span<std::int8_t> out);

struct QuantisedUser {
  std::vector<std::int32_t> entries;
  float scale = 1;
};
// Norm at most user_norm, whatever is given (numbers that are not finite count as 0). No branch and no index
// depends on the values.
QuantisedUser quantise_user(std::span<const float> user, const Parameters& parameters);

}  // namespace sotto::blind
