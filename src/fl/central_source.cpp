#include "fl/central_source.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/distributions.h"
#include "fl/plain_means.h"
#include "fl/process_group.h"

namespace sotto::fl {

CentralSource::CentralSource(const TrainingData& data, NewsTraining& training, std::int64_t batch,
                             double clip, std::uint64_t seed)
    : training_(training),
      ordered_epoch_(std::numeric_limits<std::uint32_t>::max()),
      batch_(static_cast<std::size_t>(batch)),
      clip_(clip),
      seed_(seed) {
  for (const auto& user : data.samples) samples_.insert(samples_.end(), user.begin(), user.end());
}

std::uint32_t CentralSource::rounds_per_epoch() const {
  return static_cast<std::uint32_t>((samples_.size() + batch_ - 1) / batch_);
}

Result<RoundUpdate> CentralSource::round(std::uint32_t round) {
  if (processes().size() > 1)
    return bad_input("what is trained in one place is computed in one process: leave out --processes");
  const std::uint32_t epoch = round / rounds_per_epoch(), step = round % rounds_per_epoch();
  if (epoch != ordered_epoch_) {
    order_.resize(samples_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    SeededRandom random(seed_, Purpose::batch_order, epoch);
    shuffle(std::span(order_), random);
    ordered_epoch_ = epoch;
  }
  std::vector<data::TrainingSample> batch;
  for (std::size_t i = step * batch_; i < std::min(samples_.size(), (step + 1) * batch_); ++i)
    batch.push_back(samples_[order_[i]]);
  const LocalGradient total = training_.batch_gradient(round, batch);
  const auto samples = static_cast<double>(total.samples);
  torch::Tensor direction = total.gradient / samples;
  if (clip_ > 0) SOTTO_CHECK(ClipNorm(clip_).apply(round, model::unknown_user, direction));
  return RoundUpdate{std::move(direction), total.loss / samples, 0, total.samples, 0, 0};
}

}  // namespace sotto::fl
