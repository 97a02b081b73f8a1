// Globo.com news clicks: one or many clicks*.csv with users, sessions, articles, milliseconds and context,
// and an optional articles_metadata.csv. Articles have ids only, no text.
//
// Session ids are unique per session, so a dictionary of them would be as long as the data. The context
// `session` is instead the number of the session within its user ("0", "1", ...): with the user it says the
// same.

#include <array>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/importers/delimited.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"
#include "data/importers/importers.h"

namespace sotto::data {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> context_columns = {{
    {"environment", "click_environment"},
    {"device", "click_deviceGroup"},
    {"os", "click_os"},
    {"country", "click_country"},
    {"region", "click_region"},
    {"referrer", "click_referrer_type"},
}};

bool is_clicks_file(std::string_view name) {
  return name.starts_with("clicks") && name.ends_with(".csv") && name != "clicks_sample.csv";
}

// The file itself; the clicks*.csv of the folder; or those of its sub-folder clicks.
std::vector<fs::path> clicks_files(const fs::path& source) {
  std::error_code error;
  if (fs::is_regular_file(source, error)) return {source};
  for (const fs::path& folder : {source, source / "clicks"}) {
    std::vector<fs::path> files = files_named(folder, &is_clicks_file);
    if (!files.empty()) return files;
  }
  return {};
}

class GloboReader {
 public:
  GloboReader(DatasetBuilder& builder, ImportJob& job) : builder_(builder), job_(job) {
    for (std::size_t i = 0; i < context_columns.size(); ++i) context_[i].first = context_columns[i].first;
    context_.back().first = "session";
  }
  Status read_articles(const fs::path& file);
  Status read_clicks(const fs::path& file);

 private:
  std::string_view session_number(UserId user, std::int64_t session);

  DatasetBuilder& builder_;
  ImportJob& job_;
  std::array<std::pair<std::string_view, std::string_view>, context_columns.size() + 1> context_;
  std::unordered_map<std::int64_t, std::uint32_t> numbers_;  // of the sessions seen, within their users
  std::vector<std::uint32_t> sessions_of_user_;
  std::string number_text_;
};

std::string_view GloboReader::session_number(UserId user, std::int64_t session) {
  if (sessions_of_user_.size() <= user) sessions_of_user_.resize(user + std::size_t{1});
  const auto [entry, first] = numbers_.try_emplace(session, sessions_of_user_[user]);
  if (first) ++sessions_of_user_[user];
  number_text_ = std::to_string(entry->second);
  return number_text_;
}

Status GloboReader::read_clicks(const fs::path& file) {
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {",", true}, job_.report));
  SOTTO_TRY(const Header header, Header::read(row));
  SOTTO_TRY(const std::size_t user_column, header.column("user_id"));
  SOTTO_TRY(const std::size_t session_column, header.column("session_id"));
  SOTTO_TRY(const std::size_t article_column, header.column("click_article_id"));
  SOTTO_TRY(const std::size_t time_column, header.column("click_timestamp"));
  std::array<std::size_t, context_columns.size()> columns{};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    SOTTO_TRY(columns[i], header.column(context_columns[i].second));
  }
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return job_.report.check();
    if (!row.has_columns(header.size())) continue;
    const auto session = parse_integer(row.field(session_column));
    const auto time = parse_time(row.field(time_column), TimeFormat::unix_milliseconds);
    if (!parse_integer(row.field(user_column)) || !parse_integer(row.field(article_column)) || !session) {
      row.malformed("user_id, session_id or click_article_id is not a number");
      continue;
    }
    if (!time) {
      row.malformed("click_timestamp is not in milliseconds since 1970");
      continue;
    }
    const UserId user = builder_.user(row.field(user_column));
    for (std::size_t i = 0; i < columns.size(); ++i) context_[i].second = row.field(columns[i]);
    context_.back().second = session_number(user, *session);
    builder_.add_interaction(user, builder_.item(row.field(article_column)),
                             std::numeric_limits<float>::quiet_NaN(), *time, context_);
    row.good();
  }
}

Status GloboReader::read_articles(const fs::path& file) {
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {",", true}, job_.report));
  SOTTO_TRY(const Header header, Header::read(row));
  SOTTO_TRY(const std::size_t article_column, header.column("article_id"));
  SOTTO_TRY(const std::size_t category_column, header.column("category_id"));
  SOTTO_TRY(const std::size_t publisher_column, header.column("publisher_id"));
  SOTTO_TRY(const std::size_t words_column, header.column("words_count"));
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return job_.report.check();
    if (!row.has_columns(header.size())) continue;
    const auto words = parse_number(row.field(words_column));
    if (!parse_integer(row.field(article_column)) || !words) {
      row.malformed("article_id or words_count is not a number");
      continue;
    }
    const ItemId item =
        builder_.add_item({.id = row.field(article_column), .category = row.field(category_column)});
    const std::string_view publisher = row.field(publisher_column);
    builder_.set_item_category(item, "publisher", {&publisher, 1});
    builder_.set_item_number(item, "words", *words);
    row.good();
  }
}

}  // namespace

Result<DatasetBuilder> read_globo(const fs::path& source, ImportJob& job) {
  const std::vector<fs::path> files = clicks_files(source);
  if (files.empty()) {
    return unexpected_layout(source, "a clicks csv file, or a folder with clicks*.csv or clicks/clicks*.csv");
  }
  DatasetBuilder builder("Globo", job.origin);
  GloboReader reader(builder, job);
  if (const auto articles = find_file(source, "articles_metadata.csv")) {
    SOTTO_CHECK(reader.read_articles(*articles));
  }
  for (const fs::path& file : files) SOTTO_CHECK(reader.read_clicks(file));
  return builder;
}

}  // namespace sotto::data
