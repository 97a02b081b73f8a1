#include <ATen/Parallel.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "base/thread_pool.h"
#include "bench/benchmarks.h"
#include "bench/training/newsroom_models.h"

namespace sotto::bench {
namespace {

constexpr int attempts = 5;
constexpr std::size_t floats_read = std::size_t{64} << 20;  // many times what caches hold
constexpr std::size_t words_drawn = std::size_t{1} << 22;

// Gigabytes per second of the best of several.
template <class Work>
double rate(double bytes, const Work& work) {
  double best = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const double start = wall_seconds();
    work();
    best = std::max(best, bytes / (wall_seconds() - start) / 1e9);
  }
  return best;
}

double product_rate(int threads) {
  at::set_num_threads(threads);
  double best = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) best = std::max(best, sgemm_rate());
  return best;
}

double read_rate(int threads, const torch::Tensor& values) {
  at::set_num_threads(threads);
  return rate(static_cast<double>(values.nbytes()), [&] { (void)values.sum().item<float>(); });
}

double cipher_rate(std::size_t streams) {
  std::vector<std::vector<std::uint64_t>> words(streams, std::vector<std::uint64_t>(words_drawn));
  return rate(static_cast<double>(streams * words_drawn * sizeof(std::uint64_t)), [&] {
    parallel_for(streams, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) SecureRandom().fill(words[i]);
    });
  });
}

BenchRow row_of(std::string what, double all, double one, const char* unit) {
  return {fmt::format("{}, {} threads", what, thread_count()), all, one, all / one, unit, "one thread"};
}

// Of the shape at which cards are usually judged.
BenchRow card_products() {
  constexpr std::int64_t size = 8192;
  const torch::Tensor a = torch::randn({size, size}, torch::kCUDA);
  const auto best = [&](torch::ScalarType type) {
    const torch::Tensor factor = a.to(type);
    const double operations = 2.0 * static_cast<double>(size * size) * static_cast<double>(size);
    return rate(operations, [&] { (void)factor.mm(factor)[0][0].item<float>(); });
  };
  const double full = best(torch::kFloat32), half = best(torch::kBFloat16);
  return {"matrix products on the card, bf16", half, full, half / full, "GFLOP/s", "fp32"};
}

}  // namespace

BenchRows bench_limits(const std::string& device) {
  if (device == "cuda") {
    if (!torch::cuda::is_available())
      return bad_input("this build of libtorch sees no CUDA device: use --device cpu");
    return std::vector{card_products()};
  }
  if (device != "cpu") return bad_input("unknown device '{}': cpu or cuda", device);
  const int threads = thread_count();
  const torch::Tensor values = torch::ones({static_cast<std::int64_t>(floats_read)});
  std::vector<BenchRow> rows = {
      row_of("matrix products", product_rate(threads), product_rate(1), "GFLOP/s"),
      row_of("reading memory", read_rate(threads, values), read_rate(1, values), "GB/s")};
  at::set_num_threads(threads);
  rows.push_back(
      row_of("secure generator", cipher_rate(static_cast<std::size_t>(threads)), cipher_rate(1), "GB/s"));
  return rows;
}

}  // namespace sotto::bench
