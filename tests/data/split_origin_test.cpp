// Whoever else is in the data, and whatever they did, a user's training rows stay: of all data that private
// recipes accept.

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <functional>
#include <vector>

#include "data/describe.h"
#include "data/public_part.h"
#include "edited_sections.h"
#include "import_fixture.h"
#include "small_dataset.h"

namespace sotto::data {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view news =
    "N1\tnews\t\tRain\t\t\t[]\t[]\nN2\tnews\t\tCup\t\t\t[]\t[]\nN3\tfood\t\tBread\t\t\t[]\t[]\n";

using Write = std::function<void(const std::string&, const std::string&)>;

// One way to data with impressions, whose files hold two days of ann and a row of eve on `eve_day`.
struct Way {
  std::string what, kind;
  std::vector<std::string_view> settings;
  void (*files)(const Write& write, std::string_view eve_day);
  bool accepted;
};

std::string mind_rows(std::string_view eve_day) {
  return fmt::format(
      "1\tann\t11/11/2019 9:00:00 AM\tN3\tN1-1 N2-0\n2\tann\t11/12/2019 9:00:00 AM\tN3\tN2-1 N1-0\n"
      "3\teve\t{} 9:00:00 AM\t\tN2-1 N3-0\n",
      eve_day);
}
void flat_mind(const Write& write, std::string_view eve_day) {
  write("news.tsv", std::string(news));
  write("behaviors.tsv", mind_rows(eve_day));
}
void parts_of_mind(const Write& write, std::string_view eve_day) {
  write("train/news.tsv", std::string(news));
  write("train/behaviors.tsv", mind_rows(eve_day));
  write("dev/news.tsv", std::string(news));
  write("dev/behaviors.tsv", "1\tann\t11/13/2019 9:00:00 AM\tN3\tN1-1 N2-0\n");
}
void csv_log(const Write& write, std::string_view eve_day, bool with_split) {
  write("items.csv", "i\nx\ny\n");
  write("log.csv", fmt::format("u,t,s,c,part\nann,11/11/2019 9:00:00 AM,x y,x,train\n"
                               "ann,11/12/2019 9:00:00 AM,x y,y,test\neve,{} 9:00:00 AM,x y,x,train\n",
                               eve_day));
  write("mapping.toml", fmt::format("[items]\nfile = 'items.csv'\nid = 'i'\n[impressions]\nfile = "
                                    "'log.csv'\nuser = 'u'\ntime = 't'\ntime_format = 'american'\nshown = "
                                    "'s'\nclicked = 'c'\n{}",
                                    with_split ? "split = 'part'\n" : ""));
}
void csv_by_time(const Write& write, std::string_view eve_day) { csv_log(write, eve_day, false); }
void csv_by_column(const Write& write, std::string_view eve_day) { csv_log(write, eve_day, true); }
void csv_interactions(const Write& write, std::string_view eve_day) {
  std::string log = "u,i,t\n", items = "i,title\n";
  for (int i = 0; i < 12; ++i) items += fmt::format("i{},film {}\n", i, i);
  for (int i = 0; i < 5; ++i) log += fmt::format("ann,i{},11/1{}/2019 9:00:00 AM\n", i, i);
  for (int i = 5; i < 9; ++i) log += fmt::format("eve,i{},{} {}:00:00 AM\n", i, eve_day, i);
  write("items.csv", items);
  write("log.csv", log);
  write("mapping.toml",
        "[items]\nfile = 'items.csv'\nid = 'i'\ntitle = 'title'\n[interactions]\nfile = 'log.csv'\nuser = "
        "'u'\nitem = 'i'\ntime = 't'\ntime_format = 'american'\n");
}

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const auto& [kind, files] :
       {std::pair("mind", &flat_mind), std::pair("adressa", &flat_mind), std::pair("csv", &csv_by_time)}) {
    all.push_back({"last day", kind, {}, files, false});
    all.push_back({"a time", kind, {"test_from=2019-11-12"}, files, true});
    all.push_back({"nothing tests", kind, {"test_from=none"}, files, true});
    all.push_back({"a share", kind, {"test_from=none", "validation_share=0.5"}, files, false});
    all.push_back({"time and share", kind, {"test_from=2020-01-01", "validation_share=0.5"}, files, false});
  }
  all.push_back({"published parts", "mind", {}, &parts_of_mind, true});
  all.push_back({"share of a part", "mind", {"validation_share=0.5"}, &parts_of_mind, false});
  all.push_back({"column of splits", "csv", {}, &csv_by_column, true});
  all.push_back({"view", "csv", {"view=text", "negatives=2"}, &csv_interactions, true});
  return all;
}

