#include "eval/served_vectors.h"

#include <algorithm>
#include <mutex>

#include "base/thread_pool.h"

namespace sotto::eval {

using publish::Rows;

Result<Rows> draw_rows(std::size_t rows, std::size_t width, std::uint64_t seed, const DrawRow& draw) {
  Rows result(rows, width);
  std::mutex mutex;
  Status first_failure;
  parallel_for(rows, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      SeededRandom random(seed, Purpose::noise, 1, static_cast<std::uint32_t>(i));
      if (auto status = draw(i, result[i], privacy::DeviceRandom::simulated(random)); !status) {
        const std::lock_guard lock(mutex);
        first_failure = std::move(status);
        return;
      }
    }
  });
  SOTTO_CHECK(first_failure);
  return result;
}

Result<privacy::ServingQuery> answer_of(const privacy::ServingMechanism& mechanism,
                                        std::span<const float> user, privacy::DeviceRandom random) {
  return mechanism.price() ? mechanism.draw(user, random) : mechanism.exact(user);
}

Result<Rows> served_vectors(privacy::ServingMechanisms table, const privacy::ServingMechanism& mechanism,
                            const privacy::PublicVectors& vectors, const Rows& users, std::uint64_t seed) {
  return draw_rows(users.size(), vectors.dimension, seed,
                   [&](std::size_t i, std::span<float> out, privacy::DeviceRandom random) -> Status {
                     SOTTO_TRY(const auto query, answer_of(mechanism, users[i], random));
                     SOTTO_TRY(const auto heard, privacy::estimate(table, query, vectors));
                     SOTTO_TRY(const auto ranked_by,
                               privacy::ranking_vector(heard, vectors, mechanism.average_share()));
                     std::copy(ranked_by.begin(), ranked_by.end(), out.begin());
                     return {};
                   });
}

}  // namespace sotto::eval
