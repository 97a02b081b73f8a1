#pragma once
// Vectors of items that are known by their ids and not by their text: those of the data that a run without a
// news model was trained on. Immutable, safe from several threads.

#include <string>
#include <unordered_map>

#include "data/dataset.h"
#include "recipes/trained_factors.h"
#include "serving/pool/serving_model.h"

namespace sotto::publish {

class FactorEncoder final : public serving::ItemEncoder {
 public:
  // dataset: as the factors were opened with.
  FactorEncoder(recipes::TrainedFactors factors, const data::Dataset& dataset);

  // An item that was not there in training stands last.
  Result<std::vector<std::vector<float>>> encode(
      std::span<const serving::CatalogueItem> items) const override;

 private:
  const recipes::TrainedFactors factors_;
  std::unordered_map<std::string, std::size_t> rows_;
};

}  // namespace sotto::publish
