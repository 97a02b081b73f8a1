// DP-FedRec and queries from public categories from the command's point of view.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "eval/small_newsroom.h"
#include "privacy/accounting/gaussian_exact.h"
#include "privacy/mechanisms/private_attention.h"

namespace sotto::eval {
namespace {

using ::testing::HasSubstr;
using testing::refusal;
using testing::SmallNewsroom;

std::vector<std::string> small_nrms(std::vector<std::string> more) {
  for (const char* setting : {"cohort=30", "word_size=8", "heads=2", "head_size=4", "pooling_size=4",
                              "word_scale=0.3", "start=identity"})
    more.emplace_back(setting);
  return more;
}

TEST(DpFedRec, PaperModePrintsTheClaimAndWhatHolds) {
  const SmallNewsroom news;
  TrainJob job = news.job("dp-fedrec", "run", 3, small_nrms({"training_epsilon=10", "serving_epsilon=10"}));
  job.mode = "paper";
  const auto outcome = news.train(job);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->privacy);
  EXPECT_EQ(outcome->privacy->epsilon_claimed, 10);
  const double upload = 10 * std::sqrt(static_cast<double>(outcome->parameters));
  EXPECT_NEAR(outcome->privacy->epsilon_server.value() / (3 * upload), 1, 0.01) << "three rounds";
  // A user vector of 8 numbers: √8 times the claim.
  EXPECT_THAT(outcome->privacy->mechanism, HasSubstr("epsilon 28.2"));
  EXPECT_NEAR(outcome->test.mean.auc, 0.5, 0.06) << "so much noise leaves nothing";
  // The mean is one over users: nobody's number of clicks weighs in it, so nobody sends it.
  EXPECT_FALSE(outcome->privacy->epsilon_noised_part);
  EXPECT_THAT(outcome->privacy->server_sees, ::testing::Not(::testing::Contains(HasSubstr("clicks"))));
}

TEST(DpFedRec, PaperModeUploadsCarryLaplaceNoise) {
  const SmallNewsroom news(100);
  const auto loss_after = [&](const std::string& name, const std::string& epsilon) {
    TrainJob job = news.job(
        "dp-fedrec", name, 8,
        small_nrms({"training_epsilon=" + epsilon, "optimiser=sgd", "gradient_clip=1", "learning_rate=2"}));
    job.mode = "paper";
    const auto outcome = news.train(job);
    EXPECT_TRUE(outcome) << refusal(outcome);
    return outcome->summary.rounds.back().loss;
  };
  EXPECT_GT(loss_after("noisy", "0.1"), loss_after("hardly", "1000000") + 0.5);
}

TEST(DpFedRec, SoundModeKeepsItsBudgetAndQueriesTheirs) {
  const SmallNewsroom news;
  const auto outcome = news.train(news.job("dp-fedrec", "run", 2, small_nrms({"serving_epsilon=5"}), "8"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_LE(outcome->privacy->epsilon_published.value(), 8);
  EXPECT_FALSE(outcome->privacy->epsilon_claimed);
  EXPECT_THAT(outcome->privacy->mechanism, HasSubstr("epsilon 5 for the whole history"));
  EXPECT_THAT(refusal(news.train(news.job("dp-fedrec", "none", 2, small_nrms({})))),
              HasSubstr("give --epsilon"));
}

TEST(DpFedRec, NoiseOnUserVectorsCostsWhatTheyTell) {
  const SmallNewsroom news;
  const auto auc = [&](const std::string& name, const std::string& epsilon) {
    const auto outcome =
        news.train(news.job("dp-fedrec", name, 1, small_nrms({"serving_epsilon=" + epsilon}), "1000"));
    EXPECT_TRUE(outcome) << refusal(outcome);
    return outcome->test.mean.auc;
  };
  EXPECT_NEAR(auc("little", "0.001"), 0.5, 0.05);
  EXPECT_NEAR(auc("much", "100000"), auc("exact", "0"), 0.01);
}

// Padding allows less noise for one replaced click, so the whole history has more than what was asked for.
TEST(PrivateRecQueries, GaussianNoiseStatesWhatHoldsForTheWholeHistoryAsLaplaceDoes) {
  const SmallNewsroom news(60);
  const auto page = [&](const std::string& name, const std::string& mode, const std::string& noise) {
    TrainJob job =
        news.job("privaterec", name, 1, small_nrms({"serving_epsilon=4", "padding=0.5", "noise=" + noise}),
                 mode == "sound" ? "8" : "");
    job.mode = mode;
    const auto outcome = news.train(job);
    EXPECT_TRUE(outcome) << refusal(outcome);
    return *outcome->privacy;
  };
  for (const char* mode : {"sound", "paper"}) {
    const auto made =
        privacy::PrivateAttention::create(
            {std::string(mode) == "paper" ? privacy::GuaranteeMode::paper : privacy::GuaranteeMode::sound,
             privacy::NoiseKind::gaussian, 3, 1, 4, 1e-6, 0.5})
            .value();
    const auto noise = std::get<privacy::GaussianNoise>(made.whole_history().mechanism);
    const double holds = privacy::gaussian_epsilon(noise.noise_multiplier, 1e-6).value();
    EXPECT_GT(holds, 4.6) << mode;
    const auto sheet = page(std::string("gaussian-") + mode, mode, "gaussian");
    EXPECT_NEAR(sheet.epsilon_query.value(), holds, 1e-6) << mode;
    EXPECT_THAT(privacy::to_text(sheet), HasSubstr("each, on top of the training"));
    EXPECT_THAT(privacy::to_text(sheet), HasSubstr(fmt::format("{:.4g} at delta 1e-06 each", holds)));
    EXPECT_THAT(sheet.mechanism, HasSubstr(fmt::format("{:.4g} for the whole history", holds)));
    EXPECT_THAT(sheet.mechanism, HasSubstr("(asked for: 4) at delta 1e-06"));
  }
  EXPECT_GT(page("laplace", "sound", "laplace").epsilon_query.value(), 4.6);
}

TEST(PublicCategories, AreAllThatFreeQueriesRead) {
  const SmallNewsroom news;
  const auto& names = news.dataset.catalogue().category_names;
  std::string all, one;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    all += (all.empty() ? "" : ",") + std::string(names[i]);
    one = std::string(names[i]);
  }
  const auto outcome = [&](const std::string& name, std::vector<std::string> more) {
    auto trained = news.train(news.job("privaterec", name, 2, small_nrms(std::move(more)), "8"));
    EXPECT_TRUE(trained) << refusal(trained);
    return std::move(*trained);
  };
  const auto exact = outcome("exact", {}), everything = outcome("all", {"public_categories=" + all}),
             some = outcome("some", {"public_categories=" + one});
  EXPECT_NEAR(everything.test.mean.auc, exact.test.mean.auc, 1e-6);
  EXPECT_NE(some.test.mean.auc, exact.test.mean.auc);
  EXPECT_EQ(some.privacy->epsilon_query, 0);
  const auto again = evaluate_run(news.runs / "some", news.dataset);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_DOUBLE_EQ(std::get<metrics::MeanImpressionMetrics>(*again).mean.auc, some.test.mean.auc);
}

TEST(PublicCategories, RefuseNoiseAndUnknownNames) {
  const SmallNewsroom news(60);
  const auto& names = news.dataset.catalogue().category_names;
  const std::string real(names[names.size() - 1]);
  const auto refused = [&](std::vector<std::string> more) {
    return refusal(news.train(news.job("privaterec", "refused", 1, small_nrms(std::move(more)), "8")));
  };
  EXPECT_THAT(refused({"public_categories=" + real, "serving_epsilon=1"}), HasSubstr("serving_epsilon=0"));
  EXPECT_THAT(refused({"public_categories=" + real + "x"}), HasSubstr("did you mean '" + real + "'"));
}

// NRMS: heads times head_size; NAML: one number per filter, whatever the heads are.
TEST(PrivateRecBasis, HasNoMoreVectorsThanTheModelsVectorsHaveNumbers) {
  const SmallNewsroom news(60);
  const auto outcome = [&](const std::string& name, std::vector<std::string> settings) {
    return news.train(news.job("privaterec", name, 1, std::move(settings), "1000"));
  };
  const auto with_basis = [&](const char* basis) {
    return std::vector<std::string>{"model=naml",      "cohort=20",      "word_size=8", "filters=5",
                                    "category_size=4", "pooling_size=4", basis};
  };
  EXPECT_THAT(refusal(outcome("nrms", small_nrms({"basis_vectors=9"}))),
              HasSubstr("basis_vectors to at most 8"));
  EXPECT_THAT(refusal(outcome("naml", with_basis("basis_vectors=6"))),
              HasSubstr("basis_vectors to at most 5"));
  EXPECT_FALSE(fs::exists(news.runs / "naml")) << "nothing is left of a refused run";
  EXPECT_TRUE(outcome("fits", with_basis("basis_vectors=5")));
}

}  // namespace
}  // namespace sotto::eval