class SplitOrigins : public ImportTest {
 protected:
  Dataset imported(const Way& way, std::string_view eve_day) {
    fs::remove_all(source());
    way.files([&](const std::string& name, const std::string& content) { write(name, content); }, eve_day);
    ImportSettings settings;
    settings.replace = true;
    SettingsTable table;
    settings.bind(table);
    for (const std::string_view assignment : way.settings)
      if (const Status set = table.set_assignment(assignment); !set)
        throw std::runtime_error(set.error().message);
    const auto result = import_dataset(way.kind, source(), out(), settings);
    if (!result) throw std::runtime_error(result.error().message);
    summary = *result;
    return std::move(Dataset::open(out()).value());
  }
};

// In words that know no numbers of items.
std::vector<std::string> training_rows(const Dataset& dataset, std::string_view user) {
  std::vector<std::string> rows;
  const auto [first, last] = dataset.impressions_of(row_of(dataset.user_ids(), user));
  for (std::size_t i = first; i < last; ++i) {
    const Impression row = dataset.impression(i);
    if (row.split == Split::train)
      rows.push_back(fmt::format("{} {} {} {}", row.time, fmt::join(ids_of(dataset, row.history), " "),
                                 fmt::join(ids_of(dataset, row.shown), " "), fmt::join(row.clicked, " ")));
  }
  return rows;
}

TEST_F(SplitOrigins, ARowFarAheadMovesNobodyElsesRowsOfAcceptedData) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.kind + ": " + way.what);
    const Dataset plain = imported(way, "11/11/2019");
    const auto own = training_rows(plain, "ann");
    EXPECT_FALSE(own.empty());
    const Dataset future = imported(way, "1/19/2036");
    const Status allowed = check_rows_are_each_users_own(future);
    EXPECT_EQ(allowed.has_value(), way.accepted);
    EXPECT_EQ(check_rows_are_each_users_own(plain).has_value(), way.accepted);
    EXPECT_EQ(has_note("read off all of them"), !way.accepted);
    if (way.accepted) {
      EXPECT_EQ(training_rows(future, "ann"), own);
    }
  }
}

// What the refusal is for.
TEST_F(SplitOrigins, ARowFarAheadMovesAllOthersIntoTrainingWhereTheLastDayTests) {
  const Way last_day = ways().front();
  EXPECT_EQ(training_rows(imported(last_day, "11/11/2019"), "ann").size(), 1U);
  const Dataset future = imported(last_day, "1/19/2036");
  EXPECT_EQ(training_rows(future, "ann").size(), 2U);
  const Status refused = check_rows_are_each_users_own(future);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--test-from TIME"));
  EXPECT_THAT(to_text(describe(future)), HasSubstr("the rows of all users: not for private recipes"));
}

TEST_F(SplitOrigins, DataThatDoesNotSayCountsAsCutByAllUsers) {
  const TempFolder folder;
  ASSERT_TRUE(small_builder().write(folder.path()));
  EXPECT_TRUE(check_rows_are_each_users_own(Dataset::open(folder.path()).value()));
  EditedSections file(folder.path());
  file.remove(dataset_sections::split_origin);
  ASSERT_TRUE(file.write(folder.path()));
  const Dataset silent = Dataset::open(folder.path()).value();
  EXPECT_EQ(silent.split_origin(), SplitOrigin::all_users);
  EXPECT_FALSE(check_rows_are_each_users_own(silent));
  EXPECT_FALSE(check_rows_are_each_users_own(public_part(silent).value().dataset)) << "nor does its copy";
}

TEST_F(SplitOrigins, InteractionsHaveNoCutToAskAbout) {
  const TempFolder folder;
  DatasetBuilder builder("log", "");
  const ItemId item = builder.add_item({.id = "i"});
  builder.add_interaction(builder.user("u"), item, missing_number, 0);
  ASSERT_TRUE(builder.write(folder.path()));
  EditedSections file(folder.path());
  file.remove(dataset_sections::split_origin);
  ASSERT_TRUE(file.write(folder.path()));
  EXPECT_TRUE(check_rows_are_each_users_own(Dataset::open(folder.path()).value()));
}

}  // namespace
}  // namespace sotto::data
