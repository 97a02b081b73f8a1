#pragma once
// Rounds whose devices are elsewhere: this process makes the versions, and whoever started it brings the sums
// of the devices that trained on them.

#include <functional>

#include "fl/device_fold.h"

namespace sotto::fl {

// All of it is asked of the other side, and may take as long as devices take.
struct RemoteRounds {
  std::vector<secagg::EncodingPlan> plans;              // round by round, the last for all that follow
  std::function<Status(const DeviceTask& task)> begin;  // once, before the first round
  // The sums of a round on this version.
  std::function<Result<std::vector<GroupSum>>(const RoundOrder& order, const Fetched& version)> sums;
  std::function<Status(const Fetched& version)> finish;  // the last version
};

// Refers to both.
class RemoteGather final : public Gather {
 public:
  RemoteGather(const RemoteRounds& rounds, const DeviceFold& fold) : rounds_(rounds), fold_(fold) {}

  Result<Gathered> sum(const RoundOrder& order) override {
    Gathered gathered;
    SOTTO_TRY(gathered.groups, rounds_.sums(order, fold_.fetched()));
    return gathered;
  }

 private:
  const RemoteRounds& rounds_;
  const DeviceFold& fold_;
};

}  // namespace sotto::fl
