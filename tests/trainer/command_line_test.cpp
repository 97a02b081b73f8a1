// The command line as a user meets it: results on stdout, reasons on stderr, exit codes 0, 1, 2. Both
// programs behind it run here in one process; tests/cli/front_test.sh goes through the real ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fl/tiny_news.h"
#include "trainer/commands.h"

namespace sotto::trainer {
namespace {

struct Reply {
  int code;
  std::string out, err;
  nlohmann::json last_line() const {
    std::istringstream lines(out);
    std::string line, last;
    while (std::getline(lines, line)) last = line;
    return nlohmann::json::parse(last);
  }
};

Reply sotto(std::vector<std::string> words) {
  words.insert(words.begin(), {"sotto", "--quiet"});
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int argc = static_cast<int>(argv.size());
  const bool trains = cli::find_trainer_command(cli::command_word(argc, argv.data())) != nullptr;
  const int code = cli::run(argc, argv.data(), trains ? trainer::add_commands : cli::add_commands);
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

const std::vector<std::string> narrow = {"--set", "cohort=4",       "--set", "word_size=8",
                                         "--set", "heads=2",        "--set", "head_size=4",
                                         "--set", "pooling_size=4", "--set", "negatives=2"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(CommandLine, UnknownCommandNamesTheNearest) {
  const Reply reply = sotto({"trian"});
  EXPECT_EQ(reply.code, 2);
  EXPECT_NE(reply.err.find("did you mean 'train'"), std::string::npos) << reply.err;
  EXPECT_TRUE(reply.out.empty());
}

TEST(CommandLine, ExperimentsAreListedByPaperWithTheDataTheyNeed) {
  const Reply reply = sotto({"experiment", "--list"});
  EXPECT_EQ(reply.code, 0);
  const auto efficient = reply.out.find("\nEfficient-FedRec\n  efficient-table2             news");
  ASSERT_NE(efficient, std::string::npos) << reply.out;
  EXPECT_LT(reply.out.find("fednewsrec-table2"), efficient);
  EXPECT_NE(reply.out.find("privrec-accountant           no data"), std::string::npos);
}

TEST(CommandLine, AnExperimentTrainsItsRowsAndWritesAReport) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const Reply reply = sotto(with({"--json", "experiment", "fednewsrec-users", "--quick", "--data",
                                  data.path(), "--out", runs / "users", "--set", "rounds=2"},
                                 narrow));
  EXPECT_EQ(reply.code, 0) << reply.err;
  EXPECT_EQ(reply.last_line().at("event"), "done");
  EXPECT_EQ(reply.last_line().at("quick"), true);
  EXPECT_TRUE(fs::exists(runs / "users" / "report.html"));
  const Reply other = sotto({"experiment", "privrec-dp", "--data", data.path(), "--out", runs / "dp"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("has no interactions"), std::string::npos) << other.err;
}

TEST(CommandLine, TheFirstSeedIsASeedOfAGrid) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const auto of = [&](const std::string& seed, const std::string& name) {
    return sotto(with({"--json", "experiment", name, "--quick", "--data", data.path(), "--out",
                       runs / "users", "--set", "rounds=2", "--first-seed", seed},
                      narrow));
  };
  for (const char* wrong : {"0", "-1", "two", "1000000001"}) {
    const Reply refused = of(wrong, "fednewsrec-users");
    EXPECT_EQ(refused.code, 2) << wrong;
    EXPECT_NE(refused.err.find("first-seed"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(of("2", "serving-epsilon").code, 2);
  EXPECT_FALSE(fs::exists(runs / "users"));
  const Reply reply = of("7", "fednewsrec-users");
  EXPECT_EQ(reply.code, 0) << reply.err;
  EXPECT_NE(reply.out.find("\"seed\":7"), std::string::npos) << reply.out;
  EXPECT_EQ(reply.out.find("\"seed\":1,"), std::string::npos) << reply.out;
}

TEST(CommandLine, AReproducibleRunSaysThatNoEpsilonHolds) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const auto train = [&](const fs::path& out, std::vector<std::string> more) {
    return sotto(with(with({"train", "fednewsrec", "--data", data.path(), "--out", out, "--rounds", "1",
                            "--epsilon", "50", "--set", "train_words=true"},
                           narrow),
                      more));
  };
  const Reply secret = train(runs / "secret", {}), seeded = train(runs / "seeded", {"--reproducible"});
  ASSERT_EQ(secret.code, 0) << secret.err;
  ASSERT_EQ(seeded.code, 0) << seeded.err;
  const char* note = "simulation: no ε holds for these files; with secret noise it would be ";
  EXPECT_EQ(secret.out.find(note), std::string::npos) << secret.out;
  EXPECT_NE(seeded.out.find(note), std::string::npos) << seeded.out;
}

TEST(CommandLine, UnknownRecipeAndSettingNameTheNearest) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const Reply recipe = sotto({"train", "fedrek", "--data", data.path(), "--out", runs / "a"});
  EXPECT_EQ(recipe.code, 2);
  EXPECT_NE(recipe.err.find("did you mean 'fedrec'"), std::string::npos) << recipe.err;
  const Reply setting =
      sotto({"train", "fedrec", "--data", data.path(), "--out", runs / "a", "--set", "cohrt=3"});
  EXPECT_EQ(setting.code, 2);
  EXPECT_NE(setting.err.find("did you mean 'cohort'"), std::string::npos) << setting.err;
  EXPECT_FALSE(fs::exists(runs / "a"));
}

TEST(CommandLine, ASettingTypedAsAFlagIsToldHowItIsGiven) {
  const Reply sweep = sotto({"sweep", "sotto", "--data", "d", "--out", "o", "--epsilon", "4"});
  EXPECT_EQ(sweep.code, 2);
  EXPECT_NE(sweep.err.find("'--set epsilon=VALUE', or '--grid epsilon=A,B,C'"), std::string::npos)
      << sweep.err;
  const Reply train = sotto({"train", "sotto", "--data", "d", "--out", "o", "--vector-size=4"});
  EXPECT_NE(train.err.find("'--set vector_size=VALUE'"), std::string::npos) << train.err;
  const Reply eval = sotto({"eval", "run", "--vector-size=4"});
  EXPECT_EQ(eval.err.find("--set"), std::string::npos) << eval.err;
}

TEST(CommandLine, WrongInputsExitWith2AndWriteNothing) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"train"},
      {"train", "fedrec", "--data", "/nowhere", "--out", runs / "x"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--rounds", "0"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--rounds", "many"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--set", "learning_rate=nan"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--set", "optimiser=adagrad"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--set", "cohort=1000"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--set", "train_words=false"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--set", "glove=/nowhere.txt"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--set", "precision=bf16"},
      {"train", "fedrec", "--set", "model=plm-nr", "--data", data.path(), "--out", runs / "x", "--set",
       "bert=/nowhere"},
      {"train", "fedrec", "--set", "model=plm-nr", "--data", data.path(), "--out", runs / "x", "--set",
       "bert=" + data.path().string()},
      {"train", "central", "--set", "model=plm-nr", "--data", data.path(), "--out", runs / "x", "--set",
       "bert_size=huge"},
      {"train", "central", "--set", "model=plm-nr", "--data", data.path(), "--out", runs / "x", "--set",
       "trainable_layers=last 9"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--epsilon", "3"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--mode", "best"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--device", "tpu"},
      {"train", "fednewsrec", "--data", data.path(), "--out", runs / "x", "--set", "train_words=true"},
      {"train", "fednewsrec", "--data", data.path(), "--out", runs / "x", "--set", "train_words=true",
       "--epsilon", "8", "--set", "cohort=4", "--set", "validation_impressions=2"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--config", "/nowhere.toml"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--against", "server"},
      {"train", "fednewsrec", "--data", data.path(), "--out", runs / "x", "--against", "nobody"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--set", "cohort=4", "--set",
       "cohort=5"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--rounds", "2", "--set", "rounds=3"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--resume", "--seed", "3"},
      {"eval", "--baselines", "--data", data.path(), "--other-data"},
      {"train", "fedrec", "--data", data.path(), "--out", runs / "x", "--resume"},
      {"eval", runs / "x", "--data", data.path()},
      {"eval", "--data", data.path()},
      {"eval", runs / "x", "--baselines", "--data", data.path()},
      {"data", "info", "/nowhere"},
      {"data", "import", "mindd", data.path(), "--out", runs / "x"},
      {"data", "import", "mind", data.path(), "--out", runs / "x"},
      {"data", "generate", "newsroom", "--users", "-3", "--out", runs / "x"},
      {"recipes", "nothing"},
      {"bench", "nois"},
      {"privacy", "account", "--mechanism", "gaussian", "--noise", "-1", "--rounds", "10", "--delta", "1e-5"},
      {"privacy", "account", runs.path()},
      {"privacy", "ledger", runs.path()},
      {"privacy", "audit", "laplas"},
      {"privacy", "audit", "--samples", "0"},
      {"--log-level", "loud", "recipes"},
  };
  for (const auto& words : wrong) {
    const Reply reply = sotto(words);
    std::string line;
    for (const auto& word : words) line += word + " ";
    EXPECT_EQ(reply.code, 2) << line << reply.err;
    EXPECT_FALSE(reply.err.empty()) << line;
    EXPECT_TRUE(reply.out.empty()) << line << reply.out;
  }
  EXPECT_TRUE(fs::is_empty(runs.path()));
}

TEST(CommandLine, AccountsForARunWithoutNoiseAsNoPrivacy) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  ASSERT_EQ(
      sotto(with({"train", "fedrec", "--data", data.path(), "--out", runs / "run", "--rounds", "1"}, narrow))
          .code,
      0);
  const Reply reply = sotto({"--json", "privacy", "account", runs / "run"});
  ASSERT_EQ(reply.code, 0) << reply.err;
  EXPECT_TRUE(reply.last_line().at("epsilon").is_null());
  EXPECT_EQ(reply.last_line().at("recipe"), "fedrec");
}

TEST(CommandLine, APrivateRunPrintsTheEpsilonsThatItsPlanAccountsFor) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const Reply trained =
      sotto(with({"--json", "train", "fednewsrec", "--data", data.path(), "--out", runs / "run", "--rounds",
                  "2", "--epsilon", "8", "--set", "train_words=true"},
                 narrow));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto done = trained.last_line();
  EXPECT_LE(done.at("epsilon").get<double>(), 8) << "a number that a person types bounds the server's view";
  EXPECT_GT(done.at("epsilon").get<double>(), 7.9);
  EXPECT_GE(done.at("epsilon").get<double>(), done.at("epsilon_published").get<double>());
  EXPECT_EQ(done.at("unit"), "user");
  EXPECT_TRUE(fs::exists(runs / "run/privacy.txt"));
  const auto account = sotto({"--json", "privacy", "account", runs / "run"}).last_line();
  EXPECT_NEAR(account.at("epsilon").get<double>(), done.at("epsilon_published").get<double>(), 1e-3);
  EXPECT_NEAR(account.at("server").at("epsilon").get<double>(), done.at("epsilon").get<double>(), 1e-3);
}

