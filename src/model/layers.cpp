#include "model/layers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sotto {

using torch::Tensor;

Tensor glorot_uniform(std::int64_t rows, std::int64_t columns) {
  const double limit = std::sqrt(6.0 / static_cast<double>(rows + columns));
  return torch::empty({rows, columns}).uniform_(-limit, limit);
}

namespace {

constexpr double around_identity = 0.3;  // what is left of the Glorot matrix beside the identity
constexpr double slow_update = 2;        // bias of the GRU's update gate: a mean over about eight clicks

}  // namespace

WordConvolution::WordConvolution(std::int64_t in, std::int64_t out, Start start)
    : weight_(register_parameter("weight", glorot_uniform(3 * in, out))),
      bias_(register_parameter("bias", torch::zeros({out}))) {
  if (start == Start::glorot) return;
  torch::NoGradGuard no_grad;
  weight_.mul_(around_identity)
      .slice(0, in, 2 * in)
      .add_(torch::nn::init::orthogonal_(torch::empty({in, out})));
}

Tensor WordConvolution::forward(const Tensor& words, const Segments& segments) {
  return torch::addmm(bias_, word_windows(words, segments), weight_).relu();
}

SelfAttention::SelfAttention(std::int64_t in, std::int64_t heads, std::int64_t head_size, Start start)
    : heads_(heads),
      weight_(register_parameter(
          "weight", torch::cat({glorot_uniform(in, heads * head_size), glorot_uniform(in, heads * head_size),
                                glorot_uniform(in, heads * head_size)},
                               1))) {
  if (start == Start::glorot) return;
  torch::NoGradGuard no_grad;
  const std::int64_t out = heads * head_size;
  weight_.mul_(around_identity).slice(1, 2 * out).add_(torch::eye(in, out));
}

Tensor SelfAttention::forward(const Tensor& rows, const Segments& segments) {
  return ragged_attention(rows.mm(weight_), segments, heads_);
}

AdditivePooling::AdditivePooling(std::int64_t in, std::int64_t hidden)
    : weight_(register_parameter("weight", glorot_uniform(in, hidden))),
      bias_(register_parameter("bias", torch::zeros({hidden}))),
      query_(register_parameter("query", glorot_uniform(hidden, 1).squeeze(1))) {}

Tensor AdditivePooling::forward(const Tensor& rows, const Segments& segments) {
  return ragged_pool(torch::addmm(bias_, rows, weight_).tanh().mv(query_), rows, segments);
}

RecentGru::RecentGru(std::int64_t in, std::int64_t size, std::int64_t most, Start start)
    : size_(size),
      most_(most),
      input_(register_parameter(
          "input",
          torch::cat({glorot_uniform(in, size), glorot_uniform(in, size), glorot_uniform(in, size)}, 1))),
      gates_(register_parameter("gates",
                                torch::cat({glorot_uniform(size, size), glorot_uniform(size, size)}, 1))),
      candidate_(register_parameter("candidate", glorot_uniform(size, size))),
      bias_(register_parameter("bias", torch::zeros({3 * size}))) {
  if (start == Start::glorot) return;
  torch::NoGradGuard no_grad;
  for (Tensor* matrix : {&input_, &gates_, &candidate_}) matrix->mul_(around_identity);
  input_.slice(1, 2 * size).add_(torch::eye(in, size));
  bias_.slice(0, 0, size).fill_(slow_update);
}

Tensor RecentGru::forward(const Tensor& rows, const Segments& segments) {
  const auto& offsets = segments.offsets();
  const std::int64_t count = segments.count();
  // Longest first: at every step the segments still running are a prefix.
  std::vector<std::int64_t> order(count), length(count);
  for (std::int64_t n = 0; n < count; ++n) length[n] = std::min(most_, offsets[n + 1] - offsets[n]);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return length[a] > length[b]; });
  const std::int64_t steps = count ? length[order[0]] : 0;

  std::vector<std::int64_t> inputs, running(steps, 0);
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::int64_t n : order) {
      if (length[n] <= step) break;
      inputs.push_back(offsets[n + 1] - length[n] + step);
      ++running[step];
    }
  const Tensor projected = torch::addmm(bias_, gather_rows(rows, inputs), input_);

  Tensor state = torch::zeros({steps ? running[0] : 0, size_}, rows.options());
  std::vector<Tensor> finished = {torch::zeros({count - state.size(0), size_}, rows.options())};
  std::int64_t first = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t active = running[step];
    if (active < state.size(0)) {
      finished.push_back(state.slice(0, active));
      state = state.slice(0, 0, active);
    }
    const Tensor x = projected.narrow(0, first, active);
    first += active;
    const Tensor gates = torch::addmm(x.slice(1, 0, 2 * size_), state, gates_).sigmoid();
    const Tensor update = gates.slice(1, 0, size_), reset = gates.slice(1, size_, 2 * size_);
    const Tensor proposal = torch::addmm(x.slice(1, 2 * size_), reset * state, candidate_).tanh();
    state = torch::lerp(proposal, state, update);
  }
  finished.push_back(state);
  std::reverse(finished.begin(), finished.end());
  std::vector<std::int64_t> position(count);
  for (std::int64_t i = 0; i < count; ++i) position[order[i]] = i;
  return gather_rows(torch::cat(finished), position);
}

}  // namespace sotto
