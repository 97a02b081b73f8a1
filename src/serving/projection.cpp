#include "serving/projection.h"

#include "serving/dot_kernels.h"
#include "serving/index/scaled_query.h"

namespace sotto::serving {

Result<Projection> Projection::create(std::vector<float> directions, std::size_t dimension) {
  if (dimension == 0 || directions.empty() || directions.size() % dimension != 0) {
    return bad_input("{} numbers are no whole number of directions of {}", directions.size(), dimension);
  }
  SOTTO_CHECK(check_values(directions));
  return Projection(std::move(directions), dimension);
}

void Projection::apply(std::span<const float> vector, std::span<float> products) const {
  for (std::size_t i = 0; i < products.size(); ++i) {
    products[i] = dot(direction(i).data(), vector.data(), dimension_);
  }
}

}  // namespace sotto::serving
