#include "fl/simulated_sum.h"

#include <algorithm>
#include <mutex>

#include "base/random.h"
#include "base/thread_pool.h"
#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/modular_sum.h"
#include "secagg/vectors/sum_decoder.h"

namespace sotto {

namespace {

// Updates that wait together: enough to keep all threads busy, little memory beside a round's gradients.
std::size_t devices_at_once(std::size_t dimension) {
  constexpr std::size_t memory = std::size_t{16} << 20, most = 1024;
  const std::size_t fit = memory / (sizeof(float) * std::max<std::size_t>(dimension, 1));
  return std::clamp(fit, static_cast<std::size_t>(thread_count()),
                    std::max(most, static_cast<std::size_t>(thread_count())));
}

}  // namespace

SimulatedSum::SimulatedSum(EncodingPlan plan, std::uint64_t seed, std::uint32_t round)
    : device_(std::move(plan)), seed_(seed), round_(round), sum_(device_.plan().entries(), 0) {}

Status SimulatedSum::add(UserId user, const torch::Tensor& update) {
  const torch::Tensor plain = update.to(torch::kCPU, torch::kFloat32).contiguous();
  const float* first = plain.data_ptr<float>();
  waiting_.push_back({user, std::vector<float>(first, first + plain.numel())});
  if (waiting_.size() < devices_at_once(waiting_.back().update.size())) return {};
  return encode_waiting();
}

Status SimulatedSum::encode_waiting() {
  std::mutex adding;
  std::vector<Status> outcomes(waiting_.size());
  const auto encode = [&](const Waiting& own) -> Status {
    SeededRandom draws(seed_, Purpose::noise, round_, own.user);
    SOTTO_TRY(const auto entries,
              device_.encode(std::span<const float>(own.update), DeviceRandom::simulated(draws)));
    const std::lock_guard lock(adding);
    return add_entries(std::span(sum_), entries);
  };
  parallel_for(waiting_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) outcomes[i] = encode(waiting_[i]);
  });
  waiting_.clear();
  for (Status& outcome : outcomes) SOTTO_CHECK(std::move(outcome));
  return {};
}

Result<torch::Tensor> SimulatedSum::mean() {
  SOTTO_CHECK(encode_waiting());
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
