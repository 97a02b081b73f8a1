// Runs of the flagship's model as they are served: item vectors from the catalogue's words, a user model of a
// few numbers on the device.

#ifdef SOTTO_HAVE_NET

#include "eval/small_newsroom.h"
#include "trainer/run_server.h"

namespace sotto::publish {
namespace {

using publish::open_served_run;

class ServedFlagship : public ::testing::Test {
 protected:
  // Relative to the newsroom's folder of runs.
  void train(const std::string& recipe, const std::string& out, std::vector<std::string> assignments,
             const std::string& epsilon = "") {
    assignments.emplace_back("vector_size=12");
    auto job = news.job(recipe, out, 4, std::move(assignments), epsilon);
    job.data = news.data / "news";
    const auto trained = news.train(job);
    ASSERT_TRUE(trained) << trained.error().message;
  }
  void train_flagship() { train("sotto", "run", {"personal_steps=3"}, "8"); }

  const eval::testing::SmallNewsroom news;
  const data::Dataset& dataset = news.dataset;
};

TEST_F(ServedFlagship, ADeviceComputesTheUserVectorsOfTheSharedModel) {
  train_flagship();
  train("central", "central", {"model=catalogue"});
  train("fedrec", "fedrec", {"model=catalogue", "cohort=20"});
  std::vector<data::ItemId> long_history(60);
  for (std::size_t i = 0; i < long_history.size(); ++i) long_history[i] = static_cast<data::ItemId>(i * 3);
  for (const char* run : {"run", "central", "fedrec"}) {
    const auto served = open_served_run(news.runs / run, dataset, {.prototypes = 8, .basis_vectors = 5});
    ASSERT_TRUE(served) << run << ": " << served.error().message;
    EXPECT_TRUE(device::check(served->pack));
    EXPECT_EQ(served->pack.user_model.kind, "catalogue");
    EXPECT_EQ(served->pack.dimension, 12U);
    EXPECT_EQ(served->pack.prototypes.rows(), 8U);
    const auto most = served->pack.user_model.max_history;
    const auto newest = long_history.end() - std::min<std::ptrdiff_t>(most, std::ssize(long_history));
    trainer::testing::expect_users_of_the_model(
        served->pack, news.runs / run, dataset,
        {{}, {3}, {7, 7}, {0, 2, 4, 199}, {newest, long_history.end()}});
  }
}

TEST_F(ServedFlagship, ThePackHoldsNothingOfAnyReadersOwn) {
  train_flagship();
  train("sotto", "again", {"personal_steps=0"}, "8");
  const auto adapting = open_served_run(news.runs / "run", dataset, {.prototypes = 4});
  const auto sharing = open_served_run(news.runs / "again", dataset, {.prototypes = 4});
  ASSERT_TRUE(adapting && sharing);
  EXPECT_EQ(adapting->pack, sharing->pack) << "adaptation on the devices shows in what all of them get";
}

TEST_F(ServedFlagship, ServesDevicesInAllThreeModes) {
  train_flagship();
  trainer::testing::RunServer served(news.runs.path(), news.runs / "run");
  ASSERT_EQ(served.items(), dataset.item_count());
  EXPECT_EQ(served.model().size(), 64U) << "a hash of what it holds";
  const auto& ids = dataset.catalogue().ids;
  served.expect_all_modes_agree({std::string(ids[5]), std::string(ids[17]), std::string(ids[5])});
}

TEST_F(ServedFlagship, ANewArticleIsReadInTheWordsOfTheRun) {
  train_flagship();
  trainer::testing::RunServer served(news.runs.path(), news.runs / "run");
  const data::Catalogue& catalogue = dataset.catalogue();
  const auto put = served.put({{"id", "fresh"},
                               {"title", catalogue.titles[40]},
                               {"abstract", catalogue.abstracts[40]},
                               {"category", "never heard of"},
                               {"published", trainer::testing::serving_now}});
  ASSERT_EQ(put.status, 200) << put.body;
  for (const nlohmann::json& query :
       {nlohmann::json{{"prototypes", {1}}}, nlohmann::json{{"coefficients", {0.1, 0.3, 0.2, 0.2, 0.2}}}}) {
    const auto scores = served.scores(query, 300);
    ASSERT_EQ(scores.size(), dataset.item_count() + 1);
    EXPECT_NEAR(scores.at("fresh"), scores.at(std::string(catalogue.ids[40])), 1e-5)
        << "the same words, the same vector";
  }
  auto transport = served.transport();
  ASSERT_TRUE(served.server->tick(trainer::testing::serving_now + 5)) << "a new pack is due";
  device::Device reader = served.device("reader", "prototypes", "local");
  ASSERT_TRUE(reader.refresh(transport).value());
  EXPECT_TRUE(reader.click("fresh"));
}

}  // namespace
}  // namespace sotto::publish

#endif
