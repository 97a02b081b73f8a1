// Any delimited files, as a mapping file describes them.

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "data/importers/csv_mapping.h"
#include "data/importers/import_job.h"
#include "data/importers/importers.h"
#include "data/importers/time_split.h"

namespace sotto::data {

namespace {

class CsvReader {
 public:
  CsvReader(fs::path folder, const CsvMapping& mapping, DatasetBuilder& builder, ImportJob& job)
      : folder_(std::move(folder)), mapping_(mapping), builder_(builder), job_(job) {}

  Status read_items(const CsvItems& items);
  Status read_users(const CsvUsers& users);
  Status read_interactions(const CsvInteractions& interactions);
  Status read_impressions(const CsvImpressions& impressions);

 private:
  Result<TimeSplit> split_of(const CsvImpressions& impressions);

  fs::path folder_;
  const CsvMapping& mapping_;
  DatasetBuilder& builder_;
  ImportJob& job_;
  std::vector<std::string_view> list_;
};

Status CsvReader::read_items(const CsvItems& items) {
  SOTTO_TRY(CsvTable table, CsvTable::open(folder_, items.file, mapping_, job_.report));
  SOTTO_TRY(const CsvColumn id, table.column(items.id));
  SOTTO_TRY(const CsvColumn title, table.column(items.title));
  SOTTO_TRY(const CsvColumn text, table.column(items.text));
  SOTTO_TRY(const CsvColumn category, table.column(items.category));
  SOTTO_TRY(const CsvColumn subcategory, table.column(items.subcategory));
  SOTTO_TRY(CsvFeatures features, CsvFeatures::find(table, items.categories, items.numbers));
  std::uint64_t repeated = 0;
  while (true) {
    SOTTO_TRY(const bool more, table.next());
    if (!more) {
      job_.note_count(repeated, "rows describe an item that an earlier row describes: the first text counts");
      return job_.report.check();
    }
    if (table[id].empty() || !features.read_numbers(table)) {
      table.row().malformed("the id is empty or a number is not readable");
      continue;
    }
    table.row().good();
    const std::uint64_t known = builder_.counts().items;
    const ItemId item = builder_.add_item({.id = table[id],
                                           .title = table[title],
                                           .abstract = table[text],
                                           .category = table[category],
                                           .subcategory = table[subcategory]});
    repeated += item < known ? 1 : 0;
    for (std::size_t i = 0; i < features.categories.size(); ++i) {
      split_list(table[features.categories[i]], items.list_separator, list_);
      builder_.set_item_category(item, features.category_names[i], list_);
    }
    for (const auto& [name, value] : features.values) builder_.set_item_number(item, name, value);
  }
}

Status CsvReader::read_users(const CsvUsers& users) {
  SOTTO_TRY(CsvTable table, CsvTable::open(folder_, users.file, mapping_, job_.report));
  SOTTO_TRY(const CsvColumn id, table.column(users.id));
  SOTTO_TRY(CsvFeatures features, CsvFeatures::find(table, users.categories, users.numbers));
  for (const CsvVocabulary& declared : users.vocabularies)
    builder_.declare_user_category(
        declared.column, std::vector<std::string_view>(declared.values.begin(), declared.values.end()));
  while (true) {
    SOTTO_TRY(const bool more, table.next());
    if (!more) return job_.report.check();
    if (table[id].empty() || !features.read_numbers(table)) {
      table.row().malformed("the id is empty or a number is not readable");
      continue;
    }
    table.row().good();
    const UserId user = builder_.user(table[id]);
    for (std::size_t i = 0; i < features.categories.size(); ++i) {
      split_list(table[features.categories[i]], users.list_separator, list_);
      builder_.set_user_category(user, features.category_names[i], list_);
    }
    for (const auto& [name, value] : features.values) builder_.set_user_number(user, name, value);
  }
}

Status CsvReader::read_interactions(const CsvInteractions& interactions) {
  SOTTO_TRY(CsvTable table, CsvTable::open(folder_, interactions.file, mapping_, job_.report));
  SOTTO_TRY(const CsvColumn user, table.column(interactions.user));
  SOTTO_TRY(const CsvColumn item, table.column(interactions.item));
  SOTTO_TRY(const CsvColumn rating, table.column(interactions.rating));
  SOTTO_TRY(const CsvColumn time, table.column(interactions.time));
  SOTTO_TRY(CsvFeatures features, CsvFeatures::find(table, interactions.categories, interactions.numbers));
  for (const CsvVocabulary& declared : interactions.vocabularies)
    builder_.declare_context(declared.column,
                             std::vector<std::string_view>(declared.values.begin(), declared.values.end()));
  std::vector<std::pair<std::string_view, std::string_view>> context(features.categories.size());
  for (std::size_t i = 0; i < context.size(); ++i) context[i].first = features.category_names[i];
  while (true) {
    SOTTO_TRY(const bool more, table.next());
    if (!more) return job_.report.check();
    const auto stars = rating ? parse_number(trimmed(table[rating]))
                              : std::optional(std::numeric_limits<float>::quiet_NaN());
    const auto moment =
        time ? parse_time(trimmed(table[time]), interactions.time_format) : std::optional(std::int64_t{0});
    if (table[user].empty() || table[item].empty()) {
      table.row().malformed("the user or the item is empty");
    } else if (!stars) {
      table.row().malformed("the rating is not a number");
    } else if (!moment) {
      table.row().malformed(time_problem(trimmed(table[time]), interactions.time_format));
    } else if (!features.read_numbers(table)) {
      table.row().malformed("a context number is not readable");
    } else {
      table.row().good();
      for (std::size_t i = 0; i < context.size(); ++i) context[i].second = table[features.categories[i]];
      builder_.add_interaction(builder_.user(table[user]), builder_.item(table[item]), *stars, *moment,
                               context, features.values);
    }
  }
}

std::optional<Split> split_named(std::string_view name) {
  if (name == "train") return Split::train;
  if (name == "validation") return Split::validation;
  if (name == "test") return Split::test;
  return std::nullopt;
}

// Without a split column time decides, and the file is read twice.
Result<TimeSplit> CsvReader::split_of(const CsvImpressions& impressions) {
  if (!impressions.split.empty()) return TimeSplit::all(Split::train);
  if (impressions.time.empty()) {
    job_.note("impressions have neither a split nor a time column: all of them train");
    return TimeSplit::all(Split::train);
  }
  SOTTO_TRY(const TestStart test_start, parse_test_start(job_.settings.test_from));
  ImportReport uncounted(ImportOptions{.malformed_limit = 1});
  SOTTO_TRY(CsvTable table, CsvTable::open(folder_, impressions.file, mapping_, uncounted));
  SOTTO_TRY(const CsvColumn time, table.column(impressions.time));
  std::vector<RowMoment> moments;
  while (true) {
    SOTTO_TRY(const bool more, table.next());
    if (!more) return TimeSplit::by_time(std::move(moments), test_start, job_.settings.validation_share);
    const auto moment = parse_time(trimmed(table[time]), impressions.time_format);
    if (moment) moments.push_back({*moment, table.row().hash()});
  }
}

Status CsvReader::read_impressions(const CsvImpressions& impressions) {
  SOTTO_TRY(const TimeSplit by_time, split_of(impressions));
  builder_.set_split_origin(by_time.origin());
  SOTTO_TRY(CsvTable table, CsvTable::open(folder_, impressions.file, mapping_, job_.report));
  SOTTO_TRY(const CsvColumn user, table.column(impressions.user));
  SOTTO_TRY(const CsvColumn time, table.column(impressions.time));
  SOTTO_TRY(const CsvColumn shown, table.column(impressions.shown));
  SOTTO_TRY(const CsvColumn clicked, table.column(impressions.clicked));
  SOTTO_TRY(const CsvColumn history, table.column(impressions.history));
  SOTTO_TRY(const CsvColumn split, table.column(impressions.split));
  const auto numbered = [&](const std::vector<std::string_view>& ids) {
    std::vector<ItemId> items;
    items.reserve(ids.size());
    for (const std::string_view id : ids) items.push_back(builder_.item(id));
    return items;
  };
  std::vector<std::string_view> shown_ids;
  std::vector<std::uint8_t> labels;
  while (true) {
    SOTTO_TRY(const bool more, table.next());
    if (!more) return job_.report.check();
    const auto moment =
        time ? parse_time(trimmed(table[time]), impressions.time_format) : std::optional(std::int64_t{0});
    const auto part = split ? split_named(trimmed(table[split])) : std::optional(Split::train);
    split_list(table[shown], impressions.list_separator, shown_ids);
    split_list(table[clicked], impressions.list_separator, list_);
    std::sort(list_.begin(), list_.end());
    list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
    labels.clear();
    for (const std::string_view id : shown_ids) {
      labels.push_back(std::binary_search(list_.begin(), list_.end(), id) ? 1 : 0);
    }
    std::vector<std::string_view> sorted_shown = shown_ids;
    std::sort(sorted_shown.begin(), sorted_shown.end());
    if (table[user].empty() || shown_ids.empty()) {
      table.row().malformed("the user or the list of shown items is empty");
    } else if (!std::includes(sorted_shown.begin(), sorted_shown.end(), list_.begin(), list_.end())) {
      table.row().malformed("a clicked item was not shown");
    } else if (!moment) {
      table.row().malformed(time_problem(trimmed(table[time]), impressions.time_format));
    } else if (!part) {
      table.row().malformed("the split is none of train, validation, test");
    } else {
      table.row().good();
      const Split chosen = split ? *part : by_time.of({*moment, table.row().hash()});
      const std::vector<ItemId> shown_items = numbered(shown_ids);
      split_list(table[history], impressions.list_separator, list_);
      const std::vector<ItemId> before = numbered(list_);
      builder_.add_impression(builder_.user(table[user]), *moment, chosen, builder_.add_history(before),
                              static_cast<std::uint32_t>(before.size()), shown_items, labels);
    }
  }
}

// Settings that nothing would read: times of impressions alone say which of them test.
Status refuse_idle_settings(const CsvMapping& mapping, const ImportSettings& given) {
  const char* why = !mapping.impressions                  ? "the mapping describes none"
                    : !mapping.impressions->split.empty() ? "the mapping names a column of splits"
                    : mapping.impressions->time.empty()   ? "the mapping names no column of times"
                                                          : nullptr;
  const ImportSettings untouched;
  const char* idle = given.test_from != untouched.test_from                 ? "test_from"
                     : given.validation_share != untouched.validation_share ? "validation_share"
                                                                            : nullptr;
  if (why == nullptr || idle == nullptr) return {};
  return bad_input("'{}' splits impressions by their times, and {}: leave it out", idle, why);
}

}  // namespace

Result<DatasetBuilder> read_csv(const fs::path& source, ImportJob& job) {
  const bool beside = job.settings.mapping.empty();
  if (beside && !find_file(source, "mapping.toml")) {
    return unexpected_layout(source, "mapping.toml, or the setting mapping to name the mapping file");
  }
  SOTTO_TRY(const CsvMapping mapping,
            load_csv_mapping(beside ? source / "mapping.toml" : fs::path(job.settings.mapping)));
  SOTTO_CHECK(refuse_idle_settings(mapping, job.settings));
  DatasetBuilder builder(mapping.name, job.origin);
  CsvReader reader(source, mapping, builder, job);
  if (mapping.items) SOTTO_CHECK(reader.read_items(*mapping.items));
  if (mapping.users) SOTTO_CHECK(reader.read_users(*mapping.users));
  if (mapping.interactions) SOTTO_CHECK(reader.read_interactions(*mapping.interactions));
  if (mapping.impressions) SOTTO_CHECK(reader.read_impressions(*mapping.impressions));
  return builder;
}

}  // namespace sotto::data
