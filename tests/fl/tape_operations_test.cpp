// Every operation of the devices' tape against libtorch: the same numbers and the same gradients. Against
// finite differences they stand in tests/local/operations_test.cpp.

#include <gtest/gtest.h>

#include "base/distributions.h"
#include "local/tape/arithmetic.h"
#include "local/tape/losses.h"
#include "local/tape/ragged.h"
#include "local/tape/rows.h"
#include "model/tensor.h"

namespace sotto::fl {
namespace {

using local::Index;
using local::Offsets;
using Rows = local::Matrix<float>;
using Values = std::vector<local::Value<float>>;
using Tensors = std::vector<torch::Tensor>;

constexpr double tolerance = 1e-5;

Rows random_rows(Index rows, Index cols, std::uint64_t seed, double shift = 0) {
  SeededRandom random(seed, Purpose::test);
  Rows numbers(rows, cols);
  for (float& number : numbers.reshaped()) number = static_cast<float>(shift + normal(random));
  return numbers;
}

torch::Tensor tensor_of(const Rows& rows) {
  return torch::from_blob(const_cast<float*>(rows.data()), {rows.rows(), rows.cols()}).clone();
}

// An empty segment, one row, several; and the parts of a tensor that they are.
const Offsets segments = {0, 3, 3, 4, 8};
template <class Each>
torch::Tensor each_segment(const Each& each) {
  Tensors parts;
  for (std::size_t n = 0; n + 1 < segments.size(); ++n) parts.push_back(each(segments[n], segments[n + 1]));
  return torch::cat(parts);
}

torch::Tensor attention(const torch::Tensor& projected, Index heads) {
  const std::int64_t size = projected.size(1) / 3, head = size / heads;
  return each_segment([&](Index begin, Index end) {
    const torch::Tensor rows = projected.slice(0, begin, end);
    Tensors of_heads;
    for (Index h = 0; h < heads; ++h) {
      const auto part = [&](std::int64_t which) {
        const std::int64_t first = which * size + h * head;
        return rows.slice(1, first, first + head);
      };
      const torch::Tensor scores = part(0).mm(part(1).t()) / std::sqrt(static_cast<double>(head));
      of_heads.push_back(torch::softmax(scores, 1).mm(part(2)));
    }
    return torch::cat(of_heads, 1);
  });
}

torch::Tensor windows(const torch::Tensor& rows) {
  return each_segment([&](Index begin, Index end) {
    const torch::Tensor own = rows.slice(0, begin, end), none = torch::zeros({1, rows.size(1)});
    if (begin == end) return torch::zeros({0, 3 * rows.size(1)});
    const torch::Tensor before = torch::cat({none, own.slice(0, 0, end - begin - 1)}),
                        behind = torch::cat({own.slice(0, 1, end - begin), none});
    return torch::cat({before, own, behind}, 1);
  });
}

struct Operation {
  const char* name;
  std::function<local::Value<float>(const Values& x)> on_device;
  std::function<torch::Tensor(const Tensors& x)> in_libtorch;
  std::vector<Rows> at;
};
void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

void expect_near(const Rows& on_device, const torch::Tensor& tensor, const std::string& what) {
  const torch::Tensor plain = tensor.detach().contiguous();
  ASSERT_EQ(plain.numel(), on_device.size()) << what;
  const double largest = std::max(1.0, plain.abs().max().item<double>());
  for (Index i = 0; i < on_device.size(); ++i)
    EXPECT_NEAR(on_device.data()[i], plain.data_ptr<float>()[i], tolerance * largest)
        << what << ", number " << i;
}

class TapeOperations : public ::testing::TestWithParam<Operation> {};

TEST_P(TapeOperations, EqualLibtorchInNumbersAndGradients) {
  const Operation& operation = GetParam();
  local::Tape<float> tape;
  Values inputs;
  Tensors tensors;
  for (const Rows& input : operation.at) {
    inputs.push_back(tape.trained(input));
    tensors.push_back(tensor_of(input).requires_grad_());
  }
  const local::Value<float> result = operation.on_device(inputs);
  const torch::Tensor expected = operation.in_libtorch(tensors);
  expect_near(result.numbers(), expected, "result");
  // Weighted differently, so that no gradient can hide in a sum. Going back gives the result up.
  const Rows weights = random_rows(result.rows(), result.cols(), 77);
  const local::Value<float> sums =
      product(result * tape.constant(weights), tape.constant(Rows::Ones(result.cols(), 1)));
  tape.backward(product(tape.constant(Rows::Ones(1, result.rows())), sums));
  (expected.reshape({weights.rows(), weights.cols()}) * tensor_of(weights)).sum().backward();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    expect_near(inputs[i].gradient(), tensors[i].grad(), "gradient of input " + std::to_string(i));
}

INSTANTIATE_TEST_SUITE_P(
    Tape, TapeOperations,
    ::testing::Values(
        Operation{"Product",
                  [](const Values& x) { return product(x[0], x[1]); },
                  [](const Tensors& x) { return x[0].mm(x[1]); },
                  {random_rows(3, 4, 1), random_rows(4, 2, 2)}},
        Operation{"ProductTransposed",
                  [](const Values& x) { return product_transposed(x[0], x[1]); },
                  [](const Tensors& x) { return x[0].mm(x[1].t()); },
                  {random_rows(3, 4, 1), random_rows(2, 4, 2)}},
        Operation{"Sum",
                  [](const Values& x) { return x[0] + x[1]; },
                  [](const Tensors& x) { return x[0] + x[1]; },
                  {random_rows(3, 4, 1), random_rows(1, 4, 2)}},
        Operation{"Difference",
                  [](const Values& x) { return x[0] - x[1]; },
                  [](const Tensors& x) { return x[0] - x[1]; },
                  {random_rows(3, 1, 1), random_rows(3, 4, 2)}},
        Operation{"Multiple",
                  [](const Values& x) { return x[0] * x[1]; },
                  [](const Tensors& x) { return x[0] * x[1]; },
                  {random_rows(1, 4, 1), random_rows(3, 1, 2)}},
        Operation{"Quotient",
                  [](const Values& x) { return x[0] / x[1]; },
                  [](const Tensors& x) { return x[0] / x[1]; },
                  {random_rows(3, 1, 1), random_rows(3, 4, 2, 6)}},
        Operation{"Scaled",
                  [](const Values& x) { return scaled(x[0], -0.7F); },
                  [](const Tensors& x) { return x[0] * -0.7; },
                  {random_rows(3, 4, 1)}},
        Operation{"Tanh",
                  [](const Values& x) { return tanh(x[0]); },
                  [](const Tensors& x) { return torch::tanh(x[0]); },
                  {random_rows(3, 4, 1)}},
        Operation{"Relu",
                  [](const Values& x) { return relu(x[0]); },
                  [](const Tensors& x) { return torch::relu(x[0]); },
                  {random_rows(3, 4, 1)}},
        Operation{"Sigmoid",
                  [](const Values& x) { return sigmoid(x[0]); },
                  [](const Tensors& x) { return torch::sigmoid(x[0]); },
                  {random_rows(3, 4, 1)}},
        Operation{"Exp",
                  [](const Values& x) { return exp(x[0]); },
                  [](const Tensors& x) { return torch::exp(x[0]); },
                  {random_rows(3, 4, 1)}},
        Operation{"SoftmaxRows",
                  [](const Values& x) { return softmax_rows(x[0]); },
                  [](const Tensors& x) { return torch::softmax(x[0], 1); },
                  {random_rows(3, 4, 1)}},
        Operation{"GatherRows",
                  [](const Values& x) {
                    return gather_rows(x[0], {2, 0, 2, 1});
                  },
                  [](const Tensors& x) {
                    return x[0].index_select(0, torch::tensor(std::vector<std::int64_t>{2, 0, 2, 1}));
                  },
                  {random_rows(4, 3, 1)}},
        Operation{"SliceColumns",
                  [](const Values& x) { return slice_columns(x[0], 1, 2) * slice_columns(x[0], 2, 2); },
                  [](const Tensors& x) { return x[0].slice(1, 1, 3) * x[0].slice(1, 2, 4); },
                  {random_rows(3, 4, 1)}},
        Operation{"SliceRows",
                  [](const Values& x) { return slice_rows(x[0], 1, 2) * slice_rows(x[0], 0, 2); },
                  [](const Tensors& x) { return x[0].slice(0, 1, 3) * x[0].slice(0, 0, 2); },
                  {random_rows(3, 4, 1)}},
        Operation{"Beside",
                  [](const Values& x) { return beside(x[0], x[1]); },
                  [](const Tensors& x) {
                    return torch::cat({x[0], x[1]}, 1);
                  },
                  {random_rows(3, 4, 1), random_rows(3, 2, 2)}},
        Operation{"Above",
                  [](const Values& x) { return above(x[0], x[1]); },
                  [](const Tensors& x) {
                    return torch::cat({x[0], x[1]});
                  },
                  {random_rows(3, 4, 1), random_rows(2, 4, 2)}},
        Operation{"DotRows",
                  [](const Values& x) { return dot_rows(x[0], x[1]); },
                  [](const Tensors& x) { return (x[0] * x[1]).sum(1, true); },
                  {random_rows(3, 4, 1), random_rows(3, 4, 2)}},
        // What it keeps is drawn: libtorch is handed the same mask.
        Operation{"Dropout",
                  [](const Values& x) {
                    SeededRandom random(5, Purpose::dropout);
                    return dropout(x[0], 0.4, random);
                  },
                  [](const Tensors& x) {
                    SeededRandom random(5, Purpose::dropout);
                    local::Tape<float> tape;
                    const Rows mask = dropout(tape.constant(Rows::Ones(6, 4)), 0.4, random).numbers();
                    return x[0] * tensor_of(mask);
                  },
                  {random_rows(6, 4, 1)}},
        // The first row is longer than the bound, the second is not.
        Operation{"ClipRows",
                  [](const Values& x) { return clip_rows(x[0], 2.0F); },
                  [](const Tensors& x) {
                    const torch::Tensor lengths = torch::linalg_vector_norm(x[0], 2, {1}, true);
                    return torch::where(lengths > 2, x[0] * 2 / lengths, x[0]);
                  },
                  {(Rows(2, 3) << 3, -1, 2, 0.5, 0.2, -1).finished()}},
        Operation{"NormaliseRows",
                  [](const Values& x) { return normalise_rows(exp(x[0])); },
                  [](const Tensors& x) { return torch::exp(x[0]) / torch::exp(x[0]).sum(1, true); },
                  {random_rows(3, 4, 1)}},
        Operation{"WindowsOfThree",
                  [](const Values& x) { return windows_of_three(x[0], segments); },
                  [](const Tensors& x) { return windows(x[0]); },
                  {random_rows(8, 3, 1)}},
        Operation{"SegmentSum",
                  [](const Values& x) { return segment_sum(x[0], segments); },
                  [](const Tensors& x) {
                    return each_segment(
                        [&](Index begin, Index end) { return x[0].slice(0, begin, end).sum(0, true); });
                  },
                  {random_rows(8, 3, 1)}},
        Operation{"RaggedPool",
                  [](const Values& x) { return ragged_pool(x[0], x[1], segments); },
                  [](const Tensors& x) {
                    return each_segment([&](Index begin, Index end) {
                      const torch::Tensor weights = torch::softmax(x[0].slice(0, begin, end), 0);
                      return (weights * x[1].slice(0, begin, end)).sum(0, true);
                    });
                  },
                  {random_rows(8, 1, 1), random_rows(8, 3, 2)}},
        Operation{"RaggedAttention",
                  [](const Values& x) { return ragged_attention(x[0], segments, 2); },
                  [](const Tensors& x) { return attention(x[0], 2); },
                  {random_rows(8, 12, 1)}},
        Operation{"ListwiseLoss",
                  [](const Values& x) { return listwise_loss(x[0], 3); },
                  [](const Tensors& x) {
                    return -torch::log_softmax(x[0].reshape({2, 3}), 1).slice(1, 0, 1).sum();
                  },
                  {random_rows(6, 1, 1)}},
        Operation{"BinaryLoss",
                  [](const Values& x) {
                    return binary_loss(x[0], {1.0F, 0.0F, 1.0F, 0.0F}, {1.0F, 0.5F, 2.0F, 1.0F});
                  },
                  [](const Tensors& x) {
                    const torch::Tensor labels = torch::tensor({1.0F, 0.0F, 1.0F, 0.0F}).reshape({4, 1}),
                                        weights = torch::tensor({1.0F, 0.5F, 2.0F, 1.0F}).reshape({4, 1});
                    return torch::binary_cross_entropy_with_logits(x[0], labels, weights, {},
                                                                   at::Reduction::Sum);
                  },
                  {random_rows(4, 1, 1)}}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace sotto::fl
