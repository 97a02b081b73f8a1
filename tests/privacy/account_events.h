#pragma once
// Short names for the events that the accountant tests use.

#include <vector>

#include "privacy/accounting/event.h"

namespace sotto::privacy::account_test {

using Events = std::vector<PrivacyEvent>;

inline PrivacyEvent gaussian(double noise, std::uint64_t count = 1) {
  return {GaussianNoise{noise}, Adjacency::add_remove, Unit::user, NoSampling{}, count};
}
inline PrivacyEvent sampled_gaussian(double noise, double rate, std::uint64_t count) {
  return {GaussianNoise{noise}, Adjacency::add_remove, Unit::user, PoissonSampling{rate}, count};
}
inline PrivacyEvent cohort_gaussian(double noise, std::uint64_t cohort, std::uint64_t population,
                                    std::uint64_t count) {
  return {GaussianNoise{noise}, Adjacency::replace_one, Unit::user,
          SamplingWithoutReplacement{cohort, population}, count};
}
inline PrivacyEvent laplace(double scale, std::uint64_t count = 1) {
  return {LaplaceNoise{scale}, Adjacency::add_remove, Unit::user, NoSampling{}, count};
}
inline PrivacyEvent response(double epsilon, std::uint64_t categories, std::uint64_t count = 1) {
  return {RandomisedResponse{epsilon, categories}, Adjacency::replace_one, Unit::user, NoSampling{}, count};
}

}  // namespace sotto::privacy::account_test
