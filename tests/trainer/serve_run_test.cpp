// A trained run as it is served: pack, device, live articles, and a newer training that takes its place.

#ifdef SOTTO_HAVE_NET

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "eval/private_recipes.h"
#include "fl/tiny_news.h"
#include "model/tiny_bert.h"
#include "serving/run_privacy.h"
#include "trainer/run_server.h"

namespace sotto::publish {
namespace {

using cli::RunSource;
using publish::open_served_run;
using ::testing::Contains;
using ::testing::HasSubstr;

class ServedRuns : public ::testing::Test {
 protected:
  void train(const std::string& recipe, std::vector<std::string> assignments, const fs::path& out,
             std::uint64_t seed = 1) {
    eval::TrainJob job;
    job.recipe = recipe;
    job.data = data.path();
    job.out = out;
    job.rounds = 2;
    job.seed = seed;
    job.assignments = {"negatives=2", "validation_impressions=0"};
    if (std::find(assignments.begin(), assignments.end(), "model=plm-nr") == assignments.end())
      job.assignments.emplace_back("word_size=8");
    job.assignments.insert(job.assignments.end(), assignments.begin(), assignments.end());
    const auto trained = eval::train_run(job, dataset, {});
    ASSERT_TRUE(trained) << trained.error().message;
  }
  void train_nrms(const fs::path& out, std::uint64_t seed = 1) {
    train("central", {"model=nrms", "heads=2", "head_size=4", "pooling_size=4"}, out, seed);
  }

  // A folder with a checkpoint of a small BERT that knows the words of the data.
  std::string tiny_bert() const {
    model::testing::write_tiny_checkpoint(bert.path());
    EXPECT_TRUE(write_file_atomically(bert / "vocab.txt",
                                      "[PAD]\n[UNK]\n[CLS]\n[SEP]\nred\nblue\nfire\nsea\nnumber\n,\n.\n"));
    return bert.path().string();
  }

