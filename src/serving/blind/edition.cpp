#include "serving/blind/edition.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "blind/guide.h"
#include "blind/quantisation.h"
#include "blind/rotation.h"
#include "serving/blind/clusters.h"
#include "serving/blind/hint.h"

namespace sotto::serving {

namespace {

constexpr std::size_t rotated_at_once = 1024;

std::vector<float> all_rotated(std::span<const float> vectors, std::size_t dimension) {
  std::vector<float> turned(vectors.size());
  const std::size_t block = rotated_at_once * dimension;
  parallel_for((vectors.size() + block - 1) / block, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto rows = vectors.subspan(i * block, std::min(block, vectors.size() - i * block));
      std::ranges::copy(blind::rotated(rows, dimension),
                        turned.begin() + static_cast<std::ptrdiff_t>(i * block));
    }
  });
  return turned;
}

// What is left of every item when the centroid of a cluster is taken off.
struct Residuals {
  std::vector<float> steps;          // by cluster
  std::vector<std::int8_t> entries;  // by slot
};

Residuals quantise(std::span<const float> vectors, const Clusters& clusters,
                   const blind::Parameters& parameters) {
  const blind::Shape& shape = parameters.shape;
  const std::size_t dimension = shape.dimension;
  Residuals made{std::vector<float>(shape.clusters), std::vector<std::int8_t>(shape.slots() * dimension)};
  parallel_for(shape.clusters, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cluster = begin; cluster < end; ++cluster) {
      const auto centroid = std::span(clusters.centroids).subspan(cluster * dimension, dimension);
      const auto taste = std::span(clusters.tastes).subspan(cluster * dimension, dimension);
      const auto& inside = clusters.items_of[cluster];
      std::vector<float> residuals;
      residuals.reserve(inside.size() * dimension);
      for (const std::uint32_t item : inside)
        for (std::size_t i = 0; i < dimension; ++i)
          residuals.push_back(vectors[item * dimension + i] - centroid[i]);
      made.steps[cluster] = blind::step_of(residuals, parameters);
      for (std::size_t row = 0; row < inside.size(); ++row) {
        const std::size_t slot = cluster * shape.rows + row;
        blind::quantise_item(std::span(residuals).subspan(row * dimension, dimension), taste,
                             made.steps[cluster], parameters,
                             std::span(made.entries).subspan(slot * dimension, dimension));
      }
    }
  });
  return made;
}

std::vector<std::uint32_t> places_of(const Clusters& clusters, const blind::Shape& shape) {
  std::vector<std::uint32_t> places(shape.slots(), blind::no_item);
  for (std::size_t cluster = 0; cluster < shape.clusters; ++cluster)
    std::ranges::copy(clusters.items_of[cluster],
                      places.begin() + static_cast<std::ptrdiff_t>(cluster * shape.rows));
  return places;
}

}  // namespace

Result<std::shared_ptr<const BlindEdition>> BlindEdition::make(const BlindItems& items,
                                                               const blind::ShapeBudget& budget) {
  SOTTO_TRY(const blind::Shape shape, blind::choose_shape(items.size(), items.dimension, budget));
  SOTTO_TRY(const blind::Parameters parameters, blind::choose_parameters(shape));
  const std::vector<float> vectors = all_rotated(items.vectors, items.dimension);
  SOTTO_TRY(Clusters clusters, make_clusters(vectors, shape));
  Residuals residuals = quantise(vectors, clusters, parameters);
  SOTTO_TRY(BlindDatabase database, BlindDatabase::create(parameters, residuals.entries));
  blind::Guide guide;
  guide.model = items.model;
  guide.parameters = parameters;
  guide.centroids = std::move(clusters.centroids);
  guide.steps = std::move(residuals.steps);
  for (const std::string& id : items.ids) guide.ids.push_back(id);
  guide.places = places_of(clusters, shape);
  SOTTO_TRY(guide.hint, make_hint(database));
  SOTTO_TRY(std::string bytes, blind::encode_guide(guide));
  SOTTO_TRY(std::string version, blind::guide_version(bytes));
  std::vector<std::pair<ItemNumber, std::uint32_t>> places;
  places.reserve(items.size());
  for (std::uint32_t item = 0; item < items.size(); ++item) places.emplace_back(items.numbers[item], item);
  std::sort(places.begin(), places.end());
  return std::shared_ptr<const BlindEdition>(new BlindEdition(
      items.model, std::move(version), std::move(bytes), std::move(database), std::move(places)));
}

bool BlindEdition::has(ItemNumber item) const {
  const auto at = std::lower_bound(items_.begin(), items_.end(), std::pair{item, std::uint32_t{0}});
  return at != items_.end() && at->first == item;
}

}  // namespace sotto::serving
