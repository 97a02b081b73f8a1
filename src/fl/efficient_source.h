#pragma once
// Rounds of Efficient-FedRec: a group finds the union of its items inside a secure sum, fetches the user
// encoder and the union's vectors, and returns one secure sum of gradients, weighted by clicks, and of click
// counts. The sums are the protocol's own integer arithmetic.
//
// Without noise: an item that one device alone holds shows that device's gradient (docs/systems.md).

#include "fl/cohort_sampler.h"
#include "fl/round_update.h"
#include "fl/split_training.h"
#include "secagg/vectors/encoding_plan.h"

namespace sotto {

struct EfficientSettings {
  std::int64_t group = 50;
  bool compress = true;
  std::int64_t upload_bits = 14;
  double largest_update = 10;
  void bind(SettingsTable& table);
};

// Refers to the training. Draws are addressed by (seed, round, user): a round can be asked for again.
class EfficientSource final : public UpdateSource {
 public:
  EfficientSource(const EfficientSettings& settings, CohortSampler sampler, SplitTraining& training,
                  std::uint64_t catalogue, std::uint64_t seed)
      : settings_(settings),
        sampler_(std::move(sampler)),
        training_(training),
        catalogue_(catalogue),
        seed_(seed) {}
  Result<RoundUpdate> round(std::uint32_t round) override;

 private:
  struct Union {
    std::vector<ItemId> items;   // ascending
    std::uint64_t bytes_up = 0;  // per device, all attempts
  };
  Result<Union> items_of(std::uint32_t round, const std::vector<UserId>& group) const;
  Result<EncodingPlan> plan_for(std::size_t devices, std::uint64_t dimension, std::uint32_t round) const;

  EfficientSettings settings_;
  CohortSampler sampler_;
  SplitTraining& training_;
  std::uint64_t catalogue_, seed_;
};

}  // namespace sotto
