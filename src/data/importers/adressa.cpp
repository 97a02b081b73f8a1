#include "data/importers/adressa.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "base/distributions.h"
#include "base/random.h"
#include "data/importers/delimited.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"
#include "data/importers/importers.h"
#include "data/importers/mind_files.h"
#include "data/unseen_items.h"
#include "data/user_draws.h"

namespace sotto::data {

namespace {

// Which of the last day's clicks validate, by their number in reading order.
std::vector<std::uint8_t> draw_validation(std::uint32_t last_day_clicks, double share, std::uint64_t seed) {
  std::vector<std::uint8_t> validates(last_day_clicks, 0);
  SeededRandom random(seed, Purpose::split);
  const auto count = static_cast<std::uint32_t>(last_day_clicks * share);
  for (const std::uint32_t click : sample_without_replacement(last_day_clicks, count, random))
    validates[click] = 1;
  return validates;
}

// Builds the impressions of one reader after the other.
class ImpressionWriter {
 public:
  ImpressionWriter(const ClickProtocolOptions& options, DatasetBuilder& builder)
      : options_(options), builder_(builder), marks_(builder.counts().items, 0), unseen_(weights(builder)) {}

  // `clicks` are all of one reader, in reading order; split_of(i) and history_of(i) tell about clicks[i].
  template <class SplitOf, class HistoryOf>
  void add_reader(std::span<const LoggedClick> clicks, SplitOf split_of, HistoryOf history_of) {
    const std::uint32_t training_day = options_.days - 2;
    const auto first = std::find_if(clicks.begin(), clicks.end(),
                                    [&](const LoggedClick& click) { return click.day >= training_day; });
    if (first == clicks.end()) return;
    items_.clear();
    for (const LoggedClick& click : clicks) items_.push_back(click.item);
    const auto history = builder_.add_history(items_);
    SeededRandom random =
        draws_of_user(options_.seed, Purpose::negative_sampling, builder_.user_id(clicks.front().user));
    for (auto i = static_cast<std::size_t>(first - clicks.begin()); i < clicks.size(); ++i) {
      draw_shown(clicks[i].item, random);
      builder_.add_impression(clicks[i].user, clicks[i].time, split_of(i), history, history_of(i), shown_,
                              clicked_);
    }
  }

 private:
  // Of the public catalogue, or, where there is none, of all articles that somebody read.
  static std::vector<std::uint64_t> weights(const DatasetBuilder& builder) {
    std::vector<std::uint64_t> weights(builder.counts().items, 1);
    if (builder.public_items() == 0) return weights;
    for (ItemId item = 0; item < weights.size(); ++item) weights[item] = builder.is_public(item) ? 1 : 0;
    return weights;
  }

  void draw_shown(ItemId clicked_item, RandomSource& random) {
    shown_.assign(1, clicked_item);
    for (const ItemId item : items_) marks_[item] = 1;
    unseen_.draw(options_.negatives, marks_, random, shown_);
    for (const ItemId item : items_) marks_[item] = 0;
    for (const ItemId item : shown_) marks_[item] = 0;
    shuffle(std::span(shown_), random);
    clicked_.clear();
    for (const ItemId item : shown_) clicked_.push_back(item == clicked_item ? 1 : 0);
  }

