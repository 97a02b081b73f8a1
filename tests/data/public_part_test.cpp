// What private recipes see of a data set does not tell of anybody's rows but a user's own.

#include "data/public_part.h"

#include <gmock/gmock.h>

#include <fstream>

#include "data/describe.h"
#include "import_fixture.h"
#include "small_dataset.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const StringColumn& column) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < column.size(); ++i) all.emplace_back(column[i]);
  return all;
}

TEST(PublicPart, HoldsTheItemsOfTheCatalogueAndRowsWithoutTheOthers) {
  const TempFolder folder;
  const Dataset source = write_and_open(small_builder(), folder.path());
  const auto part = public_part(source);
  ASSERT_TRUE(part) << part.error().message;
  const Dataset& own = part->dataset;
  EXPECT_EQ(part->items_left_out, 1U);
  EXPECT_THAT(names(own.catalogue().ids), ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(own.catalogue().titles[2], "Bread");
  EXPECT_THAT(names(own.catalogue().category_names), ElementsAre("", "news", "sports", "food"));
  EXPECT_EQ(own.catalogue().features.find_numeric("length")->values[2], 2.5F);
  EXPECT_EQ(own.user_count(), source.user_count());
  // The test impression's only click was on n4; of the training one n4 goes.
  ASSERT_EQ(own.impression_count(), 1U);
  EXPECT_THAT(to_vector(own.impression(0).shown), ElementsAre(2U, 1U));
  EXPECT_THAT(to_vector(own.impression(0).clicked), ElementsAre(1, 1));
  EXPECT_THAT(to_vector(own.impression(0).history), ElementsAre(1U, 0U));
  EXPECT_EQ(own.interactions().size(), 2U);
  EXPECT_THAT(part->columns_left_out, ElementsAre("gender", "daytime"));
  EXPECT_THAT(own.user_features().categorical, IsEmpty());
  EXPECT_EQ(own.user_features().find_numeric("age")->values[1], 41);
  EXPECT_EQ(own.interactions().context.find_numeric("cost")->values[1], 1.5F);
}

TEST(PublicPart, OfAPublicPartIsItself) {
  const TempFolder folder;
  const Dataset source = write_and_open(small_builder(), folder.path());
  EXPECT_FALSE(is_public_part(source));
  const auto part = public_part(source);
  ASSERT_TRUE(part);
  EXPECT_TRUE(is_public_part(part->dataset));
  const auto again = public_part(part->dataset);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->items_left_out, 0U);
  EXPECT_THAT(again->columns_left_out, IsEmpty());
  EXPECT_EQ(again->dataset.counts().interactions, 2U);
}

TEST(PublicPart, OutlivesItsSource) {
  const TempFolder folder;
  std::optional<Dataset> source = write_and_open(small_builder(), folder.path());
  const auto part = public_part(*source);
  source.reset();
  ASSERT_TRUE(part);
  EXPECT_EQ(part->dataset.user_ids()[0], "ann");
  EXPECT_EQ(part->dataset.catalogue().titles[0], "Rain over Oslo");
}

TEST(PublicPart, NeedsAPublicListOfItems) {
  const TempFolder folder;
  DatasetBuilder builder("log", "");
  builder.add_interaction(builder.user("u"), builder.item("i"), missing_number, 0);
  const auto part = public_part(write_and_open(builder, folder.path()));
  ASSERT_FALSE(part);
  EXPECT_THAT(part.error().message, HasSubstr("no public list of items"));
  EXPECT_THAT(part.error().message, HasSubstr("[items] of the mapping"));
}

class PublicPartOfImport : public ImportTest {
 protected:
  static constexpr std::string_view mapping = R"(
[interactions]
file = "log.csv"
user = "u"
item = "i"
categories = ["shop", "mood"]
[interactions.vocabularies]
shop = ["north", "south"]
[items]
file = "items.csv"
id = "id"
title = "title"
[users]
file = "users.csv"
id = "id"
categories = ["town", "zip"]
list_separator = "|"
[users.vocabularies]
town = ["Oslo", "Bergen"]
)";
  // `last`: what ann's last row names, and her town.
  PublicPart import_with(std::string_view last_row, std::string_view town) {
    write("mapping.toml", mapping);
    write("items.csv", "id,title\nbun,Bun\ntart,Tart\nroll,Roll\n");
    write("users.csv", fmt::format("id,town,zip\nann,{},1\nbob,Bergen|Rome|Paris,2\n", town));
    write("log.csv", fmt::format("u,i,shop,mood\nbob,bun,north,glad\nbob,roll,east,sad\nann,tart,south,glad\n"
                                 "ann,{}\n",
                                 last_row));
    const Dataset dataset = import("csv", {"replace=true"});
    auto part = public_part(dataset);
    if (!part) throw std::runtime_error(part.error().message);
    return std::move(*part);
  }
};

TEST_F(PublicPartOfImport, ValuesBeyondTheDeclaredOnesAreOneOther) {
  const PublicPart part = import_with("bun,north,calm", "Oslo");
  EXPECT_THAT(part.columns_left_out, ElementsAre("zip", "mood"));
  const auto* const town = part.dataset.user_features().find_categorical("town");
  EXPECT_THAT(names(town->names), ElementsAre("Oslo", "Bergen", undeclared_value));
  EXPECT_THAT(names_of(*town, 0), ElementsAre("Oslo"));
  EXPECT_THAT(names_of(*town, 1), ElementsAre("Bergen", undeclared_value)) << "two others are one";
  const auto* const shop = part.dataset.interactions().context.find_categorical("shop");
  EXPECT_THAT(names(shop->names), ElementsAre("north", "south", undeclared_value));
  EXPECT_EQ(part.dataset.interactions().context.categorical.size(), 1U);
}

