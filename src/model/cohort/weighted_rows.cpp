#include "model/cohort/weighted_rows.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "model/layers/layers.h"
#include "model/layers/row_functions.h"
#include "model/layers/row_kernels.h"
#include "model/tensor.h"

namespace sotto::model {

using torch::Tensor;

namespace {

struct Pieces {
  Padding padding;  // of the rows, cut into pieces
  Tensor owner;     // of each piece
};

Pieces pieces_of(const RowOwners& owners, torch::Device device) {
  const std::int64_t users = owners.users(), rows = owners.offsets.back();
  const std::int64_t most = (rows + users - 1) / users;
  std::vector<std::int64_t> offsets = {0}, owner;
  for (std::int64_t user = 0; user < users; ++user) {
    const std::int64_t end = owners.offsets[static_cast<std::size_t>(user) + 1];
    while (offsets.back() < end) {
      offsets.push_back(std::min(offsets.back() + most, end));
      owner.push_back(user);
    }
  }
  return {padding_of(Segments(std::move(offsets)), device), index_tensor(owner, device)};
}

// Zeros where there is no row, so that sums over a piece are sums over its rows.
Tensor padded_with_zeros(const Tensor& rows, const Padding& padding) {
  return pad(rows, padding).masked_fill_(padding.blank.unsqueeze(2), 0);
}

}  // namespace

Tensor owner_of_rows(const RowOwners& owners, torch::Device device) {
  std::vector<std::int64_t> owner;
  owner.reserve(static_cast<std::size_t>(owners.offsets.back()));
  for (std::int64_t user = 0; user < owners.users(); ++user)
    owner.resize(static_cast<std::size_t>(owners.offsets[static_cast<std::size_t>(user) + 1]), user);
  return index_tensor(owner, device);
}

void add_grouped_weight_gradients(const RowOwners& owners, const Tensor& weight, const Tensor& x,
                                  const Tensor& dy) {
  if (x.size(0) == 0) return;
  const Pieces pieces = pieces_of(owners, x.device());
  const Tensor products =
      padded_with_zeros(x, pieces.padding).transpose(1, 2).bmm(padded_with_zeros(dy, pieces.padding));
  owners.parameters->gradients_of(weight).index_add_(0, pieces.owner, products);
}

void add_grouped_sums(const RowOwners& owners, const Tensor& bias, const Tensor& dy) {
  if (dy.size(0) == 0) return;
  const Pieces pieces = pieces_of(owners, dy.device());
  owners.parameters->gradients_of(bias).index_add_(0, pieces.owner,
                                                   padded_with_zeros(dy, pieces.padding).sum(1));
}

void add_grouped_row_gradients(const RowOwners& owners, const Tensor& table, const Tensor& rows,
                               const Tensor& dy) {
  owners.parameters->gradients_of(table).index_put_({owner_of_rows(owners, dy.device()), rows}, dy,
                                                    /*accumulate=*/true);
}

Tensor grouped_product(const RowOwners& owners, const Tensor& x, const Tensor& weight, bool transposed) {
  if (x.size(0) == 0) return torch::empty({0, weight.size(transposed ? 0 : 1)}, x.options());
  const Pieces pieces = pieces_of(owners, x.device());
  const Tensor own = owners.parameters->values_of(weight).index_select(0, pieces.owner);
  return unpad(pad(x, pieces.padding).bmm(transposed ? own.transpose(1, 2) : own), pieces.padding);
}

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

// Users are independent: threads share them, each with single-threaded products.
template <class Body>
void for_users(const RowOwners& owners, const Body& body) {
  at::parallel_for(0, owners.users(), 1, [&](std::int64_t begin, std::int64_t end) {
    const torch::NoGradGuard no_grad;
    for (std::int64_t user = begin; user < end; ++user) {
      const std::int64_t first = owners.offsets[user], count = owners.offsets[user + 1] - first;
      if (count > 0) body(user, first, count);
    }
  });
}

Owners owners_in(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<RowOwners>(context->saved_data["owners"].toCapsule());
}

void keep_owners(AutogradContext* context, const Owners& owners) {
  context->saved_data["owners"] = c10::IValue::make_capsule(owners);
}

struct OwnedProduct : torch::autograd::Function<OwnedProduct> {
  static Tensor forward(AutogradContext* context, const Tensor& rows_in, const Tensor& weight,
                        const Owners& owners, bool transposed) {
    const Tensor rows = rows_in.contiguous();
    context->save_for_backward({rows, weight});
    context->saved_data["rows_need_gradient"] = rows_in.requires_grad();
    context->saved_data["transposed"] = transposed;
    keep_owners(context, owners);
    return times(*owners, rows, weight, transposed);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &rows = saved[0], &weight = saved[1];
    const Owners owners = owners_in(context);
    const Tensor dy = grads[0].contiguous();
    const bool transposed = context->saved_data["transposed"].toBool();
    add_weight_gradients(*owners, weight, transposed ? dy : rows, transposed ? rows : dy);
    Tensor dx;
    if (context->saved_data["rows_need_gradient"].toBool()) dx = times(*owners, dy, weight, !transposed);
    return {dx, Tensor(), Tensor(), Tensor()};
  }

