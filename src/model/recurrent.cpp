#include "model/recurrent.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/gru_function.h"
#include "model/weighted_rows.h"

namespace sotto {

using torch::Tensor;

namespace {

constexpr double slow_update = 2;  // bias of the GRU's update gate: a mean over about eight clicks

// When which row is read. The rows that are read, segment after segment, are `kept`; `steps` names them in
// the order they are read: step by step, within a step by `order`.
struct Schedule {
  std::vector<std::int64_t> order;    // segments, longest first
  std::vector<std::int64_t> kept;     // rows
  std::vector<std::int64_t> starts;   // of each segment among the kept rows, and their number: [N + 1]
  std::vector<std::int64_t> steps;    // numbers into `kept`
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
  schedule.starts.push_back(0);
  for (std::size_t n = 0; n < count; ++n) {
    for (std::int64_t row = offsets[n + 1] - length[n]; row < offsets[n + 1]; ++row)
      schedule.kept.push_back(row);
    schedule.starts.push_back(static_cast<std::int64_t>(schedule.kept.size()));
  }
  schedule.running.assign(count ? length[schedule.order[0]] : 0, 0);
  for (std::size_t step = 0; step < schedule.running.size(); ++step)
    for (const std::int64_t n : schedule.order) {
      if (length[n] <= static_cast<std::int64_t>(step)) break;
      schedule.steps.push_back(schedule.starts[n] + static_cast<std::int64_t>(step));
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
  const Owners owners = owners_of_parts(segments.owners(), schedule.starts);
  const Tensor projected =
      gather_rows(affine(gather_rows(rows, schedule.kept), input_, bias_, owners), schedule.steps);
  const Tensor start = initial.defined() ? gather_rows(initial, schedule.order)
                                         : torch::zeros({segments.count(), size_}, rows.options());
  GruSteps steps{schedule.running, {}, owners};
  if (owners) steps.by_user = inverse(schedule.steps);
  return gather_rows(gru_states(projected, start, gates_, candidate_, steps), inverse(schedule.order));
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
  const Tensor projected = torch::addmm(bias_, gather_rows(rows, schedule.steps), input_);
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
  return gather_rows(torch::cat(states), inverse(schedule.steps));
}

}  // namespace sotto
