#pragma once
// What happens on the floor, made durable under the round's name.

#include <functional>

#include "base/chain_hash.h"
#include "coordinator/rooms/round_desk.h"
#include "coordinator/store/store.h"

namespace sotto::coordinator {

class StoreKeeper : public RoundKeeper {
 public:
  // `count` is called when devices may be charged from now on.
  StoreKeeper(Store& store, const Fence& fence, const Digest& round, std::function<Status()> count)
      : store_(store), fence_(fence), round_(round), count_(std::move(count)) {}
  Status begin_unmasking() override {
    SOTTO_CHECK(store_.begin_unmasking(fence_, round_));
    return count_();
  }
  Status keep_sum(const GroupSum& sum) override { return store_.keep_sum(fence_, round_, sum); }
  Status leave_out(const rounds::IdentityKey& device) override {
    return store_.leave_out(fence_, {device, round_});
  }
  Result<std::set<rounds::IdentityKey>> left_out() override {
    SOTTO_TRY(const auto order, store_.order(round_));
    if (!order) return failed("there is no order of the round {}", to_hex(round_));
    SOTTO_TRY(const auto list, store_.left_out(order->campaign));
    std::set<rounds::IdentityKey> devices;
    for (const LeftOut& one : list) devices.insert(one.device);
    return devices;
  }

 private:
  Store& store_;
  const Fence& fence_;
  const Digest& round_;
  const std::function<Status()> count_;
};

}  // namespace sotto::coordinator
