#include "model/layers/row_functions.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "base/random.h"
#include "model/layers/row_kernels.h"
#include "model/tensor.h"

namespace sotto::model {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

std::uint64_t mixed(std::uint64_t z) {  // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

constexpr std::uint64_t seed_step = 0x9e3779b97f4a7c15ULL;

}  // namespace

std::uint64_t Pass::next_seed() { return mixed(seed += seed_step); }

std::vector<std::uint64_t> Pass::next_seeds() {
  seed += seed_step;
  std::vector<std::uint64_t> seeds;
  seeds.reserve(users->dropout_seeds.size());
  for (const std::uint64_t own : users->dropout_seeds) seeds.push_back(mixed(own + seed));
  return seeds;
}

Pass Pass::train(std::uint64_t run_seed, std::uint32_t round, std::uint32_t user) {
  return {true, SeededRandom(run_seed, Purpose::dropout, round, user)()};
}

namespace {

struct WindowFunction : torch::autograd::Function<WindowFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& rows_in,
                        const std::vector<std::int64_t>& offsets) {
    const Tensor rows = rows_in.contiguous();
    const std::int64_t columns = rows.size(1);
    Tensor out = torch::empty({rows.size(0), 3 * columns}, rows.options());
    AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "word_windows", [&] {
      at::parallel_for(0, static_cast<std::int64_t>(offsets.size()) - 1, 16,
                       [&](std::int64_t begin, std::int64_t end) {
                         ragged::window_forward(rows.data_ptr<scalar_t>(), offsets.data(), columns, begin,
                                                end, out.data_ptr<scalar_t>());
                       });
    });
    context->saved_data["offsets"] = offsets;
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto offsets = context->saved_data["offsets"].toIntVector();
    const Tensor grad_out = grads[0].contiguous();
    const std::int64_t columns = grad_out.size(1) / 3;
    Tensor grad = torch::empty({grad_out.size(0), columns}, grad_out.options());
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "word_windows_backward", [&] {
      at::parallel_for(0, static_cast<std::int64_t>(offsets.size()) - 1, 16,
                       [&](std::int64_t begin, std::int64_t end) {
                         ragged::window_backward(grad_out.data_ptr<scalar_t>(), offsets.data(), columns,
                                                 begin, end, grad.data_ptr<scalar_t>());
                       });
    });
    return {grad, Tensor()};
  }
};

// Whole blocks move by one row; then the rows whose neighbour is of another segment are cleared.
struct ShiftFunction : torch::autograd::Function<ShiftFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& rows, const Tensor& firsts,
                        const Tensor& lasts) {
    context->save_for_backward({firsts, lasts});
    const std::int64_t count = rows.size(0), columns = rows.size(1);
    Tensor out = torch::empty({count, 3 * columns}, rows.options());
    Tensor before = out.narrow(1, 0, columns), after = out.narrow(1, 2 * columns, columns);
    out.narrow(1, columns, columns).copy_(rows);
    before.slice(0, 1).copy_(rows.slice(0, 0, count - 1));
    before.index_fill_(0, firsts, 0);
    after.slice(0, 0, count - 1).copy_(rows.slice(0, 1));
    after.index_fill_(0, lasts, 0);
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const std::int64_t count = grads[0].size(0), columns = grads[0].size(1) / 3;
    Tensor grad = grads[0].narrow(1, columns, columns).clone();
    grad.slice(0, 0, count - 1).add_(grads[0].narrow(1, 0, columns).index_fill(0, saved[0], 0).slice(0, 1));
    grad.slice(0, 1).add_(
        grads[0].narrow(1, 2 * columns, columns).index_fill(0, saved[1], 0).slice(0, 0, count - 1));
    return {grad, Tensor(), Tensor()};
  }
};

