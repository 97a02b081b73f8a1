#include "data/describe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sotto::data {

namespace {

std::uint32_t words_of(std::string_view text) {
  std::uint32_t words = 0;
  bool inside = false;
  for (const char character : text) {
    const bool space = character == ' ' || (character >= '\t' && character <= '\r');
    if (!space && !inside) ++words;
    inside = !space;
  }
  return words;
}

std::uint64_t rows_with_text(const StringColumn& column) {
  std::uint64_t rows = 0;
  for (std::size_t row = 0; row < column.size(); ++row) rows += column[row].empty() ? 0 : 1;
  return rows;
}

std::vector<std::string> names_of(const Features& features) {
  std::vector<std::string> names;
  for (const CategoricalFeature& feature : features.categorical) names.push_back(feature.name);
  for (const NumericFeature& feature : features.numeric) names.push_back(feature.name);
  return names;
}

void describe_items(const Dataset& dataset, DatasetSummary& summary) {
  const Catalogue& catalogue = dataset.catalogue();
  summary.items_with_title = rows_with_text(catalogue.titles);
  summary.items_with_abstract = rows_with_text(catalogue.abstracts);
  summary.categories = catalogue.category_names.size() - 1;
  summary.subcategories = catalogue.subcategory_names.size() - 1;
  summary.entities = catalogue.entity_ids.size();
  summary.entity_dimension = catalogue.entity_dimension;
  std::vector<std::uint32_t> words;
  for (std::size_t item = 0; item < catalogue.size(); ++item) {
    if (!catalogue.titles[item].empty()) words.push_back(words_of(catalogue.titles[item]));
  }
  summary.title_words = distribution_of(std::move(words));
  summary.item_features = names_of(catalogue.features);
  summary.user_features = names_of(dataset.user_features());
  summary.context_features = names_of(dataset.interactions().context);
  summary.public_items = catalogue.public_count();
  for (const Features* features : {&dataset.user_features(), &dataset.interactions().context})
    for (const CategoricalFeature& feature : features->categorical)
      if (feature.declared == 0) summary.undeclared_columns.push_back(feature.name);
}

std::vector<std::uint8_t> items_of_training(const Dataset& dataset) {
  std::vector<std::uint8_t> seen(dataset.item_count(), 0);
  std::span<const ItemId> marked;
  for (std::size_t index = 0; index < dataset.impression_count(); ++index) {
    const Impression impression = dataset.impression(index);
    if (impression.split != Split::train) continue;
    for (const ItemId item : impression.shown) seen[item] = 1;
    // Histories are prefixes of shared lists: only what is longer than the last one of the same list is new.
    std::span<const ItemId> fresh = impression.history;
    if (fresh.data() == marked.data()) fresh = fresh.subspan(std::min(fresh.size(), marked.size()));
    for (const ItemId item : fresh) seen[item] = 1;
    if (impression.history.data() != marked.data() || impression.history.size() > marked.size()) {
      marked = impression.history;
    }
  }
  return seen;
}

void describe_impressions(const Dataset& dataset, DatasetSummary& summary) {
  const std::vector<std::uint8_t> seen = items_of_training(dataset);
  std::vector<std::uint32_t> histories, sizes, clicks, per_user;
  std::uint64_t unseen = 0;
  for (UserId user = 0; user < dataset.user_count(); ++user) {
    const auto [first, last] = dataset.impressions_of(user);
    if (first < last) per_user.push_back(static_cast<std::uint32_t>(last - first));
    std::array<bool, 3> takes_part = {};
    for (std::size_t index = first; index < last; ++index) {
      const Impression impression = dataset.impression(index);
      const auto clicked = std::count(impression.clicked.begin(), impression.clicked.end(), std::uint8_t{1});
      histories.push_back(static_cast<std::uint32_t>(impression.history.size()));
      sizes.push_back(static_cast<std::uint32_t>(impression.shown.size()));
      clicks.push_back(static_cast<std::uint32_t>(clicked));
      const auto split = static_cast<std::size_t>(impression.split);
      takes_part[split] = true;
      ++summary.splits[split].impressions;
      summary.splits[split].shown += impression.shown.size();
      summary.splits[split].clicks += static_cast<std::uint64_t>(clicked);
      if (impression.split == Split::test) {
        unseen += static_cast<std::uint64_t>(std::count_if(impression.shown.begin(), impression.shown.end(),
                                                           [&](ItemId item) { return seen[item] == 0; }));
      }
    }
    for (std::size_t split = 0; split < takes_part.size(); ++split)
      summary.splits[split].users += takes_part[split];
  }
  const std::uint64_t shown = summary.splits[static_cast<std::size_t>(Split::test)].shown;
  summary.unseen_test_share = shown == 0 ? 0 : static_cast<double>(unseen) / static_cast<double>(shown);
  summary.history_length = distribution_of(std::move(histories));
  summary.impression_size = distribution_of(std::move(sizes));
  summary.clicks_per_impression = distribution_of(std::move(clicks));
  summary.impressions_per_user = distribution_of(std::move(per_user));
}

void describe_interactions(const Interactions& interactions, DatasetSummary& summary) {
  std::vector<std::uint32_t> per_user;
  for (std::size_t user = 0; user + 1 < interactions.user_offsets.size(); ++user) {
    const std::uint64_t rows = interactions.user_offsets[user + 1] - interactions.user_offsets[user];
    if (rows > 0) per_user.push_back(static_cast<std::uint32_t>(rows));
  }
  summary.interactions_per_user = distribution_of(std::move(per_user));
  double sum = 0;
  for (const float rating : interactions.ratings) {
    if (std::isnan(rating)) continue;
    ++summary.rated;
    sum += rating;
  }
  summary.mean_rating = summary.rated == 0 ? 0 : sum / static_cast<double>(summary.rated);
}

void describe_times(const Dataset& dataset, DatasetSummary& summary) {
  const auto include = [&](std::int64_t time) {
    if (time == 0) return;  // unknown
    const bool first = summary.first_time == 0 && summary.last_time == 0;
    summary.first_time = first ? time : std::min(summary.first_time, time);
    summary.last_time = first ? time : std::max(summary.last_time, time);
  };
  for (std::size_t index = 0; index < dataset.impression_count(); ++index)
    include(dataset.impression(index).time);
  for (const std::int64_t time : dataset.interactions().times) include(time);
}

double tied_share(const Dataset& dataset) {
  std::uint64_t pairs = 0, tied = 0;
  const auto count = [&](std::span<const std::uint64_t> user_offsets, std::span<const std::int64_t> times) {
    for (std::size_t user = 0; user + 1 < user_offsets.size(); ++user) {
      for (std::uint64_t row = user_offsets[user] + 1; row < user_offsets[user + 1]; ++row) {
        ++pairs;
        tied += times[row] == times[row - 1] ? 1 : 0;
      }
    }
  };
  count(dataset.parts().impressions.user_offsets, dataset.parts().impressions.times);
  count(dataset.interactions().user_offsets, dataset.interactions().times);
  return pairs == 0 ? 0 : static_cast<double>(tied) / static_cast<double>(pairs);
}

}  // namespace

Distribution distribution_of(std::vector<std::uint32_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  const auto sum = std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  return {.count = values.size(),
          .mean = static_cast<double>(sum) / static_cast<double>(values.size()),
          .least = values.front(),
          .lower_quartile = quantile(0.25),
          .median = quantile(0.5),
          .upper_quartile = quantile(0.75),
          .ninety_percent = quantile(0.9),
          .largest = values.back()};
}

DatasetSummary describe(const Dataset& dataset) {
  DatasetSummary summary;
  summary.name = dataset.name();
  summary.origin = dataset.origin();
  summary.counts = dataset.counts();
  describe_items(dataset, summary);
  describe_impressions(dataset, summary);
  describe_interactions(dataset.interactions(), summary);
  describe_times(dataset, summary);
  summary.training_non_clicks = dataset.training_non_clicks();
  summary.split_origin = dataset.split_origin();
  summary.tied_share = tied_share(dataset);
  return summary;
}

}  // namespace sotto::data
