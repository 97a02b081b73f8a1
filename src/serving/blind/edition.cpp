#include "serving/blind/edition.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "blind/quantisation.h"
#include "serving/blind/clusters.h"

namespace sotto::serving {

namespace {

// What is left of every item when the centroid of its cluster is taken off, by slots: items of a cluster
// stand together.
struct Residuals {
  std::vector<std::vector<std::uint32_t>> items_of;  // by cluster, in the order of their slots
  std::vector<float> steps;
  std::vector<std::int8_t> entries;  // by slot
};

Residuals quantise(const BlindItems& items, const Clusters& clusters, const blind::Parameters& parameters) {
  const blind::Shape& shape = parameters.shape;
  const std::size_t dimension = shape.dimension;
  Residuals made{std::vector<std::vector<std::uint32_t>>(shape.clusters), std::vector<float>(shape.clusters),
                 std::vector<std::int8_t>(shape.slots() * dimension)};
  for (std::uint32_t item = 0; item < items.size(); ++item)
    made.items_of[clusters.slot_of[item] / shape.rows].push_back(item);
  parallel_for(shape.clusters, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cluster = begin; cluster < end; ++cluster) {
      const float* centroid = clusters.centroids.data() + cluster * dimension;
      std::vector<float> residuals;
      for (const std::uint32_t item : made.items_of[cluster]) {
        const float* vector = items.vectors.data() + item * dimension;
        for (std::size_t i = 0; i < dimension; ++i) residuals.push_back(vector[i] - centroid[i]);
      }
      made.steps[cluster] = blind::step_of(residuals, parameters);
      for (std::size_t i = 0; i < made.items_of[cluster].size(); ++i) {
        const std::size_t slot = clusters.slot_of[made.items_of[cluster][i]];
        blind::quantise_item(std::span(residuals).subspan(i * dimension, dimension), made.steps[cluster],
                             parameters, std::span(made.entries).subspan(slot * dimension, dimension));
      }
    }
  });
  return made;
}

}  // namespace

Result<std::shared_ptr<const BlindEdition>> BlindEdition::make(const BlindItems& items,
                                                               const blind::ShapeBudget& budget) {
  SOTTO_TRY(const blind::Shape shape, blind::choose_shape(items.size(), items.dimension, budget));
  SOTTO_TRY(const blind::Parameters parameters, blind::choose_parameters(shape));
  SOTTO_TRY(Clusters clusters, make_clusters(items.vectors, shape));
  Residuals residuals = quantise(items, clusters, parameters);
  SOTTO_TRY(BlindDatabase database, BlindDatabase::create(parameters, residuals.entries));
  blind::Guide guide;
  guide.model = items.model;
  guide.parameters = parameters;
  guide.centroids = std::move(clusters.centroids);
  guide.steps = std::move(residuals.steps);
  for (std::size_t cluster = 0; cluster < shape.clusters; ++cluster) {
    for (const std::uint32_t item : residuals.items_of[cluster]) guide.ids.push_back(items.ids[item]);
    for (std::size_t row = residuals.items_of[cluster].size(); row < shape.rows; ++row)
      guide.ids.push_back("");
  }
  SOTTO_TRY(guide.hint, make_hint(database));
  SOTTO_TRY(std::string bytes, blind::encode_guide(guide));
  SOTTO_TRY(std::string version, blind::guide_version(bytes));
  std::vector<std::pair<ItemNumber, std::uint32_t>> slots;
  for (std::size_t item = 0; item < items.size(); ++item)
    slots.emplace_back(items.numbers[item], clusters.slot_of[item]);
  std::sort(slots.begin(), slots.end());
  return std::shared_ptr<const BlindEdition>(new BlindEdition(
      items.model, std::move(version), std::move(bytes), std::move(database), std::move(slots)));
}

std::optional<std::uint32_t> BlindEdition::slot_of(ItemNumber item) const {
  const auto at = std::lower_bound(slots_.begin(), slots_.end(), std::pair{item, std::uint32_t{0}});
  if (at == slots_.end() || at->first != item) return std::nullopt;
  return at->second;
}

}  // namespace sotto::serving
