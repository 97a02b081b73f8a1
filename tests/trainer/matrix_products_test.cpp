#include "bench/cuda/matrix_products.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/random.h"
#include "serving/blind_entries.h"

namespace sotto::bench {
namespace {

// Entries of every size, words of every kind, and sizes that fill no block.
void expect_the_answers_of_the_cpu_kernels(torch::Device device) {
  SeededRandom random(1, Purpose::test);
  for (const blind::Shape& shape : {blind::Shape{7, 11, 5, 1}, blind::Shape{64, 9, 70, 1}}) {
    const auto parameters = blind::choose_parameters(shape).value();
    const auto database =
        serving::BlindDatabase::create(parameters, serving::testing::random_entries(parameters)).value();
    const auto products = MatrixProducts::create(database, device).value();
    for (const std::int64_t count : {1, 3, 33}) {
      torch::Tensor words = torch::empty({count, static_cast<std::int64_t>(shape.columns())}, torch::kInt);
      auto* bits = reinterpret_cast<std::uint32_t*>(words.data_ptr<std::int32_t>());
      for (std::int64_t i = 0; i < words.numel(); ++i)
        bits[i] = i % 5 == 0 ? 0x7fffffffU + static_cast<std::uint32_t>(i % 3)
                             : static_cast<std::uint32_t>(random());
      const torch::Tensor answers = products.answer(words.to(device)).cpu();
      ASSERT_EQ(answers.numel(), count * shape.rows);
      for (std::int64_t query = 0; query < count; ++query) {
        const auto plain = database.plain_answer({bits + query * words.size(1), shape.columns()});
        EXPECT_EQ(std::memcmp(answers[query].data_ptr(), plain.data(), plain.size() * sizeof plain[0]), 0);
      }
    }
  }
}

TEST(MatrixProducts, AreTheAnswersOfTheCpuKernels) { expect_the_answers_of_the_cpu_kernels(torch::kCPU); }

TEST(MatrixProducts, AreTheSameOnAGpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "there is no CUDA device here";
  expect_the_answers_of_the_cpu_kernels(torch::kCUDA);
}

}  // namespace
}  // namespace sotto::bench
