#pragma once
// How much of a noisy answer the server believes.

#include "eval/experiments/serving/public_knowledge.h"
#include "eval/experiments/serving/serving_mechanism.h"

namespace sotto::private_serving {

// average + weight · (answer − average), row by row.
Rows mixed_with_average(Rows answers, std::span<const float> average, double weight);

// The weight of a fixed list with the best expected AUC when held-out simulated readers answer. With 0, when
// none is surely and by more than a twentieth of the possible gain better, the server falls back to the
// public average user.
Result<double> best_weight(const PublicKnowledge& known,
                           const std::function<Result<Rows>(const Rows& user_vectors, const Rows& readers,
                                                            std::uint64_t seed)>& answer,
                           std::uint64_t seed);

}  // namespace sotto::private_serving