 private:
  static Tensor times(const RowOwners& owners, const Tensor& x, const Tensor& weight, bool transposed) {
    if (owners.parameters->own()) return own_product(owners, x, weight, transposed);
    return x.to(weight.scalar_type()).mm(transposed ? weight.t() : weight);
  }
};

struct OwnedBias : torch::autograd::Function<OwnedBias> {
  static Tensor forward(AutogradContext* context, const Tensor& rows, const Tensor& bias,
                        const Owners& owners) {
    context->save_for_backward({bias});
    keep_owners(context, owners);
    if (!owners->parameters->own()) return rows + bias;
    if (rows.is_cuda())
      return rows +
             owners->parameters->values_of(bias).index_select(0, owner_of_rows(*owners, rows.device()));
    Tensor out = rows.clone();
    for_users(*owners, [&](std::int64_t user, std::int64_t first, std::int64_t count) {
      out.narrow(0, first, count).add_(owners->parameters->value(user, bias));
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const Tensor bias = context->get_saved_variables()[0];
    const Owners owners = owners_in(context);
    if (grads[0].is_cuda()) {
      add_grouped_sums(*owners, bias, grads[0].to(bias.scalar_type()));
    } else {
      for_users(*owners, [&](std::int64_t user, std::int64_t first, std::int64_t count) {
        owners->parameters->gradient(user, bias).add_(grads[0].narrow(0, first, count).sum(0));
      });
    }
    return {grads[0], Tensor(), Tensor()};
  }
};

struct OwnedLookup : torch::autograd::Function<OwnedLookup> {
  static Tensor forward(AutogradContext* context, const Tensor& table, const Tensor& rows,
                        const Owners& owners) {
    context->save_for_backward({table, rows});
    keep_owners(context, owners);
    if (!owners->parameters->own()) return table.index_select(0, rows);
    if (table.is_cuda())
      return owners->parameters->values_of(table).index({owner_of_rows(*owners, table.device()), rows});
    Tensor out = torch::empty({rows.size(0), table.size(1)}, table.options());
    for_users(*owners, [&](std::int64_t user, std::int64_t first, std::int64_t count) {
      out.narrow(0, first, count)
          .copy_(owners->parameters->value(user, table).index_select(0, rows.narrow(0, first, count)));
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &table = saved[0], &rows = saved[1];
    const Owners owners = owners_in(context);
    const Tensor dy = grads[0].contiguous();
    if (dy.is_cuda()) {
      add_grouped_row_gradients(*owners, table, rows, dy);
    } else {
      for_users(*owners, [&](std::int64_t user, std::int64_t first, std::int64_t count) {
        owners->parameters->gradient(user, table)
            .index_add_(0, rows.narrow(0, first, count), dy.narrow(0, first, count));
      });
    }
    return {Tensor(), Tensor(), Tensor()};
  }
};

// Adds to the rows of the parameter's own gradient, where it has one: a gradient of the table's size would
// cost more than the products of a small step.
struct LeafLookup : torch::autograd::Function<LeafLookup> {
  static Tensor forward(AutogradContext* context, const Tensor& table, const Tensor& rows) {
    context->save_for_backward({table, rows});
    return table.index_select(0, rows);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    add_rows(saved[0].grad(), saved[1], grads[0].contiguous());
    return {Tensor(), Tensor()};
  }

 private:
  static void add_rows(Tensor table, const Tensor& rows, const Tensor& grad) {
    if (table.is_cuda()) {
      table.index_add_(0, rows, grad);
      return;
    }
    AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "lookup_backward", [&] {
      at::parallel_for(0, table.size(0), 256, [&](std::int64_t begin, std::int64_t end) {
        ragged::scatter_add(grad.data_ptr<scalar_t>(), rows.data_ptr<std::int64_t>(), rows.size(0),
                            grad.size(1), begin, end, table.data_ptr<scalar_t>());
      });
    });
  }
};

}  // namespace

void add_weight_gradients(const RowOwners& owners, const Tensor& weight, const Tensor& x_in,
                          const Tensor& dy_in) {
  const Tensor x = x_in.to(weight.scalar_type()), dy = dy_in.to(weight.scalar_type());
  if (x.is_cuda()) {
    add_grouped_weight_gradients(owners, weight, x, dy);
    return;
  }
  for_users(owners, [&](std::int64_t user, std::int64_t first, std::int64_t count) {
    owners.parameters->gradient(user, weight)
        .addmm_(x.narrow(0, first, count).t(), dy.narrow(0, first, count));
  });
}

Tensor own_product(const RowOwners& owners, const Tensor& x_in, const Tensor& weight, bool transposed) {
  const Tensor x = x_in.to(weight.scalar_type());
  if (x.is_cuda()) return grouped_product(owners, x, weight, transposed);
  Tensor out = torch::empty({x.size(0), weight.size(transposed ? 0 : 1)}, x.options());
  for_users(owners, [&](std::int64_t user, std::int64_t first, std::int64_t count) {
    const Tensor own = owners.parameters->value(user, weight);
    Tensor part = out.narrow(0, first, count);
    torch::mm_out(part, x.narrow(0, first, count), transposed ? own.t() : own);
  });
  return out;
}

Tensor product(const Tensor& rows, const Tensor& weight, const Owners& owners) {
  return owners ? OwnedProduct::apply(rows, weight, owners, false) : rows.mm(weight);
}

Tensor product_transposed(const Tensor& rows, const Tensor& weight, const Owners& owners) {
  return owners ? OwnedProduct::apply(rows, weight, owners, true) : rows.mm(weight.t());
}

Tensor affine(const Tensor& rows, const Tensor& weight, const Tensor& bias, const Owners& owners) {
  return owners ? OwnedBias::apply(OwnedProduct::apply(rows, weight, owners, false), bias, owners)
                : torch::addmm(bias, rows, weight);
}

Tensor projection(const Tensor& rows, const Tensor& query, const Owners& owners) {
  return owners ? OwnedProduct::apply(rows, query.unsqueeze(1), owners, false).squeeze(1) : rows.mv(query);
}

Tensor lookup(const Tensor& table, std::vector<std::int64_t> rows, const Owners& owners) {
  if (!table.requires_grad()) return gather_rows(table, std::move(rows));
  if (!owners) {
    if (!table.is_leaf() || !table.grad().defined() || !table.is_contiguous())
      return gather_rows(table, std::move(rows));
    return LeafLookup::apply(table, index_tensor(rows, table.device()));
  }
  return OwnedLookup::apply(table, index_tensor(rows, table.device()), owners);
}

}  // namespace sotto::model
