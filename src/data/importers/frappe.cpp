// Frappe: frappe.csv, a tab-separated log of app use with its context, and meta.csv, the apps with category,
// name and description. Every row of the log is a positive interaction: there are no ratings. `cnt`, how
// often that user used that app, is context of the row; as a feature of a model it would give the answer
// away.

#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "data/importers/delimited.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"
#include "data/importers/importers.h"

namespace sotto::data {

namespace {

constexpr std::array<std::string_view, 8> context_names = {"daytime", "weekday", "isweekend", "homework",
                                                           "cost",    "weather", "country",   "city"};
// Contexts whose values the data set's description lists, between spaces. Countries and cities are those of
// its users: no list.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> declared_contexts = {{
    {"daytime", "sunrise morning noon afternoon evening sunset night"},
    {"weekday", "monday tuesday wednesday thursday friday saturday sunday"},
    {"isweekend", "workday weekend"},
    {"homework", "unknown home work"},
    {"cost", "free paid"},
    {"weather", "unknown sunny cloudy foggy drizzle rainy stormy sleet snowy"},
}};
constexpr std::array<std::string_view, 4> app_feature_names = {"downloads", "developer", "language", "price"};

// meta.csv writes "unknown" where an app was no longer in the store; as text it would be read as a word. In
// the log "unknown" is a context like any other and stays.
std::string_view known(std::string_view value) { return value == "unknown" ? std::string_view() : value; }

Status read_log(const fs::path& file, DatasetBuilder& builder, ImportJob& job) {
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {"\t", true}, job.report));
  SOTTO_TRY(const Header header, Header::read(row));
  SOTTO_TRY(const std::size_t user_column, header.column("user"));
  SOTTO_TRY(const std::size_t item_column, header.column("item"));
  SOTTO_TRY(const std::size_t count_column, header.column("cnt"));
  std::array<std::size_t, context_names.size()> columns{};
  std::array<std::pair<std::string_view, std::string_view>, context_names.size()> context;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    SOTTO_TRY(columns[i], header.column(context_names[i]));
    context[i].first = context_names[i];
  }
  std::vector<std::string_view> declared;
  for (const auto& [name, values] : declared_contexts) {
    split_list(values, ' ', declared);
    builder.declare_context(name, declared);
  }
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return job.report.check();
    if (!row.has_columns(header.size())) continue;
    const auto count = parse_number(row.field(count_column));
    if (row.field(user_column).empty() || row.field(item_column).empty()) {
      row.malformed("the user or the item is empty");
      continue;
    }
    if (!count || *count < 0) {
      row.malformed("cnt is not a count");
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) context[i].second = row.field(columns[i]);
    const std::pair<std::string_view, float> counts{"cnt", *count};
    builder.add_interaction(builder.user(row.field(user_column)), builder.item(row.field(item_column)),
                            std::numeric_limits<float>::quiet_NaN(), 0, context, {&counts, 1});
    row.good();
  }
}

Status read_apps(const fs::path& file, DatasetBuilder& builder, ImportJob& job) {
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {"\t", true}, job.report));
  SOTTO_TRY(const Header header, Header::read(row));
  SOTTO_TRY(const std::size_t item_column, header.column("item"));
  SOTTO_TRY(const std::size_t name_column, header.column("name"));
  SOTTO_TRY(const std::size_t description_column, header.column("description"));
  SOTTO_TRY(const std::size_t category_column, header.column("category"));
  SOTTO_TRY(const std::size_t rating_column, header.column("rating"));
  std::array<std::size_t, app_feature_names.size()> columns{};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    SOTTO_TRY(columns[i], header.column(app_feature_names[i]));
  }
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return job.report.check();
    if (!row.has_columns(header.size())) continue;
    if (row.field(item_column).empty()) {
      row.malformed("the item is empty");
      continue;
    }
    const ItemId item = builder.add_item({.id = row.field(item_column),
                                          .title = known(row.field(name_column)),
                                          .abstract = known(row.field(description_column)),
                                          .category = known(row.field(category_column))});
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string_view value = known(row.field(columns[i]));
      builder.set_item_category(item, app_feature_names[i], {&value, 1});
    }
    if (const auto rating = parse_number(row.field(rating_column)))
      builder.set_item_number(item, "rating", *rating);
    row.good();
  }
}

}  // namespace

Result<DatasetBuilder> read_frappe(const fs::path& source, ImportJob& job) {
  const auto log = find_file(source, "frappe.csv");
  const auto apps = find_file(source, "meta.csv");
  if (!log || (!apps && job.settings.view == "text")) {
    return unexpected_layout(source,
                             "frappe.csv and meta.csv (meta.csv may be missing, but not for view = text)");
  }
  DatasetBuilder builder("Frappe", job.origin);
  if (apps) {
    SOTTO_CHECK(read_apps(*apps, builder, job));
  } else {
    job.note("there is no meta.csv: apps have no text");
  }
  SOTTO_CHECK(read_log(*log, builder, job));
  return builder;
}

}  // namespace sotto::data
