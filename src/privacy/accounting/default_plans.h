#pragma once
// What recipes are declared with and `sotto privacy claims` reckons with, where no recipe is built in.

namespace sotto::privacy {

// dp-svd: noise multiplier of its counts over that of its pairs (choose_noise).
inline constexpr double dp_svd_choose_noise = 2.5;

}  // namespace sotto::privacy
