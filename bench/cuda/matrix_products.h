#pragma once
// The pass of a blind server as one product of integer matrices, for a GPU: the database in bytes times many
// ciphertexts at once, whose words are cut into four signed digits of a byte each. Products are sums in
// 32 bits and exact; digits are shifted to their places at the end, and what overflows 32 bits belongs to no
// place. The answer is the one of BlindDatabase, word by word.
//
// On a CPU the same by a plain product, so that the cutting is tested where there is no GPU. Immutable.

#include "base/result.h"
#include "model/tensor.h"
#include "serving/blind/database.h"

namespace sotto::bench {

// int32 [m, n] of int8 [m, k] and int8 [n, k]; sizes are multiples of 32 on a GPU.
torch::Tensor byte_product(const torch::Tensor& left, const torch::Tensor& right);

class MatrixProducts {
 public:
  // Refused when a sum could leave 32 bits, and on a GPU with a libtorch that has no product of bytes.
  static Result<MatrixProducts> create(const serving::BlindDatabase& database, torch::Device device);

  // ciphertexts: int32 [B, d·C] on the device, words bit by bit. Gives int32 [B, M].
  torch::Tensor answer(const torch::Tensor& ciphertexts) const;

 private:
  MatrixProducts(torch::Tensor database, std::int64_t rows) : database_(std::move(database)), rows_(rows) {}
  torch::Tensor database_;  // int8 [M, d·C], both filled up with zeros
  std::int64_t rows_;
};

}  // namespace sotto::bench
