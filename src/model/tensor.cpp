#include "model/tensor.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/thread_pool.h"
#include "model/loaded_blas.h"

namespace sotto::model {

torch::Tensor index_tensor(std::span<const std::int64_t> numbers, torch::Device device) {
  // Only from pinned memory does a copy to a card wait in the card's queue instead of the CPU's.
  const auto options = torch::TensorOptions(torch::kInt64).pinned_memory(device.is_cuda());
  const torch::Tensor copy = torch::empty({static_cast<std::int64_t>(numbers.size())}, options);
  std::copy(numbers.begin(), numbers.end(), copy.data_ptr<std::int64_t>());
  return copy.to(device, /*non_blocking=*/true);
}

void prepare_torch() {
  at::set_num_threads(thread_count());
  constexpr std::int64_t size = 256;
  const torch::Tensor a = torch::ones({size, size});
  double best = 1e9;
  // Best of many: other work on the machine must not raise a false alarm.
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto start = std::chrono::steady_clock::now();
    const torch::Tensor product = a.mm(a);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const double gigaflops = 2.0 * size * size * size / best / 1e9;
  if (gigaflops < 8) warn("{}", advice_on_slow_products(gigaflops, optimised_blas()));
}

}  // namespace sotto::model
