#include <gmock/gmock.h>

#include <cmath>

#include "data/importers/csv_mapping.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImportCsv : public ImportTest {};

TEST_F(ImportCsv, ReadsInteractionsItemsAndUsersAsMapped) {
  write("mapping.toml", R"(
name = "bakery"
[interactions]
file = "sales.csv"
user = "customer"
item = "product"
rating = "stars"
time = "when"
time_format = "iso"
categories = ["shop"]
numbers = ["paid"]
[items]
file = "products.csv"
id = "sku"
title = "label"
text = "about"
category = "shelf"
categories = ["flavours"]
numbers = ["weight"]
[users]
file = "people.csv"
id = "id"
categories = ["town"]
numbers = ["age"]
)");
  write("products.csv",
        "sku,label,about,shelf,flavours,weight\n"
        "p1,\"Bun, plain\",\"Soft.\nWarm.\",bread,salt|rye,0.5\n"
        "p2,Tart,,cake,,\n");
  write("people.csv", "id,town,age\nann,Oslo,41\nbob,,\n");
  write("sales.csv",
        "customer,product,stars,when,shop,paid\n"
        "bob,p2,4,2020-01-02,east,3.5\n"
        "bob,p1,5,2020-01-01T10:00:00Z,west,\n"
        "cy,p3,1,2020-01-03,,2\n");
  const Dataset dataset = import("csv");
  EXPECT_EQ(dataset.name(), "bakery");
  const Catalogue& items = dataset.catalogue();
  EXPECT_EQ(items.titles[0], "Bun, plain");
  EXPECT_EQ(items.abstracts[0], "Soft.\nWarm.");
  EXPECT_EQ(items.category_names[items.categories[1]], "cake");
  EXPECT_THAT(names_of(*items.features.find_categorical("flavours"), 0), ElementsAre("salt", "rye"));
  EXPECT_EQ(items.features.find_numeric("weight")->values[0], 0.5F);
  EXPECT_TRUE(std::isnan(items.features.find_numeric("weight")->values[1]));
  const UserId ann = row_of(dataset.user_ids(), "ann"), bob = row_of(dataset.user_ids(), "bob");
  EXPECT_THAT(names_of(*dataset.user_features().find_categorical("town"), ann), ElementsAre("Oslo"));
  EXPECT_EQ(dataset.user_features().find_numeric("age")->values[ann], 41);
  const Interactions& rows = dataset.interactions();
  ASSERT_EQ(rows.size(), 3U);
  const std::uint64_t first = rows.user_offsets[bob], second = first + 1;
  EXPECT_EQ(rows.items[first], 0U) << "rows of a user are in time order";
  EXPECT_EQ(rows.ratings[second], 4);
  EXPECT_EQ(rows.times[second], 1577923200);
  EXPECT_THAT(names_of(*rows.context.find_categorical("shop"), second), ElementsAre("east"));
  EXPECT_EQ(rows.context.find_numeric("paid")->values[second], 3.5F);
  EXPECT_TRUE(has_note("1 items have neither title nor text"));
}

TEST_F(ImportCsv, ReadsImpressionsWithHistoryAndSplit) {
  write("mapping.toml", R"(
delimiter = "tab"
[impressions]
file = "shown.tsv"
user = "u"
time = "t"
shown = "s"
clicked = "c"
history = "h"
split = "part"
list_separator = ";"
)");
  write("shown.tsv", "u\tt\ts\tc\th\tpart\na\t5\tx;y;z\tz;x;z\tw\ttest\nb\t6\tx\t\t\tvalidation\n");
  const Dataset dataset = import("csv");
  ASSERT_EQ(dataset.impression_count(), 2U);
  const Impression first = dataset.impression(0);
  EXPECT_THAT(ids_of(dataset, first.shown), ElementsAre("x", "y", "z"));
  EXPECT_THAT(first.clicked, ElementsAre(1, 0, 1));
  EXPECT_THAT(ids_of(dataset, first.history), ElementsAre("w"));
  EXPECT_EQ(first.split, Split::test);
  EXPECT_EQ(first.time, 5);
  EXPECT_EQ(dataset.impression(1).split, Split::validation);
  EXPECT_THAT(dataset.impression(1).history, IsEmpty());
}

const std::string by_time_mapping =
    "[impressions]\nfile = 's.csv'\nuser = 'u'\ntime = 't'\ntime_format = 'iso'\nshown = 's'\nclicked = "
    "'c'\n";

