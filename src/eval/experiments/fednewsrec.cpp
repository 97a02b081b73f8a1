// The table and the figures of FedNewsRec (Qi et al. 2020).

#include <algorithm>
#include <cmath>

#include "eval/experiments/news_settings.h"
#include "eval/experiments/paper_experiments.h"

namespace sotto::eval {

namespace {

// FedNewsRec's rounds as printed: 2 % of those who train, which is half of the users; element-wise clipping
// and Laplace noise, one step of SGD.
Settings printed_fednewsrec(const GridContext& context) {
  return {"mode=paper", cohort_of(context, 0.01), "learning_rate=0.5", "element_clip=0.005", "laplace=0.015"};
}

}  // namespace

Result<Grid> fednewsrec_table2(const GridContext& context) {
  const Settings central = central_settings(context);
  const bool adressa = context.data == "Adressa";
  // The paper's columns of both data sets.
  const auto paper = [&](std::vector<PaperNumber> msn_news, std::vector<PaperNumber> of_adressa) {
    return adressa ? of_adressa : msn_news;
  };
  Grid grid;
  grid.title = "FedNewsRec, Table 2: methods compared";
  grid.about =
      "Half of the users train, all are tested. Central models see every click of those users; FedNewsRec "
      "is trained as printed (2 % of the users per round, element-wise clipping and Laplace noise), then "
      "without noise, then with noise that gives a guarantee. FCF learns a vector per item from clicks "
      "alone: of news that nobody clicked in training it knows nothing. Word vectors start at random unless "
      "--set glove=FILE is given. Beside an import of Adressa stand the paper's columns of Adressa, beside "
      "all other data those of MSN-News.";
  grid.paper_data = adressa ? "Adressa" : "MSN-News";
  grid.shared = news_settings(context, 1500) + Settings{"user_share=0.5"};
  grid.columns = news_columns();
  grid.stated = {"model", "element_clip", "laplace"};
  grid.plots = {{"auc", "Methods compared", "auc", "", "AUC, %"}};
  const Budget budget = Budget::of(context, 8, "published");
  grid.rows = {
      {"FM", "central", with_model("fm") + central, "",
       paper(paper_news(58.41, 27.19, 28.98, 34.57), paper_news(61.94, 26.59, 22.69, 32.17))},
      {"DFM", "central", with_model("dfm") + central, "",
       paper(paper_news(61.25, 28.68, 30.62, 36.38), paper_news(65.14, 34.74, 33.17, 39.79))},
      {"EBNR", "central", with_model("ebnr") + central, "",
       paper(paper_news(63.64, 29.50, 31.57, 37.38), paper_news(65.70, 30.23, 29.37, 36.38))},
      {"DKN", "central", with_model("dkn") + central, "",
       paper(paper_news(62.38, 29.40, 31.59, 37.27), paper_news(67.53, 32.33, 31.84, 39.96))},
      {"DAN", "central", with_model("dan") + central, "",
       paper(paper_news(62.54, 29.44, 31.67, 37.31), paper_news(64.03, 33.37, 31.61, 38.60))},
      {"NAML", "central", with_model("naml") + central, "",
       paper(paper_news(64.52, 30.93, 33.39, 39.07), paper_news(69.20, 35.18, 34.78, 42.34))},
      {"NPA", "central", with_model("npa") + central, "",
       paper(paper_news(64.29, 30.63, 33.11, 38.89), paper_news(66.70, 34.68, 33.72, 41.18))},
      {"NRMS", "central", with_model("nrms") + central, "",
       paper(paper_news(65.72, 31.85, 34.59, 40.25), paper_news(67.97, 33.16, 32.37, 40.41))},
      {"CenNewsRec", "central", with_model("fednewsrec") + central, "",
       paper(paper_news(66.45, 31.91, 34.62, 40.33), paper_news(71.02, 36.31, 35.73, 43.98))},
      {"FCF", "fcf", fcf_settings(context), "",
       paper(paper_news(51.03, 22.24, 22.97, 28.44), paper_news(53.33, 23.04, 20.24, 27.09))},
      {"FedNewsRec, as printed", "fednewsrec", printed_fednewsrec(context), "",
       paper(paper_news(64.65, 30.60, 33.03, 38.77), paper_news(69.91, 35.55, 33.74, 41.47))},
      {"FedNewsRec, no noise", "fedrec", federated_settings(context)},
      {"FedNewsRec, sound, " + budget.name(), "fednewsrec",
       sound_settings(context, budget) + Settings{cohort_of(context, 0.1), "optimiser=fedadam"}},
  };
  for (GridRow& row : sotto_rows(context, budget)) grid.rows.push_back(std::move(row));
  return grid;
}

Result<Grid> fednewsrec_users(const GridContext& context) {
  Grid grid;
  grid.title = "FedNewsRec, Figure 4: AUC by number of training users";
  grid.about =
      "Different numbers of users train, 2 % of them in every round; all are tested. The paper's figure has "
      "no printed values: AUC "
      "rises quickly up to some ten thousand users and slowly after.";
  grid.paper_data = "MSN-News";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.stated = {"user_share", "element_clip", "laplace"};
  grid.plots = {{"auc", "AUC by number of training users", "auc", "training users", "AUC, %", 100, true}};
  for (const std::int64_t users : user_numbers(context)) {
    const std::string share = user_share(context, users);
    // 2 % of those who train; a mean of fewer than two is one user's own.
    const std::int64_t most = context.pick<std::int64_t>(users, 150);
    const std::string cohort = fmt::format(
        "cohort={}", std::max<std::int64_t>(2, std::min<std::int64_t>(most, std::llround(0.02 * users))));
    grid.rows.push_back({fmt::format("{} users, as printed", users),
                         "fednewsrec",
                         printed_fednewsrec(context) + Settings{cohort, share},
                         "",
                         {},
                         "FedNewsRec as printed",
                         static_cast<double>(users)});
    grid.rows.push_back({fmt::format("{} users, no noise", users),
                         "fedrec",
                         federated_settings(context) + Settings{cohort, share, "validation_impressions=0"},
                         "",
                         {},
                         "without noise",
                         static_cast<double>(users)});
  }
  return grid;
}

Result<Grid> fednewsrec_lambda_delta(const GridContext& context) {
  Grid grid;
  grid.title = "FedNewsRec, Figure 5: noise scale λ and clipping bound δ";
  grid.about =
      "AUC and ε over a grid of λ and δ. The paper's ε = 2δ/λ holds for one coordinate of one upload. The ε "
      "of "
      "the noised gradients is what those of all rounds give away together, all coordinates of each, of a "
      "user whom nothing keeps from taking part in every round. It is not the ε of a user, which is none: "
      "the "
      "number of clicks is sent beside them without noise. The paper's figure has no printed values.";
  grid.paper_data = "MSN-News";
  grid.shared = news_settings(context, 1500) + Settings{"user_share=0.5"};
  grid.columns = news_columns();
  grid.columns.push_back({"epsilon_noised_part", "ε of the noised gradients alone", 1, 0, Better::lower});
  grid.stated = {"element_clip", "laplace"};
  grid.plots = {{"auc", "AUC", "auc", "λ", "AUC, %"},
                {"epsilon-claimed", "ε as the paper claims it", "epsilon_claimed", "λ", "claimed ε", 1},
                {"epsilon-noised", "ε of the noised gradients alone, all rounds together",
                 "epsilon_noised_part", "λ", "ε without the click counts", 1, false, true}};
  const auto lambdas =
      context.pick<std::vector<double>>({0.005, 0.01, 0.015, 0.02, 0.03}, {0.005, 0.015, 0.03});
  const auto deltas =
      context.pick<std::vector<double>>({0.001, 0.0025, 0.005, 0.0075, 0.01}, {0.001, 0.005, 0.01});
  for (const double delta : deltas) {
    for (const double lambda : lambdas) {
      const Settings noise = {fmt::format("element_clip={:g}", delta), fmt::format("laplace={:g}", lambda)};
      grid.rows.push_back({fmt::format("λ = {:g}", lambda),
                           "fednewsrec",
                           printed_fednewsrec(context) + noise,
                           fmt::format("δ = {:g}", delta),
                           {},
                           fmt::format("δ = {:g}", delta),
                           lambda});
    }
  }
  return grid;
}

Result<Grid> fednewsrec_convergence(const GridContext& context) {
  Grid grid;
  grid.title = "FedNewsRec, Figure 6: convergence for several shares r of users per round";
  grid.about =
      "Validation AUC and loss round by round. Impressions that validate are held out of training; the model "
      "that is tested is the best of the rounds looked at. The paper finds about 1,500 rounds for every r.";
  grid.paper_data = "MSN-News";
  const std::string validation = fmt::format("validation_impressions={}", context.pick(1000, 300));
  grid.shared = news_settings(context, 2000) +
                Settings{fmt::format("evaluate_every={}", context.pick(25, 5)), validation};
  grid.columns = news_columns();
  grid.columns.push_back({"converged_round", "rounds to converge", 1, 0, Better::lower});
  grid.stated = {"cohort", "element_clip", "laplace"};
  grid.plots = {
      {"convergence", "AUC by round", "auc", "round", "validation AUC, %", 100, false, false,
       PlotSource::rounds},
      {"loss", "Loss by round", "loss", "round", "training loss", 1, false, false, PlotSource::rounds}};
  for (const double share :
       context.pick<std::vector<double>>({0.005, 0.01, 0.02, 0.05}, {0.03, 0.06, 0.12})) {
    grid.rows.push_back({fmt::format("r = {:g} %, as printed", 100 * share), "fednewsrec",
                         printed_fednewsrec(context) + Settings{cohort_of(context, share)}});
    grid.rows.push_back({fmt::format("r = {:g} %, no noise", 100 * share), "fedrec",
                         federated_settings(context) + Settings{cohort_of(context, share), validation}});
  }
  return grid;
}

Result<Grid> fednewsrec_ablation(const GridContext& context) {
  Grid grid;
  grid.title = "FedNewsRec, Figure 7: long- and short-term interests";
  grid.about =
      "The user model with both parts, with self-attention over all clicks alone (long-term), and with the "
      "GRU over the latest clicks alone (short-term). The paper's figure has no printed values: both parts "
      "together are best.";
  grid.paper_data = "MSN-News";
  grid.shared = news_settings(context, 1500) + Settings{"user_share=0.5"};
  grid.columns = news_columns();
  grid.stated = {"interests", "model", "element_clip", "laplace"};
  grid.plots = {{"auc", "Parts of the user model", "auc", "", "AUC, %"}};
  for (const auto& [parts, label] :
       {std::pair{"both", "both"}, {"long", "long-term alone"}, {"short", "short-term alone"}}) {
    const Settings interests = {fmt::format("interests={}", parts)};
    grid.rows.push_back({label, "fednewsrec", printed_fednewsrec(context) + interests, "as printed"});
    grid.rows.push_back({label, "fedrec", federated_settings(context) + interests, "no noise"});
    grid.rows.push_back(
        {label, "central", with_model("fednewsrec") + central_settings(context) + interests, "central"});
  }
  return grid;
}

}  // namespace sotto::eval