// Whatever ann does, items, vocabularies and bob's rows stay as they are.
TEST_F(PublicPartOfImport, OneUsersRareItemAndValuesChangeNothingOfTheOthers) {
  const PublicPart plain = import_with("bun,north,calm", "Oslo"),
                   rare = import_with("unheard-of,nowhere,furious", "Atlantis");
  EXPECT_EQ(rare.items_left_out, 1U);
  EXPECT_EQ(plain.items_left_out, 0U);
  EXPECT_EQ(names(rare.dataset.catalogue().ids), names(plain.dataset.catalogue().ids));
  EXPECT_EQ(rare.dataset.item_count(), 3U);
  for (const auto& [features, others] :
       {std::pair(&rare.dataset.user_features(), &plain.dataset.user_features()),
        std::pair(&rare.dataset.interactions().context, &plain.dataset.interactions().context)}) {
    ASSERT_EQ(features->categorical.size(), others->categorical.size());
    for (std::size_t i = 0; i < features->categorical.size(); ++i)
      EXPECT_EQ(names(features->categorical[i].names), names(others->categorical[i].names));
  }
  const UserId bob = row_of(plain.dataset.user_ids(), "bob");
  const auto rows = [&](const Dataset& dataset) {
    const Interactions& all = dataset.interactions();
    return to_vector(
        all.items.subspan(all.user_offsets[bob], all.user_offsets[bob + 1] - all.user_offsets[bob]));
  };
  EXPECT_EQ(rows(rare.dataset), rows(plain.dataset));
}

TEST_F(PublicPartOfImport, VocabulariesAreOfCategoricalColumnsAlone) {
  write("mapping.toml", std::string(mapping) + "zipp = ['1']\n");
  EXPECT_THAT(failure("csv"), HasSubstr("users.vocabularies has no key 'zipp', did you mean 'zip'?"));
}

TEST_F(PublicPartOfImport, DataInfoSaysWhatPrivateRecipesLeaveOut) {
  write("mapping.toml",
        "[interactions]\nfile = 'r.csv'\nuser = 'u'\nitem = 'i'\ncategories = ['c']\n"
        "[items]\nfile = 'i.csv'\nid = 'i'\n");
  write("i.csv", "i\nx\ny\n");
  write("r.csv", "u,i,c\na,x,1\na,z,2\n");
  const DatasetSummary described = describe(import("csv"));
  EXPECT_EQ(described.public_items, 2U);
  EXPECT_THAT(to_text(described), HasSubstr("names 2 of them"));
  EXPECT_THAT(to_text(described), HasSubstr("c: private recipes leave these columns out"));
  EXPECT_TRUE(has_note("1 items occur in users' rows alone"));
}

TEST_F(PublicPartOfImport, MovieLensDeclaresItsCodesAndFrappeItsContexts) {
  write("movies.dat", "1::Kites (1994)::Drama\n");
  write("users.dat", "1::F::18::10::48067\n");
  write("ratings.dat", "1::1::4::978300760\n");
  const Dataset movies = import("movielens");
  EXPECT_EQ(movies.user_features().find_categorical("age")->declared, 7U);
  EXPECT_EQ(movies.user_features().find_categorical("occupation")->declared, 21U);
  EXPECT_EQ(movies.user_features().find_categorical("gender")->declared, 2U);
  EXPECT_EQ(movies.user_features().find_categorical("zip")->declared, 0U);
  write("frappe.csv",
        "user\titem\tcnt\tdaytime\tweekday\tisweekend\thomework\tcost\tweather\tcountry\tcity\n"
        "1\t1\t1\tdawn\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0\n");
  const Dataset apps = import("frappe", {"replace=true"});
  const auto* const daytime = apps.interactions().context.find_categorical("daytime");
  EXPECT_EQ(daytime->declared, 7U);
  EXPECT_EQ(daytime->names.size(), 8U);
  EXPECT_EQ(apps.interactions().context.find_categorical("country")->declared, 0U);
}

TEST_F(PublicPartOfImport, TheAdressaLogTakesItsArticlesFromANewsFileBesideIt) {
  for (int day = 1; day <= 3; ++day)
    write(fmt::format("2017010{}", day),
          fmt::format(
              R"({{"userId": "anna", "id": "a{}", "title": "Log", "keywords": "k", "time": 1483228800}})"
              "\n",
              day));
  write("news.tsv",
        "a1\tc\td\tListed\t\tu\t[]\t[]\na2\tc\td\tAlso\t\tu\t[]\t[]\na9\tc\td\tUnread\t\tu\t[]\t[]\n");
  const Dataset dataset = import("adressa");
  EXPECT_EQ(dataset.training_non_clicks(), NonClicks::public_catalogue);
  EXPECT_THAT(names(dataset.catalogue().ids), ElementsAre("a1", "a2", "a9", "a3"));
  EXPECT_THAT(to_vector(dataset.catalogue().is_public), ElementsAre(1, 1, 1, 0));
  EXPECT_EQ(dataset.catalogue().titles[0], "Listed") << "what the log says does not change the catalogue";
  const auto part = public_part(dataset);
  ASSERT_TRUE(part);
  EXPECT_THAT(names(part->dataset.catalogue().ids), ElementsAre("a1", "a2", "a9"));
  EXPECT_EQ(part->dataset.catalogue().features.find_categorical("keywords")->names.size(), 0U);

  fs::remove(source() / "news.tsv");
  const Dataset log_only = import("adressa", {"replace=true"});
  EXPECT_EQ(log_only.training_non_clicks(), NonClicks::all_users);
  EXPECT_FALSE(check_rows_are_each_users_own(log_only));
}

}  // namespace
}  // namespace sotto::data
