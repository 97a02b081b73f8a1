#include <array>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/make_folder.h"
#include "base/settings.h"
#include "data/dataset.h"
#include "data/newsroom/newsroom.h"
#include "eval/experiments/experiment.h"
#include "eval/experiments/grid/run_grid.h"
#include "eval/experiments/news_settings.h"
#include "eval/experiments/paper_experiments.h"

namespace sotto::eval {

namespace {

using MakeGrid = Result<Grid> (*)(const GridContext&);

constexpr ExperimentEntry fednewsrec(std::string_view name, std::string_view shows, MakeGrid grid) {
  return {name, "FedNewsRec", shows, DataNeed::news, grid};
}
constexpr ExperimentEntry efficient(std::string_view name, std::string_view shows, MakeGrid grid) {
  return {name, "Efficient-FedRec", shows, DataNeed::news, grid};
}
constexpr ExperimentEntry private_rec(std::string_view name, std::string_view shows, MakeGrid grid) {
  return {name, "PrivateRec", shows, DataNeed::news, grid};
}
constexpr ExperimentEntry privrec(std::string_view name, std::string_view shows, MakeGrid grid) {
  return {name, "PrivRec and DP-PrivRec", shows, DataNeed::interactions, grid};
}

}  // namespace

std::span<const ExperimentEntry> experiments() {
  static constexpr std::array entries = {
      fednewsrec("fednewsrec-table2", "Table 2: methods compared", &fednewsrec_table2),
      fednewsrec("fednewsrec-users", "Figure 4: AUC by number of training users", &fednewsrec_users),
      fednewsrec("fednewsrec-lambda-delta", "Figure 5: AUC, claimed and true epsilon by noise and clipping",
                 &fednewsrec_lambda_delta),
      fednewsrec("fednewsrec-convergence", "Figure 6: AUC by round for several cohorts",
                 &fednewsrec_convergence),
      fednewsrec("fednewsrec-ablation", "Figure 7: long- and short-term interests", &fednewsrec_ablation),
      efficient("efficient-table2", "Table 2: methods compared", &efficient_table2),
      efficient("efficient-cost", "Figure 3: what a client sends, receives and computes", &efficient_cost),
      efficient("efficient-bert-sizes", "Table 3: cost by size of BERT; AUC where weights are given",
                &efficient_bert_sizes),
      efficient("efficient-group-size", "Figure 4: union, rounds, bytes and secure aggregation by group",
                &efficient_group_size),
      efficient("efficient-users", "Figure 5: AUC by number of training users", &efficient_users),
      private_rec("privaterec-table1", "Table 1: private training, three backbones", &privaterec_table1),
      private_rec("privaterec-table2", "Table 2: private serving, three backbones", &privaterec_table2),
      private_rec("privaterec-serving-epsilon", "Figure 4: AUC by the epsilon of a query",
                  &privaterec_serving_epsilon),
      private_rec("privaterec-padding", "Figure 5: noise and AUC by share of padded clicks",
                  &privaterec_padding),
      private_rec("privaterec-training-epsilon", "Figure 6: AUC by the epsilon of training",
                  &privaterec_training_epsilon),
      private_rec("privaterec-basis", "Figure 7: AUC by number of basis vectors", &privaterec_basis),
      private_rec("privaterec-noise-helps", "Claim: noise in training helps private serving",
                  &privaterec_noise_helps),
      privrec("privrec-movielens", "Table 1: systems compared", &privrec_movielens),
      privrec("privrec-frappe", "Table 2: systems compared, log rows and distinct pairs", &privrec_frappe),
      privrec("privrec-sweeps", "Figure 2: rounds, local epochs and users per round", &privrec_sweeps),
      privrec("privrec-dp", "Figures 3 and 4: what differential privacy costs", &privrec_dp),
      privrec("privrec-gamma-clip", "Clipping quantile and first bound of DP-PrivRec", &privrec_gamma_clip),
      privrec("privrec-activity", "Claim: inactive users gain most", &privrec_activity),
      privrec("privrec-no-proximal", "Claim: the proximal term helps", &privrec_no_proximal),
      ExperimentEntry{"privrec-accountant", "PrivRec and DP-PrivRec",
                      "Tables 3 and 4: epsilon by cohort and delta, reproduced and corrected", DataNeed::none,
                      nullptr, &privrec_accountant},
      ExperimentEntry{"population", "Sotto",
                      "What privacy costs as the population grows, with and without noise", DataNeed::news,
                      &population},
      ExperimentEntry{"serving-epsilon", "Sotto",
                      "Private serving by true epsilon, every mechanism, with and without re-ranking on the "
                      "device",
                      DataNeed::news, nullptr, &run_serving_epsilon, true},
  };
  return entries;
}

Result<const ExperimentEntry*> find_experiment(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& entry : experiments()) {
    if (entry.name == name) return &entry;
    names.emplace_back(entry.name);
  }
  if (const auto near = nearest(name, names))
    return bad_input("unknown experiment '{}'; did you mean '{}'? --list names them all", name, *near);
  return bad_input("unknown experiment '{}'; --list names them all", name);
}

