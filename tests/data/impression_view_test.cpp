#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/distributions.h"
#include "data/describe.h"
#include "data/public_part.h"
#include "data/user_draws.h"
#include "data/written_view.h"
#include "small_dataset.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Users of different activity over items whose popularity falls steeply, some rows below the threshold, some
// items used twice.
DatasetBuilder ratings_builder(bool rated) {
  DatasetBuilder builder("ratings", "seeded");
  constexpr std::size_t items = 200, users = 120;
  for (std::size_t item = 0; item < items; ++item) {
    builder.add_item(
        {.id = "i" + std::to_string(item), .title = "title " + std::to_string(item), .category = "c"});
  }
  SeededRandom random(1, Purpose::test);
  for (std::size_t user = 0; user < users; ++user) {
    const UserId number = builder.user("u" + std::to_string(user));
    for (std::size_t row = 0; row < user / 2; ++row) {
      const double skewed = std::pow(uniform01(random), 3);
      const float rating = rated ? static_cast<float>(1 + uniform_below(random, 5)) : missing_number;
      builder.add_interaction(number, static_cast<ItemId>(skewed * items), rating,
                              static_cast<std::int64_t>(uniform_below(random, 50)));
    }
  }
  return builder;
}

class ImpressionView : public ::testing::TestWithParam<bool> {
 protected:
  Dataset view(const ImpressionViewOptions& options) {
    const auto directory = target_ / ("view" + std::to_string(++views_));
    const auto counts = write_impression_view(source_, options, directory);
    EXPECT_TRUE(counts) << counts.error().message;
    return std::move(*Dataset::open(directory));
  }
  std::set<ItemId> touched(UserId user) const {
    const Interactions& rows = source_.interactions();
    return {rows.items.begin() + static_cast<std::ptrdiff_t>(rows.user_offsets[user]),
            rows.items.begin() + static_cast<std::ptrdiff_t>(rows.user_offsets[user + 1])};
  }
  // By the definition in the header, slowly.
  std::vector<ItemId> positives(UserId user) const {
    const Interactions& rows = source_.interactions();
    std::vector<ItemId> items;
    std::vector<std::pair<std::int64_t, std::uint64_t>> places;
    for (std::uint64_t row = rows.user_offsets[user]; row < rows.user_offsets[user + 1]; ++row) {
      const bool positive = !GetParam() || rows.ratings[row] > 3;
      const bool known = std::find(items.begin(), items.end(), rows.items[row]) != items.end();
      if (!positive || known) continue;
      const std::pair place(rows.times[row],
                            tie_of(1, source_.user_ids()[user], source_.catalogue().ids[rows.items[row]]));
      const auto before = std::upper_bound(places.begin(), places.end(), place);
      items.insert(items.begin() + (before - places.begin()), rows.items[row]);
      places.insert(before, place);
    }
    return items;
  }

  TempFolder folder_, target_;
  int views_ = 0;
  Dataset source_ = write_and_open(ratings_builder(GetParam()), folder_.path());
};

INSTANTIATE_TEST_SUITE_P(RatedOrNot, ImpressionView, ::testing::Bool(),
                         [](const auto& instance) { return instance.param ? "Rated" : "Unrated"; });

TEST_P(ImpressionView, ShowsOneClickAmongItemsTheUserNeverTouched) {
  for (const NegativeSampling sampling : {NegativeSampling::uniform, NegativeSampling::popularity}) {
    const Dataset dataset = view({.negatives = 7, .sampling = sampling});
    ASSERT_GT(dataset.impression_count(), 500U);
    for (std::size_t index = 0; index < dataset.impression_count(); ++index) {
      const Impression impression = dataset.impression(index);
      const std::set<ItemId> seen = touched(impression.user);
      ASSERT_EQ(impression.shown.size(), 8U);
      ASSERT_EQ(std::set<ItemId>(impression.shown.begin(), impression.shown.end()).size(), 8U);
      ASSERT_EQ(std::count(impression.clicked.begin(), impression.clicked.end(), 1), 1);
      for (std::size_t position = 0; position < 8; ++position) {
        ASSERT_EQ(seen.contains(impression.shown[position]), impression.clicked[position] == 1);
      }
    }
  }
}

