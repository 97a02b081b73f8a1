#pragma once
// A Dataset is an item catalogue plus user behaviour, stored as columns in one checked binary file
// (DIR/dataset.sotto) and memory-mapped: opening copies nothing, idle users cost only their columns.
//
// Items and users are dense numbers 0..n-1 here; their published ids are string columns.
// Behaviour comes in one or both of two forms:
//   impressions   a user, a time, the history before it, the items shown and which were clicked (news)
//   interactions  a user, an item, a rating, a time, context features (MovieLens, Frappe, Globo)
// Both are grouped by user, in time order within a user.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/binary_file.h"
#include "base/result.h"

namespace sotto::data {

using ItemId = std::uint32_t;
using UserId = std::uint32_t;

enum class Split : std::uint8_t { train = 0, validation = 1, test = 2 };

// Strings back to back; row i is bytes [offsets[i], offsets[i+1]).
struct StringColumn {
  std::span<const std::uint64_t> offsets;
  std::span<const char> bytes;
  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view operator[](std::size_t row) const {
    return {bytes.data() + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
  }
};

// A list per row, back to back.
template <class T>
struct ListColumn {
  std::span<const std::uint64_t> offsets;
  std::span<const T> values;
  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::span<const T> operator[](std::size_t row) const {
    return values.subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
};

// A named feature of items, users or interactions. Categorical values are codes into `names`; a categorical
// feature may hold several codes per row (genres). Missing numbers are NaN; missing categories are empty
// lists.
struct CategoricalFeature {
  std::string name;
  StringColumn names;
  ListColumn<std::uint32_t> codes;
};
struct NumericFeature {
  std::string name;
  std::span<const float> values;
};

struct Features {
  std::vector<CategoricalFeature> categorical;
  std::vector<NumericFeature> numeric;
  const CategoricalFeature* find_categorical(std::string_view name) const;
  const NumericFeature* find_numeric(std::string_view name) const;
};

struct Catalogue {
  StringColumn ids, titles, abstracts;
  StringColumn category_names, subcategory_names;  // dictionaries; code 0 is "" (unknown)
  std::span<const std::uint32_t> categories, subcategories;
  StringColumn entity_ids, entity_labels;  // dictionary of Wikidata ids
  ListColumn<std::uint32_t> title_entities, abstract_entities;
  std::uint32_t entity_dimension = 0;     // 0: no vectors
  std::span<const float> entity_vectors;  // entity_ids.size() x entity_dimension; zero row: unknown
  Features features;
  std::size_t size() const { return ids.size(); }
};

struct Impression {
  UserId user;
  std::int64_t time;  // seconds since 1970, 0 when unknown
  Split split;
  std::span<const ItemId> history;  // clicks before this impression, oldest first
  std::span<const ItemId> shown;
  std::span<const std::uint8_t> clicked;  // 0 or 1 per shown item
};

struct Interactions {
  std::span<const std::uint64_t> user_offsets;  // rows of user u: [user_offsets[u], user_offsets[u+1])
  std::span<const ItemId> items;
  std::span<const float> ratings;  // NaN when the data has none
  std::span<const std::int64_t> times;
  Features context;
  std::size_t size() const { return items.size(); }
};

struct DatasetCounts {
  std::uint64_t users, items, interactions, impressions, clicks;
};

// Immutable and safe to share between threads. Cheap to move; views live as long as the Dataset.
class Dataset {
 public:
  // Verifies checksums and structure (every offset, code and id in range): a hostile file is an error, not a
  // crash.
  static Result<Dataset> open(const fs::path& directory);

  const std::string& name() const;    // for example "MIND", "newsroom"
  const std::string& origin() const;  // how it was made: importer, options, or generator settings
  const Catalogue& catalogue() const;
  StringColumn user_ids() const;
  const Features& user_features() const;
  const Interactions& interactions() const;

  std::size_t user_count() const { return user_ids().size(); }
  std::size_t item_count() const { return catalogue().size(); }
  std::size_t impression_count() const;
  Impression impression(std::size_t index) const;
  // Impressions of user u are [first, last).
  std::pair<std::size_t, std::size_t> impressions_of(UserId user) const;
  bool has_impressions() const { return impression_count() > 0; }
  bool has_interactions() const { return interactions().size() > 0; }
  DatasetCounts counts() const;

  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

 private:
  struct Storage;
  explicit Dataset(std::unique_ptr<Storage> storage);
  std::unique_ptr<Storage> storage_;
};

}  // namespace sotto::data
