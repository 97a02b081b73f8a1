#include "data/public_part.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "data/columns.h"

namespace sotto::data {

namespace {

constexpr ItemId left_out = std::numeric_limits<ItemId>::max();

// Columns made here, at places that do not move.
class Memory {
 public:
  explicit Memory(std::shared_ptr<const void> source) : source_(std::move(source)) {}

  template <class T>
  std::span<const T> keep(std::vector<T> values) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    kept_.push_back(kept);
    return *kept;
  }
  StringColumn keep(const StringTable& table) {
    return {keep(std::vector<std::uint64_t>(table.offsets().begin(), table.offsets().end())),
            keep(std::vector<char>(table.bytes().begin(), table.bytes().end()))};
  }

 private:
  std::shared_ptr<const void> source_;
  std::deque<std::shared_ptr<const void>> kept_;
};

class Copy {
 public:
  Copy(const Dataset& source, Memory& memory) : source_(source), memory_(memory) {
    new_numbers_.assign(source.item_count(), left_out);
    for (ItemId item = 0; item < source.item_count(); ++item) {
      if (source.catalogue().is_public[item] == 0) continue;
      new_numbers_[item] = static_cast<ItemId>(items_.size());
      items_.push_back(item);
    }
  }

  Catalogue catalogue();
  Features declared(const Features& features, std::span<const std::uint64_t> rows,
                    std::vector<std::string>& columns_left_out);
  ImpressionTable impressions();
  Interactions interactions(std::vector<std::string>& columns_left_out);

 private:
  template <class T>
  std::span<const T> chosen(std::span<const T> values, std::span<const std::uint64_t> rows) {
    std::vector<T> result;
    result.reserve(rows.size());
    for (const std::uint64_t row : rows) result.push_back(values[row]);
    return memory_.keep(std::move(result));
  }
  StringColumn chosen(const StringColumn& texts);
  ListColumn<std::uint32_t> chosen(const ListColumn<std::uint32_t>& lists);
  // Codes of the items with the names that occur among them, in their order.
  std::span<const std::uint32_t> recoded(std::span<const std::uint32_t> codes, StringColumn& names);
  CategoricalFeature recoded(const CategoricalFeature& feature);

