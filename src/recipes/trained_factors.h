#pragma once
// A model without text as devices rank by it: every item of the catalogue is a public vector e_i, a reader
//
//   u = constant + (Σ_{j in history} e_j · mix) / √n,   n: clicks that say something, e_j · mix ≠ 0
//
// and an item's score is u·e_i. Part of e_j may be what a click says of its reader and another part what the
// item is ranked by: `mix` takes the one to the place of the other.

#include <cstddef>
#include <vector>

namespace sotto::recipes {

struct TrainedFactors {
  std::size_t size = 0;            // D
  std::vector<float> items;        // I x D, in the order of the catalogue
  std::vector<float> mix;          // D x D
  std::vector<float> constant;     // D
  std::vector<float> unseen_item;  // D: of an item that was not there in training
};

}  // namespace sotto::recipes