  ClickProtocolOptions options_;
  DatasetBuilder& builder_;
  std::vector<std::uint8_t> marks_;  // all 0 between draws
  UnseenItems unseen_;
  std::vector<ItemId> items_, shown_;
  std::vector<std::uint8_t> clicked_;
};

}  // namespace

Result<ClickProtocol> click_protocol_named(std::string_view name) {
  if (name == "fednewsrec")
    return ClickProtocol{.test_history_has_training_day = false, .validation_share = 0};
  if (name == "efficient-fedrec") {
    return ClickProtocol{.test_history_has_training_day = true, .validation_share = 0.2};
  }
  return bad_input("protocol '{}' is neither fednewsrec nor efficient-fedrec", name);
}

std::uint64_t keep_first_views(std::vector<LoggedClick>& clicks) {
  const std::size_t before = clicks.size();
  const auto by_article = [](const LoggedClick& click) {
    return std::tuple(click.user, click.item, click.day, click.time);
  };
  std::sort(clicks.begin(), clicks.end(),
            [&](const LoggedClick& a, const LoggedClick& b) { return by_article(a) < by_article(b); });
  const auto repeats = std::unique(
      clicks.begin(), clicks.end(),
      [](const LoggedClick& a, const LoggedClick& b) { return a.user == b.user && a.item == b.item; });
  clicks.erase(repeats, clicks.end());
  return before - clicks.size();
}

void add_clicks_as_impressions(std::vector<LoggedClick> clicks, const ClickProtocol& protocol,
                               const ClickProtocolOptions& options, DatasetBuilder& builder) {
  if (clicks.empty()) return;
  builder.set_training_non_clicks(builder.public_items() > 0 ? NonClicks::public_catalogue
                                                             : NonClicks::all_users);
  const auto in_reading_order = [&](const LoggedClick& click) {
    return std::tuple(click.user, click.day, click.time,
                      tie_of(options.seed, builder.user_id(click.user), builder.item_id(click.item)));
  };
  std::sort(clicks.begin(), clicks.end(), [&](const LoggedClick& a, const LoggedClick& b) {
    return in_reading_order(a) < in_reading_order(b);
  });
  const std::uint32_t last_day = options.days - 1, training_day = options.days - 2;
  const auto last_day_clicks = static_cast<std::uint32_t>(std::count_if(
      clicks.begin(), clicks.end(), [&](const LoggedClick& click) { return click.day == last_day; }));
  const auto validates = draw_validation(last_day_clicks, protocol.validation_share, options.seed);
  std::size_t last_day_seen = 0;

  ImpressionWriter writer(options, builder);
  for (auto begin = clicks.begin(); begin != clicks.end();) {
    const auto end = std::find_if(
        begin, clicks.end(), [user = begin->user](const LoggedClick& click) { return click.user != user; });
    const std::span<const LoggedClick> reader(begin, end);
    // Clicks are in order of days, so the clicks before a day are a prefix.
    const auto before = [&](std::uint32_t day) {
      return static_cast<std::uint32_t>(std::count_if(
          reader.begin(), reader.end(), [&](const LoggedClick& click) { return click.day < day; }));
    };
    const std::uint32_t train_history = before(training_day);
    const std::uint32_t test_history =
        protocol.test_history_has_training_day ? before(last_day) : train_history;
    writer.add_reader(
        reader,
        [&](std::size_t i) {
          if (reader[i].day != last_day) return Split::train;
          return validates[last_day_seen++] != 0 ? Split::validation : Split::test;
        },
        [&](std::size_t i) { return reader[i].day == last_day ? test_history : train_history; });
    begin = end;
  }
}

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
                                           .subcategory = seen.subcategory,
                                           .in_public_catalogue = false});
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

Result<DatasetBuilder> read_log(const fs::path& source, const std::vector<fs::path>& files, ImportJob& job) {
  SOTTO_TRY(const ClickProtocol protocol, click_protocol_named(job.settings.protocol));
  const auto days = static_cast<std::uint32_t>(files.size());
  if (days != days_of_the_papers) {
    job.note(fmt::format("the log has {} days, the papers use {}: the last day tests, the day before trains",
                         days, days_of_the_papers));
  }
  DatasetBuilder builder("Adressa", job.origin);
  // What the log says of articles is known from readers alone.
  if (const auto catalogue = find_file(source, "news.tsv"))
    SOTTO_CHECK(MindFiles(builder, job).read_news(*catalogue));
  LogReader reader(builder, job);
  for (std::uint32_t day = 0; day < days; ++day) SOTTO_CHECK(reader.read_day(files[day], day));
  std::vector<LoggedClick> clicks = reader.take_clicks();
  // Before anything is drawn: draws follow the numbers of articles.
  const Renumbering numbers = builder.forget_row_order(static_cast<std::uint64_t>(job.settings.seed));
  for (LoggedClick& click : clicks) {
    click.user = numbers.users[click.user];
    click.item = numbers.items[click.item];
  }
  add_clicks_as_impressions(std::move(clicks), protocol,
                            {.days = days,
                             .negatives = static_cast<std::uint32_t>(job.settings.negatives),
                             .seed = static_cast<std::uint64_t>(job.settings.seed)},
                            builder);
  return builder;
}

}  // namespace

Result<DatasetBuilder> read_adressa(const fs::path& source, ImportJob& job) {
  const std::vector<fs::path> files = day_files(source);
  if (files.size() >= fewest_days) return read_log(source, files, job);
  if (files.empty() && has_mind_layout(source)) return read_mind_layout(source, "Adressa", false, job);
  return unexpected_layout(source,
                           "one JSON-lines file per day (20170101, 20170102, ..., at least three, here or in "
                           "one_week), or news.tsv with an optional behaviors.tsv");
}

}  // namespace sotto::data