  const Dataset& source_;
  Memory& memory_;
  std::vector<std::uint64_t> items_;  // that stay, by their numbers in the source
  std::vector<ItemId> new_numbers_;
};

StringColumn Copy::chosen(const StringColumn& texts) {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<char> bytes;
  for (const std::uint64_t item : items_) {
    const std::string_view text = texts[item];
    bytes.insert(bytes.end(), text.begin(), text.end());
    offsets.push_back(bytes.size());
  }
  return {memory_.keep(std::move(offsets)), memory_.keep(std::move(bytes))};
}

ListColumn<std::uint32_t> Copy::chosen(const ListColumn<std::uint32_t>& lists) {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> values;
  for (const std::uint64_t item : items_) {
    const auto list = lists[item];
    values.insert(values.end(), list.begin(), list.end());
    offsets.push_back(values.size());
  }
  return {memory_.keep(std::move(offsets)), memory_.keep(std::move(values))};
}

// Numbers those of `names` that the codes mention; code 0 always stays where `first` says so.
std::vector<std::uint32_t> occurring(const StringColumn& names, std::span<const std::uint32_t> codes,
                                     bool first, StringTable& kept) {
  std::vector<std::uint8_t> occurs(names.size(), 0);
  if (first) occurs[0] = 1;
  for (const std::uint32_t code : codes) occurs[code] = 1;
  std::vector<std::uint32_t> new_codes(names.size(), 0);
  for (std::size_t code = 0; code < names.size(); ++code)
    if (occurs[code] != 0) new_codes[code] = kept.intern(names[code]);
  return new_codes;
}

std::span<const std::uint32_t> Copy::recoded(std::span<const std::uint32_t> codes, StringColumn& names) {
  std::vector<std::uint32_t> own;
  for (const std::uint64_t item : items_) own.push_back(codes[item]);
  StringTable kept;
  const auto new_codes = occurring(names, own, true, kept);
  for (std::uint32_t& code : own) code = new_codes[code];
  names = memory_.keep(kept);
  return memory_.keep(std::move(own));
}

CategoricalFeature Copy::recoded(const CategoricalFeature& feature) {
  const auto lists = chosen(feature.codes);
  StringTable kept;
  const auto new_codes = occurring(feature.names, lists.values, false, kept);
  std::vector<std::uint32_t> own(lists.values.begin(), lists.values.end());
  for (std::uint32_t& code : own) code = new_codes[code];
  return {feature.name, memory_.keep(kept), {lists.offsets, memory_.keep(std::move(own))}, 0};
}

Catalogue Copy::catalogue() {
  const Catalogue& all = source_.catalogue();
  if (items_.size() == all.size()) return all;
  Catalogue own = all;  // entities come from the public catalogue alone
  own.ids = chosen(all.ids);
  own.titles = chosen(all.titles);
  own.abstracts = chosen(all.abstracts);
  own.is_public = chosen(all.is_public, items_);
  own.categories = recoded(all.categories, own.category_names);
  own.subcategories = recoded(all.subcategories, own.subcategory_names);
  own.title_entities = chosen(all.title_entities);
  own.abstract_entities = chosen(all.abstract_entities);
  for (CategoricalFeature& feature : own.features.categorical) feature = recoded(feature);
  for (NumericFeature& feature : own.features.numeric) feature.values = chosen(feature.values, items_);
  return own;
}

Features Copy::declared(const Features& features, std::span<const std::uint64_t> rows,
                        std::vector<std::string>& columns_left_out) {
  Features own;
  for (const CategoricalFeature& feature : features.categorical) {
    if (feature.declared == 0) {
      columns_left_out.push_back(feature.name);
      continue;
    }
    const auto other = static_cast<std::uint32_t>(feature.declared);
    StringTable names;
    for (std::size_t code = 0; code < feature.declared; ++code) names.intern(feature.names[code]);
    names.intern(undeclared_value);
    std::vector<std::uint64_t> offsets = {0};
    std::vector<std::uint32_t> codes;
    for (const std::uint64_t row : rows) {
      for (const std::uint32_t code : feature.codes[row]) {
        const std::uint32_t shown = std::min(code, other);
        const auto begin = codes.begin() + static_cast<std::ptrdiff_t>(offsets.back());
        if (std::find(begin, codes.end(), shown) == codes.end()) codes.push_back(shown);
      }
      offsets.push_back(codes.size());
    }
    own.categorical.push_back({feature.name,
                               memory_.keep(names),
                               {memory_.keep(std::move(offsets)), memory_.keep(std::move(codes))},
                               feature.declared + 1});
  }
  for (const NumericFeature& feature : features.numeric)
    own.numeric.push_back({feature.name, chosen(feature.values, rows)});
  return own;
}

// An impression without a click among the items that stay is left out: there is nothing to rank.
ImpressionTable Copy::impressions() {
  const ImpressionTable& all = source_.parts().impressions;
  if (items_.size() == source_.item_count()) return all;
  std::vector<std::uint64_t> kept, user_offsets = {0}, history_starts, shown_offsets = {0};
  std::vector<std::uint32_t> history_lengths;
  std::vector<ItemId> histories, shown;
  std::vector<std::uint8_t> clicked;
  // Impressions share prefixes of lists: a list is copied once, with the number kept of each prefix.
  std::vector<std::uint64_t> before(all.histories.size() + 1, 0);
  for (std::size_t place = 0; place < all.histories.size(); ++place) {
    const ItemId item = new_numbers_[all.histories[place]];
    if (item != left_out) histories.push_back(item);
    before[place + 1] = histories.size();
  }
  for (UserId user = 0; user < source_.user_count(); ++user) {
    const auto [first, last] = source_.impressions_of(user);
    for (std::size_t row = first; row < last; ++row) {
      const std::size_t begin = shown.size();
      for (std::uint64_t place = all.shown_offsets[row]; place < all.shown_offsets[row + 1]; ++place) {
        if (new_numbers_[all.shown[place]] == left_out) continue;
        shown.push_back(new_numbers_[all.shown[place]]);
        clicked.push_back(all.clicked[place]);
      }
      if (std::find(clicked.begin() + static_cast<std::ptrdiff_t>(begin), clicked.end(), 1) ==
          clicked.end()) {
        shown.resize(begin);
        clicked.resize(begin);
        continue;
      }
      kept.push_back(row);
      shown_offsets.push_back(shown.size());
      const std::uint64_t start = all.history_starts[row], end = start + all.history_lengths[row];
      history_starts.push_back(before[start]);
      history_lengths.push_back(static_cast<std::uint32_t>(before[end] - before[start]));
    }
    user_offsets.push_back(kept.size());
  }
  ImpressionTable own = all;
  own.users = chosen(all.users, kept);
  own.times = chosen(all.times, kept);
  own.splits = chosen(all.splits, kept);
  own.user_offsets = memory_.keep(std::move(user_offsets));
  own.histories = memory_.keep(std::move(histories));
  own.history_starts = memory_.keep(std::move(history_starts));
  own.history_lengths = memory_.keep(std::move(history_lengths));
  own.shown_offsets = memory_.keep(std::move(shown_offsets));
  own.shown = memory_.keep(std::move(shown));
  own.clicked = memory_.keep(std::move(clicked));
  return own;
}

Interactions Copy::interactions(std::vector<std::string>& columns_left_out) {
  const Interactions& all = source_.interactions();
  std::vector<std::uint64_t> kept, user_offsets = {0};
  std::vector<ItemId> items;
  for (std::size_t user = 0; user + 1 < all.user_offsets.size(); ++user) {
    for (std::uint64_t row = all.user_offsets[user]; row < all.user_offsets[user + 1]; ++row) {
      if (new_numbers_[all.items[row]] == left_out) continue;
      kept.push_back(row);
      items.push_back(new_numbers_[all.items[row]]);
    }
    user_offsets.push_back(kept.size());
  }
  Interactions own;
  own.ratings = chosen(all.ratings, kept);
  own.times = chosen(all.times, kept);
  if (all.has_splits()) own.splits = chosen(all.splits, kept);
  own.context = declared(all.context, kept, columns_left_out);
  own.user_offsets = memory_.keep(std::move(user_offsets));
  own.items = memory_.keep(std::move(items));
  return own;
}

bool all_declared(const Features& features) {
  return std::all_of(features.categorical.begin(), features.categorical.end(),
                     [](const CategoricalFeature& feature) {
                       return feature.declared > 0 && feature.declared == feature.names.size() &&
                              feature.names[feature.declared - 1] == undeclared_value;
                     });
}

}  // namespace