TEST_P(ImpressionView, FollowsThePositivesInTimeWithGrowingHistory) {
  const ImpressionViewOptions options = {.min_history = 3};
  const Dataset dataset = view(options);
  for (UserId user = 0; user < source_.user_count(); ++user) {
    const std::vector<ItemId> expected = positives(user);
    const auto [first, last] = dataset.impressions_of(user);
    ASSERT_EQ(last - first, expected.size() > 3 ? expected.size() - 3 : 0);
    for (std::size_t index = first; index < last; ++index) {
      const std::size_t rank = index - first + 3;
      const Impression impression = dataset.impression(index);
      const auto click =
          std::find(impression.clicked.begin(), impression.clicked.end(), 1) - impression.clicked.begin();
      ASSERT_EQ(impression.shown[static_cast<std::size_t>(click)], expected[rank]);
      ASSERT_EQ(to_vector(impression.history),
                std::vector<ItemId>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(rank)));
    }
  }
}

TEST_P(ImpressionView, TestsTheLastShareOfEachUser) {
  const Dataset dataset = view({.test_share = 0.25});
  for (UserId user = 0; user < source_.user_count(); ++user) {
    const auto [first, last] = dataset.impressions_of(user);
    if (first == last) continue;
    std::size_t tests = 0;
    for (std::size_t index = first; index < last; ++index) {
      const bool test = dataset.impression(index).split == Split::test;
      ASSERT_TRUE(test || tests == 0) << "a training impression after a test impression";
      ASSERT_GE(dataset.impression(index).time, dataset.impression(index == first ? first : index - 1).time);
      tests += test ? 1 : 0;
    }
    const auto share = std::llround(0.25 * static_cast<double>(positives(user).size()));
    ASSERT_EQ(tests, std::max<std::size_t>(1, static_cast<std::size_t>(share)));
  }
}

TEST_P(ImpressionView, ClicksStandAtEveryPositionEquallyOften) {
  const Dataset dataset = view({.negatives = 3});
  std::array<double, 4> at{};
  for (std::size_t index = 0; index < dataset.impression_count(); ++index) {
    const auto clicked = dataset.impression(index).clicked;
    ++at[static_cast<std::size_t>(std::find(clicked.begin(), clicked.end(), 1) - clicked.begin())];
  }
  const auto expected = static_cast<double>(dataset.impression_count()) / 4;
  for (const double count : at) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
}

TEST_P(ImpressionView, IsReproducibleFromTheSeed) {
  const Dataset one = view({.seed = 5}), same = view({.seed = 5}), other = view({.seed = 6});
  ASSERT_EQ(one.impression_count(), same.impression_count());
  std::size_t different = 0;
  for (std::size_t index = 0; index < one.impression_count(); ++index) {
    ASSERT_EQ(to_vector(one.impression(index).shown), to_vector(same.impression(index).shown));
    different += to_vector(one.impression(index).shown) != to_vector(other.impression(index).shown) ? 1 : 0;
  }
  EXPECT_GT(different, one.impression_count() * 9 / 10);
}

// Share of (click, non-click) pairs that popularity among training clicks orders rightly; ties count half.
double popularity_auc(const Dataset& dataset) {
  std::vector<int> clicks(dataset.item_count(), 0);
  for (std::size_t index = 0; index < dataset.impression_count(); ++index) {
    const Impression impression = dataset.impression(index);
    if (impression.split != Split::train) continue;
    for (std::size_t place = 0; place < impression.shown.size(); ++place) {
      clicks[impression.shown[place]] += impression.clicked[place];
    }
  }
  double right = 0, pairs = 0;
  for (std::size_t index = 0; index < dataset.impression_count(); ++index) {
    const Impression impression = dataset.impression(index);
    if (impression.split != Split::test) continue;
    const auto place =
        std::find(impression.clicked.begin(), impression.clicked.end(), 1) - impression.clicked.begin();
    const int click = clicks[impression.shown[static_cast<std::size_t>(place)]];
    for (std::size_t other = 0; other < impression.shown.size(); ++other) {
      if (impression.clicked[other] == 1) continue;
      const int rival = clicks[impression.shown[other]];
      right += click > rival ? 1 : click == rival ? 0.5 : 0;
      ++pairs;
    }
  }
  return right / pairs;
}

