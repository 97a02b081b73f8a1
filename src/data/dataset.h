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
  // So many of the names, the first ones, are a list that was public before anybody had a value; 0: all of
  // them were read off the rows.
  std::size_t declared = 0;
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
  // 1: named by the public catalogue; 0: known only because somebody's row names it.
  std::span<const std::uint8_t> is_public;
  StringColumn category_names, subcategory_names;  // dictionaries; code 0 is "" (unknown)
  std::span<const std::uint32_t> categories, subcategories;
  StringColumn entity_ids, entity_labels;  // dictionary of Wikidata ids
  ListColumn<std::uint32_t> title_entities, abstract_entities;
  std::uint32_t entity_dimension = 0;     // 0: no vectors
  std::span<const float> entity_vectors;  // entity_ids.size() x entity_dimension; zero row: unknown
  Features features;
  std::size_t size() const { return ids.size(); }
  std::size_t public_count() const;
};

// Where the items of training and validation impressions come from that were not clicked.
enum class NonClicks : std::uint8_t {
  recorded = 0,          // as they were shown
  public_catalogue = 1,  // drawn, by nothing but the public catalogue and the user's own rows
  all_users = 2,         // drawn by what all users did: no private recipe may train on them
};

// What decides which impressions train and which do not.
enum class SplitOrigin : std::uint8_t {
  public_or_own = 0,  // what was public before, as files and times that were given, or each user's own rows
  all_users = 1,      // a cut read off everybody's rows: no private recipe may train on them
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
  // A Split per row where the source says which rows test; empty: recipes divide users themselves.
  std::span<const std::uint8_t> splits;
  Features context;
  std::size_t size() const { return items.size(); }
  bool has_splits() const { return !splits.empty(); }
};

// The columns behind Dataset::impression().
struct ImpressionTable {
  std::span<const std::uint64_t> user_offsets;
  std::span<const UserId> users;
  std::span<const std::int64_t> times;
  std::span<const std::uint8_t> splits;
  std::span<const ItemId> histories;
  std::span<const std::uint64_t> history_starts;
  std::span<const std::uint32_t> history_lengths;
  std::span<const std::uint64_t> shown_offsets;
  std::span<const ItemId> shown;
  std::span<const std::uint8_t> clicked;
  NonClicks training_non_clicks = NonClicks::recorded;
  SplitOrigin split_origin = SplitOrigin::public_or_own;
};

// Everything a dataset is made of: views, and what keeps the memory behind them.
struct DatasetParts {
  std::string name, origin;
  Catalogue catalogue;
  StringColumn user_ids;
  Features user_features;
  ImpressionTable impressions;
  Interactions interactions;
  std::shared_ptr<const void> memory;
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
  // Of parts whose offsets, codes and ids are right.
  explicit Dataset(DatasetParts parts);
  const DatasetParts& parts() const;

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
  NonClicks training_non_clicks() const { return parts().impressions.training_non_clicks; }
  SplitOrigin split_origin() const { return parts().impressions.split_origin; }
  bool has_impressions() const { return impression_count() > 0; }
  bool has_interactions() const { return interactions().size() > 0; }
  DatasetCounts counts() const;

  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace sotto::data
