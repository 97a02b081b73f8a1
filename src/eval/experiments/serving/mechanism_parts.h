#pragma once
// Shared by the mechanisms: drawing for many readers at once, and the makers that make_mechanism() chooses
// from.

#include "eval/experiments/serving/serving_mechanism.h"
#include "privacy/mechanisms/guarantee_mode.h"
#include "privacy/noise/device_random.h"

namespace sotto::private_serving {

// Row i is filled with randomness of its own, addressed by (seed, i), on all threads.
using DrawRow = std::function<Status(std::size_t row, std::span<float> out, DeviceRandom random)>;
Result<Rows> draw_rows(std::size_t rows, std::size_t width, std::uint64_t seed, const DrawRow& draw);

// What a mechanism states about itself, in the numbers of a table. An event of Gaussian noise is given at
// gaussian_delta.
Result<AnswerPrivacy> privacy_of(const MechanismStatement& statement);

Result<std::unique_ptr<ServingMechanism>> make_prototype_mechanism(const MechanismChoice& choice,
                                                                   const PublicKnowledge& known,
                                                                   std::uint64_t seed);
Result<std::unique_ptr<ServingMechanism>> make_pack_mechanism(const MechanismChoice& choice,
                                                              const PublicKnowledge& known,
                                                              std::uint64_t seed);
Result<std::unique_ptr<ServingMechanism>> make_coefficient_mechanism(const MechanismChoice& choice,
                                                                     const PublicKnowledge& known,
                                                                     std::uint64_t seed);
Result<std::unique_ptr<ServingMechanism>> make_direction_mechanism(const MechanismChoice& choice,
                                                                   const PublicKnowledge& known,
                                                                   std::uint64_t seed);
Result<std::unique_ptr<ServingMechanism>> make_vector_mechanism(const MechanismChoice& choice,
                                                                const PublicKnowledge& known);

}  // namespace sotto::private_serving
