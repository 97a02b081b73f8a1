#pragma once
// What a device receives: numbers as they are, or as 8-bit integers with one 16-bit scale per row.

#include <cstdint>

#include "model/tensor.h"

namespace sotto {

struct Received {
  torch::Tensor values;     // shaped like what was sent
  std::uint64_t bytes = 0;  // on the wire
};

Received sent_as_floats(const torch::Tensor& values);
// rows: [R, columns]. The error of a number is at most half a step, 1/254 of the largest of its row.
Received sent_as_bytes(const torch::Tensor& rows);
// A long vector, in rows of 1,024.
Received vector_sent_as_bytes(const torch::Tensor& vector);

}  // namespace sotto
