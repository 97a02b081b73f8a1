#include "base/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

using ::testing::HasSubstr;

struct Sample {
  std::int64_t rounds = 100;
  double rate = 0.5;
  bool verbose = false;
  std::string name = "a \"quoted\" name";
  std::string mode = "sound";
  std::int64_t heads = 4;

  SettingsTable table() {
    SettingsTable settings;
    settings.add("rounds", rounds, {1, 1'000'000}, "Number of rounds")
        .add("rate", rate, {0.0, 1.0}, "Learning rate")
        .add("verbose", verbose, "Say more")
        .add("name", name, "Name of the run")
        .add_choice("mode", mode, {"paper", "sound"}, "As published | as it should be")
        .add("model.heads", heads, {1, 64}, "Attention heads");
    return settings;
  }
  auto values() const { return std::tie(rounds, rate, verbose, name, mode, heads); }
  bool operator==(const Sample& other) const { return values() == other.values(); }
};

std::string message(const Status& status) { return status ? "no error" : status.error().message; }

TEST(Settings, SetAssignsEveryType) {
  Sample sample;
  auto table = sample.table();
  ASSERT_TRUE(table.set("rounds", "7"));
  ASSERT_TRUE(table.set("rate", "1e-3"));
  ASSERT_TRUE(table.set("verbose", "true"));
  ASSERT_TRUE(table.set("name", " spaces stay "));
  ASSERT_TRUE(table.set("mode", "paper"));
  ASSERT_TRUE(table.set("model.heads", "8"));
  EXPECT_EQ(sample, (Sample{7, 0.001, true, " spaces stay ", "paper", 8}));
}

TEST(Settings, UnknownNamesOfferTheNearest) {
  Sample sample;
  auto table = sample.table();
  const auto status = table.set("roundz", "7");
  EXPECT_EQ(message(status), "unknown setting 'roundz'; did you mean 'rounds'?");
  EXPECT_EQ(status.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(message(table.set("colour", "red")),
            "unknown setting 'colour'; the settings are rounds, rate, verbose, name, mode, model.heads");
}

TEST(Settings, RefusalsSayWhatIsAllowedAndChangeNothing) {
  Sample sample;
  auto table = sample.table();
  EXPECT_EQ(message(table.set("rounds", "0")),
            "setting 'rounds' must be a whole number from 1 to 1000000, not '0'");
  EXPECT_EQ(message(table.set("rate", "1.5")), "setting 'rate' must be a number from 0 to 1, not '1.5'");
  EXPECT_EQ(message(table.set("verbose", "yes")), "setting 'verbose' must be true or false, not 'yes'");
  EXPECT_EQ(message(table.set("mode", "papr")),
            "setting 'mode' must be one of paper, sound, not 'papr'; did you mean 'paper'?");
  EXPECT_EQ(message(table.set("name", "\xFF")), "setting 'name' must be text in UTF-8, not '\xFF'");
  EXPECT_EQ(sample, Sample{});
}

TEST(Settings, WholeNumbersAreParsedStrictly) {
  Sample sample;
  auto table = sample.table();
  for (const char* text :
       {"", " 7", "7 ", "+7", "7.0", "7e1", "0x7", "1_000", "seven", "99999999999999999999"}) {
    EXPECT_FALSE(table.set("rounds", text)) << text;
  }
  EXPECT_EQ(sample, Sample{});
}

TEST(Settings, NumbersThatAreNotFiniteAreRefusedEvenWithoutARange) {
  double free = 1;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  SettingsTable table;
  table.add("free", free, {-infinity, infinity}, "Any number");
  for (const char* text : {"nan", "inf", "-inf", "infinity", "1e999", "", "0x1p3", "1.0 ", "1,5"}) {
    EXPECT_FALSE(table.set("free", text)) << text;
  }
  EXPECT_EQ(message(table.set("free", "nan")), "setting 'free' must be a number, not 'nan'");
  ASSERT_TRUE(table.set("free", "-1e300"));
  EXPECT_EQ(free, -1e300);
}

TEST(Settings, OneSidedRangesReadWell) {
  std::int64_t count = 5;
  double weight = 5;
  SettingsTable table;
  table.add("count", count, {1, std::numeric_limits<std::int64_t>::max()}, "Count");
  table.add("weight", weight, {0, std::numeric_limits<double>::infinity()}, "Weight");
  EXPECT_EQ(message(table.set("count", "0")),
            "setting 'count' must be a whole number of at least 1, not '0'");
  EXPECT_EQ(message(table.set("weight", "-1")), "setting 'weight' must be a number of at least 0, not '-1'");
  EXPECT_EQ(table.rows()[0].allowed, "at least 1");
}

TEST(Settings, AssignmentsSplitAtTheFirstEqualsSign) {
  Sample sample;
  auto table = sample.table();
  ASSERT_TRUE(table.set_assignment("name=a=b"));
  EXPECT_EQ(sample.name, "a=b");
  ASSERT_TRUE(table.set_assignment("name="));
  EXPECT_EQ(sample.name, "");
  EXPECT_EQ(message(table.set_assignment("rounds")), "'rounds' is not a setting; write key=value");
}

TEST(Settings, RowsShowDefaultsAndValues) {
  Sample sample;
  auto table = sample.table();
  ASSERT_TRUE(table.set("rate", "1"));
  const auto rows = table.rows();
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[1].name, "rate");
  EXPECT_EQ(rows[1].type, "number");
  EXPECT_EQ(rows[1].default_value, "0.5");
  EXPECT_EQ(rows[1].value, "1.0");
  EXPECT_EQ(rows[1].allowed, "0 to 1");
  EXPECT_EQ(rows[1].help, "Learning rate");
}

