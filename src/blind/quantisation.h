#pragma once
// Vectors as small whole numbers: items by their distance from the centroid of their cluster, in steps of the
// cluster; user vectors in steps of their own length. With e ≈ centroid + step·q and u ≈ w/scale
//
//   u·e ≈ u·centroid + (step/scale)·(w·q)
//
// of which the device knows all but w·q, which it decrypts.

#include <cstdint>
#include <span>
#include <vector>

#include "blind/parameters.h"

namespace sotto::blind {

// The step with which the items of a cluster are rounded: fine, but with no norm above item_norm and few
// entries beyond item_most. residuals: rows of `dimension` numbers, finite.
float step_of(std::span<const float> residuals, const Parameters& parameters);
// out: dimension numbers between -item_most and item_most. Their norm is at most item_norm, whatever is
// given: where step_of did not see this item, it is shortened.
void quantise_item(std::span<const float> residual, float step, const Parameters& parameters,
                   std::span<std::int8_t> out);

struct QuantisedUser {
  std::vector<std::int32_t> entries;
  float scale = 1;
};
// Norm at most user_norm, whatever is given (numbers that are not finite count as 0). No branch and no index
// depends on the values.
QuantisedUser quantise_user(std::span<const float> user, const Parameters& parameters);

}  // namespace sotto::blind
