#include "bench/benchmarks.h"
#include "bench/peak_memory.h"
#include "bench/training/newsroom_models.h"

namespace sotto::bench {
namespace {

constexpr std::size_t round_users = 1000;
constexpr double gib = 1024.0 * 1024.0 * 1024.0;

}  // namespace

Result<std::vector<BenchRow>> bench_memory() {
  SOTTO_TRY(const auto news, BenchNews::create(3000, 5000));
  const auto users = news->users(round_users);
  const double all_gradients =
      static_cast<double>(round_users * sizeof(float)) * static_cast<double>(news->parameters().size());
  std::vector<BenchRow> rows;
  const auto add = [&](const char* name) {
    const double peak = peak_memory();
    rows.push_back({name, peak / gib, all_gradients / gib, all_gradients / peak, "GiB",
                    "the gradients of all users at once"});
  };
  forget_peak_memory();
  news->tuned().cohort_gradient(1, users, fl::Weighting::samples);
  add("round of 1,000 users, summed: whole process");
  forget_peak_memory();
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