TEST_F(ImportCsv, TimeDecidesTheSplitWithoutASplitColumn) {
  write("mapping.toml", by_time_mapping);
  write("s.csv", "u,t,s,c\na,2020-01-01,x y,x\na,2020-01-02,x y,y\na,2020-01-03,x,x\n");
  const Dataset dataset = import("csv", {"validation_share=0.5"});
  EXPECT_EQ(dataset.impression(0).split, Split::train);
  EXPECT_EQ(dataset.impression(1).split, Split::validation);
  EXPECT_EQ(dataset.impression(2).split, Split::test);
}

TEST_F(ImportCsv, MalformedImpressionsAreCounted) {
  write("mapping.toml", by_time_mapping);
  write("s.csv",
        "u,t,s,c\n,2020-01-01,x y,x\na,soon,x y,y\na,2020-01-03,,x\na,2020-01-03,x y,z\na,2020-01-03,x\n"
        "a,2020-01-03,x,\n");
  EXPECT_EQ(import("csv", {"malformed_limit=0.9"}).impression_count(), 1U);
  EXPECT_EQ(summary.malformed_rows, 5U);
}

TEST_F(ImportCsv, FilesWithoutHeaderHaveNumberedColumnsAndMayBeLatin1) {
  write("mapping.toml",
        "header = false\nencoding = 'latin-1'\nquoted = false\ndelimiter = '::'\n"
        "[interactions]\nfile = 'r.dat'\nuser = 2\nitem = '1'\nrating = 3\n");
  write("r.dat", "caf\xE9::u::2\n\"q::u::1\n");
  const Dataset dataset = import("csv");
  EXPECT_EQ(dataset.catalogue().ids[0], "\"q");
  EXPECT_EQ(dataset.catalogue().ids[1], "caf\xC3\xA9");
  EXPECT_EQ(dataset.interactions().times[0], 0);
}

TEST_F(ImportCsv, AColumnThatIsNotThereIsNamedWithTheNearest) {
  write("mapping.toml", "[interactions]\nfile = 'r.csv'\nuser = 'custmer'\nitem = 'b'\n");
  write("r.csv", "customer,b\n1,2\n");
  EXPECT_THAT(failure("csv"), HasSubstr("no column 'custmer', did you mean 'customer'?"));
  write("mapping.toml", "header = false\n[interactions]\nfile = 'r.csv'\nuser = 1\nitem = 5\n");
  EXPECT_THAT(failure("csv"), HasSubstr("2 columns, but the mapping uses column 5"));
  write("mapping.toml", "[interactions]\nfile = 'gone.csv'\nuser = 'a'\nitem = 'b'\n");
  EXPECT_THAT(failure("csv"), HasSubstr("expected the file gone.csv of the mapping"));
}

TEST_F(ImportCsv, TheMappingMayLieElsewhere) {
  write("r.csv", "a,b\n1,2\n");
  EXPECT_THAT(failure("csv"), HasSubstr("expected mapping.toml"));
  write("else/where.toml", "[interactions]\nfile = 'r.csv'\nuser = 'a'\nitem = 'b'\n");
  const std::string setting = "mapping=" + (source() / "else/where.toml").string();
  EXPECT_EQ(import("csv", {setting}).interactions().size(), 1U);
}

std::string mapping_problem(std::string_view toml) {
  const auto mapping = parse_csv_mapping(toml, "m.toml");
  return mapping ? "accepted" : mapping.error().message;
}

TEST(CsvMapping, SaysWhatIsWrong) {
  EXPECT_THAT(mapping_problem("a = "), HasSubstr("m.toml:1: "));
  EXPECT_THAT(mapping_problem(""), HasSubstr("m.toml: the mapping describes no behaviour"));
  EXPECT_THAT(mapping_problem("delimeter = ','"), HasSubstr("no key 'delimeter', did you mean 'delimiter'?"));
  EXPECT_THAT(mapping_problem("delimiter = ''"), HasSubstr("the delimiter is empty"));
  EXPECT_THAT(mapping_problem("encoding = 'utf-16'"), HasSubstr("neither utf-8 nor latin-1"));
  EXPECT_THAT(mapping_problem("header = 1"), HasSubstr("must be true or false"));
  EXPECT_THAT(mapping_problem("interactions = 1"), HasSubstr("interactions must be a table"));
  EXPECT_THAT(mapping_problem("[interactions]\nfile = 'a'\nuser = 'b'"),
              HasSubstr("interactions.item is missing"));
  const std::string minimal = "[interactions]\nfile = 'a'\nuser = 'b'\nitem = 'c'\n";
  EXPECT_EQ(mapping_problem(minimal), "accepted");
  EXPECT_THAT(mapping_problem(minimal + "usr = 'x'"), HasSubstr("did you mean 'user'?"));
  EXPECT_THAT(mapping_problem(minimal + "time_format = 'moon'"),
              HasSubstr("time_format = 'moon' is none of: unix (the default)"));
  EXPECT_THAT(mapping_problem(minimal + "categories = 'x'"), HasSubstr("must be a list of columns"));
  EXPECT_THAT(mapping_problem(minimal + "numbers = [1.5]"), HasSubstr("must be a list of columns"));
  EXPECT_THAT(mapping_problem(minimal + "rating = true"), HasSubstr("interactions.rating must be a text"));
  EXPECT_THAT(mapping_problem(minimal + "[items]\nfile = 'a'\nid = 'b'\nlist_separator = 'ab'"),
              HasSubstr("must be one character"));
}