struct GatherFunction : torch::autograd::Function<GatherFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& table_in,
                        const std::vector<std::int64_t>& rows) {
    const Tensor table = table_in.contiguous();
    const std::int64_t columns = table.size(1), count = static_cast<std::int64_t>(rows.size());
    Tensor out = torch::empty({count, columns}, table.options());
    AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "gather_rows", [&] {
      const scalar_t* from = table.data_ptr<scalar_t>();
      scalar_t* to = out.data_ptr<scalar_t>();
      at::parallel_for(0, count, 256, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          std::copy_n(from + rows[i] * columns, columns, to + i * columns);
      });
    });
    context->saved_data["rows"] = rows;
    context->saved_data["table_rows"] = table.size(0);
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto rows = context->saved_data["rows"].toIntVector();
    const std::int64_t table_rows = context->saved_data["table_rows"].toInt();
    const Tensor grad_out = grads[0].contiguous();
    Tensor grad = torch::zeros({table_rows, grad_out.size(1)}, grad_out.options());
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "gather_rows_backward", [&] {
      at::parallel_for(0, table_rows, 256, [&](std::int64_t begin, std::int64_t end) {
        ragged::scatter_add(grad_out.data_ptr<scalar_t>(), rows.data(),
                            static_cast<std::int64_t>(rows.size()), grad_out.size(1), begin, end,
                            grad.data_ptr<scalar_t>());
      });
    });
    return {grad, Tensor()};
  }
};

// Part i is the rows [offsets[i], offsets[i + 1]) with the seed seeds[i]; elements count from the part's
// start.
Tensor apply_dropout(const Tensor& x_in, const std::vector<std::int64_t>& offsets,
                     const std::vector<std::int64_t>& seeds, double rate) {
  const Tensor x = x_in.contiguous();
  const std::int64_t columns = x.size(0) ? x.numel() / x.size(0) : 0;
  Tensor out = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    for (std::size_t part = 0; part < seeds.size(); ++part) {
      const std::int64_t first = offsets[part] * columns,
                         count = (offsets[part + 1] - offsets[part]) * columns;
      at::parallel_for(0, count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        ragged::dropout(x.data_ptr<scalar_t>() + first, static_cast<std::uint64_t>(seeds[part]), rate, begin,
                        end, out.data_ptr<scalar_t>() + first);
      });
    }
  });
  return out;
}

struct DropoutFunction : torch::autograd::Function<DropoutFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const std::vector<std::int64_t>& offsets,
                        const std::vector<std::int64_t>& seeds, double rate) {
    context->saved_data["offsets"] = offsets;
    context->saved_data["seeds"] = seeds;
    context->saved_data["rate"] = rate;
    return apply_dropout(x, offsets, seeds, rate);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    auto& saved = context->saved_data;
    return {apply_dropout(grads[0], saved["offsets"].toIntVector(), saved["seeds"].toIntVector(),
                          saved["rate"].toDouble()),
            Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor gather_rows(const Tensor& table, std::vector<std::int64_t> rows) {
  for (const std::int64_t row : rows)
    TORCH_CHECK(row >= 0 && row < table.size(0), "row ", row, " of a table of ", table.size(0));
  if (!table.is_cuda()) return GatherFunction::apply(table, rows);
  return torch::embedding(table, index_tensor(rows, table.device()));
}

Tensor word_windows(const Tensor& rows, const Segments& segments) {
  return rows.is_cuda() ? shifted_word_windows(rows, segments)
                        : WindowFunction::apply(rows, segments.offsets());
}

Tensor shifted_word_windows(const Tensor& rows, const Segments& segments) {
  if (segments.rows() == 0) return torch::cat({rows, rows, rows}, 1);
  std::vector<std::int64_t> firsts, lasts;
  for (std::size_t n = 0; n + 1 < segments.offsets().size(); ++n) {
    const std::int64_t first = segments.offsets()[n], end = segments.offsets()[n + 1];
    if (first == end) continue;
    firsts.push_back(first);
    lasts.push_back(end - 1);
  }
  return ShiftFunction::apply(rows, index_tensor(firsts, rows.device()), index_tensor(lasts, rows.device()));
}

Tensor dropout(const Tensor& x, double rate, Pass& pass, const Owners& owners) {
  if (!pass.training || rate == 0) return x;
  if (owners && !x.is_cuda()) {
    const std::vector<std::uint64_t> seeds = pass.next_seeds();
    return DropoutFunction::apply(x, owners->offsets, std::vector<std::int64_t>(seeds.begin(), seeds.end()),
                                  rate);
  }
  const std::uint64_t seed = pass.next_seed();
  if (x.is_cuda()) {
    torch::manual_seed(seed);
    return torch::dropout(x, rate, true);
  }
  return DropoutFunction::apply(x, std::vector<std::int64_t>{0, x.size(0)},
                                std::vector<std::int64_t>{static_cast<std::int64_t>(seed)}, rate);
}

}  // namespace sotto::model
