#pragma once
// Rounds of simulated devices with the parts they refer to.

#include <gtest/gtest.h>

#include "fl/device_fold.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::fl::testing {

// Tests of what a round promises run on both ways to simulate it.
class EitherGather : public ::testing::TestWithParam<const char*> {};
inline const auto either_gather = ::testing::Values("simulated", "law");

// The whole model goes down and the mean of the updates comes back.
struct WholeModelRounds {
  WholeModelRounds(const char* sums, const secagg::EncodingPlan& plan, CohortSampler sampler,
                   std::uint64_t participations, UserUpdates& updates, const torch::Tensor& values,
                   std::uint64_t seed)
      : fold(plan, values),
        gather(
            SumSettings{.sums = sums}
                .gather(
                    {{std::move(sampler), participations}, updates, privacy::NoiseOrigin::reproducible(seed)})
                .value()) {}
  Result<RoundUpdate> round(std::uint32_t number) { return rounds.round(number); }

  WholeModelFold fold;
  std::unique_ptr<Gather> gather;
  CohortRounds rounds{fold, *gather};
};

// What the server decodes of a round's sum.
inline torch::Tensor mean_of(Gather& gather, const RoundOrder& order) {
  const Gathered gathered = gather.sum(order).value();
  secagg::SumDecoder server(order.plan);
  for (const GroupSum& group : gathered.groups)
    if (!server.add_group(group.entries))
      throw std::runtime_error("the sum of a group does not fit the plan");
  return torch::tensor(server.decode().value().update, torch::kFloat32);
}

}  // namespace sotto::fl::testing
