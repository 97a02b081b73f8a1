#include "model/recurrent.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sotto {

using torch::Tensor;

namespace {

constexpr double slow_update = 2;  // bias of the GRU's update gate: a mean over about eight clicks

// When which row is read.
struct Schedule {
  std::vector<std::int64_t> order;    // segments, longest first
  std::vector<std::int64_t> rows;     // in the order they are read: step by step, within a step by `order`
  std::vector<std::int64_t> running;  // segments still running, by step
};

Schedule schedule_of(const Segments& segments, std::int64_t most) {
  const auto& offsets = segments.offsets();
  const auto count = static_cast<std::size_t>(segments.count());
  std::vector<std::int64_t> length(count);
  for (std::size_t n = 0; n < count; ++n) length[n] = std::min(most, offsets[n + 1] - offsets[n]);
  Schedule schedule;
  schedule.order.resize(count);
  std::iota(schedule.order.begin(), schedule.order.end(), 0);
  std::stable_sort(schedule.order.begin(), schedule.order.end(),
                   [&](auto a, auto b) { return length[a] > length[b]; });
  schedule.running.assign(count ? length[schedule.order[0]] : 0, 0);
  for (std::size_t step = 0; step < schedule.running.size(); ++step)
    for (const std::int64_t n : schedule.order) {
      if (length[n] <= static_cast<std::int64_t>(step)) break;
      schedule.rows.push_back(offsets[n + 1] - length[n] + static_cast<std::int64_t>(step));
      ++schedule.running[step];
    }
  return schedule;
}

// where[order[i]] = i
std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> where(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) where[order[i]] = static_cast<std::int64_t>(i);
  return where;
}

}  // namespace

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

Tensor RecentGru::forward(const Tensor& rows, const Segments& segments, const Tensor& initial) {
  const Schedule schedule = schedule_of(segments, most_);
  const Tensor projected = torch::addmm(bias_, gather_rows(rows, schedule.rows), input_);
  Tensor state = initial.defined() ? gather_rows(initial, schedule.order)
                                   : torch::zeros({segments.count(), size_}, rows.options());
  std::vector<Tensor> finished;  // shortest first
  std::int64_t first = 0;
  for (const std::int64_t active : schedule.running) {
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
  return gather_rows(torch::cat(finished), inverse(schedule.order));
}

Lstm::Lstm(std::int64_t in, std::int64_t size)
    : size_(size),
      input_(register_parameter("input", torch::cat({glorot_uniform(in, size), glorot_uniform(in, size),
                                                     glorot_uniform(in, size), glorot_uniform(in, size)},
                                                    1))),
      state_(register_parameter("state", torch::cat({glorot_uniform(size, size), glorot_uniform(size, size),
                                                     glorot_uniform(size, size), glorot_uniform(size, size)},
                                                    1))),
      bias_(register_parameter(
          "bias", torch::cat({torch::zeros({size}), torch::ones({size}), torch::zeros({2 * size})}))) {}

Tensor Lstm::forward(const Tensor& rows, const Segments& segments) {
  if (segments.rows() == 0) return torch::zeros({0, size_}, rows.options());
  const Schedule schedule = schedule_of(segments, std::numeric_limits<std::int64_t>::max());
  const Tensor projected = torch::addmm(bias_, gather_rows(rows, schedule.rows), input_);
  Tensor state = torch::zeros({schedule.running[0], size_}, rows.options()), cell = state;
  std::vector<Tensor> states;
  std::int64_t first = 0;
  for (const std::int64_t active : schedule.running) {
    const Tensor all = torch::addmm(projected.narrow(0, first, active), state.slice(0, 0, active), state_);
    first += active;
    const Tensor gates = all.slice(1, 0, 3 * size_).sigmoid();
    cell = gates.slice(1, size_, 2 * size_) * cell.slice(0, 0, active) +
           gates.slice(1, 0, size_) * all.slice(1, 3 * size_).tanh();
    state = gates.slice(1, 2 * size_) * cell.tanh();
    states.push_back(state);
  }
  return gather_rows(torch::cat(states), inverse(schedule.rows));
}

}  // namespace sotto
