#include "model/layers/recurrent.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/cohort/weighted_rows.h"
#include "model/recompute.h"
#include "model/tensor.h"

namespace sotto::model {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

struct SharedSteps : torch::CustomClassHolder {
  explicit SharedSteps(GruSteps given) : steps(std::move(given)) {}
  GruSteps steps;
};

// The products of states with recurrent weights, and the gradients of these weights.
class Recurrence {
 public:
  explicit Recurrence(const GruSteps& steps) : steps_(steps) {
    if (!steps.owners) return;
    owner_of_row_.resize(steps.by_user.size());
    for (std::int64_t user = 0; user < steps.owners->users(); ++user)
      for (std::int64_t i = steps.owners->offsets[user]; i < steps.owners->offsets[user + 1]; ++i)
        owner_of_row_[static_cast<std::size_t>(steps.by_user[static_cast<std::size_t>(i)])] = user;
  }

  // x W or x Wᵀ for the rows [first, first + x.size(0)).
  Tensor times(const Tensor& x, const Tensor& weight, std::int64_t first, bool transposed) const {
    if (!steps_.owners || !steps_.owners->parameters->own())
      return transposed ? x.mm(weight.t()) : x.mm(weight);
    // The rows of one step, gathered by user.
    const std::int64_t users = steps_.owners->users();
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(users) + 1, 0);
    for (std::int64_t i = 0; i < x.size(0); ++i) ++offsets[static_cast<std::size_t>(owner(first + i)) + 1];
    for (std::size_t u = 1; u < offsets.size(); ++u) offsets[u] += offsets[u - 1];
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1),
        place(static_cast<std::size_t>(x.size(0)));
    for (std::int64_t i = 0; i < x.size(0); ++i)
      place[static_cast<std::size_t>(i)] = next[static_cast<std::size_t>(owner(first + i))]++;
    const Tensor where = index_tensor(place, x.device());
    const RowOwners owners(*steps_.owners->parameters, std::move(offsets));
    const Tensor sorted = torch::empty_like(x).index_copy_(0, where, x);
    return own_product(owners, sorted, weight, transposed).index_select(0, where);
  }

  // Returns xᵀ dy, or gives every user its part and returns nothing.
  Tensor weight_gradient(const Tensor& weight, const Tensor& x, const Tensor& dy) const {
    if (!steps_.owners) return x.t().mm(dy);
    const Tensor order = index_tensor(steps_.by_user, x.device());
    add_weight_gradients(*steps_.owners, weight, x.index_select(0, order), dy.index_select(0, order));
    return {};
  }

 private:
  std::int64_t owner(std::int64_t row) const { return owner_of_row_[static_cast<std::size_t>(row)]; }
  const GruSteps& steps_;
  std::vector<std::int64_t> owner_of_row_;
};

struct GruFunction : torch::autograd::Function<GruFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& projected, const Tensor& initial,
                        const Tensor& gates_weight, const Tensor& candidate_weight, const GruSteps& steps) {
    const std::int64_t size = initial.size(1), rows = projected.size(0);
    const Recurrence recurrence(steps);
    // By row: the state before, the gates (update | reset), the proposal.
    Tensor before = torch::empty({rows, size}, projected.options());
    Tensor gates = torch::empty({rows, 2 * size}, projected.options());
    Tensor proposals = torch::empty({rows, size}, projected.options());
    Tensor state = initial.clone();  // segments that have ended keep their rows
    std::int64_t first = 0;
    for (const std::int64_t active : steps.running) {
      const Tensor x = projected.narrow(0, first, active), old = before.narrow(0, first, active);
      old.copy_(state.narrow(0, 0, active));
      Tensor gate = gates.narrow(0, first, active), proposal = proposals.narrow(0, first, active);
      torch::add_out(gate, x.slice(1, 0, 2 * size), recurrence.times(old, gates_weight, first, false));
      gate.sigmoid_();
      torch::add_out(proposal, x.slice(1, 2 * size),
                     recurrence.times(gate.slice(1, size) * old, candidate_weight, first, false));
      proposal.tanh_();
      state.narrow(0, 0, active).copy_(torch::lerp(proposal, old, gate.slice(1, 0, size)));
      first += active;
    }
    context->save_for_backward({before, gates, proposals, gates_weight, candidate_weight});
    context->saved_data["steps"] = c10::IValue::make_capsule(c10::make_intrusive<SharedSteps>(steps));
    return state;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &before = saved[0], &gates = saved[1], &proposals = saved[2];
    const Tensor &gates_weight = saved[3], &candidate_weight = saved[4];
    const auto shared =
        c10::static_intrusive_pointer_cast<SharedSteps>(context->saved_data["steps"].toCapsule());
    const GruSteps& steps = shared->steps;
    const Recurrence recurrence(steps);
    const std::int64_t size = before.size(1), rows = before.size(0);
    Tensor d_projected = torch::empty({rows, 3 * size}, before.options());
    Tensor d_state = grads[0].clone();
    std::int64_t first = rows;
    for (std::size_t step = steps.running.size(); step-- > 0;) {
      const std::int64_t active = steps.running[step];
      first -= active;
      const Tensor h = before.narrow(0, first, active), c = proposals.narrow(0, first, active);
      const Tensor z = gates.narrow(0, first, active).slice(1, 0, size);
      const Tensor r = gates.narrow(0, first, active).slice(1, size);
      Tensor d_new = d_state.narrow(0, 0, active), d_x = d_projected.narrow(0, first, active);
      const Tensor d_c = d_new * (1 - z) * (1 - c * c);
      const Tensor d_kept = recurrence.times(d_c, candidate_weight, first, true);  // of r h
      d_x.slice(1, 0, size).copy_(d_new * (h - c) * z * (1 - z));
      d_x.slice(1, size, 2 * size).copy_(d_kept * h * r * (1 - r));
      d_x.slice(1, 2 * size).copy_(d_c);
      d_new.mul_(z)
          .add_(d_kept * r)
          .add_(recurrence.times(d_x.slice(1, 0, 2 * size).contiguous(), gates_weight, first, true));
    }
    const Tensor d_gates = d_projected.slice(1, 0, 2 * size).contiguous();
    const Tensor d_candidate = d_projected.slice(1, 2 * size).contiguous();
    const Tensor kept = gates.slice(1, size) * before;
    return {d_projected, d_state, recurrence.weight_gradient(gates_weight, before, d_gates),
            recurrence.weight_gradient(candidate_weight, kept, d_candidate), Tensor()};
  }
};

}  // namespace

Tensor gru_states(const Tensor& projected, const Tensor& initial, const Tensor& gates,
                  const Tensor& candidate, const GruSteps& steps) {
  // Autocast does not reach into backward(), and a state that is carried through many steps needs 32 bits.
  const PrecisionRegion whole(Precision::fp32);
  const auto type = gates.scalar_type();
  return GruFunction::apply(projected.to(type), initial.to(type), gates, candidate, steps);
}

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

}  // namespace sotto::model
