// Every operation of the tape against finite differences in double.

#include <gtest/gtest.h>

#include "finite_differences.h"
#include "local/tape/losses.h"
#include "local/tape/ragged.h"

namespace sotto::local {
namespace {

using testing::expect_gradients;
using testing::Function;
using testing::Inputs;
using testing::Numbers;
using testing::random_numbers;

struct Operation {
  const char* name;
  Function function;
  std::vector<Numbers> at;
};

class OperationGradients : public ::testing::TestWithParam<Operation> {};

TEST_P(OperationGradients, EqualFiniteDifferences) { expect_gradients(GetParam().function, GetParam().at); }

// An empty segment, one row, several.
const Offsets segments = {0, 3, 3, 4, 8};

INSTANTIATE_TEST_SUITE_P(
    Tape, OperationGradients,
    ::testing::Values(
        Operation{"Product", [](const Inputs& x) { return product(x[0], x[1]); },
                  {random_numbers(3, 4, 1), random_numbers(4, 2, 2)}},
        Operation{"ProductTransposed", [](const Inputs& x) { return product_transposed(x[0], x[1]); },
                  {random_numbers(3, 4, 1), random_numbers(2, 4, 2)}},
        Operation{"ProductWithItself", [](const Inputs& x) { return product_transposed(x[0], x[0]); },
                  {random_numbers(3, 4, 1)}},
        Operation{"Sum", [](const Inputs& x) { return x[0] + x[1]; },
                  {random_numbers(3, 4, 1), random_numbers(3, 4, 2)}},
        Operation{"SumWithARow", [](const Inputs& x) { return x[0] + x[1]; },
                  {random_numbers(3, 4, 1), random_numbers(1, 4, 2)}},
        Operation{"DifferenceFromAColumn", [](const Inputs& x) { return x[0] - x[1]; },
                  {random_numbers(3, 1, 1), random_numbers(3, 4, 2)}},
        Operation{"RowTimesColumn", [](const Inputs& x) { return x[0] * x[1]; },
                  {random_numbers(1, 4, 1), random_numbers(3, 1, 2)}},
        Operation{"TimesANumber", [](const Inputs& x) { return x[0] * x[1]; },
                  {random_numbers(3, 4, 1), random_numbers(1, 1, 2)}},
        Operation{"Quotient", [](const Inputs& x) { return x[0] / x[1]; },
                  {random_numbers(3, 1, 1), random_numbers(3, 4, 2, 6)}},
        Operation{"QuotientByANumber", [](const Inputs& x) { return x[0] / x[1]; },
                  {random_numbers(3, 4, 1), random_numbers(1, 1, 2, 6)}},
        Operation{"Scaled", [](const Inputs& x) { return scaled(x[0], -0.7); }, {random_numbers(3, 4, 1)}},
        Operation{"Tanh", [](const Inputs& x) { return tanh(x[0]); }, {random_numbers(3, 4, 1)}},
        Operation{"Relu", [](const Inputs& x) { return relu(x[0]); }, {random_numbers(3, 4, 1)}},
        Operation{"Sigmoid", [](const Inputs& x) { return sigmoid(x[0]); }, {random_numbers(3, 4, 1)}},
        Operation{"Exp", [](const Inputs& x) { return exp(x[0]); }, {random_numbers(3, 4, 1)}},
        Operation{"SoftmaxRows", [](const Inputs& x) { return softmax_rows(x[0]); },
                  {random_numbers(3, 4, 1)}},
        Operation{"GatherRows", [](const Inputs& x) { return gather_rows(x[0], {2, 0, 2, 1}); },
                  {random_numbers(4, 3, 1)}},
        Operation{"SliceColumns", [](const Inputs& x) { return slice_columns(x[0], 1, 2) * slice_columns(x[0], 2, 2); },
                  {random_numbers(3, 4, 1)}},
        Operation{"SliceRows", [](const Inputs& x) { return slice_rows(x[0], 1, 2) * slice_rows(x[0], 0, 2); },
                  {random_numbers(3, 4, 1)}},
        Operation{"Beside", [](const Inputs& x) { return beside(x[0], x[1]); },
                  {random_numbers(3, 4, 1), random_numbers(3, 2, 2)}},
        Operation{"Above", [](const Inputs& x) { return above(x[0], x[1]); },
                  {random_numbers(3, 4, 1), random_numbers(2, 4, 2)}},
        Operation{"DotRows", [](const Inputs& x) { return dot_rows(x[0], x[1]); },
                  {random_numbers(3, 4, 1), random_numbers(3, 4, 2)}},
        Operation{"Dropout",
                  [](const Inputs& x) {
                    SeededRandom random(5, Purpose::dropout);
                    return dropout(x[0], 0.4, random);
                  },
                  {random_numbers(6, 4, 1)}},
        // The first row is longer than the bound, the second is not.
        Operation{"ClipRows", [](const Inputs& x) { return clip_rows(x[0], 2.0); },
                  {(Numbers(2, 3) << 3, -1, 2, 0.5, 0.2, -1).finished()}},
        Operation{"NormaliseRows", [](const Inputs& x) { return normalise_rows(exp(x[0])); },
                  {random_numbers(3, 4, 1)}},
        Operation{"WindowsOfThree", [](const Inputs& x) { return windows_of_three(x[0], segments); },
                  {random_numbers(8, 3, 1)}},
        Operation{"SegmentSum", [](const Inputs& x) { return segment_sum(x[0], segments); },
                  {random_numbers(8, 3, 1)}},
        Operation{"RaggedPool", [](const Inputs& x) { return ragged_pool(x[0], x[1], segments); },
                  {random_numbers(8, 1, 1), random_numbers(8, 3, 2)}},
        Operation{"RaggedAttention", [](const Inputs& x) { return ragged_attention(x[0], segments, 2); },
                  {random_numbers(8, 12, 1)}},
        Operation{"ListwiseLoss", [](const Inputs& x) { return listwise_loss(x[0], 3); },
                  {random_numbers(6, 1, 1)}},
        Operation{"BinaryLoss",
                  [](const Inputs& x) { return binary_loss(x[0], {1, 0, 1, 0}, {1, 0.5, 2, 1}); },
                  {random_numbers(4, 1, 1)}}),
    [](const auto& tested) { return tested.param.name; });

Numbers result_of(const Function& function, const std::vector<Numbers>& at) {
  Tape<double> tape;
  Inputs inputs;
  for (const Numbers& input : at) inputs.push_back(tape.constant(input));
  return function(inputs).numbers();
}

TEST(Operations, WindowsEndAtTheEndsOfTheirSegments) {
  const Numbers rows = (Numbers(4, 1) << 1, 2, 3, 4).finished();
  const Numbers expected = (Numbers(4, 3) << 0, 1, 2, 1, 2, 0, 0, 3, 4, 3, 4, 0).finished();
  EXPECT_EQ(result_of(
                [](const Inputs& x) {
                  return windows_of_three(x[0], {0, 2, 2, 4});
                },
                {rows}),
            expected);
}

TEST(Operations, EmptySegmentsPoolAndSumToZero) {
  const Numbers scores = random_numbers(2, 1, 1), rows = random_numbers(2, 3, 2);
  const Offsets ends = {0, 0, 2, 2};
  const Numbers pooled =
      result_of([&](const Inputs& x) { return ragged_pool(x[0], x[1], ends); }, {scores, rows});
  const Numbers sums = result_of([&](const Inputs& x) { return segment_sum(x[0], ends); }, {rows});
  for (const Numbers& result : {pooled, sums}) {
    EXPECT_TRUE(result.row(0).isZero());
    EXPECT_FALSE(result.row(1).isZero());
    EXPECT_TRUE(result.row(2).isZero());
  }
}

TEST(Operations, LargeScoresNeitherOverflowNorLoseTheirLoss) {
  const Numbers scores = (Numbers(2, 1) << 1000, 2000).finished();
  EXPECT_DOUBLE_EQ(result_of([](const Inputs& x) { return listwise_loss(x[0], 2); }, {scores})(0, 0), 1000);
  EXPECT_DOUBLE_EQ(result_of(
                       [](const Inputs& x) {
                         return binary_loss(x[0], {0, 1}, {1, 1});
                       },
                       {scores})(0, 0),
                   1000);
  EXPECT_TRUE(
      result_of([](const Inputs& x) { return softmax_rows(x[0]); }, {scores.transpose()}).allFinite());
}

TEST(Operations, RowsOfNothingBecomeUniformAndHandNoGradientOn) {
  Tape<double> tape;
  const Value<double> nothing = tape.trained(Numbers::Zero(1, 4));
  const Value<double> shares = normalise_rows(nothing);
  EXPECT_TRUE(shares.numbers().isConstant(0.25));
  tape.backward(testing::mixed(shares));
  EXPECT_TRUE(nothing.gradient().isZero());
}

TEST(Operations, DropoutKeepsTheMeanAndNothingAtRateZero) {
  Tape<double> tape;
  SeededRandom random(3, Purpose::dropout);
  const Value<double> ones = tape.constant(Numbers::Ones(200, 200));
  // 40,000 draws: the mean has a standard deviation of 0.0033.
  EXPECT_NEAR(dropout(ones, 0.3, random).numbers().mean(), 1, 0.02);
  EXPECT_EQ(dropout(ones, 0, random).numbers(), ones.numbers());
}

TEST(Tape, RefusesShapesThatDoNotFitAndASecondWalk) {
  Tape<double> tape;
  const Value<double> a = tape.trained(Numbers::Ones(2, 3)), b = tape.trained(Numbers::Ones(2, 2));
  EXPECT_THROW(product(a, b), std::logic_error);
  EXPECT_THROW(a + b, std::logic_error);
  EXPECT_THROW(gather_rows(a, {2}), std::logic_error);
  EXPECT_THROW(segment_sum(a, {0, 1}), std::logic_error);
  EXPECT_THROW(segment_sum(a, {0, 2, 1, 2}), std::logic_error);
  EXPECT_THROW(ragged_attention(a, {0, 2}, 2), std::logic_error);
  EXPECT_THROW(listwise_loss(a, 2), std::logic_error);
  EXPECT_THROW(tape.backward(a), std::logic_error);
  const Value<double> loss = testing::mixed(a);
  tape.backward(loss);
  EXPECT_THROW(tape.backward(loss), std::logic_error);
}

TEST(Tape, GivesWhatTheLossDoesNotDependOnAGradientOfZeros) {
  Tape<double> tape;
  const Value<double> used = tape.trained(Numbers::Ones(2, 3)), unused = tape.trained(Numbers::Ones(4, 1));
  exp(unused);
  tape.backward(testing::mixed(used));
  EXPECT_FALSE(used.gradient().isZero());
  EXPECT_EQ(unused.gradient(), Numbers::Zero(4, 1));
}

}  // namespace
}  // namespace sotto::local
