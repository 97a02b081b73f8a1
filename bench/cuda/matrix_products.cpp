#include "bench/cuda/matrix_products.h"

#include <ATen/ATen.h>
#include <torch/version.h>

namespace sotto::bench {

namespace {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
#define SOTTO_HAVE_BYTE_PRODUCTS
#endif

constexpr std::int64_t step = 32;  // tensor cores take bytes in blocks; sizes are filled up to multiples
constexpr std::int64_t largest_digit = 128;

std::int64_t filled_up(std::int64_t size) { return (size + step - 1) / step * step; }

}  // namespace

torch::Tensor byte_product(const torch::Tensor& left, const torch::Tensor& right) {
#ifdef SOTTO_HAVE_BYTE_PRODUCTS
  if (left.is_cuda()) return at::_int_mm(left, right.t());
#endif
  return at::mm(left.to(torch::kInt), right.t().to(torch::kInt));
}

Result<MatrixProducts> MatrixProducts::create(const serving::BlindDatabase& database, torch::Device device) {
  const blind::Shape& shape = database.parameters().shape;
  const auto rows = static_cast<std::int64_t>(shape.rows),
             columns = static_cast<std::int64_t>(shape.columns());
  if (columns * largest_digit * blind::item_most > INT32_MAX)
    return bad_input("products over {} columns do not fit 32 bits: choose fewer items", columns);
#ifndef SOTTO_HAVE_BYTE_PRODUCTS
  if (device.is_cuda())
    return bad_input("products of bytes on a GPU need libtorch 2.1 or newer; this is {}", TORCH_VERSION);
#endif
  torch::Tensor entries = torch::zeros({filled_up(rows), filled_up(columns)}, torch::kChar);
  for (std::int64_t row = 0; row < rows; ++row) {
    auto* of_row = entries.data_ptr<std::int8_t>() + row * entries.size(1);
    for (std::int64_t column = 0; column < columns; ++column)
      of_row[column] = static_cast<std::int8_t>(
          database.entry(static_cast<std::size_t>(row), static_cast<std::size_t>(column)));
  }
  return MatrixProducts(entries.to(device), rows);
}

torch::Tensor MatrixProducts::answer(const torch::Tensor& ciphertexts) const {
  const std::int64_t count = ciphertexts.size(0), batch = filled_up(count);
  // Digit by digit, all ciphertexts of one digit together.
  torch::Tensor digits = torch::zeros({4, batch, database_.size(1)}, database_.options());
  torch::Tensor rest = ciphertexts;
  for (std::int64_t digit = 0; digit < 4; ++digit) {
    const torch::Tensor low = rest.bitwise_and(255).bitwise_xor(128).sub(128);
    digits.select(0, digit).narrow(0, 0, count).narrow(1, 0, ciphertexts.size(1)).copy_(low);
    rest = rest.sub(low).div(256, "floor");
  }
  const torch::Tensor products =
      byte_product(database_, digits.view({4 * batch, database_.size(1)})).view({-1, 4, batch});
  torch::Tensor sum = torch::zeros({products.size(0), batch}, products.options().dtype(torch::kLong));
  for (std::int64_t digit = 0; digit < 4; ++digit)
    sum.add_(products.select(1, digit).to(torch::kLong), std::int64_t{1} << (8 * digit));
  // Modulo 2^32, as the signed number with these bits.
  constexpr std::int64_t half = std::int64_t{1} << 31;
  sum = sum.add(half).bitwise_and(2 * half - 1).sub(half).to(torch::kInt);
  return sum.narrow(0, 0, rows_).narrow(1, 0, count).t().contiguous();
}

}  // namespace sotto::bench
