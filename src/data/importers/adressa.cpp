#include "data/importers/adressa.h"

#include <optional>
#include <vector>

#include "data/importers/click_protocol.h"
#include "data/importers/delimited.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"
#include "data/importers/importers.h"
#include "data/importers/json_members.h"
#include "data/importers/mind_files.h"
#include "data/importers/source_folder.h"

namespace sotto {

namespace {

class ViewCollector final : public JsonVisitor {
 public:
  void member(std::size_t depth, std::string_view key, const JsonScalar& value) override {
    if (depth != 1) return;
    if (value.kind == JsonScalar::Kind::number) {
      if (key == "time") time_ = parse_time(value.text, TimeFormat::unix_seconds);
      return;
    }
    if (value.kind != JsonScalar::Kind::text) return;
    if (key == "userId") view_.user = value.text;
    if (key == "id") view_.article = value.text;
    if (key == "title") view_.title = value.text;
    if (key == "keywords") view_.keywords = value.text;
    if (key == "publishtime") view_.published = parse_time(value.text, TimeFormat::iso);
    if (key == "category1") set_categories(value.text);
  }
  void object_end(std::size_t /*depth*/) override {}

  Result<std::optional<AdressaView>> take() {
    if (view_.article.empty()) return std::optional<AdressaView>();
    if (view_.user.empty()) return bad_input("no userId");
    if (!time_) return bad_input("no time in seconds since 1970");
    view_.time = *time_;
    return std::optional(std::move(view_));
  }

 private:
  // "nyheter|trondheim": from the whole to the part.
  void set_categories(std::string_view path) {
    const std::size_t bar = path.find('|');
    view_.category = path.substr(0, bar);
    if (bar == std::string_view::npos) return;
    path.remove_prefix(bar + 1);
    view_.subcategory = path.substr(0, path.find('|'));
  }

  AdressaView view_;
  std::optional<std::int64_t> time_;
};

}  // namespace

Result<std::optional<AdressaView>> parse_adressa_line(std::string_view line) {
  ViewCollector collector;
  SOTTO_CHECK(visit_json(line, JsonRoot::object, collector));
  return collector.take();
}

// Adressa: the log of one week, one file of JSON lines per day, or news in MIND's TSV format.
namespace {

constexpr std::uint32_t days_of_the_papers = 7;
constexpr std::uint32_t fewest_days = 3;  // history, training, test
// Field separator that JSON text cannot contain: the whole line is one field.
constexpr std::string_view no_delimiter = "\n";

// "20170101", also with an extension.
bool is_day_file(std::string_view name) {
  const std::string_view date = name.substr(0, 8);
  if (date.size() < 8 || (name.size() > 8 && name[8] != '.')) return false;
  return parse_time(fmt::format("{}-{}-{}", date.substr(0, 4), date.substr(4, 2), date.substr(6, 2)),
                    TimeFormat::iso)
      .has_value();
}

std::vector<fs::path> day_files(const fs::path& source) {
  for (const fs::path& folder : {source, source / "one_week"}) {
    std::vector<fs::path> files = files_named(folder, &is_day_file);
    if (!files.empty()) return files;  // sorted by name, which is by date
  }
  return {};
}

class LogReader {
 public:
  LogReader(DatasetBuilder& builder, ImportJob& job) : builder_(builder), job_(job) {}
  Status read_day(const fs::path& file, std::uint32_t day);
  // All clicks so far, each article once per reader.
  std::vector<LoggedClick> take_clicks();

 private:
  void add_article(ItemId item, const AdressaView& view);

  DatasetBuilder& builder_;
  ImportJob& job_;
  std::vector<LoggedClick> clicks_;
  std::uint64_t views_without_article_ = 0;
  std::vector<std::string_view> keywords_;
};

Status LogReader::read_day(const fs::path& file, std::uint32_t day) {
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {std::string(no_delimiter)}, job_.report));
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return job_.report.check();
    const auto view = parse_adressa_line(row.field(0));
    if (!view) {
      row.malformed(view.error().message);
      continue;
    }
    row.good();
    if (!*view) {
      ++views_without_article_;
      continue;
    }
    const AdressaView& seen = **view;
    const std::uint64_t known_items = builder_.counts().items;
    const ItemId item = builder_.add_item({.id = seen.article,
                                           .title = seen.title,
                                           .category = seen.category,
                                           .subcategory = seen.subcategory});
    if (item >= known_items) add_article(item, seen);
    clicks_.push_back({builder_.user(seen.user), item, day, seen.time});
  }
}

void LogReader::add_article(ItemId item, const AdressaView& view) {
  split_list(view.keywords, ',', keywords_);
  builder_.set_item_category(item, "keywords", keywords_);
  // A float holds days since 1970 to three minutes; seconds it would not hold.
  if (view.published)
    builder_.set_item_number(item, "published_day", static_cast<float>(*view.published / 86'400.0));
}

std::vector<LoggedClick> LogReader::take_clicks() {
  job_.note_count(views_without_article_, "views are of front pages and sections: no clicks on an article");
  job_.note_count(keep_first_views(clicks_),
                  "views repeat an article the reader had opened before: the first counts");
  return std::move(clicks_);
}

Result<DatasetBuilder> read_log(const std::vector<fs::path>& files, ImportJob& job) {
  SOTTO_TRY(const ClickProtocol protocol, click_protocol_named(job.settings.protocol));
  const auto days = static_cast<std::uint32_t>(files.size());
  if (days != days_of_the_papers) {
    job.note(fmt::format("the log has {} days, the papers use {}: the last day tests, the day before trains",
                         days, days_of_the_papers));
  }
  DatasetBuilder builder("Adressa", job.origin);
  LogReader reader(builder, job);
  for (std::uint32_t day = 0; day < days; ++day) SOTTO_CHECK(reader.read_day(files[day], day));
  add_clicks_as_impressions(reader.take_clicks(), protocol,
                            {.days = days,
                             .negatives = static_cast<std::uint32_t>(job.settings.negatives),
                             .seed = static_cast<std::uint64_t>(job.settings.seed)},
                            builder);
  return builder;
}

}  // namespace

Result<DatasetBuilder> read_adressa(const fs::path& source, ImportJob& job) {
  const std::vector<fs::path> files = day_files(source);
  if (files.size() >= fewest_days) return read_log(files, job);
  if (files.empty() && has_mind_layout(source)) return read_mind_layout(source, "Adressa", false, job);
  return unexpected_layout(source,
                           "one JSON-lines file per day (20170101, 20170102, ..., at least three, here or in "
                           "one_week), or news.tsv with an optional behaviors.tsv");
}

}  // namespace sotto
