#include "secagg/vectors/sum_decoder.h"

#include <algorithm>

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

SumDecoder::SumDecoder(EncodingPlan plan) : plan_(std::move(plan)), steps_(plan_.entries()) {}

Status SumDecoder::add_group(std::span<const std::uint32_t> sum) {
  if (decoded_) return bad_input("the mean was decoded already: use a new decoder for another round");
  SOTTO_CHECK(require_length(sum.size(), steps_.size(), "the sum of a group"));
  const Modulus modulus = plan_.modulus();
  if (std::any_of(sum.begin(), sum.end(), [&](std::uint32_t entry) { return entry > modulus.mask(); })) {
    return bad_input("the sum of a group has entries beyond {} bits: it was not reduced", modulus.bits());
  }
  for (std::size_t i = 0; i < sum.size(); ++i) steps_[i] += modulus.centre(sum[i]);
  ++groups_;
  return {};
}

Result<DecodedMean> SumDecoder::decode() {
  if (decoded_) return bad_input("the mean was decoded already");
  if (groups_ == 0) return bad_input("no group's sum was added: there is nothing to decode");
  decoded_ = true;
  const double step = plan_.settings().step, denominator = plan_.settings().denominator;
  DecodedMean mean;
  mean.update.resize(steps_.size());
  std::transform(steps_.begin(), steps_.end(), mean.update.begin(),
                 [&](std::int64_t steps) { return static_cast<double>(steps) * step; });
  if (plan_.rotation()) SOTTO_CHECK(plan_.rotation()->rotate_back(mean.update));
  if (plan_.clip_bit()) {
    mean.fraction_within = plan_.clip_bit()->fraction(mean.update.back(), denominator);
    mean.update.pop_back();
  }
  for (double& value : mean.update) value /= denominator;
  return mean;
}

}  // namespace sotto