TEST(CommandLine, PaperModePrintsTheClaimBesideTheTruth) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const Reply trained =
      sotto(with({"--json", "train", "fednewsrec", "--data", data.path(), "--out", runs / "run", "--rounds",
                  "2", "--mode", "paper", "--set", "train_words=true"},
                 narrow));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto done = trained.last_line();
  EXPECT_NEAR(done.at("epsilon_claimed").get<double>(), 2.0 / 3, 1e-6);
  EXPECT_TRUE(done.at("epsilon").is_null()) << "how many clicks a device has goes out as it is";
  EXPECT_GT(done.at("epsilon_noised_part").get<double>(), 100);
}

TEST(CommandLine, TheResultSaysInWordsWhatHoldsAgainstWhomAndInWhichUnit) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const Reply trained = sotto(with({"train", "fednewsrec", "--data", data.path(), "--out", runs / "run",
                                    "--rounds", "2", "--epsilon", "8", "--set", "train_words=true"},
                                   narrow));
  ASSERT_EQ(trained.code, 0) << trained.err;
  std::string said = trained.out;  // as one line
  std::replace(said.begin(), said.end(), '\n', ' ');
  EXPECT_NE(said.find("Against the server, which sees who takes part, ε = 8"), std::string::npos) << said;
  EXPECT_NE(said.find("Against everyone else, who sees what is published, ε = "), std::string::npos);
  EXPECT_NE(said.find("12 test impressions, in percent ± standard error"), std::string::npos) << trained.out;
  EXPECT_NE(trained.out.find("2 rounds, the last one kept"), std::string::npos) << trained.out;
  const Reply eval = sotto({"eval", runs / "run", "--data", data.path(), "--test-impressions", "5"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_NE(eval.out.find("5 test impressions, in percent"), std::string::npos) << eval.out;
}

TEST(CommandLine, OtherDataIsTestedOnPurposeAndSaidAloud) {
  const TempFolder data, other, runs;
  fl::testing::tiny_news(data);
  fl::testing::tiny_news(other, 14);
  ASSERT_EQ(
      sotto(with({"train", "fedrec", "--data", data.path(), "--out", runs / "run", "--rounds", "1"}, narrow))
          .code,
      0);
  const Reply refused = sotto({"eval", runs / "run", "--data", other.path()});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("holds other data"), std::string::npos) << refused.err;
  const Reply meant = sotto({"eval", runs / "run", "--data", other.path(), "--other-data"});
  EXPECT_EQ(meant.code, 0) << meant.err;
  EXPECT_NE(meant.err.find("holds other data"), std::string::npos) << meant.err;
}

