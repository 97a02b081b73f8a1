#pragma once
// Rounds of split training (Efficient-FedRec): devices fetch the user encoder and vectors of items, and
// return gradients of both; the fold carries the mean of the vectors' gradients back through the news
// encoder, which stays on the server.

#include <cstdint>

#include "fl/cohort_rounds.h"
#include "fl/device_fold.h"
#include "fl/split_training.h"
#include "model/tensor.h"

namespace sotto::fl {

// What devices fetch and compute, for items that the kinds below choose. Refers to the training.
class SplitFold : public UserUpdates {
 public:
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;

 protected:
  explicit SplitFold(SplitTraining& training) : training_(training) {}
  // Sends the vectors of these items (ascending) and the user encoder; returns the bytes of both.
  std::uint64_t send(std::vector<data::ItemId> items, bool compressed);
  SplitTraining& training() { return training_; }
  const std::vector<data::ItemId>& items() const { return items_; }
  const Received& vectors() const { return vectors_; }
  const Received& user() const { return user_; }

 private:
  SplitTraining& training_;
  std::vector<data::ItemId> items_;
  Received vectors_, user_;  // as devices have them in this round
};

// Sound: devices receive the vectors of the whole catalogue and return gradients for all of them, zero for
// those they did not read: which coordinates are sent depends on nobody.
class CatalogueFold final : public SplitFold, public DeviceFold {
 public:
  CatalogueFold(secagg::EncodingPlan plan, SplitTraining& training, std::uint64_t catalogue);
  Result<RoundTask> open(std::uint32_t round) override;
  void publish() override;
  Result<torch::Tensor> fold(std::uint32_t round, const torch::Tensor& mean,
                             const Gathered& gathered) override;

 private:
  secagg::EncodingPlan plan_;
  std::vector<data::ItemId> catalogue_;
};

struct EfficientSettings {
  std::int64_t group = 50;
  bool compress = false;  // not in the paper
  std::int64_t upload_bits = 14;
  double largest_update = 10;
  void bind(SettingsTable& table);
};

// As printed: a group finds the union of its items inside a secure sum and fetches the vectors of these. The
// sum of gradients is without noise, and click counts are summed beside it: an item that one device alone
// holds shows that device's gradient (docs/systems.md). Draws are addressed by (seed, round, user).
class UnionFold final : public SplitFold, public RoundFold {
 public:
  UnionFold(const EfficientSettings& settings, CohortSampler sampler, SplitTraining& training,
            std::uint64_t catalogue, std::uint64_t seed)
      : SplitFold(training),
        settings_(settings),
        sampler_(std::move(sampler)),
        catalogue_(catalogue),
        seed_(seed) {}
  Result<RoundTask> open(std::uint32_t round) override;
  Result<torch::Tensor> fold(std::uint32_t round, const torch::Tensor& mean,
                             const Gathered& gathered) override;

 private:
  struct Union {
    std::vector<data::ItemId> items;  // ascending
    std::uint64_t bytes_up = 0;       // per device, all attempts
  };
  Result<Union> items_of(std::uint32_t round, const std::vector<data::UserId>& group);
  Result<secagg::EncodingPlan> plan_for(std::size_t devices, std::uint64_t dimension,
                                        std::uint32_t round) const;

  EfficientSettings settings_;
  CohortSampler sampler_;
  std::uint64_t catalogue_, seed_;
};

}  // namespace sotto::fl
