#include "fl/simulated_sum.h"

#include "base/random.h"
#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/sum_decoder.h"

namespace sotto {

SimulatedSum::SimulatedSum(EncodingPlan plan, std::uint64_t seed, std::uint32_t round)
    : device_(std::move(plan)), seed_(seed), round_(round), sum_(device_.plan().entries(), 0) {}

Status SimulatedSum::add(UserId user, const torch::Tensor& update) {
  const torch::Tensor plain = update.to(torch::kCPU, torch::kFloat32).contiguous();
  SeededRandom draws(seed_, Purpose::noise, round_, user);
  const std::span<const float> values(plain.data_ptr<float>(), static_cast<std::size_t>(plain.numel()));
  SOTTO_TRY(const auto entries, device_.encode(values, DeviceRandom::simulated(draws)));
  return add_entries(std::span(sum_), entries);
}

Result<torch::Tensor> SimulatedSum::mean() {
  reduce_entries(std::span(sum_), device_.plan().modulus());
  SumDecoder server(device_.plan());
  SOTTO_CHECK(server.add_group(sum_));
  SOTTO_TRY(const DecodedMean decoded, server.decode());
  fraction_within_ = decoded.fraction_within;
  return torch::tensor(decoded.update, torch::kFloat32);
}

std::uint64_t SimulatedSum::bytes_up() const {
  return packed_bytes(device_.plan().entries(), device_.plan().modulus().bits());
}

}  // namespace sotto
