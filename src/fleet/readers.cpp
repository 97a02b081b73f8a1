#include "fleet/readers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "data/splits.h"

namespace sotto::fleet {

namespace {

constexpr double train_share = 0.8, positive_above = 3;  // PrivRec's, as its recipe starts with them
constexpr std::uint32_t tuning_round = 0xFFFFFFFF;       // as fl/interaction_training.cpp draws

bool teaches(const data::Impression& impression) {
  const auto clicks = std::count(impression.clicked.begin(), impression.clicked.end(), std::uint8_t{1});
  return impression.split == data::Split::train && clicks > 0 &&
         static_cast<std::size_t>(clicks) < impression.clicked.size();
}

std::vector<std::string> ids_of(const data::Dataset& dataset, std::span<const data::ItemId> items,
                                std::size_t most) {
  std::vector<std::string> ids;
  for (const data::ItemId item : items.last(std::min(items.size(), most)))
    ids.emplace_back(dataset.catalogue().ids[item]);
  return ids;
}

privacy::UtcTime time_of(std::int64_t seconds) {
  return privacy::UtcTime(std::chrono::seconds(std::max<std::int64_t>(seconds, 0)));
}

std::vector<device::FieldValue> values_of(const data::Features& features, std::size_t row) {
  std::vector<device::FieldValue> values;
  for (const auto& feature : features.categorical)
    for (const std::uint32_t code : feature.codes[row])
      values.push_back({feature.name, std::string(feature.names[code])});
  return values;
}

device::StoredRows rows_of(const data::Dataset& dataset, data::UserId user,
                           std::span<const std::uint64_t> rows) {
  const data::Interactions& log = dataset.interactions();
  device::StoredRows stored;
  stored.profile = values_of(dataset.user_features(), user);
  for (const std::uint64_t row : rows) {
    std::optional<float> rating;
    if (!std::isnan(log.ratings[row])) rating = log.ratings[row];
    stored.rows.push_back({time_of(log.times[row]), std::string(dataset.catalogue().ids[log.items[row]]),
                           rating, values_of(log.context, row)});
  }
  return stored;
}

bool is_positive(const data::Interactions& log, std::uint64_t row, double above) {
  return std::isnan(log.ratings[row]) || log.ratings[row] > above;
}

std::vector<std::uint64_t> all_rows(const data::Interactions& log, data::UserId user) {
  std::vector<std::uint64_t> rows(log.user_offsets[user + std::size_t{1}] - log.user_offsets[user]);
  std::iota(rows.begin(), rows.end(), log.user_offsets[user]);
  return rows;
}

// Who trains and who tests. Where the data says itself which rows test (fl/interaction_data.h) everybody does
// both.
Result<data::UserSplit> sides_of(const data::Dataset& dataset, std::uint64_t seed) {
  std::vector<data::UserId> users = data::users_with_interactions(dataset);
  if (dataset.interactions().has_splits()) return data::UserSplit{users, users};
  return data::split_users(users, train_share, seed);
}

bool tests(const data::Interactions& log, std::uint64_t row) {
  return log.has_splits() && log.splits[row] == static_cast<std::uint8_t>(data::Split::test);
}

// What the device of somebody who trains has.
std::vector<std::uint64_t> training_rows(const data::Interactions& log, data::UserId user) {
  std::vector<std::uint64_t> rows = all_rows(log, user);
  std::erase_if(rows, [&](std::uint64_t row) { return tests(log, row); });
  return rows;
}

// What the device of somebody who tests has, and what it is asked for.
data::RowHalves halves_of(const data::Interactions& log, data::UserId user, data::RowUnit unit,
                          std::uint64_t seed) {
  if (!log.has_splits()) return data::halve_rows(log, user, unit, seed);
  data::RowHalves halves;
  std::unordered_set<data::ItemId> seen;
  for (const std::uint64_t row : all_rows(log, user))
    if (unit == data::RowUnit::every_row || seen.insert(log.items[row]).second)
      (tests(log, row) ? halves.test : halves.input).push_back(row);
  return halves;
}

// One version's ranking, device after device.
class Measure {
 public:
  Measure(const data::Dataset& dataset, const local::LocalTrainer& trainer, const device::FetchedModel& model,
          std::uint64_t seed, const std::function<bool()>& cancelled)
      : dataset_(dataset), trainer_(trainer), model_(model), seed_(seed), cancelled_(cancelled) {
    for (std::size_t item = 0; item < dataset.item_count(); ++item)
      rows_.push_back(model.row_of(dataset.catalogue().ids[item]));
  }

