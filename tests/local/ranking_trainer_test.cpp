#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/distributions.h"
#include "local/local_trainer.h"
#include "never.h"

namespace sotto::local {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::never;

// A catalogue of ten items in three dimensions and a reader's few pages.
struct RankingReader {
  RankingReader() {
    SeededRandom random(4, Purpose::test);
    for (float& number : items) number = static_cast<float>(normal(random));
    parameters.resize(10);
    for (float& number : parameters) number = static_cast<float>(0.3 * normal(random));
    own.impressions = {
        {{}, first, first_clicked}, {history, first, first_clicked}, {history, second, second_clicked}};
  }
  RoundInputs inputs() const { return {parameters, {items.data(), 10, 3}}; }
  static std::unique_ptr<LocalTrainer> trainer(std::vector<std::pair<std::string, std::string>> more = {}) {
    std::vector<std::pair<std::string, std::string>> settings = {{"negatives", "3"}, {"vector_size", "3"}};
    settings.insert(settings.end(), more.begin(), more.end());
    return find_trainer("sotto", settings).value();
  }
  Result<LocalUpdate> train(std::uint64_t seed = 1) const {
    SeededRandom draws(seed, Purpose::negative_sampling);
    return trainer()->train(inputs(), own, draws, never);
  }

  std::vector<float> items = std::vector<float>(30), parameters;
  std::vector<ItemRow> history = {4, 7, 7, 1}, first = {3, 5, 9, 0}, second = {2, 8, 6};
  std::vector<std::uint8_t> first_clicked = {0, 1, 0, 0}, second_clicked = {1, 0, 1};
  OwnEvents own;
};

// u·x by the formula of the model, in double.
double score(const RankingReader& reader, std::span<const ItemRow> history, ItemRow item,
             const std::vector<double>& p) {
  const auto at = [&](ItemRow row, std::size_t d) { return static_cast<double>(reader.items[3 * row + d]); };
  std::vector<double> weights;
  double total = 0;
  for (const ItemRow click : history) {
    double along = 0;
    for (std::size_t d = 0; d < 3; ++d) along += p[6 + d] * at(click, d);
    weights.push_back(std::exp(along));
    total += weights.back();
  }
  const auto n = static_cast<double>(history.size());
  const double trust = n / (n + std::exp(p[9]));
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    double pooled = 0;
    for (std::size_t i = 0; i < history.size(); ++i) pooled += weights[i] / total * at(history[i], d);
    sum += (p[3 + d] + trust * std::exp(p[d]) * pooled) * at(item, d);
  }
  return sum;
}

double loss_by_formula(const RankingReader& reader, const std::vector<RankingExample>& examples,
                       const std::vector<double>& parameters) {
  double loss = 0;
  for (const RankingExample& example : examples) {
    double total = 0;
    for (const ItemRow item : example.candidates)
      total += std::exp(score(reader, example.history, item, parameters));
    loss += std::log(total) - score(reader, example.history, example.candidates[0], parameters);
  }
  return loss;
}

TEST(FlagshipTrainer, GivesTheGradientOfItsFormulaSummedOverTheClicks) {
  const RankingReader reader;
  const LocalUpdate update = reader.train().value();
  SeededRandom draws(1, Purpose::negative_sampling);
  ExampleSettings settings;
  settings.negatives = 3;
  const auto examples = examples_of(reader.own.impressions, settings, draws).value();
  ASSERT_EQ(examples.size(), 4U);
  EXPECT_EQ(update.samples, 4U);
  const std::vector<double> at(reader.parameters.begin(), reader.parameters.end());
  EXPECT_NEAR(update.loss, loss_by_formula(reader, examples, at), 1e-5);
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::vector<double> up = at, down = at;
    up[i] += 1e-5, down[i] -= 1e-5;
    const double slope =
        (loss_by_formula(reader, examples, up) - loss_by_formula(reader, examples, down)) / 2e-5;
    EXPECT_NE(slope, 0);
    EXPECT_NEAR(update.direction[i], slope, 1e-5) << "parameter " << i;
  }
}

// All that was not clicked is taken from these pages, so draws change nothing but an order.
TEST(FlagshipTrainer, DoesNotDependOnHowExamplesAreCutIntoPieces) {
  RankingReader reader;
  SeededRandom random(8, Purpose::test);
  reader.history.clear();
  for (int i = 0; i < 5000; ++i) reader.history.push_back(static_cast<ItemRow>(uniform_below(random, 10)));
  for (OwnImpression& impression : reader.own.impressions) impression.history = reader.history;
  const OwnEvents once = reader.own;
  for (int i = 1; i < 100; ++i)
    reader.own.impressions.insert(reader.own.impressions.end(), once.impressions.begin(),
                                  once.impressions.end());
  int pieces = 0;
  const auto train = [&](const OwnEvents& own) {
    SeededRandom draws(1, Purpose::negative_sampling);
    const auto count = [&] { return ++pieces, false; };
    return RankingReader::trainer({{"max_history", "10000"}})
        ->train(reader.inputs(), own, draws, count)
        .value();
  };
  const LocalUpdate alone = train(once);
  EXPECT_EQ(pieces, 2) << "one of items, one of examples";
  const LocalUpdate often = train(reader.own);
  EXPECT_GT(pieces, 6);
  EXPECT_EQ(often.samples, 100 * alone.samples);
  EXPECT_NEAR(often.loss, 100 * alone.loss, 1e-4 * often.loss);
  for (std::size_t i = 0; i < alone.direction.size(); ++i)
    EXPECT_NEAR(often.direction[i], 100 * alone.direction[i], 2e-3);
}

