#include "eval/experiments/efficient_costs.h"

#include <algorithm>
#include <chrono>

#include "base/distributions.h"
#include "base/random.h"
#include "model/bert/bert_model.h"
#include "secagg/item_union/union_statistics.h"
#ifdef SOTTO_HAVE_PROTOCOL
#include "bench/secagg/timed_round.h"
#include "secagg/shared/parameters.h"
#endif

namespace sotto::eval {

std::int64_t bert_parameters(const model::BertConfig& config) {
  const std::int64_t d = config.hidden, norm = 2 * d;
  const std::int64_t attention = 4 * (d * d + d) + norm,
                     feed_forward = 2 * d * config.intermediate + config.intermediate + d + norm;
  return (config.vocabulary + config.positions + config.token_types) * d + norm +
         config.layers * (attention + feed_forward);
}

std::int64_t user_model_parameters() {
  constexpr std::int64_t size = 400, pooling = 200;
  constexpr std::int64_t attention = 3 * size * size, query = size * pooling + pooling + pooling;
  return attention + query;
}

double bert_pass_seconds(const model::BertConfig& config, std::int64_t titles, std::int64_t pieces) {
  model::BertModel bert(config);
  bert.random_start();
  std::vector<std::int64_t> words, offsets = {0};
  for (std::int64_t title = 0; title < titles; ++title) {
    for (std::int64_t i = 0; i < pieces; ++i) words.push_back((title * pieces + i) % config.vocabulary);
    offsets.push_back(static_cast<std::int64_t>(words.size()));
  }
  const model::Segments texts(std::move(offsets));
  const auto start = std::chrono::steady_clock::now();
  bert.forward(words, texts).sum().backward();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

namespace {

constexpr std::uint64_t grouping_seed = 1;
constexpr std::size_t max_history = 50, negatives_per_click = 4;

// Seconds of a client and of the server for one secure sum; nothing when this build has none.
struct SumSeconds {
  double client = NAN, server = NAN;
};

Result<SumSeconds> secure_sum_seconds([[maybe_unused]] std::int64_t group,
                                      [[maybe_unused]] std::size_t numbers) {
#ifdef SOTTO_HAVE_PROTOCOL
  constexpr unsigned bits = 16;
  SOTTO_TRY(const auto parameters, secagg::find_parameters({.clients = static_cast<std::uint32_t>(group),
                                                            .corrupted = 0.1,
                                                            .dropping = 0.1,
                                                            .server = secagg::ServerModel::semi_honest}));
  SOTTO_TRY(const auto timing, bench::time_round(parameters, {numbers, bits}, 0,
                                                 [&](std::uint32_t client) -> Result<secagg::RingVector> {
                                                   const std::vector<std::uint32_t> same(numbers, client);
                                                   return secagg::RingVector::of(std::span(same), bits);
                                                 }));
  return SumSeconds{timing.client_seconds, timing.server_seconds};
#else
  return SumSeconds{};
#endif
}

}  // namespace

std::vector<std::vector<std::uint32_t>> training_items(const data::Dataset& dataset, std::size_t negatives,
                                                       std::uint64_t seed) {
  std::vector<std::vector<std::uint32_t>> sets;
  for (std::size_t user = 0; user < dataset.user_count(); ++user) {
    std::vector<std::uint32_t> items;
    SeededRandom random(seed, Purpose::negative_sampling, 0, static_cast<std::uint32_t>(user));
    const auto [first, last] = dataset.impressions_of(static_cast<data::UserId>(user));
    for (std::size_t i = first; i < last; ++i) {
      const data::Impression impression = dataset.impression(i);
      if (impression.split != data::Split::train) continue;
      const auto recent = impression.history.last(std::min(max_history, impression.history.size()));
      items.insert(items.end(), recent.begin(), recent.end());
      std::vector<std::uint32_t> others;
      std::size_t clicks = 0;
      for (std::size_t j = 0; j < impression.shown.size(); ++j) {
        if (impression.clicked[j] == 0) {
          others.push_back(impression.shown[j]);
        } else {
          items.push_back(impression.shown[j]);
          ++clicks;
        }
      }
      for (std::size_t drawn = 0; drawn < clicks * negatives && !others.empty(); ++drawn)
        items.push_back(others[uniform_below(random, others.size())]);
    }
    if (!items.empty()) sets.push_back(std::move(items));
  }
  return sets;
}

Result<GridExtra> group_costs(const data::Dataset& dataset, const std::vector<std::int64_t>& group_sizes,
                              std::size_t numbers) {
  GridExtra extra;
  const auto sets = training_items(dataset, negatives_per_click, grouping_seed);
  ReportTable table;
  for (const char* heading :
       {"group size", "items of one user", "union of the group", "held by one user alone, %",
        "client seconds of a secure sum", "server seconds of a secure sum"})
    table.columns.push_back({heading, Better::neither});
  Plot unions, seconds;
  unions.title = "Union of a group's items";
  unions.y_label = "distinct items";
  seconds.title = "Secure aggregation";
  seconds.y_label = "seconds per client";
  for (Plot* plot : {&unions, &seconds}) {
    plot->x_label = "users in a group";
    plot->series = {{"", SeriesStyle::line_and_points, {}, {}, {}}};
  }
  for (const std::int64_t group : group_sizes) {
    if (static_cast<std::size_t>(group) > sets.size()) continue;
    SOTTO_TRY(const auto statistics,
              secagg::union_statistics(sets, static_cast<std::uint64_t>(group), grouping_seed));
    SOTTO_TRY(const SumSeconds sum, secure_sum_seconds(group, numbers));
    table.rows.push_back(
        {TableCell::number(static_cast<double>(group), 0), TableCell::number(statistics.items_per_user, 1),
         TableCell::number(statistics.union_size, 1), TableCell::number(100 * statistics.singleton_share, 1),
         TableCell::number(sum.client, 4), TableCell::number(sum.server, 4)});
    for (Plot* plot : {&unions, &seconds}) plot->series[0].x.push_back(static_cast<double>(group));
    unions.series[0].y.push_back(statistics.union_size);
    seconds.series[0].y.push_back(sum.client);
  }
  extra.tables.push_back({"groups", std::move(table)});
  extra.plots.emplace_back("unions", std::move(unions));
  extra.plots.emplace_back("secure-aggregation", std::move(seconds));
  return extra;
}

}  // namespace sotto::eval
