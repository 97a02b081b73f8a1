#include "fl/item_kernel.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sotto::fl {

namespace {

// Features with more values than this (title words, developers) say too little about any two items.
constexpr std::size_t most_values = 100;
constexpr double of_all_features = 2, of_their_product = 1;
// d is at least this share of the largest: noise makes counts negative.
constexpr double least_share = 0.1;
constexpr double distances_per_deviation = 2;

using Alike = std::function<double(data::ItemId, data::ItemId)>;

double shared_values(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  if (a.empty() || b.empty()) return 0;
  std::size_t shared = 0;
  for (const std::uint32_t code : a)
    shared += static_cast<std::size_t>(std::find(b.begin(), b.end(), code) != b.end() ? 1 : 0);
  return static_cast<double>(shared) / std::sqrt(static_cast<double>(a.size() * b.size()));
}

// 0: all the same, or nothing known.
double deviation(std::span<const float> values) {
  double count = 0, sum = 0, squares = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    count += 1, sum += value, squares += static_cast<double>(value) * value;
  }
  return count > 0 ? std::sqrt(std::max(squares / count - sum / count * (sum / count), 0.0)) : 0;
}

std::vector<Alike> features_of(const data::Catalogue& catalogue) {
  std::vector<Alike> features;
  for (const auto& feature : catalogue.features.categorical)
    if (feature.names.size() > 1 && feature.names.size() <= most_values)
      features.emplace_back([&feature](data::ItemId a, data::ItemId b) {
        return shared_values(feature.codes[a], feature.codes[b]);
      });
  if (catalogue.category_names.size() > 2 && catalogue.category_names.size() <= most_values)
    features.emplace_back([&catalogue](data::ItemId a, data::ItemId b) {
      return catalogue.categories[a] == catalogue.categories[b] && catalogue.categories[a] != 0 ? 1.0 : 0.0;
    });
  for (const auto& feature : catalogue.features.numeric) {
    const double spread = deviation(feature.values);
    if (spread > 0)
      features.emplace_back([&feature, spread](data::ItemId a, data::ItemId b) {
        const double distance = std::abs(static_cast<double>(feature.values[a]) - feature.values[b]);
        return std::isfinite(distance) ? std::exp(-distances_per_deviation * distance / spread) : 0.0;
      });
  }
  return features;
}

}  // namespace

std::vector<double> item_kernel(const data::Catalogue& catalogue, std::span<const data::ItemId> items,
                                std::span<const float> counts, bool features) {
  const std::vector<Alike> alike = features ? features_of(catalogue) : std::vector<Alike>();
  const std::size_t m = items.size();
  std::vector<double> size(m);
  double largest = 0;
  for (const data::ItemId item : items)
    largest = std::max<double>(largest, std::sqrt(std::max(counts[item], 0.0F)));
  if (largest == 0) largest = 1;
  for (std::size_t i = 0; i < m; ++i)
    size[i] = std::max<double>(std::sqrt(std::max(counts[items[i]], 0.0F)), least_share * largest);
  std::vector<double> kernel(m * m);
  double trace = 0;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0, product = 1;
      for (const Alike& of : alike) {
        const double one = of(items[i], items[j]);
        sum += one;
        product *= one;
      }
      double value = i == j ? 1 : 0;
      if (!alike.empty())
        value += of_all_features * sum / static_cast<double>(alike.size()) + of_their_product * product;
      kernel[i * m + j] = kernel[j * m + i] = value * size[i] * size[j];
      if (i == j) trace += kernel[i * m + i];
    }
  for (double& value : kernel) value *= static_cast<double>(m) / trace;
  return kernel;
}

}  // namespace sotto::fl
