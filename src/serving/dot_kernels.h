#pragma once
// The dot product of two float vectors, with the vector instructions of the machine.

#include <cstddef>

namespace sotto::serving {

float dot(const float* left, const float* right, std::size_t size);

}  // namespace sotto::serving
