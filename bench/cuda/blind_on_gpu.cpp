// Blind serving's pass on a GPU: ciphertexts answered per second, by how many share a pass, and the same with
// their way to the card and back, beside the CPU's kernels in the same run; and how near that comes to what
// the card does with nothing but a product of bytes, or a copy.

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "bench/benchmarks.h"
#include "bench/cuda/matrix_products.h"
#include "blind/shape.h"

namespace sotto::bench {

namespace {

constexpr std::uint32_t dimension = 64;
constexpr std::array<std::int64_t, 3> batches = {64, 256, 1024};  // ciphertexts in a pass
constexpr int timed_rounds = 15;
constexpr std::int64_t large_side = 8192;  // of the bare product
constexpr std::int64_t copied_bytes = std::int64_t{1} << 30;

// Entries of -1, 0 and 1: as long as no item may be, whatever the parameters. Time does not depend on them.
Result<serving::BlindDatabase> made_up_database(std::size_t items) {
  SOTTO_TRY(const auto shape, blind::choose_shape(items, dimension, {}));
  SOTTO_TRY(const auto parameters, blind::choose_parameters(shape));
  SeededRandom random(5, Purpose::test);
  std::vector<std::int8_t> entries(shape.slots() * dimension);
  for (std::int8_t& entry : entries) entry = static_cast<std::int8_t>(static_cast<int>(random() % 3) - 1);
  return serving::BlindDatabase::create(parameters, entries);
}

// int32 [count, columns], words at random in memory that the card can fetch from.
torch::Tensor made_up_ciphertexts(std::int64_t count, std::int64_t columns) {
  torch::Tensor words = torch::empty({count, columns}, torch::dtype(torch::kInt).pinned_memory(true));
  SeededRandom random(6, Purpose::test);
  for (std::int64_t i = 0; i < words.numel(); ++i)
    words.data_ptr<std::int32_t>()[i] = static_cast<std::int32_t>(random());
  return words;
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

// Multiplications and additions per second of a bare product of square matrices of bytes.
double bare_product_rate() {
  const auto bytes = torch::dtype(torch::kChar).device(torch::kCUDA);
  const torch::Tensor left = torch::ones({large_side, large_side}, bytes);
  const double seconds = quickest_wall([&] { byte_product(left, left); });
  return 2 * std::pow(static_cast<double>(large_side), 3) / seconds;
}

// Bytes per second that a copy within the card's memory reads and writes.
double copy_bandwidth() {
  const auto bytes = torch::dtype(torch::kChar).device(torch::kCUDA);
  const torch::Tensor from = torch::ones({copied_bytes}, bytes);
  torch::Tensor to = torch::empty({copied_bytes}, bytes);
  return 2 * static_cast<double>(copied_bytes) / quickest_wall([&] { to.copy_(from); });
}

// Every answer word by word. Gives the quickest time of the CPU's kernel for one ciphertext.
Result<double> checked_against_cpu(const serving::BlindDatabase& database, const torch::Tensor& words,
                                   const torch::Tensor& answers) {
  const blind::Shape& shape = database.parameters().shape;
  std::vector<std::uint32_t> asked(shape.columns()), expected(shape.rows);
  double quickest = HUGE_VAL;
  for (std::int64_t query = 0; query < words.size(0); ++query) {
    std::memcpy(asked.data(), words[query].data_ptr(), asked.size() * sizeof asked[0]);
    const std::span<const std::uint32_t> one(asked);
    const double start = thread_seconds();
    database.answer({&one, 1}, expected);
    quickest = std::min(quickest, thread_seconds() - start);
    if (std::memcmp(answers[query].data_ptr(), expected.data(), expected.size() * sizeof expected[0]) != 0)
      return failed("the GPU's answer to ciphertext {} differs from the CPU's", query);
  }
  return quickest;
}

}  // namespace

BenchRows bench_blind_on_gpu(std::size_t items) {
  if (!torch::cuda::is_available())
    return bad_input("there is no CUDA device here: leave --device out to measure the CPU");
  SOTTO_TRY(const auto database, made_up_database(items));
  SOTTO_TRY(const MatrixProducts products, MatrixProducts::create(database, torch::kCUDA));
  const blind::Shape& shape = database.parameters().shape;
  const auto columns = static_cast<std::int64_t>(shape.columns());
  const torch::Tensor here = made_up_ciphertexts(batches.back(), columns);
  const torch::Tensor there = here.to(torch::kCUDA);
  SOTTO_TRY(const double cpu, checked_against_cpu(database, here, products.answer(there).cpu()));

  std::vector<BenchRow> rows;
  double seconds = 0;  // of a pass of the largest batch
  for (const std::int64_t batch : batches) {
    const auto row = [&](std::string name, double taken) {
      const double rate = static_cast<double>(batch) / taken;
      rows.push_back(
          {std::move(name), rate, 1 / cpu, rate * cpu, "1/s", "the CPU's kernel, one core", "20000"});
    };
    const torch::Tensor asked = there.narrow(0, 0, batch), sent = here.narrow(0, 0, batch);
    seconds = quickest_wall([&] { products.answer(asked); });
    row(fmt::format("ciphertexts on the GPU, {} in a pass", batch), seconds);
    row("the same, from and to the host's memory",
        quickest_wall([&] { products.answer(sent.to(torch::kCUDA, true)).cpu(); }));
  }
  rows[0].note = fmt::format(
      "{} items in {} clusters of {}, ciphertexts of {} bytes, answers of {}; {} of them "
      "are the CPU's word by word",
      items, shape.clusters, shape.rows, 4 * columns, 4 * shape.rows, batches.back());

  const auto batch = static_cast<double>(batches.back());
  const double cells = static_cast<double>(shape.rows) * static_cast<double>(columns);
  const double product_rate = 2 * cells * 4 * batch / seconds, bare_rate = bare_product_rate();
  rows.push_back({fmt::format("products of bytes, {} in a pass", batches.back()), 1e-12 * product_rate,
                  1e-12 * bare_rate, product_rate / bare_rate, "10^12/s",
                  fmt::format("a bare product of {0} x {0} bytes", large_side)});
  // What cannot be left out: the matrix and the ciphertexts read, the answers written.
  const double moved = cells + batch * 4 * static_cast<double>(columns + shape.rows);
  const double bandwidth = copy_bandwidth();
  rows.push_back({fmt::format("memory that a pass of {} must move", batches.back()), 1e-9 * moved / seconds,
                  1e-9 * bandwidth, moved / seconds / bandwidth, "GB/s", "a copy within the card"});
  return rows;
}

}  // namespace sotto::bench
