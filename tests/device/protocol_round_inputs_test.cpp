// A version, a table and a reader's events, as a device's trainer reads them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/rounds/round_inputs.h"

namespace sotto::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Settings = std::vector<std::pair<std::string, std::string>>;

struct Fetched {
  Fetched() {
    table.ids = {"z", "a", "m"};
    table.reader_fields = {{"gender", {"F", "M", std::string(rounds::other_value)}}, {"age", {"young"}}};
    table.situation_fields = {{"weather", {"rain", "sun"}}};
    version.layout = trainer->layout().text();
    version.numbers = rounds::one_row(std::vector<float>(trainer->layout().size(), 0.5F));
  }
  Result<std::unique_ptr<const FetchedModel>> model() const {
    return FetchedModel::create(version, table, *trainer, 2);
  }
  std::unique_ptr<local::LocalTrainer> trainer =
      local::find_trainer("dp-svd", Settings{{"catalogue", "3"}, {"items", "2"}, {"vectors", "2"}}).value();
  rounds::ModelVersion version;
  rounds::ItemTable table;
};

StoredRow row(std::string item, std::optional<float> rating, std::string weather) {
  return {{}, std::move(item), rating, {{"weather", std::move(weather)}}};
}

TEST(RoundInputs, RowsAreReadByTheTablesNumbersAndTheRecipesRules) {
  const Fetched fetched;
  const auto model = fetched.model().value();
  EXPECT_EQ(model->inputs().round, 2U);
  EXPECT_EQ(model->inputs().parameters.size(), 9U);
  const StoredRows stored{
      {{"gender", "X"}, {"age", "old"}, {"gender", "M"}, {"gender", "Y"}},
      {row("m", 4, "sun"), row("unknown", 5, "rain"), row("a", 3, "fog"), row("m", std::nullopt, "rain")}};
  const EventsOfReader all(*model, {.reads_rows = true}, {}, stored);
  const auto& rows = all.events().rows;
  ASSERT_EQ(rows.size(), 3U) << "what is not public is left out";
  EXPECT_EQ(rows[0].item, 2U);
  EXPECT_TRUE(rows[0].positive);
  EXPECT_EQ(rows[1].item, 1U);
  EXPECT_FALSE(rows[1].positive) << "3 is not above 3";
  EXPECT_TRUE(rows[2].positive) << "used, not rated";
  EXPECT_THAT(all.events().user_fields[0].of(0), ElementsAre(2, 1)) << "other once, then M";
  EXPECT_TRUE(all.events().user_fields[1].of(0).empty()) << "a value that nobody declared";
  EXPECT_THAT(all.events().context_fields[0].codes, ElementsAre(1, 0));
  EXPECT_TRUE(all.events().context_fields[0].of(1).empty());
  const EventsOfReader distinct(*model, {.reads_rows = true, .positive_above = 2, .distinct = true}, {},
                                stored);
  ASSERT_EQ(distinct.events().rows.size(), 2U);
  EXPECT_TRUE(distinct.events().rows[1].positive);
}

TEST(RoundInputs, ImpressionsLoseWhatIsNotPublic) {
  const Fetched fetched;
  const auto model = fetched.model().value();
  const EventsOfReader own(*model, {}, {{{}, {"m", "gone"}, {"gone", "a", "z"}, {1, 0, 1}}}, {});
  ASSERT_EQ(own.events().impressions.size(), 1U);
  EXPECT_THAT(own.events().impressions[0].history, ElementsAre(2));
  EXPECT_THAT(own.events().impressions[0].shown, ElementsAre(1, 0));
  EXPECT_THAT(own.events().impressions[0].clicked, ElementsAre(0, 1));
}

TEST(RoundInputs, AVersionOfAnotherShapeIsRefused) {
  Fetched layout;
  layout.version.layout = "counts:4 ";
  EXPECT_THAT(layout.model().error().message, HasSubstr("laid out as 'counts:4 '"));
  Fetched shorter;
  shorter.version.numbers.numbers.pop_back();
  shorter.version.numbers.columns = 8;
  EXPECT_THAT(shorter.model().error().message, HasSubstr("has 8 numbers, and its layout 9"));
  Fetched vectors;
  vectors.version.items = {2, {1, 2}, {}, {}};
  EXPECT_THAT(vectors.model().error().message, HasSubstr("vectors of 1 items, and its table names 3"));
  Fetched scaled;  // rows of four, so that three numbers of the last are behind the end
  scaled.version.numbers = {4, {}, {0x3c00, 0x3c00, 0x3c00}, std::vector<std::int8_t>(12, 1)};
  EXPECT_EQ(scaled.model().value()->inputs().parameters.size(), 9U);
  scaled.version.numbers.scales.push_back(0x3c00);
  scaled.version.numbers.steps.resize(16);
  EXPECT_FALSE(scaled.model());
}

}  // namespace
}  // namespace sotto::device
