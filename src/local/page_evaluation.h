#pragma once
// How well a version ranks for one reader, measured on pages that the reader's device keeps out of training,
// as two bounded numbers that may go into a secure sum. Which pages these are follows from what they show, so
// that a device keeps the same ones out of every round. Pure functions.

#include <array>

#include "local/local_trainer.h"

namespace sotto::local {

struct HeldOutPages {
  std::uint64_t one_in = 0;  // of a reader's pages one in so many; 0: none
  std::uint64_t most = 0;    // of them the latest, so many, count
};

bool is_held_out(const OwnImpression& page, std::uint64_t one_in);
// What is left to train on. Refers to the same memory.
OwnEvents without_held_out(const OwnEvents& own, std::uint64_t one_in);

// How many pages count, and the sum of 2·AUC − 1 over them, both divided by `most`: the first in [0, 1] and
// the second at most as far from 0. Pages on which everything or nothing was clicked do not count. Refuses a
// recipe that ranks no pages.
using PageNumbers = std::array<float, 2>;
inline constexpr double longest_page_numbers = 1.4142135623730951;  // L2 norm
Result<PageNumbers> evaluate_pages(const LocalTrainer& trainer, const RoundInputs& inputs,
                                   const OwnEvents& own, const HeldOutPages& pages, RandomSource& draws,
                                   const Cancelled& cancelled);

}  // namespace sotto::local
