#include "serving/pool/serving_model.h"

#include <algorithm>
#include <cmath>

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

namespace {

constexpr std::size_t most_directions = 4095;  // one more is the average user

Status check_directions(std::string_view what, std::span<const float> numbers, std::size_t dimension) {
  if (numbers.size() % dimension != 0 || numbers.size() / dimension > most_directions) {
    return bad_input("the {} hold {} numbers: no whole number, up to {}, of vectors of {}", what,
                     numbers.size(), most_directions, dimension);
  }
  for (const float number : numbers) {
    if (!(std::abs(number) <= largest_vector_number)) {
      return bad_input("the {} hold the number {}: it must be finite and at most {:g} in size", what, number,
                       largest_vector_number);
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const ServingModel>> ServingModel::create(Parts parts) {
  if (parts.version.empty() || parts.version.size() > most_name_bytes) {
    return bad_input("a model version has 1 to {} bytes", most_name_bytes);
  }
  if (parts.dimension == 0 || parts.dimension > most_vector_numbers) {
    return bad_input("item vectors of {} numbers were announced: choose 1 to {}", parts.dimension,
                     most_vector_numbers);
  }
  if (parts.average_user.size() != parts.dimension) {
    return bad_input("the average user has {} numbers where items have {}", parts.average_user.size(),
                     parts.dimension);
  }
  if (!(parts.average_share >= 0 && parts.average_share <= 1)) {
    return bad_input("the share of the average user is {}: choose 0 to 1", parts.average_share);
  }
  SOTTO_CHECK(check_directions("basis vectors", parts.basis, parts.dimension));
  SOTTO_CHECK(check_directions("prototypes", parts.prototypes, parts.dimension));
  SOTTO_CHECK(check_directions("average user", parts.average_user, parts.dimension));
  privacy::PublicVectors vectors{parts.dimension, parts.basis, parts.prototypes, parts.average_user};
  const auto share = static_cast<float>(parts.average_share);
  std::vector<float> lists = std::move(parts.prototypes);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lists[i] = (1 - share) * lists[i] + share * parts.average_user[i % parts.dimension];
  }
  lists.insert(lists.end(), parts.average_user.begin(), parts.average_user.end());
  SOTTO_TRY(auto list_directions, Projection::create(std::move(lists), parts.dimension));
  std::optional<Projection> basis;
  if (!parts.basis.empty()) {
    SOTTO_TRY(basis, Projection::create(std::move(parts.basis), parts.dimension));
  }
  return std::shared_ptr<const ServingModel>(
      new ServingModel(std::move(parts.version), std::move(basis), std::move(list_directions),
                       std::move(parts.encoder), parts.mechanisms, std::move(vectors)));
}

}  // namespace sotto::serving
