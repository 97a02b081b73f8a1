#pragma once
// Small user models whose weights are the formula of golden_users.py.

#include <cmath>
#include <string>
#include <vector>

#include "device/model/user_model.h"

namespace sotto::device::testing {

inline constexpr std::uint32_t vector_size = 6, hidden = 5;

inline NamedTensor formula_tensor(std::string name, std::vector<std::uint32_t> shape) {
  int phase = 0;
  for (std::size_t place = 0; place < name.size(); ++place)
    phase += static_cast<int>(place + 1) * name[place];
  std::size_t count = 1;
  for (const std::uint32_t extent : shape) count *= extent;
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(0.4 * std::sin(1.3 * static_cast<double>(i + 1) + phase % 97));
  }
  return {std::move(name), std::move(shape), std::move(values)};
}

inline UserModelShape small_shape(std::string kind) { return {std::move(kind), vector_size, 2, 2}; }

inline std::vector<NamedTensor> small_weights(std::string_view kind) {
  std::vector<NamedTensor> weights;
  const auto add = [&](const std::string& name, std::vector<std::uint32_t> shape) {
    weights.push_back(formula_tensor(name, std::move(shape)));
  };
  const auto pooling = [&](const std::string& name) {
    add(name + ".weight", {vector_size, hidden});
    add(name + ".bias", {hidden});
    add(name + ".query", {hidden});
  };
  if (kind == "nrms") {
    add("user.attention.weight", {vector_size, 3 * vector_size});
    pooling("user.pooling");
  } else if (kind == "naml") {
    pooling("clicks");
  } else if (kind == "fednewsrec") {
    add("click_attention.weight", {vector_size, 3 * vector_size});
    pooling("click_pooling");
    add("recent_clicks.input", {vector_size, 3 * vector_size});
    add("recent_clicks.gates", {vector_size, 2 * vector_size});
    add("recent_clicks.candidate", {vector_size, vector_size});
    add("recent_clicks.bias", {3 * vector_size});
    pooling("merge_pooling");
  } else if (kind == "catalogue") {
    add("scale", {1, vector_size});
    add("average", {1, vector_size});
    add("query", {vector_size});
    add("doubt", {1, 1});
  } else if (kind == "sum") {
    add("mix", {vector_size, vector_size});
    add("constant", {vector_size});
  }
  return weights;
}

}  // namespace sotto::device::testing
