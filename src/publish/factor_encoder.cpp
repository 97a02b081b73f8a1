#include "publish/factor_encoder.h"

namespace sotto::publish {

FactorEncoder::FactorEncoder(recipes::TrainedFactors factors, const data::Dataset& dataset)
    : factors_(std::move(factors)) {
  for (std::size_t item = 0; item < dataset.item_count(); ++item)
    rows_.emplace(dataset.catalogue().ids[item], item);
}

Result<std::vector<std::vector<float>>> FactorEncoder::encode(
    std::span<const serving::CatalogueItem> items) const {
  std::vector<std::vector<float>> vectors;
  for (const serving::CatalogueItem& item : items) {
    const auto row = rows_.find(item.id);
    if (row == rows_.end()) {
      vectors.push_back(factors_.unseen_item);
      continue;
    }
    const auto first = factors_.items.begin() + static_cast<std::ptrdiff_t>(row->second * factors_.size);
    vectors.emplace_back(first, first + static_cast<std::ptrdiff_t>(factors_.size));
  }
  return vectors;
}

}  // namespace sotto::publish