TEST(Settings, MarkdownHasOneEscapedRowPerSetting) {
  Sample sample;
  const std::string markdown = sample.table().to_markdown();
  EXPECT_THAT(markdown, HasSubstr("| `rounds` | integer | `100` | 1 to 1000000 | Number of rounds |\n"));
  EXPECT_THAT(markdown, HasSubstr("As published \\| as it should be"));
}

TEST(Settings, JsonKeepsTheTypes) {
  Sample sample;
  const auto json = sample.table().to_json();
  EXPECT_EQ(json.dump(),
            R"({"mode":"sound","model.heads":4,"name":"a \"quoted\" name","rate":0.5,"rounds":100,)"
            R"("verbose":false})");
}

TEST(Settings, AWrongRecordIsAMistakeInTheProgram) {
  std::int64_t number = 5;
  std::string word = "x";
  SettingsTable table;
  table.add("a.b", number, {1, 10}, "");
  EXPECT_THROW(table.add("a.b", number, {1, 10}, ""), std::logic_error);
  EXPECT_THROW(table.add("a", number, {1, 10}, ""), std::logic_error);
  EXPECT_THROW(table.add("a.b.c", number, {1, 10}, ""), std::logic_error);
  EXPECT_THROW(table.add("two words", number, {1, 10}, ""), std::logic_error);
  EXPECT_THROW(table.add("two-words", number, {1, 10}, ""), std::logic_error) << "one spelling";
  EXPECT_THROW(table.add("dots..", number, {1, 10}, ""), std::logic_error);
  EXPECT_THROW(table.add("low", number, {6, 10}, ""), std::logic_error);
  EXPECT_THROW(table.add_choice("choice", word, {"y"}, ""), std::logic_error);
}

class SettingsToml : public ::testing::Test {
 protected:
  Status load(std::string_view text) {
    put(folder_ / "run.toml", text);
    return sample_.table().load_toml(folder_ / "run.toml");
  }
  std::string refusal(std::string_view text) {
    const auto status = load(text);
    EXPECT_EQ(sample_, Sample{}) << "all or nothing";
    if (status) return "no error";
    EXPECT_EQ(status.error().kind, ErrorKind::bad_input);
    const std::string folder = folder_.path().string() + "/";
    EXPECT_TRUE(status.error().message.starts_with(folder)) << status.error().message;
    return status.error().message.substr(std::min(folder.size(), status.error().message.size()));
  }

  const TempFolder folder_;
  Sample sample_;
};

TEST_F(SettingsToml, LoadsTablesAndDottedKeysAlike) {
  ASSERT_TRUE(load("rounds = 3\nrate = 1\n[model]\nheads = 2\n"));
  EXPECT_EQ(sample_.rounds, 3);
  EXPECT_EQ(sample_.rate, 1.0);
  EXPECT_EQ(sample_.heads, 2);
  ASSERT_TRUE(load("model.heads = 16\nname = 'straße'\nverbose = true\nmode = \"paper\""));
  EXPECT_EQ(sample_.heads, 16);
  EXPECT_EQ(sample_.name, "straße");
  EXPECT_TRUE(sample_.verbose);
  EXPECT_EQ(sample_.mode, "paper");
  ASSERT_TRUE(load("'name' = '\u00e9' # \u00e9"));
  EXPECT_EQ(sample_.name, "\u00e9");
}

TEST_F(SettingsToml, NamesFileAndLineOfAnUnknownKey) {
  EXPECT_EQ(refusal("rate = 0.1\nroundz = 3\n"),
            "run.toml:2: unknown setting 'roundz'; did you mean 'rounds'?");
  EXPECT_EQ(refusal("[model]\nhead = 3\n"),
            "run.toml:2: unknown setting 'model.head'; did you mean 'model.heads'?");
}

TEST_F(SettingsToml, RefusesWrongTypesAndRanges) {
  EXPECT_EQ(refusal("rate = 0.1\nrounds = 3.0\n"),
            "run.toml:2: setting 'rounds' must be a whole number from 1 to 1000000, not '3.0'");
  EXPECT_EQ(refusal("rounds = '3'"),
            "run.toml:1: setting 'rounds' must be a whole number from 1 to 1000000, not '3'");
  EXPECT_EQ(refusal("verbose = 1"), "run.toml:1: setting 'verbose' must be true or false, not '1'");
  EXPECT_EQ(refusal("rate = nan"), "run.toml:1: setting 'rate' must be a number from 0 to 1, not 'nan'");
  EXPECT_EQ(refusal("rate = -inf"), "run.toml:1: setting 'rate' must be a number from 0 to 1, not '-inf'");
  EXPECT_EQ(refusal("mode = 'sund'"),
            "run.toml:1: setting 'mode' must be one of paper, sound, not 'sund'; did you mean 'sound'?");
  EXPECT_EQ(refusal("name = ['a']"),
            "run.toml:1: setting 'name' must be text in UTF-8, not an array, a date or a time");
  EXPECT_EQ(refusal("name = 2020-01-01"),
            "run.toml:1: setting 'name' must be text in UTF-8, not an array, a date or a time");
}

