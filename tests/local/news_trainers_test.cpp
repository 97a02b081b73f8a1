// The trainers of whole news models and of split ones: what libtorch cannot be asked (dropout, refusals).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/distributions.h"
#include "local/local_trainer.h"
#include "never.h"

namespace sotto::local {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::never;

using Settings = std::vector<std::pair<std::string, std::string>>;

// Twelve items with titles and vectors of eight numbers, and a reader of three pages.
struct NewsReader {
  NewsReader(const char* recipe, double dropout, Settings more = {}) {
    Settings settings = {{"negatives", "2"},   {"heads", "2"},        {"head_size", "4"},
                         {"max_history", "3"}, {"pooling_size", "5"}, {"dropout", std::to_string(dropout)}};
    settings.insert(settings.end(), more.begin(), more.end());
    trainer = find_trainer(recipe, settings).value();
    const auto fill = [this](std::vector<float>& numbers, std::size_t count) {
      numbers.resize(count);
      for (float& number : numbers) number = static_cast<float>(0.4 * normal(random));
    };
    fill(parameters, trainer->layout().size());
    fill(items, 12UL * 8UL);
    fill(words, 20UL * 6UL);
    for (std::uint64_t item = 0; item < 12; ++item) {
      for (std::uint64_t word = 0; word < item % 5; ++word)
        title_words.push_back(static_cast<std::uint32_t>(uniform_below(random, 20)));
      title_offsets.push_back(title_words.size());
    }
    own.impressions = {{{}, shown, clicked}, {history, shown, clicked}, {history, other, other_clicked}};
  }
  RoundInputs inputs() const {
    return {parameters, {items.data(), 12, 8}, {words.data(), 20, 6}, {title_words, title_offsets}};
  }
  Result<LocalUpdate> train() const {
    SeededRandom draws(3, Purpose::negative_sampling);
    return trainer->train(inputs(), own, draws, never);
  }

  SeededRandom random{9, Purpose::test};
  std::unique_ptr<LocalTrainer> trainer;
  std::vector<float> parameters, items, words;
  std::vector<std::uint32_t> title_words;
  std::vector<std::uint64_t> title_offsets = {0};
  std::vector<ItemRow> history = {4, 7, 8, 1}, shown = {3, 5, 9, 0}, other = {11, 2, 6};
  std::vector<std::uint8_t> clicked = {0, 1, 0, 1}, other_clicked = {1, 0, 0};
  OwnEvents own;
};

NewsReader whole(double dropout) {
  return {"fednewsrec", dropout, {{"word_size", "6"}, {"recent_clicks", "2"}}};
}
NewsReader split(double dropout) { return {"efficient-fedrec", dropout}; }

// Along a random way through `numbers` the loss must fall as the direction says. Draws, and so what is
// dropped, are the same everywhere.
void expect_slope(NewsReader& reader, std::vector<float>& numbers, std::span<const float> direction) {
  ASSERT_EQ(numbers.size(), direction.size());
  constexpr double step = 2e-3;
  const std::vector<float> start = numbers;
  std::vector<double> way;
  double along = 0;
  for (const float slope : direction) {
    way.push_back(normal(reader.random));
    along += way.back() * slope;
  }
  const auto loss_at = [&](double distance) {
    for (std::size_t i = 0; i < start.size(); ++i)
      numbers[i] = static_cast<float>(start[i] + distance * way[i]);
    return reader.train().value().loss;
  };
  const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
  numbers = start;
  EXPECT_GT(std::abs(slope), 0.01);
  EXPECT_NEAR(along, slope, 5e-3 * std::max(1.0, std::abs(slope)));
}

TEST(NewsTrainers, WholeModelGoesBackThroughTheMasksItCameBy) {
  NewsReader reader = whole(0.3);
  const LocalUpdate update = reader.train().value();
  EXPECT_EQ(update.samples, 5U);
  for (int way = 0; way < 5; ++way) expect_slope(reader, reader.parameters, update.direction);
  EXPECT_NE(whole(0).train().value().loss, update.loss);
}

TEST(NewsTrainers, SplitModelReturnsGradientsOfVectorsBeforeThoseOfTheModel) {
  NewsReader reader = split(0.3);
  const LocalUpdate update = reader.train().value();
  ASSERT_EQ(update.direction.size(), 12 * 8 + reader.parameters.size());
  EXPECT_EQ(reader.trainer->dimension(12, 1), update.direction.size());
  const std::span all(update.direction);
  for (int way = 0; way < 5; ++way) {
    expect_slope(reader, reader.items, all.first(std::size_t{12} * 8));
    expect_slope(reader, reader.parameters, all.last(reader.parameters.size()));
  }
  // Item 10 stands on no page and in no history.
  EXPECT_THAT(all.subspan(std::size_t{10} * 8, 8), Each(0.0F));
  EXPECT_THAT(all.subspan(std::size_t{11} * 8, 8), Each(::testing::Ne(0.0F)));
}

TEST(NewsTrainers, GiveZerosWithoutClicks) {
  NewsReader one = whole(0.2), other = split(0.2);
  for (NewsReader* reader : {&one, &other}) {
    reader->own = {};
    EXPECT_THAT(reader->train().value().direction, Each(0.0F));
  }
}

TEST(NewsTrainers, RefuseTitlesThatAreNotWhole) {
  const auto message = [](const NewsReader& reader) {
    const auto update = reader.train();
    return update ? std::string("was taken") : update.error().message;
  };
  NewsReader cut = whole(0);
  cut.title_offsets.back() += 1;
  EXPECT_THAT(message(cut), HasSubstr("not cut into items"));
  NewsReader backwards = whole(0);
  std::swap(backwards.title_offsets[3], backwards.title_offsets[4]);
  EXPECT_THAT(message(backwards), HasSubstr("not cut into items"));
  NewsReader unknown = whole(0);
  unknown.title_words[2] = 20;
  EXPECT_THAT(message(unknown), HasSubstr("names word 20 of 20"));
  NewsReader fewer = whole(0);
  fewer.title_offsets.resize(12);
  fewer.title_words.resize(fewer.title_offsets.back());
  EXPECT_THAT(message(fewer), HasSubstr("names item 11 of 11"));
}

TEST(NewsTrainers, RefuseWhatAttentionCannotHold) {
  NewsReader long_title = whole(0);
  long_title.title_words.resize(600, 1);
  long_title.title_offsets.back() = 600;
  const auto update = long_title.train();
  ASSERT_FALSE(update);
  EXPECT_THAT(update.error().message, HasSubstr("at most 512"));
  for (const char* recipe : {"fednewsrec", "efficient-fedrec", "privaterec"}) {
    const auto found = find_trainer(recipe, Settings{{"max_history", "1001"}});
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message, HasSubstr("1 to 1000"));
  }
}

TEST(NewsTrainers, RefuseTrainedWordsWithoutTheirNumber) {
  for (const Settings& settings : {Settings{{"train_words", "true"}}, Settings{{"vocabulary", "100"}}}) {
    const auto found = find_trainer("fednewsrec", settings);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message, HasSubstr("train_words"));
  }
}

}  // namespace
}  // namespace sotto::local
