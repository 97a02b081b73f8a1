#pragma once
// Sums through the protocol itself: every device of a group is a client of secure aggregation with its own
// identity and secrets, and what adds up is a server that sees masked vectors alone. All of them live in this
// process and pass each other the bytes that a network would carry. Devices that stay away never answer.
//
// Masks cancel exactly, so the sum is that of SimulatedGather bit for bit. Keys and masks come from the
// secure generator whatever the seed is.

#include <map>

#include "fl/gather.h"

#ifdef SOTTO_HAVE_PROTOCOL
#include "secagg/shared/key_exchange.h"
#include "secagg/shared/parameters.h"

namespace sotto::fl {

class MaskedGather final : public InProcessGather {
 public:
  // server: what the group must withstand; the plan says how many devices may be lost or corrupted.
  MaskedGather(SimulatedDevices devices, secagg::ServerModel server)
      : InProcessGather(std::move(devices)), server_(server) {}

 protected:
  Result<std::unique_ptr<GroupInProcess>> open(const RoundOrder& order, std::span<const data::UserId> group,
                                               std::span<const data::UserId> present) override;

 private:
  secagg::ServerModel server_;
  std::map<data::UserId, secagg::Identity> identities_;  // registered when a device is first drawn
};

}  // namespace sotto::fl
#endif