TEST_F(SettingsToml, RefusesASettingUsedAsATable) {
  EXPECT_EQ(refusal("[rounds]\nmany = 3"),
            "run.toml:2: unknown setting 'rounds.many'; the settings are rounds, rate, "
            "verbose, name, mode, model.heads");
}

TEST_F(SettingsToml, NamesTheLineOfASyntaxError) {
  EXPECT_THAT(refusal("rounds = 3\nrate = = 4\n"), ::testing::StartsWith("run.toml:2: "));
  EXPECT_THAT(refusal("rounds = 3\nrounds = 4\n"), ::testing::StartsWith("run.toml:2: "));
  EXPECT_THAT(refusal("name = \"\xFF\""), ::testing::StartsWith("run.toml:1: "));
}

TEST_F(SettingsToml, RefusesATableWithoutAName) {
  for (const std::string open : {"[+x]", "[", "[[", "[ \n", " [[ !]]", "[.a]", "[=]"})
    EXPECT_EQ(refusal("rounds = 3\n" + open + "\n"),
              "run.toml:2: a table is named in its brackets, as in [train]")
        << open;
  EXPECT_THAT(refusal("[]"), ::testing::StartsWith("run.toml:1: "));
  for (const std::string good : {"[model]\n", " [ \"model\" ] # which\n", "['model']\r\n"})
    EXPECT_EQ(refusal(good + "heads = 4\n"), "no error") << good;
}

TEST_F(SettingsToml, SurvivesDeepNesting) {
  EXPECT_NE(refusal("rounds = " + std::string(100'000, '[')), "no error");
  std::string dotted = "a";
  for (int i = 0; i < 100'000; ++i) dotted += ".a";
  EXPECT_EQ(refusal("rounds = 3\n" + dotted + " = 1"), "run.toml:2: more than 100 dots on one line");
  EXPECT_EQ(refusal("rounds = 3 \u00e9"), "run.toml:1: put text beyond ASCII into quotes, in one line");
  for (const char* no_string :
       {"name = 0'\u00e9'", "name = 0.'\u00e9'", "name = 0'\u00e9", "name = 'a'\"\u00e9\""})
    EXPECT_EQ(refusal(no_string), "run.toml:1: put text beyond ASCII into quotes, in one line") << no_string;
  EXPECT_EQ(refusal("rounds = 3 # \xe9"), "run.toml:1: not valid UTF-8");
  EXPECT_NE(refusal("[" + dotted + "]"), "no error");

  // Brackets and dotted keys together, as deep as both limits allow.
  dotted.resize(201);
  std::string mixed = "rounds = ";
  for (int i = 0; i < 127; ++i) mixed += "[{" + dotted + " =\n";
  EXPECT_NE(refusal(mixed), "no error");
  mixed = "rounds = ";
  for (int i = 0; i < 120; ++i) mixed += "[\n{" + dotted + " = ";
  mixed += "1";
  for (int i = 0; i < 120; ++i) mixed += "}\n]";
  EXPECT_NE(refusal(mixed), "no error");
}

TEST_F(SettingsToml, RefusesAFileThatIsNoConfiguration) {
  put(folder_ / "big.toml", std::string(2 << 20, '#'));
  EXPECT_FALSE(sample_.table().load_toml(folder_ / "big.toml"));
  EXPECT_FALSE(sample_.table().load_toml(folder_ / "missing.toml"));
}

TEST_F(SettingsToml, TheSampleLoadsAsTheDefaults) {
  sample_.rounds = 5;
  const std::string text = Sample().table().to_sample_toml();
  EXPECT_THAT(text, HasSubstr("# Number of rounds (integer: 1 to 1000000)\nrounds = 100\n"));
  ASSERT_TRUE(load(text));
  EXPECT_EQ(sample_, Sample{});
}

TEST_F(SettingsToml, CurrentValuesRoundTripExactly) {
  Sample odd{999'999, 0.1 + 0.2 - 0.1, true, "tab\t newline\n \"quotes\" \\ \x7F é \x01", "paper", 64};
  ASSERT_TRUE(load(odd.table().to_toml()));
  EXPECT_EQ(sample_, odd);
  for (const double rate : {0.0, 1.0, 5e-324, 1e-10, 0x1.fffffffffffffp-1}) {
    odd.rate = rate;
    ASSERT_TRUE(load(odd.table().to_toml())) << rate;
    EXPECT_EQ(sample_, odd) << rate;
  }
}

}  // namespace
}  // namespace sotto
