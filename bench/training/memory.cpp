#include <cstdio>
#include <fstream>
#include <string>

#include "bench/benchmarks.h"
#include "bench/training/newsroom_models.h"

namespace sotto::bench {
namespace {

constexpr std::size_t round_users = 1000;
constexpr double gib = 1024.0 * 1024.0 * 1024.0;

// The most this process has had resident since the last forget_peak(), in bytes.
double peak_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (double kilobytes = 0; std::sscanf(line.c_str(), "VmHWM: %lf kB", &kilobytes) == 1)
      return kilobytes * 1024;
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace

Result<std::vector<BenchRow>> bench_memory() {
  SOTTO_TRY(const auto news, BenchNews::create(3000, 5000));
  const auto users = news->users(round_users);
  const double all_gradients =
      static_cast<double>(round_users * sizeof(float)) * static_cast<double>(news->parameters().size());
  std::vector<BenchRow> rows;
  const auto add = [&](const char* name) {
    const double peak = peak_resident();
    rows.push_back({name, peak / gib, all_gradients / gib, all_gradients / peak, "GiB",
                    "the gradients of all users at once"});
  };
  forget_peak();
  news->tuned().cohort_gradient(1, users, fl::Weighting::samples);
  add("round of 1,000 users, summed: whole process");
  forget_peak();
  torch::Tensor sum = torch::zeros_like(news->parameters().values());
  SOTTO_CHECK(
      news->tuned().user_gradients(1, users, [&](data::UserId, const fl::LocalGradient& own) -> Status {
        sum.add_(own.gradient);
        return {};
      }));
  add("round of 1,000 users, each one's own gradient: whole process");
  return rows;
}

}  // namespace sotto::bench
