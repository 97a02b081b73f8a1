#pragma once
// Whoever computes what single users would send: gradients or differences of weights. Per-user clipping and
// noise stand behind this seam and need to know nothing about models.

#include <functional>
#include <span>

#include "base/result.h"
#include "data/dataset.h"
#include "model/tensor.h"

namespace sotto {

struct UserUpdate {
  UserId user = 0;
  torch::Tensor direction;  // [P], to descend along; the next user may overwrite it
  double loss = 0;          // summed over the samples
  std::uint64_t samples = 0;
};

// Pure in (current parameters, round, user); not thread-safe.
class UserUpdates {
 public:
  virtual ~UserUpdates() = default;
  // Calls take() for every user in the order given; its first failure ends the walk and is returned.
  virtual Status each_update(std::uint32_t round, std::span<const UserId> users,
                             const std::function<Status(const UserUpdate&)>& take) = 0;
};

}  // namespace sotto