TEST(CsvMapping, LettersBeyondAsciiStandInQuotesAndCommentsOnly) {
  const std::string minimal = "[interactions]\nfile = 'a'\nuser = 'b'\n";
  EXPECT_EQ(mapping_problem("# caf\xC3\xA9\n" + minimal + "item = 'caf\xC3\xA9' # \xC3\xA9\n"), "accepted");
  EXPECT_EQ(mapping_problem("\xEF\xBB\xBF" + minimal + "item = \"\\\"\xC3\xA9\""), "accepted");
  EXPECT_THAT(mapping_problem(minimal + "item = caf\xC3\xA9"),
              HasSubstr("m.toml:4: put text beyond ASCII into quotes"));
  EXPECT_THAT(mapping_problem(minimal + "item = 'x' \xC3\xA9"), HasSubstr("m.toml:4: "));
  EXPECT_THAT(mapping_problem(minimal + "item = \"\"\"a\\\n\xC3\xA9\"\"\""), HasSubstr("m.toml:4: "));
  EXPECT_EQ(mapping_problem(minimal + "item = \"\"\"a\\\nb\"\"\""), "accepted");
  EXPECT_THAT(mapping_problem(minimal + "item = '\xE9'"), HasSubstr("not valid UTF-8"));
}

TEST_F(ImportCsv, ATimeInAnotherFormatIsShownWithTheFormatThatReadsIt) {
  write("mapping.toml",
        "[interactions]\nfile = \"sales.csv\"\nuser = \"who\"\nitem = \"what\"\ntime = \"when\"\n");
  write("sales.csv", "who,what,when\nann,bun,2024-02-29 10:20\n");
  EXPECT_THAT(
      failure("csv"),
      ::testing::AllOf(HasSubstr("the time '2024-02-29 10:20' is not in the format unix (seconds since "
                                 "1970, the default)"),
                       HasSubstr("time_format = \"iso\"")));
  write("sales.csv", "who,what,when\nann,bun,last week\n");
  EXPECT_THAT(failure("csv"), HasSubstr("the time 'last week' is not in the format unix"));
  write("mapping.toml",
        "[interactions]\nfile = \"sales.csv\"\nuser = \"who\"\nitem = \"what\"\ntime = \"when\"\n"
        "time_format = \"rfc\"\n");
  EXPECT_THAT(failure("csv"), HasSubstr("time_format = 'rfc' is none of: unix (the default), unix-ms, iso"));
}

TEST_F(ImportCsv, ItemsThatAreDescribedTwiceOrSayTheSameAreCounted) {
  write("mapping.toml",
        "[interactions]\nfile = \"sales.csv\"\nuser = \"who\"\nitem = \"what\"\n"
        "[items]\nfile = \"things.csv\"\nid = \"id\"\ntitle = \"title\"\n");
  write("sales.csv", "who,what\nann,bun\n");
  write("things.csv", "id,title\nbun,Bun\nbun,Another bun\nroll,Bun\ntart,Tart\n");
  const Dataset dataset = import("csv");
  EXPECT_EQ(dataset.catalogue().titles[row_of(dataset.catalogue().ids, "bun")], "Bun");
  EXPECT_TRUE(has_note("1 rows describe an item that an earlier row describes"));
  EXPECT_TRUE(has_note("1 items have title and text of an earlier one ('roll' says what 'bun' says)"));
}

TEST_F(ImportCsv, AHandfulOfTestImpressionsIsNotedWithWhatTheirAucIsWorth) {
  write("mapping.toml",
        "[impressions]\nfile = \"seen.csv\"\nuser = \"who\"\nshown = \"shown\"\nclicked = \"clicked\"\n"
        "time = \"when\"\n");
  std::string rows = "who,shown,clicked,when\n";
  for (int i = 0; i < 300; ++i) rows += fmt::format("u{},a b,a,{}\n", i, 1000 + i);
  for (int i = 0; i < 4; ++i) rows += fmt::format("u{},a b,b,{}\n", i, 86400 + i);
  write("seen.csv", rows);
  import("csv");
  EXPECT_TRUE(
      has_note("only 4 of 304 impressions test, by which an AUC has a standard error of about 15 points"));
}

}  // namespace
}  // namespace sotto::data
