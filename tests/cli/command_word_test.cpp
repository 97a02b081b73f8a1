// Which of the two programs a command line is for, and what the front says by itself.

#include <gmock/gmock.h>

#include <vector>

#include "base/files.h"
#include "cli/command.h"
#include "cli/hand_over.h"
#include "test_paths.h"

namespace sotto::cli {
namespace {

struct Words {
  explicit Words(std::vector<std::string> given) : words(std::move(given)) {
    words.insert(words.begin(), "sotto");
    for (auto& word : words) argv.push_back(word.data());
  }
  std::string command() { return command_word(static_cast<int>(argv.size()), argv.data()); }
  int run() { return cli::run(static_cast<int>(argv.size()), argv.data(), add_commands); }

  std::vector<std::string> words;
  std::vector<char*> argv;
};

TEST(CommandWord, IsFoundBehindTheFlagsThatAllCommandsShare) {
  EXPECT_EQ(Words({"train", "fedrec", "--data", "data"}).command(), "train");
  EXPECT_EQ(Words({"--json", "--threads", "2", "train", "--help"}).command(), "train");
  EXPECT_EQ(Words({"--log-level=off", "data", "info", "train"}).command(), "data");
  EXPECT_EQ(Words({"--help", "train"}).command(), "train");
  EXPECT_EQ(Words({"--nonsense", "train"}).command(), "train") << "the trainer refuses it as the front would";
}

TEST(CommandWord, IsEmptyWhereNoneIsNamed) {
  EXPECT_EQ(Words({}).command(), "");
  EXPECT_EQ(Words({"--version"}).command(), "");
  EXPECT_EQ(Words({"--threads", "train"}).command(), "") << "that is the flag's value, and a wrong one";
}

// What stands on stderr after a command line that is refused.
std::string refusal(std::vector<std::string> words) {
  ::testing::internal::CaptureStderr();
  const int code = Words(std::move(words)).run();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, 2) << said;
  return said;
}

TEST(MistypedWord, IsNamedWithTheNearestOne) {
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal({"trian", "x"}), HasSubstr("unknown command 'trian'; did you mean 'train'?"));
  EXPECT_THAT(refusal({"data", "imprt", "csv"}),
              HasSubstr("unknown command 'data imprt'; did you mean 'data import'?"));
  EXPECT_THAT(refusal({"--quite", "data", "info", "x"}),
              HasSubstr("unknown flag '--quite'; did you mean '--quiet'?"));
  EXPECT_THAT(refusal({"data", "info", "x", "--jsn"}), HasSubstr("'--jsn'; did you mean '--json'?"));
  EXPECT_THAT(refusal({"data", "generate", "newsroom", "--outt=y"}),
              HasSubstr("'--outt'; did you mean '--out'?"));
  EXPECT_THAT(refusal({"data", "qqqqqqqq"}), HasSubstr("'sotto data --help' lists them"));
  EXPECT_THAT(refusal({"data", "info"}), HasSubstr("data is required")) << "no word is wrong, one is missing";
  EXPECT_THAT(refusal({"data"}), HasSubstr("name what to do, one of: generate, import"));
}

TEST(Help, IsOneObjectWhenJsonIsAskedFor) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Words({"data", "--help", "--json"}).run(), 0);
  const auto said = nlohmann::json::parse(::testing::internal::GetCapturedStdout(), nullptr, false);
  ASSERT_TRUE(said.is_object());
  EXPECT_THAT(said.at("text").get<std::string>(), ::testing::HasSubstr("import"));
}

TEST(HandOver, KnowsTheTrainersCommandsAlone) {
  for (const char* name : {"demo", "recipes", "train", "eval", "compare", "sweep", "bench", "experiment"})
    EXPECT_NE(find_trainer_command(name), nullptr) << name;
  for (const char* name : {"data", "privacy", "trian", ""}) EXPECT_EQ(find_trainer_command(name), nullptr);
}

class RunDescription : public ::testing::Test {
 protected:
  int account(const std::string& description) {
    EXPECT_TRUE(write_file_atomically(run / "run.json", description));
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = Words({"privacy", "account", run.path()}).run();
    out = ::testing::internal::GetCapturedStdout();
    err = ::testing::internal::GetCapturedStderr();
    return code;
  }
  const TempFolder run;
  std::string out, err;
};

TEST_F(RunDescription, OfARunWithoutPlanSaysWhatHolds) {
  EXPECT_EQ(account(R"({"recipe": "plain", "guarantee": "Nothing.", "differentially_private": false})"), 0);
  EXPECT_EQ(out, "epsilon none: plain gives no differential privacy\n  Nothing.\n");
}

TEST_F(RunDescription, OfAPrivateRunThatLostItsPlanSaysNothing) {
  EXPECT_EQ(account(R"({"recipe": "noisy", "guarantee": "Much.", "differentially_private": true})"), 2);
  EXPECT_NE(err.find("lost its privacy.toml"), std::string::npos) << err;
}

TEST_F(RunDescription, ThatIsDamagedIsRefused) {
  for (const char* description : {"", "[]", "{\"recipe\": 3}", R"({"recipe": "plain", "guarantee": "x"})"}) {
    EXPECT_EQ(account(description), 2) << description;
    EXPECT_TRUE(out.empty());
  }
}

}  // namespace
}  // namespace sotto::cli