namespace {

constexpr std::int64_t quick_readers = 1500, quick_news = 800;

// A newsroom of its own, made once.
Result<fs::path> quick_newsroom(const fs::path& out) {
  const fs::path data = out / "newsroom";
  if (fs::exists(data / "dataset.sotto")) return data;
  data::NewsroomSettings newsroom;
  newsroom.users = quick_readers;
  newsroom.news = quick_news;
  info("no --data: a newsroom of {} readers and {} news items", newsroom.users, newsroom.news);
  SOTTO_CHECK(make_folder(out));
  SOTTO_TRY(const auto report, data::generate_newsroom(newsroom, data));
  (void)report;
  return data;
}

Result<fs::path> data_for(const ExperimentEntry& entry, const ExperimentRequest& request) {
  if (!request.data.empty()) return request.data;
  if (entry.needs == DataNeed::news) {
    if (request.quick) return quick_newsroom(request.out);
    return bad_input(
        "'{}' needs --data DIR: news with text and impressions. Make a set with 'sotto data generate "
        "newsroom --out DIR' or 'sotto data import mind|adressa SOURCE --out DIR', or look at a small one "
        "with --quick",
        entry.name);
  }
  return bad_input(
      "'{}' needs --data DIR: ratings or a usage log. Download MovieLens-1M or Frappe and import it with "
      "'sotto data import movielens ml-1m --out DIR' or 'sotto data import frappe FOLDER --out DIR'",
      entry.name);
}

Status check_kind(const ExperimentEntry& entry, const data::Dataset& dataset) {
  if (entry.needs == DataNeed::news && !dataset.has_impressions())
    return bad_input(
        "{} has no impressions: '{}' ranks what readers were shown. Give it a set made by 'sotto data "
        "generate newsroom' or 'sotto data import mind|adressa'",
        dataset.name(), entry.name);
  if (entry.needs == DataNeed::interactions && !dataset.has_interactions())
    return bad_input(
        "{} has no interactions: '{}' needs ratings or a usage log. Give it a set made by 'sotto data "
        "import movielens|frappe'",
        dataset.name(), entry.name);
  return {};
}

}  // namespace

std::string_view describe(DataNeed need) {
  switch (need) {
    case DataNeed::news:
      return "news";
    case DataNeed::interactions:
      return "interactions";
    default:
      return "no data";
  }
}

Result<ExperimentResult> run_experiment(const ExperimentEntry& entry, const ExperimentRequest& request) {
  if (!request.run.empty() && !entry.takes_run)
    return bad_input("'{}' trains its own runs: leave out --run", entry.name);
  if (entry.needs == DataNeed::none) return entry.run(request);
  ExperimentRequest ready = request;
  SOTTO_TRY(ready.data, data_for(entry, request));
  SOTTO_TRY(const auto dataset, data::Dataset::open(ready.data));
  SOTTO_CHECK(check_kind(entry, dataset));
  if (entry.grid == nullptr) return entry.run(ready);
  const GridContext context = context_of(dataset, ready);
  SOTTO_CHECK(check_width(context));
  SOTTO_TRY(Grid grid, entry.grid(context));
  if (entry.needs == DataNeed::news) grid.options.emplace_back("width");
  return run_grid(grid, entry.name, ready, dataset);
}

}  // namespace sotto::eval
