#include "data/fingerprint.h"

#include <fmt/format.h>

namespace sotto::data {

namespace {

// Length and checksum of every column in turn, and one checksum over all of them.
class ColumnSums {
 public:
  template <class T>
  void add(std::span<const T> column) {
    sums_.push_back(column.size());
    sums_.push_back(binary_format::checksum(std::as_bytes(column)));
  }
  void add(std::string_view text) { add(std::span<const char>(text)); }
  void add(const StringColumn& column) {
    add(column.offsets);
    add(column.bytes);
  }
  void add(const ListColumn<std::uint32_t>& column) {
    add(column.offsets);
    add(column.values);
  }
  void add(const Features& features) {
    sums_.push_back(features.categorical.size());
    for (const CategoricalFeature& feature : features.categorical) {
      add(std::string_view(feature.name));
      add(feature.names);
      add(feature.codes);
      sums_.push_back(feature.declared);
    }
    sums_.push_back(features.numeric.size());
    for (const NumericFeature& feature : features.numeric) {
      add(std::string_view(feature.name));
      add(feature.values);
    }
  }
  void add(const Catalogue& catalogue) {
    for (const StringColumn* column :
         {&catalogue.ids, &catalogue.titles, &catalogue.abstracts, &catalogue.category_names,
          &catalogue.subcategory_names, &catalogue.entity_ids, &catalogue.entity_labels})
      add(*column);
    add(catalogue.is_public);
    add(catalogue.categories);
    add(catalogue.subcategories);
    add(catalogue.title_entities);
    add(catalogue.abstract_entities);
    add(catalogue.entity_vectors);
    add(catalogue.features);
  }
  void add(const ImpressionTable& table) {
    add(table.user_offsets);
    add(table.times);
    add(table.splits);
    add(table.histories);
    add(table.history_starts);
    add(table.history_lengths);
    add(table.shown_offsets);
    add(table.shown);
    add(table.clicked);
    sums_.push_back(static_cast<std::uint64_t>(table.training_non_clicks));
  }
  void add(const Interactions& interactions) {
    add(interactions.user_offsets);
    add(interactions.items);
    add(interactions.ratings);
    add(interactions.times);
    if (interactions.has_splits()) add(interactions.splits);
    add(interactions.context);
  }
  std::string text() const {
    return fmt::format("{:016x}", binary_format::checksum(std::as_bytes(std::span(sums_))));
  }

 private:
  std::vector<std::uint64_t> sums_;
};

}  // namespace

std::string fingerprint(const Dataset& dataset) {
  ColumnSums sums;
  sums.add(dataset.catalogue());
  sums.add(dataset.user_ids());
  sums.add(dataset.user_features());
  sums.add(dataset.parts().impressions);
  sums.add(dataset.interactions());
  return sums.text();
}

}  // namespace sotto::data
