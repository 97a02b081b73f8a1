#include "model/cohort/grouped_rows.h"

#include <algorithm>

#include "model/layers/padding.h"
#include "model/tensor.h"

namespace sotto {

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

}  // namespace sotto