  Result<ImpressionAccuracy> of_impressions() {
    metrics::ImpressionMetricsSum sum;
    ImpressionAccuracy measured;
    for (std::size_t i = 0; i < dataset_.impression_count(); ++i) {
      const data::Impression impression = dataset_.impression(i);
      if (impression.split != data::Split::test) continue;
      SOTTO_TRY(const auto scores, scores_of(impression));
      const auto ranked = metrics::impression_metrics(scores, impression.clicked);
      if (ranked) measured.aucs.push_back(ranked->auc);
      sum.add(ranked);
    }
    measured.over = sum.mean();
    return measured;
  }

  Result<metrics::HeldOutReport> of_interactions() {
    SOTTO_TRY(const auto split, sides_of(dataset_, seed_));
    metrics::HeldOutReport report;
    metrics::HeldOutMetricsSum sum;
    for (const data::UserId user : split.test) {
      SOTTO_TRY(const auto own, of_user(user, report));
      if (!own) continue;
      report.each.push_back(*own);
      sum.add(*own);
    }
    report.users = report.each.size();
    report.mean = sum.mean();
    return report;
  }

 private:
  // Items that are not public stand last.
  Result<std::vector<float>> scores_of(const data::Impression& impression) {
    std::vector<local::ItemRow> history, shown;
    for (const data::ItemId item : impression.history)
      if (rows_[item]) history.push_back(*rows_[item]);
    for (const data::ItemId item : impression.shown)
      if (rows_[item]) shown.push_back(*rows_[item]);
    SeededRandom draws(seed_, Purpose::dropout);
    SOTTO_TRY(const auto known, trainer_.rank(model_.inputs(), {}, {history, shown, {}}, draws, cancelled_));
    std::vector<float> scores;
    auto next = known.begin();
    for (const data::ItemId item : impression.shown)
      scores.push_back(rows_[item] ? *next++ : -std::numeric_limits<float>::infinity());
    return scores;
  }

  // Nothing: there is nothing to test. Each held-out row in the situation in which it was.
  Result<std::optional<metrics::HeldOutMetrics>> of_user(data::UserId user, metrics::HeldOutReport& report) {
    const data::Interactions& log = dataset_.interactions();
    const local::EventUse use = trainer_.reads();
    const data::RowUnit unit = use.distinct ? data::RowUnit::distinct_items : data::RowUnit::every_row;
    data::RowHalves halves = halves_of(log, user, unit, seed_);
    std::erase_if(halves.test, [&](std::uint64_t row) {
      return !is_positive(log, row, use.positive_above) || !rows_[log.items[row]];
    });
    if (halves.test.empty()) {
      ++report.left_out;
      return std::optional<metrics::HeldOutMetrics>();
    }
    report.rows += halves.test.size();
    const auto all = static_cast<std::uint32_t>(model_.table().size());
    std::vector<local::ItemRow> items(all);
    std::iota(items.begin(), items.end(), local::ItemRow{0});
    std::vector<std::uint8_t> touched(all, 0);
    for (const std::uint64_t row : all_rows(log, user))
      if (rows_[log.items[row]]) touched[*rows_[log.items[row]]] = 1;
    metrics::HeldOutMetricsSum sum;
    const bool reads_situations = !model_.table().situation_fields.empty();
    for (std::size_t i = 0; i < halves.test.size();) {
      // Where no situation is read one ranking serves all held-out rows.
      const std::size_t count = reads_situations ? 1 : halves.test.size();
      const auto asked = std::span(halves.test).subspan(i, count);
      SOTTO_TRY(const auto scores, scores_of(user, halves.input, asked.front(), items));
      std::vector<std::uint32_t> held_out;
      for (const std::uint64_t row : asked) held_out.push_back(*rows_[log.items[row]]);
      const auto part = metrics::held_out_metrics(scores, touched, held_out);
      for (std::size_t each = 0; each < count; ++each) sum.add(part);
      i += count;
    }
    return std::optional(sum.mean());
  }

