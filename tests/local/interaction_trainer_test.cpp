#include "local/interaction_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/distributions.h"
#include "never.h"

namespace sotto::local {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::never;

using Settings = std::vector<std::pair<std::string, std::string>>;

// Eight items of one feature with three values, and a reader with a feature and five rows.
struct ItemsReader {
  explicit ItemsReader(const Settings& more = {}) {
    Settings settings = {{"catalogue", "8"},   {"field_values", "2,3"},
                         {"user_fields", "1"}, {"embedding", "3"},
                         {"hidden", "4"},      {"layers", "2"},
                         {"local_batch", "2"}, {"local_epochs", "2"},
                         {"negatives", "2"},   {"local_learning_rate", "0.1"}};
    settings.insert(settings.end(), more.begin(), more.end());
    trainer = find_trainer("privrec", settings).value();
    SeededRandom random(5, Purpose::test);
    for (std::size_t i = 0; i < trainer->layout().size(); ++i)
      parameters.push_back(static_cast<float>(0.5 * normal(random)));
    own.rows = {{1, true}, {3, true}, {4, false}, {6, true}, {7, true}};
    own.user_fields = {{one_row, user_codes}};
  }
  RoundInputs inputs() const {
    RoundInputs inputs;
    inputs.parameters = parameters;
    inputs.item_fields = {{item_offsets, item_codes}};
    return inputs;
  }
  Result<LocalUpdate> train(const Cancelled& cancelled = never) const {
    SeededRandom draws(2, Purpose::negative_sampling);
    return trainer->train(inputs(), own, draws, cancelled);
  }
  std::string message() const {
    const auto update = train();
    return update ? "was taken" : update.error().message;
  }

  std::unique_ptr<LocalTrainer> trainer;
  std::vector<float> parameters;
  std::vector<std::uint64_t> one_row = {0, 1}, item_offsets = {0, 1, 2, 4, 4, 5, 6, 7, 8};
  std::vector<std::uint32_t> user_codes = {1}, item_codes = {0, 1, 2, 0, 1, 2, 0, 1};
  OwnEvents own;
};

TEST(InteractionTrainer, HasTheServersPartsInTheirOrder) {
  EXPECT_EQ(ItemsReader().trainer->layout().text(),
            "field0:6 field1:9 remembered:24 scored:24 bias:8 again:1 weight1:40 bias1:4 weight2:16 bias2:4 "
            "weight_out:4 bias_out:1 ");
}

TEST(InteractionTrainer, MovesWhatTheReaderTouchesAndNothingElse) {
  const ItemsReader reader;
  const LocalUpdate update = reader.train().value();
  EXPECT_EQ(update.samples, 12U) << "two epochs of two positives with two negatives each";
  const std::span<const float> direction = update.direction;
  EXPECT_THAT(direction.first(3), Each(0.0F)) << "nobody has the first value of the reader's feature";
  EXPECT_THAT(direction.subspan(3, 3), Each(::testing::Ne(0.0F)));
}

TEST(InteractionTrainer, GivesZerosWithoutAPositiveRow) {
  ItemsReader reader;
  for (OwnRow& row : reader.own.rows) row.positive = false;
  EXPECT_THAT(reader.train().value().direction, Each(0.0F));
  reader.own.rows.clear();
  const LocalUpdate update = reader.train().value();
  EXPECT_THAT(update.direction, Each(0.0F));
  EXPECT_EQ(update.direction.size(), reader.parameters.size());
  EXPECT_EQ(update.samples, 0U);
}

TEST(InteractionTrainer, ReadsTheLatestRowsAlone) {
  ItemsReader few(Settings{{"max_rows", "2"}});
  const LocalUpdate cut = few.train().value();
  few.own.rows = {few.own.rows[3], few.own.rows[4]};
  EXPECT_EQ(cut.direction, few.train().value().direction);
  EXPECT_NE(cut.direction, ItemsReader().train().value().direction);
}

TEST(InteractionTrainer, StopsBetweenSteps) {
  int asked = 0;
  const auto update = ItemsReader().train([&] { return ++asked == 2; });
  ASSERT_FALSE(update);
  EXPECT_THAT(update.error().message, HasSubstr("stopped after 6 examples"));
}

TEST(InteractionTrainer, RefusesWhatTheModelDoesNotKnow) {
  ItemsReader item;
  item.own.rows[2].item = 8;
  EXPECT_THAT(item.message(), HasSubstr("item 8 of 8"));
  ItemsReader value;
  value.item_codes[3] = 3;
  EXPECT_THAT(value.message(), HasSubstr("value 3 of 3"));
  ItemsReader rows;
  rows.item_offsets.pop_back();
  EXPECT_THAT(rows.message(), HasSubstr("has 7 rows and must have 8"));
  ItemsReader cut;
  cut.item_offsets[2] = 7;
  EXPECT_THAT(cut.message(), HasSubstr("cut one after another"));
  ItemsReader fields;
  fields.own.user_fields.clear();
  EXPECT_THAT(fields.message(), HasSubstr("0 features of the reader"));
  ItemsReader shorter;
  shorter.parameters.pop_back();
  EXPECT_THAT(shorter.message(), HasSubstr("parameters were fetched"));
}

TEST(InteractionTrainer, RefusesSettingsThatContradictEachOther) {
  const auto message = [](const Settings& settings) {
    const auto found = find_trainer("dp-privrec", settings);
    return found ? "was found" : found.error().message;
  };
  EXPECT_THAT(message({{"catalogue", "8"}, {"field_values", "2,"}}), HasSubstr("as 7,21,18"));
  EXPECT_THAT(message({{"catalogue", "8"}, {"field_values", "2,x"}}), HasSubstr("as 7,21,18"));
  EXPECT_THAT(message({{"catalogue", "8"}, {"field_values", "2"}, {"user_fields", "2"}}),
              HasSubstr("names 1 features"));
  EXPECT_THAT(message({{"catalogue", "8"}, {"inputs", "paper"}}), HasSubstr("goes with features"));
  EXPECT_THAT(message({{"catalogue", "8"}, {"inputs", "ids"}, {"field_values", "2"}}),
              HasSubstr("goes without features"));
  EXPECT_EQ(message({{"catalogue", "8"}, {"inputs", "ids"}}), "was found");
}

TEST(InteractionTrainer, FineTuningLowersTheLossOfTheReadersRows) {
  const ItemsReader reader;
  const auto& trainer = dynamic_cast<const InteractionTrainer&>(*reader.trainer);
  SeededRandom draws(2, Purpose::negative_sampling);
  const auto tuned = trainer.fine_tuned(reader.inputs(), reader.own, 50, 0.2, draws, never).value();
  const auto before = trainer.scores(reader.parameters, reader.inputs(), reader.own, 0).value();
  const auto after = trainer.scores(tuned, reader.inputs(), reader.own, 0).value();
  ASSERT_EQ(after.size(), 8U);
  // Positives rise against items without a row.
  const auto lead = [](const std::vector<float>& scores) {
    return (scores[1] + scores[3] + scores[6] + scores[7]) - (scores[0] + scores[2] + scores[5]);
  };
  EXPECT_GT(lead(after), lead(before) + 1);
}

}  // namespace
}  // namespace sotto::local
