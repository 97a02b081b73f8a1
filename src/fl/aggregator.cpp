#include "fl/aggregator.h"

namespace sotto {

void WeightedMean::add(const torch::Tensor& update, double weight) { add_sum(update * weight, weight, 1); }

void WeightedMean::add_sum(const torch::Tensor& weighted_sum, double weight, std::uint64_t clients) {
  if (sum_.defined())
    sum_.add_(weighted_sum);
  else
    sum_ = weighted_sum.clone();
  weight_ += weight;
  clients_ += clients;
}

void WeightedMean::merge(WeightedMean&& other) {
  if (other.sum_.defined()) add_sum(other.sum_, other.weight_, other.clients_);
  other = WeightedMean(other.minimum_clients_);
}

Result<torch::Tensor> WeightedMean::report() && {
  if (clients_ < minimum_clients_)
    return failed("only {} of at least {} clients took part: the round is discarded", clients_,
                  minimum_clients_);
  if (!(weight_ > 0)) return failed("the updates of the round have no weight");
  return std::move(sum_).div_(weight_);
}

}  // namespace sotto
