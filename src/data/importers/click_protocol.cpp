#include "data/importers/click_protocol.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/distributions.h"
#include "base/random.h"
#include "data/unseen_items.h"

namespace sotto {

namespace {

auto in_reading_order(const LoggedClick& click) {
  return std::tuple(click.user, click.day, click.time, click.item);
}

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
      : options_(options),
        builder_(builder),
        marks_(builder.counts().items, 0),
        unseen_(std::vector<std::uint64_t>(marks_.size(), 1)) {}

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
    SeededRandom random(options_.seed, Purpose::negative_sampling, 0, clicks.front().user);
    for (auto i = static_cast<std::size_t>(first - clicks.begin()); i < clicks.size(); ++i) {
      draw_shown(clicks[i].item, random);
      builder_.add_impression(clicks[i].user, clicks[i].time, split_of(i), history, history_of(i), shown_,
                              clicked_);
    }
  }

 private:
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
  std::sort(clicks.begin(), clicks.end(), [](const LoggedClick& a, const LoggedClick& b) {
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

}  // namespace sotto
