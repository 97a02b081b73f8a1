#pragma once
// Packs of any size with seeded contents.

#include <random>
#include <string>
#include <vector>

#include "device/pack/device_pack.h"
#include "device/small_user_models.h"

namespace sotto::device::testing {

inline std::vector<float> random_floats(std::mt19937& random, std::size_t count, float spread = 1) {
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

inline PackItem random_item(std::mt19937& random, std::size_t number, std::uint32_t size = vector_size) {
  return {"N" + std::to_string(number), random_floats(random, size), 1'700'000'000 + 60 * (number % 1000),
          number % 7 == 0 ? no_category : static_cast<std::uint16_t>(number % 3)};
}

// items N0, N1, ...; categories health, politics, sports.
inline DevicePack small_pack(std::size_t items = 20, std::string kind = "nrms",
                             NumberForm weights = NumberForm::f32, unsigned seed = 1) {
  std::mt19937 random(seed);
  DevicePack pack;
  pack.dimension = vector_size;
  pack.user_model = {kind, 2, 2, 10, {}};
  for (const NamedTensor& tensor : small_weights(kind)) {
    pack.user_model.weights.push_back(
        *PackTensor::from_floats(tensor.name, tensor.shape, tensor.values, weights));
  }
  pack.basis = *PackTensor::from_floats("basis", {4, vector_size}, random_floats(random, 4 * vector_size),
                                        NumberForm::f32);
  pack.prototypes = *PackTensor::from_floats("prototypes", {8, vector_size},
                                             random_floats(random, 8 * vector_size), NumberForm::f32);
  pack.average_user = random_floats(random, vector_size);
  pack.anonymous = random_floats(random, vector_size);
  pack.categories = {"health", "politics", "sports"};
  std::vector<PackItem> all;
  for (std::size_t i = 0; i < items; ++i) all.push_back(random_item(random, i));
  pack.items = *make_items(std::move(all), vector_size);
  if (auto name = model_name(pack)) pack.model = *name;  // there is no libsodium otherwise
  return pack;
}

// Another model over the same items.
inline DevicePack retrained(DevicePack pack) {
  pack.average_user[0] += 1;
  if (auto name = model_name(pack)) pack.model = *name;
  return pack;
}

}  // namespace sotto::device::testing