TEST(FlagshipTrainer, GivesZerosWithoutAClickToLearnFrom) {
  RankingReader reader;
  const std::vector<std::uint8_t> all = {1, 1, 1}, none = {0, 0, 0};
  for (const OwnEvents& own :
       {OwnEvents{}, OwnEvents{{{reader.history, reader.second, all}}},
        OwnEvents{{{reader.history, reader.second, none}, {reader.history, {}, {}}}}}) {
    reader.own = own;
    const LocalUpdate update = reader.train().value();
    EXPECT_EQ(update.direction.size(), 10U);
    EXPECT_THAT(update.direction, Each(0.0F));
    EXPECT_EQ(update.samples, 0U);
  }
}

TEST(FlagshipTrainer, RefusesInputsThatDoNotFitAndSaysWhich) {
  const auto message = [](const RankingReader& reader) {
    const auto update = reader.train();
    return update ? std::string("was taken") : update.error().message;
  };
  RankingReader longer;
  longer.parameters.push_back(0);
  EXPECT_THAT(message(longer), HasSubstr("11 parameters were fetched and the model has 10"));
  RankingReader infinite;
  infinite.parameters[4] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(message(infinite), HasSubstr("not a finite number"));
  RankingReader unknown;
  unknown.second[2] = 10;
  EXPECT_THAT(message(unknown), HasSubstr("names item 10 of 10"));
  RankingReader unmarked;
  unmarked.own.impressions[2].clicked = unmarked.own.impressions[0].clicked;
  EXPECT_THAT(message(unmarked), HasSubstr("impression of 3 items"));
  const RankingReader reader;
  SeededRandom draws(1, Purpose::test);
  const auto narrow = RankingReader::trainer()->train({reader.parameters, {reader.items.data(), 15, 2}},
                                                      reader.own, draws, never);
  ASSERT_FALSE(narrow);
  EXPECT_THAT(narrow.error().message, HasSubstr("vectors of 2 numbers and the model reads 3"));
}

TEST(FlagshipTrainer, RefusesResultsThatAreNotFinite) {
  RankingReader reader;
  reader.parameters[0] = 200;  // e^200 is no float
  const auto update = reader.train();
  ASSERT_FALSE(update);
  EXPECT_THAT(update.error().message, HasSubstr("not finite"));
}

TEST(FlagshipTrainer, StopsWhenItIsCancelled) {
  const RankingReader reader;
  SeededRandom draws(1, Purpose::test);
  const auto update =
      RankingReader::trainer()->train(reader.inputs(), reader.own, draws, [] { return true; });
  ASSERT_FALSE(update);
  EXPECT_THAT(update.error().message, HasSubstr("stopped after 0 of 4 examples"));
}

TEST(Trainers, HaveTheLayoutOfARunsCheckpoint) {
  EXPECT_EQ(find_trainer("sotto", {}).value()->layout().text(),
            "shared.scale:64 shared.average:64 shared.query:64 shared.doubt:1 ");
  EXPECT_EQ(RankingReader::trainer()->layout().size(), 10U);
  EXPECT_EQ(RankingReader::trainer()->dimension(1000, 1), 10U);
}

TEST(Trainers, RefuseRecipesAndSettingsThatAreNotTheirs) {
  const auto message = [](std::string_view recipe,
                          std::vector<std::pair<std::string, std::string>> settings) {
    const auto found = find_trainer(recipe, settings);
    return found ? std::string("was found") : found.error().message;
  };
  EXPECT_THAT(message("soto", {}), HasSubstr("did you mean 'sotto'?"));
  EXPECT_THAT(message("sotto", {{"negative", "3"}}), HasSubstr("negatives"));
  EXPECT_THAT(message("sotto", {{"negatives", "0"}}), HasSubstr("1 to 100"));
  EXPECT_THAT(message("sotto", {{"max_history", "many"}}), HasSubstr("max_history"));
  EXPECT_THAT(message("privrec", {}), HasSubstr("catalogue is missing"));
  for (const std::string& recipe : recipes_with_trainers())
    if (!recipe.ends_with("privrec") && recipe != "dp-svd") {
      EXPECT_EQ(message(recipe, {}), "was found");
    }
}

}  // namespace
}  // namespace sotto::local
