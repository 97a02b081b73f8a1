// The words of the titles carry the interest: a learner that sees nothing but words and clicks finds it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/distributions.h"
#include "metrics/mean.h"
#include "newsroom_fixture.h"

namespace sotto::data::newsroom {
namespace {

using Words = std::vector<std::uint32_t>;  // sorted, distinct

struct Titles {
  std::vector<Words> of_item;
  std::size_t vocabulary = 0;
};

Titles read_titles(const World& world) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  Titles titles;
  for (const ItemText& text : world.texts) {
    Words words;
    std::string word;
    for (const char c : text.title + " ") {
      if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (!word.empty()) {
        words.push_back(numbers.emplace(word, static_cast<std::uint32_t>(numbers.size())).first->second);
        word.clear();
      }
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    titles.of_item.push_back(std::move(words));
  }
  titles.vocabulary = numbers.size();
  return titles;
}

// score(reader, item) = (mean over the history of the sum of its word vectors) . (sum of the title's word
// vectors), trained on (clicked, shown but not clicked) pairs by logistic loss.
class WordModel {
 public:
  static constexpr std::size_t width = 32;
  explicit WordModel(const Titles& titles) : titles_(titles), vectors_(titles.vocabulary * width) {
    SeededRandom random(1, Purpose::initialisation);
    for (float& value : vectors_) value = static_cast<float>(0.3 * normal(random) / std::sqrt(double{width}));
  }

  std::vector<float> reader(std::span<const std::uint32_t> history) const {
    std::vector<float> mean(width, 0.0F);
    for (const std::uint32_t item : history) add(mean, item, 1.0F / static_cast<float>(history.size()));
    return mean;
  }
  float score(const std::vector<float>& reader, std::uint32_t item) const {
    std::vector<float> vector(width, 0.0F);
    add(vector, item, 1);
    float sum = 0;
    for (std::size_t k = 0; k < width; ++k) sum += reader[k] * vector[k];
    return sum;
  }
  void learn(std::span<const std::uint32_t> history, std::uint32_t clicked, std::uint32_t other, float rate) {
    if (history.empty()) return;
    const std::vector<float> mean = reader(history);
    const float step = rate / (1 + std::exp(score(mean, clicked) - score(mean, other)));
    std::vector<float> difference(width, 0.0F);
    add(difference, clicked, 1);
    add(difference, other, -1);
    move(clicked, mean, step);
    move(other, mean, -step);
    for (const std::uint32_t item : history)
      move(item, difference, step / static_cast<float>(history.size()));
  }

 private:
  void add(std::vector<float>& sum, std::uint32_t item, float scale) const {
    for (const std::uint32_t word : titles_.of_item[item])
      for (std::size_t k = 0; k < width; ++k) sum[k] += scale * vectors_[word * width + k];
  }
  void move(std::uint32_t item, const std::vector<float>& direction, float scale) {
    for (const std::uint32_t word : titles_.of_item[item])
      for (std::size_t k = 0; k < width; ++k) vectors_[word * width + k] += scale * direction[k];
  }
  const Titles& titles_;
  std::vector<float> vectors_;
};

double test_auc(const Simulated& newsroom, const WordModel& model) {
  metrics::ImpressionMetricsSum sum;
  for_each_impression(newsroom.chunks, [&](const ReaderChunk& chunk, const RecordedImpression& impression) {
    if (!impression.test) return;
    const std::vector<float> reader = model.reader(chunk.history_of(impression));
    std::vector<float> scores;
    for (const std::uint32_t item : chunk.shown_in(impression)) scores.push_back(model.score(reader, item));
    sum.add(metrics::impression_metrics(scores, chunk.clicked_in(impression)));
  });
  return sum.mean().mean.auc;
}

TEST(NewsroomLearnable, FromWordsAndClicksAlone) {
  const Simulated newsroom = simulate(small_newsroom(2'000, 2'000));
  const Titles titles = read_titles(newsroom.world);
  EXPECT_GT(titles.vocabulary, 1'500U);
  EXPECT_LT(titles.vocabulary, 4'000U);
  WordModel model(titles);
  SeededRandom random(2, Purpose::test);
  const float rate = 0.006F;
  for (int epoch = 0; epoch < 5; ++epoch)
    for_each_impression(newsroom.chunks, [&](const ReaderChunk& chunk, const RecordedImpression& impression) {
      if (impression.test) return;
      const auto shown = chunk.shown_in(impression);
      const auto clicked = chunk.clicked_in(impression);
      auto history = chunk.history_of(impression);
      history = history.last(std::min<std::size_t>(history.size(), 30));
      for (std::size_t i = 0; i < shown.size(); ++i)
        for (int pair = 0; clicked[i] != 0 && pair < 3; ++pair) {
          const auto other = uniform_below(random, shown.size());
          if (clicked[other] == 0) model.learn(history, shown[i], shown[other], rate);
        }
    });
  const double auc = test_auc(newsroom, model);
  EXPECT_GT(newsroom.oracle.share_of_attainable(auc), 0.3) << "AUC " << auc;
  EXPECT_LT(newsroom.oracle.share_of_attainable(auc), 0.95) << "too easy: AUC " << auc;
}

TEST(NewsroomLearnable, EntityVectorsTellThemesApart) {
  const auto world = build_world(small_newsroom(10, 100));
  ASSERT_TRUE(world);
  const auto cosine = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t k = 0; k < entity_dimension; ++k)
      sum +=
          world->entity_vectors[a * entity_dimension + k] * world->entity_vectors[b * entity_dimension + k];
    return sum;
  };
  double same_theme = 0, same_category = 0, other = 0;
  int themes = 0, siblings = 0, others = 0;
  for (std::size_t a = 0; a < world->entities.size(); ++a)
    for (std::size_t b = a + 1; b < world->entities.size(); ++b) {
      const auto x = world->entities[a].theme, y = world->entities[b].theme;
      if (x == y) {
        same_theme += cosine(a, b), ++themes;
      } else if (world->themes[x].category == world->themes[y].category) {
        same_category += cosine(a, b), ++siblings;
      } else {
        other += cosine(a, b), ++others;
      }
    }
  EXPECT_GT(same_theme / themes, 0.6);
  EXPECT_NEAR(same_category / siblings, 0.2, 0.1);
  EXPECT_NEAR(other / others, 0, 0.05);
}

}  // namespace
}  // namespace sotto::data::newsroom
