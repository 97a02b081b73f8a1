#include <algorithm>

#include "data/dataset.h"

namespace sotto {

const CategoricalFeature* Features::find_categorical(std::string_view name) const {
  const auto found = std::find_if(categorical.begin(), categorical.end(),
                                  [&](const CategoricalFeature& feature) { return feature.name == name; });
  return found == categorical.end() ? nullptr : &*found;
}

const NumericFeature* Features::find_numeric(std::string_view name) const {
  const auto found = std::find_if(numeric.begin(), numeric.end(),
                                  [&](const NumericFeature& feature) { return feature.name == name; });
  return found == numeric.end() ? nullptr : &*found;
}

}  // namespace sotto
