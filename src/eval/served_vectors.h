#pragma once
// What a server ranks by that hears one private answer of every reader: draw, wire form and estimate are
// those of the table that devices and servers share, so that what is measured is what is served.

#include <functional>

#include "privacy/serving/serving_mechanism.h"
#include "publish/rows.h"

namespace sotto::eval {

// Row i is filled with randomness of its own, addressed by (seed, i), on all threads.
using DrawRow = std::function<Status(std::size_t row, std::span<float> out, privacy::DeviceRandom random)>;
Result<publish::Rows> draw_rows(std::size_t rows, std::size_t width, std::uint64_t seed, const DrawRow& draw);

// The device's answer to one reader: drawn, or exact where it has no ε.
Result<privacy::ServingQuery> answer_of(const privacy::ServingMechanism& mechanism,
                                        std::span<const float> user, privacy::DeviceRandom random);

// users: vectors of the space that the public vectors are of.
Result<publish::Rows> served_vectors(privacy::ServingMechanisms table,
                                     const privacy::ServingMechanism& mechanism,
                                     const privacy::PublicVectors& vectors, const publish::Rows& users,
                                     std::uint64_t seed);

}  // namespace sotto::eval
