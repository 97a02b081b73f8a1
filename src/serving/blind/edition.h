#pragma once
// One edition of the blind database: matrix, guide and which items are in it, made together from the
// items of one moment and never changed. Questions name the guide they were made with, so a matrix is only
// ever multiplied with ciphertexts that its own hint opens.
//
// Immutable; shared between threads.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "blind/shape.h"
#include "serving/blind/database.h"
#include "serving/index/item_index.h"

namespace sotto::serving {

// The live items of one moment.
struct BlindItems {
  std::string model;
  std::uint32_t dimension = 0;
  std::vector<ItemNumber> numbers;
  std::vector<std::string> ids;
  std::vector<float> vectors;  // rows of `dimension`
  std::size_t size() const { return ids.size(); }
};

class BlindEdition {
 public:
  // Clusters, rounds, packs, and computes the hint: about 15 s of one core per million items of 64 numbers.
  static Result<std::shared_ptr<const BlindEdition>> make(const BlindItems& items,
                                                          const blind::ShapeBudget& budget);

  const std::string& version() const { return version_; }  // of its guide
  const std::string& guide_bytes() const { return guide_bytes_; }
  const std::string& model() const { return model_; }
  const BlindDatabase& database() const { return database_; }
  const blind::Shape& shape() const { return database_.parameters().shape; }
  bool has(ItemNumber item) const;
  // Ascending by number, each with its place in the guide's ids.
  const std::vector<std::pair<ItemNumber, std::uint32_t>>& items() const { return items_; }

 private:
  BlindEdition(std::string model, std::string version, std::string guide_bytes, BlindDatabase database,
               std::vector<std::pair<ItemNumber, std::uint32_t>> items)
      : model_(std::move(model)),
        version_(std::move(version)),
        guide_bytes_(std::move(guide_bytes)),
        database_(std::move(database)),
        items_(std::move(items)) {}
  std::string model_, version_, guide_bytes_;
  BlindDatabase database_;
  std::vector<std::pair<ItemNumber, std::uint32_t>> items_;
};

}  // namespace sotto::serving
