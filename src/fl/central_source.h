#pragma once
// Centralised training as a source of rounds: each round is one step on a batch of everybody's clicks, in a
// new seeded order every epoch. The twin every federated system is compared with; it collects all data, and
// so has no privacy at all.

#include "fl/news_training.h"
#include "fl/round_update.h"

namespace sotto::fl {

class CentralSource final : public UpdateSource {
 public:
  // batch: clicks per step. clip: L2 norm that the mean gradient of a step is scaled down to; 0: never.
  CentralSource(const TrainingData& data, NewsTraining& training, std::int64_t batch, double clip,
                std::uint64_t seed);
  Result<RoundUpdate> round(std::uint32_t round) override;
  std::uint32_t rounds_per_epoch() const;

 private:
  NewsTraining& training_;
  std::vector<data::TrainingSample> samples_;
  std::vector<std::uint32_t> order_;
  std::uint32_t ordered_epoch_;
  std::size_t batch_;
  double clip_;
  std::uint64_t seed_;
};

}  // namespace sotto::fl