TEST_P(ImpressionView, PopularityAloneWinsOnlyAgainstUniformNonClicks) {
  const double uniform = popularity_auc(view({.test_sampling = NegativeSampling::uniform}));
  const double corrected = popularity_auc(view({.test_sampling = NegativeSampling::popularity}));
  EXPECT_GT(uniform, 0.65);
  EXPECT_LT(corrected, 0.57);
}

TEST_P(ImpressionView, RefusesOptionsOutOfRangeAndWritesNothing) {
  const ImpressionViewOptions wrong[] = {
      {.positive_above = std::numeric_limits<double>::infinity()},
      {.test_share = 0},
      {.test_share = 1},
      {.test_share = std::numeric_limits<double>::quiet_NaN()},
      {.min_history = 10'001},
      {.negatives = 0},
      {.negatives = 10'001},
  };
  for (const ImpressionViewOptions& options : wrong) {
    EXPECT_FALSE(write_impression_view(source_, options, target_ / "refused"));
  }
  EXPECT_FALSE(write_impression_view(source_, {.min_history = 1000}, target_ / "refused"))
      << "no user has so many";
  EXPECT_TRUE(std::filesystem::is_empty(target_.path()));
}

TEST(ImpressionViewOf, KeepsItemsUsersAndFeaturesWithTheirNumbers) {
  const TempFolder folder, target;
  const Dataset source = write_and_open(small_builder(), folder.path());
  const auto counts = write_impression_view(source, {.positive_above = 0, .min_history = 0}, target / "view");
  ASSERT_TRUE(counts) << counts.error().message;
  const Dataset view = std::move(*Dataset::open(target / "view"));
  EXPECT_EQ(view.name(), "small as impressions");
  EXPECT_THAT(view.origin(), HasSubstr("written by hand"));
  EXPECT_EQ(view.user_count(), 3U);
  EXPECT_EQ(view.interactions().size(), 0U);
  const Catalogue &before = source.catalogue(), &after = view.catalogue();
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t item = 0; item < before.size(); ++item) {
    EXPECT_EQ(after.ids[item], before.ids[item]);
    EXPECT_EQ(after.titles[item], before.titles[item]);
    EXPECT_EQ(after.abstracts[item], before.abstracts[item]);
    EXPECT_EQ(after.category_names[after.categories[item]], before.category_names[before.categories[item]]);
    EXPECT_EQ(to_vector(after.title_entities[item]), to_vector(before.title_entities[item]));
    EXPECT_EQ(to_vector(after.features.categorical[0].codes[item]),
              to_vector(before.features.categorical[0].codes[item]));
  }
  EXPECT_EQ(to_vector(after.entity_vectors), to_vector(before.entity_vectors));
  EXPECT_EQ(after.features.find_numeric("length")->values[2], 2.5F);
  EXPECT_EQ(view.user_features().find_numeric("age")->values[1], 41);
  EXPECT_TRUE(std::isnan(view.user_features().find_numeric("age")->values[0]));
  EXPECT_EQ(view.user_features().find_categorical("gender")->names[0], "F");
}

// Whether a row is positive must not depend on whether somebody else's row has a rating. Bob used n1 without
// a rating, then rated n3 with 4.
TEST(ImpressionViewOf, RowsWithoutARatingArePositiveWhateverOtherRowsHave) {
  const TempFolder folder, target;
  const Dataset source = write_and_open(small_builder(), folder.path());
  ASSERT_TRUE(write_impression_view(source, {.min_history = 0}, target / "view"));
  const Dataset view = std::move(*Dataset::open(target / "view"));
  ASSERT_EQ(view.impression_count(), 2U);
  std::vector<ItemId> shown = to_vector(view.impression(1).shown);
  std::sort(shown.begin(), shown.end());
  EXPECT_THAT(shown, ElementsAre(1U, 2U))
      << "all that the catalogue names besides n1, though 20 non-clicks were wanted";
  EXPECT_THAT(to_vector(view.impression(1).history), ElementsAre(0U));
}

// 300 users; the last one differs. Ids do not give away who is who.
DatasetBuilder users_with_last(bool other_taste, std::string_view last_id) {
  DatasetBuilder builder("ratings", "seeded");
  for (int item = 0; item < 150; ++item)
    builder.add_item({.id = "i" + std::to_string(item), .title = "title"});
  for (int user = 0; user < 300; ++user) {
    SeededRandom random(2, Purpose::test, 0, static_cast<std::uint32_t>(user));
    const bool last = user == 299;
    const UserId number = builder.user(last ? std::string(last_id) : "u" + std::to_string(user));
    for (int row = 0; row < 20; ++row) {
      const auto item = static_cast<ItemId>(uniform_below(random, last && other_taste ? 5 : 150));
      builder.add_interaction(number, item, 5, row / 4);
    }
    if (last && other_taste) builder.add_interaction(number, builder.item("his alone"), 5, 2);
  }
  return builder;
}

std::size_t differing_training_rows(const Dataset& one, const Dataset& two) {
  std::size_t different = 0;
  for (UserId user = 0; user < 299; ++user) {
    const auto [first, last] = one.impressions_of(user);
    const auto [other, other_last] = two.impressions_of(user);
    EXPECT_EQ(last - first, other_last - other);
    for (std::size_t row = 0; row < last - first; ++row) {
      const Impression a = one.impression(first + row), b = two.impression(other + row);
      EXPECT_EQ(a.split, b.split);
      if (a.split == Split::test) continue;
      different += to_vector(a.shown) != to_vector(b.shown) || to_vector(a.clicked) != to_vector(b.clicked) ||
                           to_vector(a.history) != to_vector(b.history)
                       ? 1
                       : 0;
    }
  }
  return different;
}

TEST(ImpressionViewOf, ReplacingAUserChangesNoOtherUsersTrainingRows) {
  const TempFolder before, after, target;
  const Dataset one = write_and_open(users_with_last(false, "u299"), before.path()),
                two = write_and_open(users_with_last(true, "another"), after.path());
  const auto differing = [&](NegativeSampling sampling, const std::string& name) {
    EXPECT_TRUE(write_impression_view(one, {.sampling = sampling}, target / (name + "1")));
    EXPECT_TRUE(write_impression_view(two, {.sampling = sampling}, target / (name + "2")));
    return differing_training_rows(*Dataset::open(target / (name + "1")),
                                   *Dataset::open(target / (name + "2")));
  };
  EXPECT_EQ(differing(ImpressionViewOptions().sampling, "default"), 0U);
  EXPECT_GT(differing(NegativeSampling::popularity, "popularity"), 3000U) << "of some 4000";
}

TEST(ImpressionViewOf, IsMarkedByWhatItsTrainingRowsDependOn) {
  const TempFolder folder, target;
  const Dataset source = write_and_open(users_with_last(false, "u299"), folder.path());
  ASSERT_TRUE(write_impression_view(source, {}, target / "own"));
  ASSERT_TRUE(write_impression_view(source, {.sampling = NegativeSampling::popularity}, target / "all"));
  const Dataset own = std::move(*Dataset::open(target / "own")),
                all = std::move(*Dataset::open(target / "all"));
  EXPECT_EQ(source.training_non_clicks(), NonClicks::recorded);
  EXPECT_EQ(own.training_non_clicks(), NonClicks::public_catalogue);
  EXPECT_EQ(all.training_non_clicks(), NonClicks::all_users);
  EXPECT_TRUE(check_rows_are_each_users_own(own));
  const Status refused = check_rows_are_each_users_own(all);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("Import it again, with sampling=uniform"));
  EXPECT_THAT(to_text(describe(all)), HasSubstr("drawn by what all users did: not for private recipes"));
  EXPECT_THAT(to_text(describe(own)), HasSubstr("drawn from the public catalogue alone"));
}

TEST(ImpressionViewOf, NeedsInteractions) {
  const TempFolder folder, target;
  DatasetBuilder builder("news", "");
  builder.item("i");
  builder.user("u");
  const Dataset source = write_and_open(builder, folder.path());
  const auto view = write_impression_view(source, {}, target / "view");
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().message, HasSubstr("no interactions"));
}

}  // namespace
}  // namespace sotto::data
