#pragma once
// Who takes part in a round: a uniform sample of the users without replacement. Where an accountant counts on
// nobody knowing who was drawn (amplification by sampling) the draws are as secret as the noise; otherwise
// they are addressed by (seed, round).

#include <cstdint>
#include <limits>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "model/tensor.h"
#include "privacy/noise/noise_origin.h"

namespace sotto::fl {

class CohortSampler {
 public:
  // Cohorts that anybody may know.
  static Result<CohortSampler> create(std::vector<data::UserId> users, std::int64_t cohort,
                                      std::uint64_t seed);
  static Result<CohortSampler> create(std::vector<data::UserId> users, std::int64_t cohort,
                                      const privacy::NoiseOrigin& draws);
  // Ascending. Another cohort at every call where draws are secret.
  std::vector<data::UserId> sample(std::uint32_t round) const;
  const std::vector<data::UserId>& users() const { return users_; }  // ascending
  std::size_t population() const { return users_.size(); }
  std::uint32_t cohort() const { return cohort_; }

 private:
  CohortSampler(std::vector<data::UserId> users, std::uint32_t cohort, const privacy::NoiseOrigin& draws)
      : users_(std::move(users)), cohort_(cohort), draws_(draws) {}
  std::vector<data::UserId> users_;
  std::uint32_t cohort_;
  privacy::NoiseOrigin draws_;
};

// Cohorts in which a device that has taken part as often as it may stays away when it is drawn again.

// Participations of devices that nothing limits.
inline constexpr std::uint64_t every_round = std::numeric_limits<std::uint64_t>::max();

// Counts who took part, so every round is asked for once and in order; a resumed run restores the counts. Not
// thread-safe.
class CappedCohorts {
 public:
  struct Cohort {
    std::vector<data::UserId> drawn, present;  // ascending; present: those who come
  };
  CappedCohorts(CohortSampler sampler, std::uint64_t participations)
      : sampler_(std::move(sampler)),
        participations_(participations),
        taken_part_(torch::zeros({static_cast<std::int64_t>(sampler_.population())}, torch::kFloat64)) {}
  Cohort sample(std::uint32_t round);
  std::uint64_t participations() const { return participations_; }
  std::uint32_t drawn() const { return sampler_.cohort(); }  // devices per round
  // What a resumed run must know; nothing without a cap.
  std::vector<torch::Tensor*> state();

 private:
  CohortSampler sampler_;
  std::uint64_t participations_;
  torch::Tensor taken_part_;  // [population], rounds so far
};

}  // namespace sotto::fl
