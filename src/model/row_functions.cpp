#include "model/row_functions.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "base/random.h"
#include "model/row_kernels.h"

namespace sotto {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::uint64_t Pass::next_seed() {
  // splitmix64
  seed += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = seed;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
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

Tensor apply_dropout(const Tensor& x_in, std::int64_t seed, double rate) {
  const Tensor x = x_in.contiguous();
  Tensor out = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    at::parallel_for(0, x.numel(), 1 << 14, [&](std::int64_t begin, std::int64_t end) {
      ragged::dropout(x.data_ptr<scalar_t>(), static_cast<std::uint64_t>(seed), rate, begin, end,
                      out.data_ptr<scalar_t>());
    });
  });
  return out;
}

struct DropoutFunction : torch::autograd::Function<DropoutFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, std::int64_t seed, double rate) {
    context->saved_data["seed"] = seed;
    context->saved_data["rate"] = rate;
    return apply_dropout(x, seed, rate);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    return {
        apply_dropout(grads[0], context->saved_data["seed"].toInt(), context->saved_data["rate"].toDouble()),
        Tensor(), Tensor()};
  }
};

}  // namespace

Tensor gather_rows(const Tensor& table, std::vector<std::int64_t> rows) {
  for (const std::int64_t row : rows)
    TORCH_CHECK(row >= 0 && row < table.size(0), "row ", row, " of a table of ", table.size(0));
  if (!table.is_cuda()) return GatherFunction::apply(table, rows);
  return torch::embedding(table, torch::tensor(rows, torch::kInt64).to(table.device()));
}

Tensor word_windows(const Tensor& rows, const Segments& segments) {
  if (!rows.is_cuda()) return WindowFunction::apply(rows, segments.offsets());
  const std::int64_t blank = rows.size(0);
  Tensor left = torch::arange(-1, blank - 1), right = torch::arange(1, blank + 1);
  auto *to_left = left.data_ptr<std::int64_t>(), *to_right = right.data_ptr<std::int64_t>();
  for (std::size_t n = 0; n + 1 < segments.offsets().size(); ++n) {
    const std::int64_t first = segments.offsets()[n], last = segments.offsets()[n + 1];
    if (first == last) continue;
    to_left[first] = blank;
    to_right[last - 1] = blank;
  }
  const Tensor padded = torch::cat({rows, torch::zeros({1, rows.size(1)}, rows.options())});
  return torch::cat(
      {padded.index_select(0, left.to(rows.device())), rows, padded.index_select(0, right.to(rows.device()))},
      1);
}

Tensor dropout(const Tensor& x, double rate, Pass& pass) {
  if (!pass.training || rate == 0) return x;
  const std::uint64_t seed = pass.next_seed();
  if (x.is_cuda()) {
    torch::manual_seed(seed);
    return torch::dropout(x, rate, true);
  }
  return DropoutFunction::apply(x, static_cast<std::int64_t>(seed), rate);
}

}  // namespace sotto
