// Blind serving's pass on a GPU: ciphertexts answered per second, and the same with their way to the card and
// back, beside the CPU's kernels in the same run.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "bench/benchmarks.h"
#include "bench/cuda/matrix_products.h"
#include "blind/shape.h"

namespace sotto::bench {

namespace {

constexpr std::uint32_t dimension = 64;
constexpr std::int64_t batch = 1024;
constexpr int timed_rounds = 15;

// Entries of -1, 0 and 1: as long as no item may be, whatever the parameters. Time does not depend on them.
Result<serving::BlindDatabase> made_up_database(std::size_t items) {
  SOTTO_TRY(const auto shape, blind::choose_shape(items, dimension, {}));
  SOTTO_TRY(const auto parameters, blind::choose_parameters(shape));
  SeededRandom random(5, Purpose::test);
  std::vector<std::int8_t> entries(shape.slots() * dimension);
  for (std::int8_t& entry : entries) entry = static_cast<std::int8_t>(static_cast<int>(random() % 3) - 1);
  return serving::BlindDatabase::create(parameters, entries);
}

template <class Call>
double quickest_wall(const Call& call) {
  double best = HUGE_VAL;
  for (int round = 0; round < timed_rounds; ++round) {
    torch::cuda::synchronize();
    const double start = wall_seconds();
    call();
    torch::cuda::synchronize();
    best = std::min(best, wall_seconds() - start);
  }
  return best;
}

}  // namespace

BenchRows bench_blind_on_gpu(std::size_t items) {
  if (!torch::cuda::is_available())
    return bad_input("there is no CUDA device here: leave --device out to measure the CPU");
  SOTTO_TRY(const auto database, made_up_database(items));
  SOTTO_TRY(const MatrixProducts products, MatrixProducts::create(database, torch::kCUDA));
  const blind::Shape& shape = database.parameters().shape;
  const auto columns = static_cast<std::int64_t>(shape.columns());
  torch::Tensor here = torch::empty({batch, columns}, torch::dtype(torch::kInt).pinned_memory(true));
  SeededRandom random(6, Purpose::test);
  auto* words = reinterpret_cast<std::uint32_t*>(here.data_ptr<std::int32_t>());
  for (std::int64_t i = 0; i < batch * columns; ++i) words[i] = static_cast<std::uint32_t>(random());
  const torch::Tensor there = here.to(torch::kCUDA);

  torch::Tensor answers;
  const double alone = quickest_wall([&] { answers = products.answer(there); });
  const double with_transfer =
      quickest_wall([&] { answers = products.answer(here.to(torch::kCUDA, true)).cpu(); });
  std::vector<std::uint32_t> expected(shape.rows);
  double cpu = HUGE_VAL;
  for (const std::int64_t query : {std::int64_t{0}, batch / 2, batch - 1}) {
    const std::span<const std::uint32_t> asked(words + query * columns, shape.columns());
    const double start = thread_seconds();
    database.answer({&asked, 1}, expected);
    cpu = std::min(cpu, thread_seconds() - start);
    if (std::memcmp(answers[query].data_ptr(), expected.data(), expected.size() * sizeof expected[0]) != 0)
      return failed("the GPU's answer to ciphertext {} differs from the CPU's", query);
  }
  const auto row = [&](const char* name, double seconds) {
    const double rate = static_cast<double>(batch) / seconds;
    return BenchRow{name, rate, 1 / cpu, rate * cpu, "1/s", "the CPU's kernel, one core", "20000"};
  };
  std::vector<BenchRow> rows = {row("ciphertexts answered on the GPU", alone),
                                row("the same, from and to the host's memory", with_transfer)};
  rows[0].note = fmt::format("{} items in {} clusters of {}, {} ciphertexts of {} bytes in a pass", items,
                             shape.clusters, shape.rows, batch, 4 * columns);
  return rows;
}

}  // namespace sotto::bench
