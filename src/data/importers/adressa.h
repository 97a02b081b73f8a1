#pragma once
// One line of the Adressa log: a JSON object per page view.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/dataset_builder.h"

namespace sotto::data {

// From a log of clicks to impressions, as the two papers on federated news recommendation use Adressa: the
// last day tests, the day before trains, all earlier days are history; each click is shown among sampled
// articles that its reader never clicked. For the published week this is: days 1-5 history, day 6 training,
// day 7 test.
struct LoggedClick {
  UserId user;
  ItemId item;
  std::uint32_t day;  // from 0
  std::int64_t time;
};

struct ClickProtocol {
  bool test_history_has_training_day;  // else tests see the same history as training
  double validation_share;             // of the last day's clicks, drawn at random
};
// "fednewsrec", "efficient-fedrec".
Result<ClickProtocol> click_protocol_named(std::string_view name);

struct ClickProtocolOptions {
  std::uint32_t days = 7;        // in the log; at least 3
  std::uint32_t negatives = 20;  // fewer only where the catalogue has no more
  std::uint64_t seed = 1;
};

// Adds one impression per click of the last two days. Clicks come in any order, each reader and article once;
// items and users are those of the builder. A reader's draws depend on the seed, its id and the items alone;
// non-clicks are articles of the public catalogue, where there is one.
void add_clicks_as_impressions(std::vector<LoggedClick> clicks, const ClickProtocol& protocol,
                               const ClickProtocolOptions& options, DatasetBuilder& builder);

// Keeps the first view of each article by each reader; returns how many were repeats.
std::uint64_t keep_first_views(std::vector<LoggedClick>& clicks);

struct AdressaView {
  std::string user, article, title, category, subcategory, keywords;
  std::int64_t time = 0;
  std::optional<std::int64_t> published;
};

// Nothing for views of front pages and sections, which carry no article id. An error says what is wrong: no
// JSON object, no userId, no time.
Result<std::optional<AdressaView>> parse_adressa_line(std::string_view line);

}  // namespace sotto::data
