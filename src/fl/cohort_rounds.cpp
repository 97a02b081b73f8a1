#include "fl/cohort_rounds.h"

#include <algorithm>

#include "secagg/vectors/update_encoding.h"

namespace sotto::fl {

void CohortRounds::follow(const BoundRule& rule) {
  rule_ = rule;
  bound_.fill_(rule.initial);
}

// A bound that never moves is a setting, not state.
std::vector<torch::Tensor*> CohortRounds::state() {
  std::vector<torch::Tensor*> tensors;
  if (rule_) tensors.push_back(&bound_);
  for (torch::Tensor* tensor : gather_.state()) tensors.push_back(tensor);
  return tensors;
}

Result<RoundUpdate> CohortRounds::round(std::uint32_t round) {
  SOTTO_TRY(RoundTask task, fold_.open(round));
  SOTTO_TRY(const Gathered gathered, gather_.sum({round, task.plan, bound()}));
  secagg::SumDecoder server(std::move(task.plan));
  for (const GroupSum& group : gathered.groups) SOTTO_CHECK(server.add_group(group.entries));
  SOTTO_TRY(const secagg::DecodedMean decoded, server.decode());
  const torch::Tensor mean = torch::tensor(decoded.update, torch::kFloat32) * bound();
  RoundUpdate update;
  SOTTO_TRY(update.direction, fold_.fold(round, mean, gathered));
  if (rule_ && decoded.fraction_within)
    bound_.fill_(
        std::max(rule_->smallest, bound() - rule_->rate * (*decoded.fraction_within - rule_->quantile)));
  update.loss = gathered.loss / static_cast<double>(std::max<std::uint64_t>(gathered.samples, 1));
  update.samples = gathered.samples;
  update.clients = gathered.arrived();
  update.bytes_down = task.bytes_down + gathered.bytes_down;
  update.bytes_up = task.bytes_up + gathered.bytes_up;
  return update;
}

}  // namespace sotto::fl