  const TempFolder data, folder, bert;
  const data::Dataset dataset = fl::testing::tiny_news(data);
};

// What a server is asked to do after training with a budget, by every recipe that has one and reads text.
TEST_F(ServedRuns, PrivateRunsOfEveryTextRecipeAreServed) {
  const TempFolder other;
  const data::Dataset many = fl::testing::tiny_news(other, 60);
  for (const auto& tested : eval::testing::private_recipes()) {
    if (tested.mode != "sound" || tested.takes_interactions()) continue;
    eval::TrainJob job;
    job.recipe = tested.recipe, job.data = other.path(), job.out = folder / tested.recipe;
    job.rounds = 1, job.epsilon = "1000";
    job.assignments = eval::testing::small_settings(tested.recipe);
    // Four words stand in enough items: no more than two directions.
    if (tested.recipe == "sotto") job.assignments.emplace_back("vector_size=2");
    const auto trained = eval::train_run(job, many, {});
    ASSERT_TRUE(trained) << tested.recipe << ": " << trained.error().message;
    const auto served = open_served_run(job.out, many, {.prototypes = 4});
    ASSERT_TRUE(served) << tested.recipe << ": " << served.error().message;
    EXPECT_TRUE(device::check(served->pack)) << tested.recipe;
    EXPECT_TRUE(device::make_user_model(served->pack)) << tested.recipe;
  }
}

struct Served {
  std::string recipe;
  std::vector<std::string> assignments;
};

TEST_F(ServedRuns, ADeviceComputesTheUserVectorsOfTheModel) {
  const std::vector<std::string> attention = {"cohort=4", "heads=2", "head_size=4", "pooling_size=4"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> all = attention;
    all.insert(all.end(), more);
    return all;
  };
  const std::vector<Served> runs = {
      {"fedrec", with({"model=nrms"})},
      {"fedrec", with({"model=fednewsrec", "recent_clicks=2"})},
      {"fedrec", {"cohort=4", "pooling_size=4", "model=naml", "filters=8", "category_size=4"}},
      {"privaterec", with({"mode=paper", "basis_vectors=3"})},
      {"dp-fedrec", with({"mode=paper", "serving_epsilon=3"})},
      {"efficient-fedrec", {"mode=paper", "group=4", "heads=2", "head_size=4", "pooling_size=4"}},
      {"fedrec", with({"model=plm-nr", "bert=" + tiny_bert(), "max_pieces=7"})}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const fs::path run = folder / std::to_string(i);
    train(runs[i].recipe, runs[i].assignments, run);
    const auto served = open_served_run(run, dataset, {.prototypes = 4, .basis_vectors = 5});
    ASSERT_TRUE(served) << served.error().message;
    ASSERT_TRUE(device::check(served->pack));
    EXPECT_EQ(served->pack.prototypes.rows(), 4U);
    EXPECT_EQ(served->pack.basis.rows(), runs[i].recipe == "privaterec" ? 3U : 5U)
        << "its own, if it has one";
    const auto& anonymous = served->pack.anonymous;
    EXPECT_EQ(std::any_of(anonymous.begin(), anonymous.end(), [](float value) { return value != 0; }),
              runs[i].recipe == "privaterec")
        << "devices pad with the vector that was trained for it";

    trainer::testing::expect_users_of_the_model(served->pack, run, dataset,
                                                {{}, {3}, {0, 2, 4}, {1, 0, 9, 8, 7, 6}});
  }
}

TEST_F(ServedRuns, AnArticleIsReadAsTheCatalogueWas) {
  train("central", {"model=naml", "filters=8", "category_size=4", "pooling_size=4"}, folder / "run");
  auto news = recipes::open_news_run(folder / "run", dataset).value();
  torch::NoGradGuard no_grad;
  const auto items =
      encode_catalogue(dynamic_cast<model::NewsRecommender&>(*news.model), dataset.item_count()).value();
  const auto served = open_served_run(folder / "run", dataset, {.prototypes = 4});
  ASSERT_TRUE(served) << served.error().message;
  std::vector<serving::CatalogueItem> articles(4);
  articles[0].title = dataset.catalogue().titles[3];
  articles[0].category = "cold";
  articles[1].title = dataset.catalogue().titles[3];
  articles[1].category = "never heard of";
  articles[3].title = "sea words nobody knows";
  const auto vectors = served->encoder->encode(articles).value();
  for (std::size_t j = 0; j < items.width; ++j) EXPECT_NEAR(vectors[0][j], items[3][j], 1e-6);
  EXPECT_NE(vectors[1], vectors[0]) << "the category counts";
  EXPECT_EQ(vectors[2], std::vector<float>(items.width)) << "nothing to read: the anonymous item";
  EXPECT_NE(vectors[3], vectors[2]);
}

TEST_F(ServedRuns, ModelsThatDevicesCannotComputeAreRefusedWithTheReason) {
  const std::vector<std::pair<Served, std::string>> refused = {
      {{"central", {"model=lstur", "filters=4", "category_size=2"}}, "a vector of every reader's own"},
      {{"central", {"model=dkn", "filters=4", "entity_size=4", "pooling_size=4"}}, "anew for every item"},
      {{"central", {"model=ebnr", "filters=4"}}, "devices do not know its user side"}};
  for (const auto& [run, why] : refused) {
    const fs::path out = folder / run.assignments.front();
    train(run.recipe, run.assignments, out);
    const auto served = open_served_run(out, dataset, {});
    ASSERT_FALSE(served) << run.recipe;
    EXPECT_THAT(served.error().message, HasSubstr(why));
    EXPECT_THAT(
        served.error().message,
        HasSubstr("With the same recipe and budget train --set model=nrms, plm-nr, naml or fednewsrec"));
  }
  EXPECT_THAT(RunSource::open(folder / "nothing", {}, folder / "pack", {}, trainer::testing::any_data)
                  .error()
                  .message,
              HasSubstr("holds no run"));
}

class ServedRunServer : public ServedRuns {
 protected:
  ServedRunServer() {
    train_nrms(folder / "run");
    served.emplace(folder.path(), folder / "run");
  }
  std::optional<trainer::testing::RunServer> served;
};

TEST_F(ServedRunServer, ServesDevicesInAllThreeModes) {
  ASSERT_EQ(served->items(), dataset.item_count());
  served->expect_all_modes_agree({"N0", "N2"});
}

TEST_F(ServedRunServer, ANewArticleIsReadByTheModelAndFoundAtOnce) {
  const auto put = served->put({{"id", "fresh"},
                                {"title", "red fire number 4"},
                                {"abstract", ""},
                                {"category", "warm"},
                                {"published", trainer::testing::serving_now}});
  ASSERT_EQ(put.status, 200) << put.body;
  for (const nlohmann::json& query :
       {nlohmann::json{{"prototypes", {0}}}, nlohmann::json{{"coefficients", {0.2, 0.2, 0.2, 0.2, 0.2}}}}) {
    const auto scores = served->scores(query, 20);
    ASSERT_EQ(scores.size(), dataset.item_count() + 1);
    EXPECT_NEAR(scores.at("fresh"), scores.at("N4"), 1e-5) << "the same words, the same vector";
  }
}

// Trainers that this process has started: the fourth word of their stat, behind a name in parentheses.
std::vector<pid_t> trainers() {
  std::vector<pid_t> found;
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::ifstream stat(process.path() / "stat");
    std::string text;
    char state = 0;
    pid_t parent = 0;
    if (!std::getline(stat, text) || text.find("(sotto-trainer)") == std::string::npos) continue;
    std::istringstream rest(text.substr(text.rfind(')') + 1));
    if (rest >> state >> parent && parent == ::getpid()) found.push_back(std::stoi(text));
  }
  return found;
}

nlohmann::json late_article() {
  return {{"id", "late"},
          {"title", "red fire"},
          {"abstract", ""},
          {"category", "warm"},
          {"published", trainer::testing::serving_now}};
}

TEST_F(ServedRunServer, ARestartWithTheSameRunMakesNoPackAgain) {
  const std::string before = served->model();
  served.reset();
  const auto written = fs::last_write_time(folder / "run.pack");
  served.emplace(folder.path(), folder / "run");
  EXPECT_EQ(served->model(), before);
  EXPECT_EQ(fs::last_write_time(folder / "run.pack"), written);
  EXPECT_EQ(served->items(), dataset.item_count());
  EXPECT_TRUE(trainers().empty()) << "a trainer runs, and there is no article";
  const auto put = served->put(late_article());
  EXPECT_EQ(put.status, 200) << "the trainer is started when an article comes: " << put.body;

  served.reset();
  auto other =
      RunSource::open(folder / "run", {}, folder / "run.pack", {.prototypes = 5}, trainer::testing::any_data);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_NE(fs::last_write_time(folder / "run.pack"), written) << "other settings, another pack";
}

TEST_F(ServedRuns, DemandIsReleasedOncePerRunWithNoiseThatNobodyKnows) {
  train_nrms(folder / "run");
  fs::copy(folder / "run", folder / "copy", fs::copy_options::recursive);
  const auto pack_of = [&](const char* run, const char* pack) {
    const auto source = RunSource::open(folder / run, {}, folder / pack,
                                        {.prototypes = 4, .demand_epsilon = 1}, trainer::testing::any_data);
    EXPECT_TRUE(source) << source.error().message;
    return read_file(folder / pack).value();
  };
  const std::string first = pack_of("run", "first.pack");
  EXPECT_EQ(pack_of("run", "second.pack"), first) << "the release is kept with the run";
  EXPECT_NE(pack_of("copy", "copy.pack"), first) << "another release of the same readers has other noise";
  fs::remove(folder / "run" / "demand.json");
  EXPECT_NE(pack_of("run", "third.pack"), first);
  EXPECT_THAT(serving::privacy_of_run(folder / "run")->text,
              HasSubstr("demand, released 2 times: epsilon 2 per training reader"));
}

TEST_F(ServedRunServer, ATrainerThatDiesIsStartedAgain) {
  ASSERT_EQ(trainers().size(), 1U);
  for (const pid_t child : trainers()) ::kill(child, SIGKILL);
  (void)served->put(late_article());  // may meet the dead one
  const auto put = served->put(late_article());
  EXPECT_EQ(put.status, 200) << put.body;
}

TEST_F(ServedRunServer, AnArticleAfterTheRunWasReplacedUnreadIsReadByTheNewModelAlone) {
  const std::string before = served->model();
  served.reset();
  served.emplace(folder.path(), folder / "run");  // whose trainer never starts
  train_nrms(folder / "next", 2);
  fs::rename(folder / "run", folder / "old");
  fs::rename(folder / "next", folder / "run");
  fs::last_write_time(folder.path() / "run" / "best.sotto",
                      fs::last_write_time(folder.path() / "old" / "best.sotto") + std::chrono::seconds(5));
  EXPECT_TRUE(served->source->refresh().value());
  EXPECT_TRUE(served->server->tick(trainer::testing::serving_now + 5));
  ASSERT_NE(served->model(), before);
  EXPECT_NE(served->server->pool().of_version(before), nullptr);
  const auto put = served->put(late_article());
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(served->server->pool().of_version(before), nullptr) << "it cannot take the article";
}

TEST_F(ServedRunServer, ANewTrainingTakesOverWithoutAFailedRequest) {
  const std::string before = served->model();
  train_nrms(folder / "next", 2);
  std::atomic<bool> ending{false};
  std::atomic<int> answered{0}, failed{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&, i] {
      net::HttpClient client = served->client();
      while (!ending) {
        nlohmann::json query = {{"model", before}};
        if (i == 0) query["prototypes"] = {1};
        if (i == 1) query["coefficients"] = {0, 0.5, 0.5, 0, 0};
        const auto answer = client.post("/v1/recommend", query.dump(), net::json_type);
        (answer && answer->status == 200 ? answered : failed) += 1;
      }
    });
  }
  fs::rename(folder / "run", folder / "old");
  fs::rename(folder / "next", folder / "run");
  fs::last_write_time(folder.path() / "run" / "best.sotto",
                      fs::last_write_time(folder.path() / "old" / "best.sotto") + std::chrono::seconds(5));
  EXPECT_TRUE(served->source->refresh().value());
  EXPECT_TRUE(served->server->tick(trainer::testing::serving_now + 5));
  EXPECT_NE(served->model(), before);
  const int so_far = answered;
  while (answered < so_far + 20 && failed == 0) std::this_thread::yield();
  ending = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(failed, 0) << "devices with the pack before are answered";

  EXPECT_FALSE(served->source->refresh().value()) << "nothing new";
  auto transport = served->transport();
  device::Device reader = served->device("reader", "prototypes", "private");
  ASSERT_TRUE(reader.refresh(transport).value());
  EXPECT_EQ(reader.recommend(transport, 3)->source, device::Recommendations::Source::fresh_query);
}

}  // namespace
}  // namespace sotto::publish

#endif
