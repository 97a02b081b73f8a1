#include "model/blas_check.h"

#include <chrono>

#include "base/log.h"
#include "base/thread_pool.h"
#include "model/tensor.h"

namespace sotto {

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
  if (gigaflops < 8)
    warn(
        "matrix products run at {:.1f} GFLOP/s only: training will be very slow. Install an optimised BLAS "
        "(Debian: libopenblas0-openmp)",
        gigaflops);
}

}  // namespace sotto