TEST(CommandLine, EvalShowsTheTrivialRankingsOfADataSet) {
  const TempFolder data;
  fl::testing::tiny_news(data);
  const Reply reply = sotto({"--json", "eval", "--baselines", "--data", data.path()});
  ASSERT_EQ(reply.code, 0) << reply.err;
  std::istringstream lines(reply.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(nlohmann::json::parse(line).at("name"), "popularity");
  ASSERT_TRUE(std::getline(lines, line));
  const auto random = nlohmann::json::parse(line);
  EXPECT_EQ(random.at("name"), "random");
  EXPECT_DOUBLE_EQ(random.at("auc").get<double>(), 0.5);
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(CommandLine, TrainResumeAndEvalTellTheSameStory) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  const std::vector<std::string> start = {"--json", "train",      "fedrec",   "--data", data.path(),
                                          "--out",  runs / "run", "--rounds", "3"};
  const Reply trained = sotto(with(start, narrow));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto done = trained.last_line();
  EXPECT_EQ(done.at("event"), "done");
  for (const char* key : {"auc", "mrr", "ndcg5", "ndcg10"})
    EXPECT_TRUE(done.at(key).get<double>() >= 0 && done.at(key).get<double>() <= 1) << key;
  for (const char* key : {"epsilon", "epsilon_published", "epsilon_claimed", "delta", "unit"})
    EXPECT_TRUE(done.at(key).is_null()) << key;
  EXPECT_GT(done.at("bytes_up").get<double>(), 0);
  EXPECT_GE(done.at("seconds").get<double>(), 0);
  std::istringstream lines(trained.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  EXPECT_EQ(count, 4);

  EXPECT_EQ(sotto(with(start, narrow)).code, 2) << "an existing run must not be overwritten";
  const Reply more = sotto({"--json", "train", "fedrec", "--data", data.path(), "--out", runs / "run",
                            "--rounds", "5", "--resume"});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(more.last_line().at("rounds"), 5);
  EXPECT_EQ(sotto({"train", "fedrec", "--data", data.path(), "--out", runs / "run", "--resume", "--set",
                   "cohort=5"})
                .code,
            2);

  const Reply judged = sotto({"--json", "eval", runs / "run", "--data", data.path()});
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_DOUBLE_EQ(judged.last_line().at("auc").get<double>(), more.last_line().at("auc").get<double>());
}

TEST(CommandLine, SameSeedSameResult) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  for (const char* recipe : {"fedrec", "central"}) {
    std::vector<double> losses;
    for (const char* name : {"a", "b"}) {
      std::vector<std::string> words = {"--json",
                                        "train",
                                        recipe,
                                        "--data",
                                        data.path(),
                                        "--out",
                                        runs / (std::string(recipe) + name),
                                        "--rounds",
                                        "2",
                                        "--set",
                                        "word_size=8",
                                        "--set",
                                        "heads=2",
                                        "--set",
                                        "head_size=4",
                                        "--set",
                                        "pooling_size=4"};
      if (std::string(recipe) == "fedrec") words = with(words, {"--set", "cohort=4"});
      const Reply reply = sotto(words);
      ASSERT_EQ(reply.code, 0) << reply.err;
      std::istringstream lines(reply.out);
      std::string first;
      std::getline(lines, first);
      losses.push_back(nlohmann::json::parse(first).at("loss"));
    }
    EXPECT_EQ(losses[0], losses[1]) << recipe;
  }
}

TEST(CommandLine, DamagedCheckpointIsRefused) {
  const TempFolder data, runs;
  fl::testing::tiny_news(data);
  ASSERT_EQ(
      sotto(with({"train", "fedrec", "--data", data.path(), "--out", runs / "run", "--rounds", "1"}, narrow))
          .code,
      0);
  auto bytes = read_file(runs / "run/best.sotto").value();
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(write_file_atomically(runs / "run/best.sotto", bytes));
  EXPECT_EQ(sotto({"eval", runs / "run", "--data", data.path()}).code, 2);
}

TEST(CommandLine, RecipesShowGuaranteeAndSampleConfigLoads) {
  const Reply shown = sotto({"recipes", "fedrec"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_NE(shown.out.find("No differential privacy"), std::string::npos);
  const Reply sample = sotto({"recipes", "fedrec", "--sample-config"});
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "sample.toml", sample.out));
  fl::testing::tiny_news(folder);
  EXPECT_EQ(sotto(with({"train", "fedrec", "--data", folder.path(), "--out", folder / "run", "--rounds", "1",
                        "--config", folder / "sample.toml"},
                       narrow))
                .code,
            0);
}

TEST(CommandLine, PrivacyAccountAnswersAPlan) {
  const Reply reply =
      sotto({"--json",     "privacy", "account",      "--mechanism", "gaussian",   "--noise",  "1.1",
             "--sampling", "poisson", "--population", "10000",       "--cohort",   "100",      "--rounds",
             "10000",      "--delta", "1e-5",         "--adjacency", "add-remove", "--method", "rdp"});
  ASSERT_EQ(reply.code, 0) << reply.err;
  // Noise 1.1, sampling 0.01, 10,000 steps: between the tight value and the classical RDP conversion.
  EXPECT_GT(reply.last_line().at("epsilon").get<double>(), 4.0);
  EXPECT_LT(reply.last_line().at("epsilon").get<double>(), 6.4);
}

TEST(CommandLine, PrivacyTablesReproduceThePaper) {
  const Reply reply = sotto({"--json", "privacy", "tables"});
  ASSERT_EQ(reply.code, 0) << reply.err;
  std::istringstream lines(reply.out);
  int finite = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto cell = nlohmann::json::parse(line);
    if (!cell.at("paper").is_number()) continue;
    ++finite;
    EXPECT_NEAR(cell.at("reproduced").get<double>(), cell.at("paper").get<double>(), 6e-5) << line;
    EXPECT_LE(cell.at("per_round").get<double>(), cell.at("reproduced").get<double>()) << line;
  }
  EXPECT_EQ(finite, 36);
}

TEST(CommandLine, HelpIsThereForEveryCommand) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--help"},
                                                                 {"demo", "--help"},
                                                                 {"recipes", "--help"},
                                                                 {"data", "--help"},
                                                                 {"data", "import", "--help"},
                                                                 {"data", "info", "--help"},
                                                                 {"data", "generate", "newsroom", "--help"},
                                                                 {"train", "--help"},
                                                                 {"eval", "--help"}}) {
    const Reply reply = sotto(words);
    EXPECT_EQ(reply.code, 0);
    EXPECT_FALSE(reply.out.empty());
  }
}

}  // namespace
}  // namespace sotto::trainer
