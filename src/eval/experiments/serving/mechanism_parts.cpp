#include "eval/experiments/serving/mechanism_parts.h"

#include <mutex>

#include "base/thread_pool.h"
#include "privacy/mechanisms/gaussian_calibration.h"

namespace sotto::private_serving {

Result<Rows> draw_rows(std::size_t rows, std::size_t width, std::uint64_t seed, const DrawRow& draw) {
  Rows result(rows, width);
  std::mutex mutex;
  Status first_failure;
  parallel_for(rows, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      SeededRandom random(seed, Purpose::noise, 1, static_cast<std::uint32_t>(i));
      if (auto status = draw(i, result[i], DeviceRandom::simulated(random)); !status) {
        const std::lock_guard lock(mutex);
        first_failure = std::move(status);
        return;
      }
    }
  });
  SOTTO_CHECK(first_failure);
  return result;
}

Result<AnswerPrivacy> privacy_of(const MechanismStatement& statement) {
  AnswerPrivacy privacy{std::nullopt, 0, statement.claimed_epsilon};
  if (!statement.holds) return privacy;
  const Mechanism& mechanism = statement.holds->mechanism;
  if (const auto* pure = std::get_if<PureDp>(&mechanism)) {
    privacy.epsilon = pure->epsilon;
  } else if (const auto* gaussian = std::get_if<GaussianNoise>(&mechanism)) {
    SOTTO_TRY(privacy.epsilon, true_gaussian_epsilon(gaussian->noise_multiplier, gaussian_delta));
    privacy.delta = gaussian_delta;
  } else {
    return failed("no epsilon is known here for {}", describe(mechanism));
  }
  return privacy;
}

}  // namespace sotto::private_serving
