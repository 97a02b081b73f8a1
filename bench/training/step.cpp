#include <ATen/Parallel.h>

#include <algorithm>

#include "base/thread_pool.h"
#include "bench/benchmarks.h"
#include "bench/training/newsroom_models.h"

namespace sotto::bench {
namespace {

constexpr std::size_t cohort = 50;

// Best of several, ours and the baseline by turns: other work on the machine must not favour either.
Result<std::vector<BenchRow>> with_threads(BenchNews& news, int threads) {
  at::set_num_threads(threads);
  const auto users = news.users(cohort);
  double ours = 1e9, plain = 1e9, rate = 0;
  torch::Tensor tuned, padded;
  for (int attempt = 0; attempt < 4; ++attempt) {
    rate = std::max(rate, sgemm_rate());
    double start = wall_seconds();
    tuned = news.tuned().cohort_gradient(1, users, fl::Weighting::samples).gradient.clone();
    ours = std::min(ours, wall_seconds() - start);
    if (attempt >= 2) continue;  // slow
    start = wall_seconds();
    padded = news.straightforward().cohort_gradient(1, users, fl::Weighting::samples).gradient.clone();
    plain = std::min(plain, wall_seconds() - start);
  }
  const double difference = (tuned - padded).norm().item<double>() / padded.norm().item<double>();
  if (!(difference < 1e-4)) return failed("the two steps differ by {:.2g}: no comparison", difference);
  const double achieved = news.step_operations(users) / ours / 1e9;
  const std::string on = threads == 1 ? "1 thread" : fmt::format("{} threads", threads);
  return std::vector<BenchRow>{
      {"step arithmetic, " + on, achieved, rate, achieved / rate, "GFLOP/s", "bare sgemm"},
      {"step, " + on, ours, plain, plain / ours, "s", "padded libtorch model"}};
}

}  // namespace

Result<std::vector<BenchRow>> bench_step() {
  SOTTO_TRY(const auto news, BenchNews::create(2000, 5000));
  SOTTO_TRY(auto rows, with_threads(*news, 1));
  if (thread_count() > 1) {
    SOTTO_TRY(const auto more, with_threads(*news, thread_count()));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  at::set_num_threads(thread_count());
  return rows;
}

}  // namespace sotto::bench