  // In the situation of the row that is asked for.
  Result<std::vector<float>> scores_of(data::UserId user, const std::vector<std::uint64_t>& input,
                                       std::uint64_t asked, const std::vector<local::ItemRow>& items) {
    const device::EventsOfReader own(model_, trainer_.reads(), {}, rows_of(dataset_, user, input));
    const device::EventsOfReader then(model_, trainer_.reads(), {}, rows_of(dataset_, user, {&asked, 1}));
    SeededRandom draws(seed_, Purpose::negative_sampling, tuning_round, user);
    return trainer_.rank(model_.inputs(), own.events(), {{}, items, then.events().context_fields}, draws,
                         cancelled_);
  }

  const data::Dataset& dataset_;
  const local::LocalTrainer& trainer_;
  const device::FetchedModel& model_;
  std::uint64_t seed_;
  const std::function<bool()>& cancelled_;
  std::vector<std::optional<local::ItemRow>> rows_;  // of the data set's items in the table
};

}  // namespace

Result<std::vector<data::UserId>> readers_of(const data::Dataset& dataset, std::size_t most,
                                             std::uint64_t seed) {
  std::vector<data::UserId> readers;
  if (dataset.has_interactions()) {
    const data::Interactions& log = dataset.interactions();
    SOTTO_TRY(const auto split, sides_of(dataset, seed));
    for (const data::UserId user : split.train) {
      const auto rows = training_rows(log, user);
      if (readers.size() < most && std::any_of(rows.begin(), rows.end(), [&](auto row) {
            return is_positive(log, row, positive_above);
          }))
        readers.push_back(user);
    }
    return readers;
  }
  for (data::UserId user = 0; user < dataset.user_count() && readers.size() < most; ++user)
    if (!data::training_samples(dataset, user, data::Split::train).empty()) readers.push_back(user);
  return readers;
}

Memory memory_of(const data::Dataset& dataset, data::UserId reader) {
  constexpr std::size_t most = device::ImpressionLimits::most_items;
  Memory memory;
  if (dataset.has_interactions()) {
    memory.rows = rows_of(dataset, reader, training_rows(dataset.interactions(), reader));
    return memory;
  }
  const auto [first, last] = dataset.impressions_of(reader);
  for (std::size_t i = first; i < last; ++i) {
    const data::Impression impression = dataset.impression(i);
    if (!teaches(impression) || impression.shown.size() > most) continue;
    memory.impressions.push_back({time_of(impression.time),
                                  ids_of(dataset, impression.history, most),
                                  ids_of(dataset, impression.shown, most),
                                  {impression.clicked.begin(), impression.clicked.end()}});
  }
  return memory;
}

Result<Accuracy> measure(const data::Dataset& dataset, const local::LocalTrainer& trainer,
                         const device::FetchedModel& model, std::uint64_t seed,
                         const std::function<bool()>& cancelled) {
  Measure measure(dataset, trainer, model, seed, cancelled);
  if (trainer.reads().reads_rows) {
    SOTTO_TRY(auto report, measure.of_interactions());
    return Accuracy(std::move(report));
  }
  SOTTO_TRY(auto impressions, measure.of_impressions());
  return Accuracy(std::move(impressions));
}

namespace {

// One number for each impression, or user.
std::vector<double> figures_of(const Accuracy& accuracy) {
  if (const auto* impressions = std::get_if<ImpressionAccuracy>(&accuracy)) return impressions->aucs;
  std::vector<double> hits;
  for (const metrics::HeldOutMetrics& user : std::get<metrics::HeldOutReport>(accuracy).each)
    hits.push_back(user.hits[1]);
  return hits;
}

}  // namespace

metrics::MeanAndError gain_between(const Accuracy& before, const Accuracy& after) {
  const std::vector<double> first = figures_of(before), second = figures_of(after);
  std::vector<double> gains;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i)
    gains.push_back(second[i] - first[i]);
  return metrics::mean_and_error(gains);
}

}  // namespace sotto::fleet
