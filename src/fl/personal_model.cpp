#include "fl/personal_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/thread_pool.h"

namespace sotto::fl {

using torch::Tensor;

void PersonalSettings::bind(SettingsTable& table) {
  table
      .add("personal_steps", steps, {0, 10000},
           "Steps of adaptation on the reader's own impressions, on the device; 0: none")
      .add("personal_weight", weight, {1e-3, 1e9},
           "How strongly a personal vector is held back; it counts like so many clicks");
}

namespace {

// One kept impression: who the shared model takes the reader for, and what was shown.
struct Kept {
  std::int64_t user_row;
  data::Impression impression;
};

// Adds the gradient of one impression at user vector u + p; returns its clicks.
double add_gradient(const Kept& kept, const float* u, const std::vector<double>& p, const float* items,
                    std::vector<double>& gradient) {
  const std::size_t size = p.size();
  const auto& shown = kept.impression.shown;
  std::vector<double> scores(shown.size());
  for (std::size_t j = 0; j < shown.size(); ++j) {
    const float* item = items + static_cast<std::size_t>(shown[j]) * size;
    for (std::size_t c = 0; c < size; ++c) scores[j] += (u[c] + p[c]) * item[c];
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0, clicks = 0;
  for (double& score : scores) sum += (score = std::exp(score - largest));
  for (const std::uint8_t clicked : kept.impression.clicked) clicks += clicked;
  for (std::size_t j = 0; j < shown.size(); ++j) {
    const double residual = clicks * scores[j] / sum - kept.impression.clicked[j];
    const float* item = items + static_cast<std::size_t>(shown[j]) * size;
    for (std::size_t c = 0; c < size; ++c) gradient[c] += residual * item[c];
  }
  return clicks;
}

std::vector<float> adapted(std::span<const Kept> kept, const float* users, const float* items,
                           std::size_t size, const PersonalSettings& settings) {
  std::vector<double> p(size, 0), gradient(size);
  for (std::int64_t step = 0; step < settings.steps; ++step) {
    for (std::size_t c = 0; c < size; ++c) gradient[c] = settings.weight * p[c];
    double clicks = 0;
    for (const Kept& one : kept)
      clicks += add_gradient(one, users + static_cast<std::size_t>(one.user_row) * size, p, items, gradient);
    for (std::size_t c = 0; c < size; ++c) p[c] -= gradient[c] / (settings.weight + clicks);
  }
  return {p.begin(), p.end()};
}

}  // namespace

PersonalVectors PersonalVectors::learn(model::NewsRecommender& model, const data::Dataset& dataset,
                                       std::vector<data::UserId> users, std::size_t max_history,
                                       const PersonalSettings& settings) {
  const torch::NoGradGuard no_grad;
  PersonalVectors personal;
  personal.size = model.vector_size();
  if (settings.steps == 0) return personal;
  std::sort(users.begin(), users.end());
  users.erase(std::unique(users.begin(), users.end()), users.end());

  std::vector<Kept> kept;
  std::vector<std::size_t> first = {0};  // of each user
  model::Histories histories;
  for (const data::UserId user : users) {
    const auto [begin, end] = dataset.impressions_of(user);
    for (std::size_t i = begin; i < end; ++i) {
      const data::Impression impression = dataset.impression(i);
      if (impression.split != data::Split::train || impression.shown.empty()) continue;
      const auto recent = impression.history.last(std::min(impression.history.size(), max_history));
      kept.push_back({static_cast<std::int64_t>(histories.size()), impression});
      histories.add(std::vector<std::int64_t>(recent.begin(), recent.end()), user);
    }
    first.push_back(kept.size());
  }
  std::vector<data::ItemId> all(dataset.item_count());
  std::iota(all.begin(), all.end(), data::ItemId{0});
  model::Pass pass = model::Pass::evaluation();
  const Tensor items = model.encode_items(all, pass);
  const Tensor vectors = model.encode_users(items, histories, pass).to(torch::kCPU).contiguous();
  const Tensor table = items.to(torch::kCPU).contiguous();
  std::vector<std::vector<float>> found(users.size());
  Progress progress("adapting", users.size(), "devices");
  parallel_for(users.size(), 64, [&](std::size_t begin, std::size_t end) {
    if (interrupted()) return;  // whoever asked looks at it too
    progress.advance(end - begin);
    for (std::size_t u = begin; u < end; ++u)
      found[u] =
          adapted(std::span(kept).subspan(first[u], first[u + 1] - first[u]), vectors.data_ptr<float>(),
                  table.data_ptr<float>(), static_cast<std::size_t>(personal.size), settings);
  });
  for (std::size_t u = 0; u < users.size(); ++u)
    if (!found[u].empty() && first[u + 1] > first[u]) personal.of_user.emplace(users[u], std::move(found[u]));
  return personal;
}

Tensor PersonalVectors::rows(const std::vector<data::UserId>& users) const {
  Tensor table = torch::zeros({static_cast<std::int64_t>(users.size()), size});
  for (std::size_t i = 0; i < users.size(); ++i)
    if (const auto own = of_user.find(users[i]); own != of_user.end())
      std::copy(own->second.begin(), own->second.end(),
                table.data_ptr<float>() + i * static_cast<std::size_t>(size));
  return table;
}

}  // namespace sotto::fl
