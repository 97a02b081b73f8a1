#include <gtest/gtest.h>

#include "model/layers/layers.h"
#include "model/tensor.h"

namespace sotto::model {
namespace {

using torch::Tensor;

Segments with_many_gaps() { return Segments({0, 0, 3, 3, 4, 9, 9}); }  // 0, 3, 0, 1, 5 and 0 rows

TEST(Padding, PutsEverySegmentInALineOfItsOwn) {
  const Padding padding = padding_of(with_many_gaps(), torch::kCPU);
  const Tensor rows = torch::arange(1, 10, torch::kFloat32).unsqueeze(1);
  const Tensor padded = pad(rows, padding).squeeze(2).masked_fill(padding.blank, 0);
  const Tensor expected = torch::tensor({{0, 0, 0, 0, 0},
                                         {1, 2, 3, 0, 0},
                                         {0, 0, 0, 0, 0},
                                         {4, 0, 0, 0, 0},
                                         {5, 6, 7, 8, 9},
                                         {0, 0, 0, 0, 0}})
                              .to(torch::kFloat32);
  EXPECT_TRUE(padded.equal(expected)) << padded;
}

TEST(Padding, GoesBackToTheSameRows) {
  const Padding padding = padding_of(with_many_gaps(), torch::kCPU);
  const Tensor rows = torch::rand({9, 4});
  EXPECT_TRUE(unpad(pad(rows, padding), padding).equal(rows));
}

TEST(Padding, GradientsOfBlankPlacesAreDroppedAndOfMissingOnesZero) {
  const Padding padding = padding_of(with_many_gaps(), torch::kCPU);
  const Tensor rows = torch::rand({9, 2}).requires_grad_(true);
  pad(rows, padding).sum().backward();
  EXPECT_TRUE(rows.grad().equal(torch::ones({9, 2})));

  const Tensor padded = torch::rand({6, 5, 2}).requires_grad_(true);
  unpad(padded, padding).sum().backward();
  EXPECT_TRUE(
      padded.grad().equal(padding.blank.logical_not().to(torch::kFloat32).unsqueeze(2).expand({6, 5, 2})));
}

TEST(Padding, NeedsARow) { EXPECT_THROW(padding_of(Segments({0, 0}), torch::kCPU), c10::Error); }

TEST(IndexTensor, IsACopy) {
  std::vector<std::int64_t> numbers = {3, 1, 2};
  const Tensor tensor = index_tensor(numbers, torch::kCPU);
  numbers[0] = 7;
  EXPECT_TRUE(tensor.equal(torch::tensor({3, 1, 2}, torch::kInt64)));
  EXPECT_EQ(index_tensor({}, torch::kCPU).numel(), 0);
}

}  // namespace
}  // namespace sotto::model
