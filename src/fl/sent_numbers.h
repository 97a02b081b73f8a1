#pragma once
// Numbers that devices fetch: as they are, or as 8-bit integers with one 16-bit scale per row.

#include <cstdint>

#include "model/tensor.h"

namespace sotto::fl {

struct Received {
  torch::Tensor values;     // shaped like what was sent
  std::uint64_t bytes = 0;  // on the wire
  // What is sent of scaled rows, padded to whole ones: [R, columns] of 8 bits and [R] of 16; otherwise
  // undefined.
  torch::Tensor steps = {}, scales = {};
};

Received sent_as_floats(const torch::Tensor& values);
// rows: [R, columns]. The error of a number is at most half a step, 1/254 of the largest of its row.
Received sent_as_bytes(const torch::Tensor& rows);
// A long vector, in rows of 1,024.
Received vector_sent_as_bytes(const torch::Tensor& vector);

}  // namespace sotto::fl