bool is_public_part(const Dataset& dataset) {
  return dataset.catalogue().public_count() == dataset.item_count() && dataset.item_count() > 0 &&
         all_declared(dataset.user_features()) && all_declared(dataset.interactions().context);
}

Result<PublicPart> public_part(const Dataset& source) {
  if (source.catalogue().public_count() == 0)
    return bad_input(
        "{} has no public list of items: all {} follow from what users did, and a private recipe's model "
        "would show who used what. Import it again with a list of all items that anybody could use: [items] "
        "of the mapping (csv), meta.csv (frappe), articles_metadata.csv (globo), news.tsv beside the log "
        "(adressa)",
        source.name(), source.item_count());
  const DatasetParts& all = source.parts();
  if (is_public_part(source)) return PublicPart{Dataset(all), 0, {}};
  const auto memory = std::make_shared<Memory>(all.memory);
  Copy copy(source, *memory);
  DatasetParts own = all;
  std::vector<std::string> columns_left_out;
  own.catalogue = copy.catalogue();
  std::vector<std::uint64_t> users(source.user_count());
  for (std::size_t user = 0; user < users.size(); ++user) users[user] = user;
  own.user_features = copy.declared(all.user_features, users, columns_left_out);
  own.impressions = copy.impressions();
  own.interactions = copy.interactions(columns_left_out);
  const std::uint64_t items_left_out = source.item_count() - own.catalogue.size();
  own.memory = memory;
  return PublicPart{Dataset(std::move(own)), items_left_out, std::move(columns_left_out)};
}

Dataset catalogue_alone(const Dataset& source) {
  static constexpr std::uint64_t no_rows[] = {0};
  const auto values_alone = [](const Features& features) {
    Features declared;
    for (const CategoricalFeature& feature : features.categorical)
      if (feature.declared == feature.names.size())
        declared.categorical.push_back({feature.name, feature.names, {no_rows, {}}, feature.declared});
    return declared;
  };
  DatasetParts parts = source.parts();
  parts.user_ids = {};
  parts.user_features = values_alone(parts.user_features);
  parts.impressions = {};
  const Features context = values_alone(parts.interactions.context);
  parts.interactions = {};
  parts.interactions.context = context;
  return Dataset(std::move(parts));
}

Status check_rows_are_each_users_own(const Dataset& dataset) {
  if (dataset.training_non_clicks() == NonClicks::all_users)
    return bad_input(
        "the items that were not clicked in the training rows of {} were drawn by what all users did, so "
        "that "
        "one user's clicks change everybody's rows and no epsilon would hold. Import it again, with "
        "sampling=uniform (the default) and a public list of items (docs/data-formats.md)",
        dataset.name());
  if (dataset.has_impressions() && dataset.split_origin() == SplitOrigin::all_users)
    return bad_input(
        "which impressions of {} train and which test was read off the rows of all users "
        "(test_from=last-day, "
        "validation_share), so that one user's rows move everybody's and no epsilon would hold. Import it "
        "again with a time that does not follow from the rows, --test-from TIME, and without "
        "--validation-share; generated data: generate it again (docs/data-formats.md)",
        dataset.name());
  return {};
}

}  // namespace sotto::data
