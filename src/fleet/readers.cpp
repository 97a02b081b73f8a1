#include "fleet/readers.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "data/splits.h"
#include "device/model/user_model.h"

namespace sotto::fleet {

namespace {

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

// "shared.scale:64 …" and the numbers behind it, as the device's model names them.
Result<std::vector<device::NamedTensor>> weights_of(const rounds::ModelVersion& version) {
  constexpr std::string_view wrapped = "shared.";
  std::vector<device::NamedTensor> weights;
  std::size_t at = 0;
  for (std::size_t begin = 0; begin < version.layout.size();) {
    const std::size_t colon = version.layout.find(':', begin), space = version.layout.find(' ', begin);
    if (colon == std::string::npos || space == std::string::npos || colon > space)
      return bad_input("'{}' is no layout of a model", version.layout);
    std::string name = version.layout.substr(begin, colon - begin);
    const std::size_t size = std::stoul(version.layout.substr(colon + 1, space - colon - 1));
    if (size > version.numbers.size() - at) return bad_input("the version has fewer numbers than it says");
    if (name.starts_with(wrapped)) name.erase(0, wrapped.size());
    const auto first = version.numbers.begin() + static_cast<std::ptrdiff_t>(at);
    // The device's model knows scale and average as rows, and the doubt as a matrix of one number.
    std::vector<std::uint32_t> shape = {static_cast<std::uint32_t>(size)};
    if (name != "query") shape.insert(shape.begin(), 1);
    weights.push_back(
        {std::move(name), std::move(shape), {first, first + static_cast<std::ptrdiff_t>(size)}});
    at += size;
    begin = space + 1;
  }
  return weights;
}

}  // namespace

std::vector<data::UserId> readers_of(const data::Dataset& dataset, std::size_t most) {
  std::vector<data::UserId> readers;
  for (data::UserId user = 0; user < dataset.user_count() && readers.size() < most; ++user)
    if (!data::training_samples(dataset, user, data::Split::train).empty()) readers.push_back(user);
  return readers;
}

std::vector<device::StoredImpression> shown_to(const data::Dataset& dataset, data::UserId reader) {
  constexpr std::size_t most = device::ImpressionLimits::most_items;
  std::vector<device::StoredImpression> shown;
  const auto [first, last] = dataset.impressions_of(reader);
  for (std::size_t i = first; i < last; ++i) {
    const data::Impression impression = dataset.impression(i);
    if (!teaches(impression) || impression.shown.size() > most) continue;
    shown.push_back({privacy::UtcTime(std::chrono::seconds(std::max<std::int64_t>(impression.time, 0))),
                     ids_of(dataset, impression.history, most),
                     ids_of(dataset, impression.shown, most),
                     {impression.clicked.begin(), impression.clicked.end()}});
  }
  return shown;
}

Result<MeasuredVersion> measure(const data::Dataset& dataset, std::span<const data::UserId> readers,
                                const rounds::ModelVersion& version, const rounds::ItemTable& items,
                                std::size_t max_history) {
  SOTTO_TRY(const auto weights, weights_of(version));
  SOTTO_TRY(const auto model, device::UserModel::create({"catalogue", items.dimension, 0, 0}, weights));
  std::unordered_map<std::string_view, const float*> vectors;
  for (std::size_t i = 0; i < items.size(); ++i)
    vectors.emplace(items.ids[i], items.vectors.data() + i * items.dimension);
  const auto vector_of = [&](data::ItemId item) -> const float* {
    const auto found = vectors.find(dataset.catalogue().ids[item]);
    return found == vectors.end() ? nullptr : found->second;
  };
  metrics::ImpressionMetricsSum sum;
  MeasuredVersion measured;
  for (const data::UserId reader : readers) {
    const auto [first, last] = dataset.impressions_of(reader);
    for (std::size_t i = first; i < last; ++i) {
      const data::Impression impression = dataset.impression(i);
      if (impression.split != data::Split::test) continue;
      std::vector<float> clicks;
      for (const data::ItemId item :
           impression.history.last(std::min(impression.history.size(), max_history)))
        if (const float* vector = vector_of(item))
          clicks.insert(clicks.end(), vector, vector + items.dimension);
      const std::vector<float> user = model.encode(clicks);
      std::vector<float> scores;
      for (const data::ItemId item : impression.shown) {
        const float* vector = vector_of(item);
        scores.push_back(vector == nullptr ? 0 : std::inner_product(user.begin(), user.end(), vector, 0.0F));
      }
      const auto ranked = metrics::impression_metrics(scores, impression.clicked);
      if (ranked) measured.aucs.push_back(ranked->auc);
      sum.add(ranked);
    }
  }
  measured.over = sum.mean();
  return measured;
}

metrics::MeanAndError gain_between(const MeasuredVersion& before, const MeasuredVersion& after) {
  std::vector<double> gains;
  for (std::size_t i = 0; i < std::min(before.aucs.size(), after.aucs.size()); ++i)
    gains.push_back(after.aucs[i] - before.aucs[i]);
  return metrics::mean_and_error(gains);
}

}  // namespace sotto::fleet
