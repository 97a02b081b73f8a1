#pragma once
// Rounds whose devices are elsewhere: this process makes the versions, and whoever started it brings the sums
// of the devices that trained on them.

#include <functional>

#include "fl/cohort_rounds.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::fl {

struct RemoteModel {
  std::string layout;            // FlatParameters::layout
  std::vector<std::string> ids;  // of the public items
  torch::Tensor items;           // [ids, D], on the CPU
};

// All of it is asked of the other side, and may take as long as devices take.
struct RemoteRounds {
  secagg::EncodingPlan plan;
  std::function<Status(const RemoteModel& model)> begin;  // once, before the first round
  // The sums of a round on these parameters [P].
  std::function<Result<std::vector<GroupSum>>(const RoundOrder& order, const torch::Tensor& values)> sums;
  // The last version.
  std::function<Status(const torch::Tensor& values)> finish;
};

// Refers to both.
class RemoteGather final : public Gather {
 public:
  RemoteGather(const RemoteRounds& rounds, const torch::Tensor& values) : rounds_(rounds), values_(values) {}

  Result<Gathered> sum(const RoundOrder& order) override {
    Gathered gathered;
    SOTTO_TRY(gathered.groups, rounds_.sums(order, values_));
    return gathered;
  }

 private:
  const RemoteRounds& rounds_;
  const torch::Tensor& values_;
};

}  // namespace sotto::fl
