// The tables and figures of PrivateRec (Liu et al. 2022).

#include "eval/experiments/news_settings.h"
#include "eval/experiments/paper_experiments.h"
#include "privacy/accounting/account.h"
#include "privacy/mechanisms/private_attention.h"
#include "privacy/mechanisms/user_embedding_release.h"

namespace sotto::eval {

namespace {

struct PrivateRecPoint {
  int basis = 3;         // B
  double padding = 0.2;  // p
  double training_epsilon = INFINITY, serving_epsilon = INFINITY;
};

// The backbones of the tables, with the settings that choose them.
struct Backbone {
  std::string name;
  Settings settings;
  Settings devices = {};  // of rows that devices train
};

// What one query really gives away about the whole history.
Result<QueryEpsilon> query_epsilon(const PrivateRecPoint& point) {
  if (!std::isfinite(point.serving_epsilon)) return QueryEpsilon{point.serving_epsilon, std::nullopt};
  SOTTO_TRY(const auto attention,
            privacy::PrivateAttention::create({.mode = privacy::GuaranteeMode::paper,
                                               .noise = privacy::NoiseKind::laplace,
                                               .basis_vectors = static_cast<std::uint64_t>(point.basis),
                                               .clip = 1,
                                               .epsilon = point.serving_epsilon,
                                               .delta = 0,
                                               .padding = point.padding}));
  // What the sampler costs is below every digit shown.
  const privacy::PrivacyEvent event = privacy::drawn_exactly(attention.whole_history());
  SOTTO_TRY(const auto holds,
            privacy::account({&event, 1}, 0, privacy::Method::pure_composition, privacy::Adversary::server));
  return QueryEpsilon{point.serving_epsilon, holds.epsilon};
}

// The same for VDP's noisy user vector. Nothing is said when the user changed the size of vectors.
Result<QueryEpsilon> vector_epsilon(const GridContext& context, double epsilon) {
  for (const char* size : {"heads", "head_size", "filters", "vector_clip"})
    if (!context.option(size).empty()) return QueryEpsilon{epsilon, std::nullopt};
  if (!std::isfinite(epsilon)) return QueryEpsilon{epsilon, std::nullopt};
  SOTTO_TRY(const auto release, privacy::UserEmbeddingRelease::create({.mode = privacy::GuaranteeMode::paper,
                                                                       .noise = privacy::NoiseKind::laplace,
                                                                       .dimension = user_vector_size(context),
                                                                       .clip = 0.001,
                                                                       .epsilon = epsilon}));
  const privacy::MechanismStatement statement = release.statement();
  if (!statement.holds) return QueryEpsilon{epsilon, std::nullopt};
  const privacy::PrivacyEvent event = privacy::drawn_exactly(*statement.holds);
  SOTTO_TRY(const auto holds,
            privacy::account({&event, 1}, 0, privacy::Method::pure_composition, privacy::Adversary::server));
  return QueryEpsilon{epsilon, holds.epsilon};
}

// PrivateRec's training as printed at this point, θ = 1; serving noise comes with the test. Rows that differ
// in the serving ε share a run.
Result<GridRow> private_rec_row(const GridContext& context, const PrivateRecPoint& point, std::string label) {
  GridRow row{std::move(label),
              "privaterec",
              {"mode=paper", context.quick ? "cohort=50" : cohort_of(context, 0.02), federated_rate(context),
               fmt::format("basis_vectors={}", point.basis), fmt::format("padding={:g}", point.padding),
               "noise=laplace", "weight_clip=1",
               fmt::format("training_epsilon={}", epsilon_setting(point.training_epsilon))}};
  row.at_test = {fmt::format("serving_epsilon={}", epsilon_setting(point.serving_epsilon))};
  SOTTO_TRY(row.query, query_epsilon(point));
  return row;
}

// DP-FedRec as printed: Laplace noise on gradients clipped to an L2 norm, and on the user vector of a query
// (VDP). What one query gives away is stated for the experiment's own size of a user vector.
Result<GridRow> dp_fedrec_row(const GridContext& context, double training_epsilon, double serving_epsilon) {
  GridRow row{fmt::format("DP-FedRec, ε_t = {}, ε_s = {}", epsilon_name(training_epsilon),
                          epsilon_name(serving_epsilon)),
              "dp-fedrec",
              {"mode=paper", context.quick ? "cohort=50" : cohort_of(context, 0.02), federated_rate(context),
               fmt::format("training_epsilon={}", epsilon_setting(training_epsilon))}};
  // Not a setting of the test alone: the noise wraps the model, and a run remembers it.
  row.settings.push_back(fmt::format("serving_epsilon={}", epsilon_setting(serving_epsilon)));
  SOTTO_TRY(row.query, vector_epsilon(context, serving_epsilon));
  return row;
}

std::vector<Backbone> backbones(const GridContext& context) {
  return {{"NAML", with_model("naml")},
          {"NRMS", with_model("nrms")},
          {"PLM-NR", with_model("plm-nr") + bert_settings(context), bert_devices(context)}};
}

struct Numbers {
  std::vector<PaperNumber> central, federated, dp_fedrec, private_rec;
};

}  // namespace

Result<Grid> privaterec_table1(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Table 1: private training";
  grid.about =
      "Three backbones, served without noise. In the paper's mode no ε holds for training: gradients below "
      "the noise are computed from raw histories. The sound row trains under user-level noise. θ = 1, k = 4 "
      "and the learning rates are ours, the paper's are in an appendix that was not published. BERT has "
      "random weights unless --set bert=FOLDER is given.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.stated = {"model"};
  grid.plots = {{"auc", "NAML, NRMS, PLM-NR", "auc", "", "AUC, %"}};
  const Numbers printed[] = {
      {paper_news(65.35, 31.36, 33.82, 39.55), paper_news(63.04, 29.93, 32.08, 37.75),
       paper_news(55.31, 24.88, 25.91, 31.52), paper_news(57.51, 26.27, 27.76, 33.34)},
      {paper_news(65.82, 31.68, 34.29, 39.99), paper_news(62.80, 29.59, 31.66, 37.32),
       paper_news(54.59, 24.75, 25.64, 31.28), paper_news(58.32, 26.56, 27.93, 33.67)},
      {paper_news(67.08, 32.49, 35.21, 40.94), paper_news(66.05, 31.72, 34.28, 40.05),
       paper_news(54.87, 24.45, 25.51, 31.18), paper_news(58.75, 26.70, 28.22, 33.90)},
  };
  std::size_t place = 0;
  const Budget budget = Budget::of(context, 10, "published");
  for (const Backbone& backbone : backbones(context)) {
    const Numbers& paper = printed[place++];
    grid.rows.push_back({"Centralized", "central", central_settings(context) + backbone.settings,
                         backbone.name, paper.central});
    grid.rows.push_back({"FedRec, ε_t = ∞", "fedrec",
                         federated_settings(context) + backbone.settings + backbone.devices, backbone.name,
                         paper.federated});
    SOTTO_TRY(auto baseline, dp_fedrec_row(context, 10, INFINITY));
    baseline.group = backbone.name;
    baseline.settings = baseline.settings + backbone.settings + backbone.devices;
    baseline.paper = paper.dp_fedrec;
    grid.rows.push_back(std::move(baseline));
    SOTTO_TRY(auto private_rec, private_rec_row(context, {.training_epsilon = 10}, "PrivateRec, ε_t = 10"));
    private_rec.group = backbone.name;
    private_rec.settings = private_rec.settings + backbone.settings + backbone.devices;
    private_rec.paper = paper.private_rec;
    grid.rows.push_back(std::move(private_rec));
    grid.rows.push_back({"PrivateRec, sound, " + budget.name(), "privaterec",
                         sound_settings(context, budget) + Settings{cohort_of(context, 0.1)} +
                             backbone.settings + backbone.devices,
                         backbone.name});
  }
  for (GridRow& row : sotto_rows(context, budget)) grid.rows.push_back(std::move(row));
  return grid;
}

Result<Grid> privaterec_table2(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Table 2: private serving";
  grid.about =
      "Three backbones trained at ε_t and asked with ε_s = 10 per query; DP-FedRec also trained without "
      "noise. "
      "The paper's sensitivity is too "
      "small: what a query really gives away about the whole history stands beside its claim. "
      "'serving-epsilon' compares more mechanisms at equal, true ε.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.stated = {"model", "basis_vectors", "padding", "noise", "weight_clip"};
  grid.plots = {{"auc", "NAML, NRMS, PLM-NR", "auc", "", "AUC, %"}};
  const std::vector<PaperNumber> printed[] = {paper_news(57.52, 26.39, 27.88, 33.45),
                                              paper_news(57.00, 26.15, 27.49, 32.74),
                                              paper_news(58.69, 26.37, 27.75, 33.57)};
  const std::vector<PaperNumber> without_noise[] = {paper_news(50.32, 22.75, 23.41, 28.94),
                                                    paper_news(50.23, 22.79, 23.44, 28.98),
                                                    paper_news(50.59, 22.61, 23.18, 28.78)};
  const std::vector<PaperNumber> dp_fedrec[] = {paper_news(50.11, 22.69, 23.31, 28.83),
                                                paper_news(50.19, 22.71, 23.34, 28.87),
                                                paper_news(50.03, 22.17, 22.70, 28.26)};
  std::size_t place = 0;
  for (const Backbone& backbone : backbones(context)) {
    for (const double serving : {10.0, double{INFINITY}}) {
      SOTTO_TRY(auto row,
                private_rec_row(context, {.training_epsilon = 10, .serving_epsilon = serving},
                                fmt::format("PrivateRec, ε_t = 10, ε_s = {}", epsilon_name(serving))));
      row.group = backbone.name;
      row.settings = row.settings + backbone.settings + backbone.devices;
      if (std::isfinite(serving)) row.paper = printed[place];
      grid.rows.push_back(std::move(row));
    }
    for (const double training : {double{INFINITY}, 10.0}) {
      SOTTO_TRY(auto baseline, dp_fedrec_row(context, training, 10));
      baseline.group = backbone.name;
      baseline.settings = baseline.settings + backbone.settings + backbone.devices;
      baseline.paper = std::isfinite(training) ? dp_fedrec[place] : without_noise[place];
      grid.rows.push_back(std::move(baseline));
    }
    ++place;
  }
  return grid;
}

Result<Grid> privaterec_serving_epsilon(const GridContext& context) {
  constexpr double none = INFINITY;
  Grid grid;
  grid.title = "PrivateRec, Figure 4: AUC by the ε of a query";
  grid.about =
      "PrivateRec with B = 5, trained at several ε_t and asked at several ε_s, as printed, and DP-FedRec "
      "trained without noise (ε_t = ∞, as in the figure); ε_s = ∞ stands at 100 on the axis. All three "
      "backbones, of a quick run NRMS alone. The paper's figure has no printed values. 'serving-epsilon' "
      "shows "
      "PrivateRec's "
      "mechanism beside others at equal, true ε, and with re-ranking on the device.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.stated = {"model", "basis_vectors", "padding", "noise", "weight_clip"};
  grid.plots = {
      {"auc", "AUC by the ε of a query", "auc", "claimed ε_s of one query (∞ at 100)", "AUC, %", 100, true}};
  const auto serving_epsilons =
      context.pick<std::vector<double>>({.001, .01, .1, 1, 5, 10, none}, {.001, .1, 1, 10, none});
  const auto add = [&](GridRow row, const Backbone& backbone, const std::string& curve, double serving) {
    row.label = fmt::format("ε_s = {}", epsilon_name(serving));
    row.group = row.series = fmt::format("{}, {}", backbone.name, curve);
    row.settings = row.settings + backbone.settings + backbone.devices;
    row.x = axis_epsilon(serving);
    grid.rows.push_back(std::move(row));
  };
  for (const Backbone& backbone : backbones(context)) {
    if (context.quick && backbone.name != "NRMS") continue;
    for (const double training : context.pick<std::vector<double>>({1, 10, 20, none}, {1, 10, none})) {
      for (const double padding : context.pick<std::vector<double>>({0.2, 0.5}, {0.5})) {
        for (const double serving : serving_epsilons) {
          SOTTO_TRY(auto row, private_rec_row(context, {5, padding, training, serving}, ""));
          add(std::move(row), backbone, fmt::format("ε_t = {}, p = {:g}", epsilon_name(training), padding),
              serving);
        }
      }
    }
    for (const double serving : serving_epsilons) {
      SOTTO_TRY(auto row, dp_fedrec_row(context, none, serving));
      add(std::move(row), backbone, "DP-FedRec", serving);
    }
  }
  return grid;
}

namespace {

// The scale of Laplace noise that the paper needs for a query at (ε, p), relative to its sensitivity.
Plot noise_plot(const std::vector<double>& serving) {
  Plot plot;
  plot.title = "Noise that a query needs, by share of padded clicks";
  plot.x_label = "padding p";
  plot.y_label = "scale of the noise / sensitivity";
  plot.log_y = true;
  plot.width = 760;
  plot.height = 420;
  for (const double epsilon : serving) {
    PlotSeries series{fmt::format("ε_s = {:g}", epsilon), SeriesStyle::line, {}, {}, {}};
    for (int percent = 0; percent <= 95; percent += 5) {
      const double p = percent / 100.0;
      series.x.push_back(p);
      series.y.push_back(1 / std::log((std::exp(epsilon) - p) / (1 - p)));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace

Result<Grid> privaterec_padding(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Figure 5: padding the history";
  grid.about =
      "A click is replaced by a blank item with probability p before anything is computed, which allows "
      "less noise for one replaced click. For the whole history, which is what the true ε here is about, "
      "padding allows nothing: the true ε grows with p. The paper finds p = 0.5 best for B = 5 and p = 0.2 "
      "for B = 3.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.stated = {"basis_vectors", "padding", "noise", "weight_clip"};
  grid.plots = {{"auc", "AUC by share of padded clicks", "auc", "padding p", "AUC, %"}};
  const auto serving = context.pick<std::vector<double>>({0.1, 1, 10}, {1, 10});
  for (const int basis : {3, 5}) {
    for (const double epsilon : serving) {
      for (const double padding :
           context.pick<std::vector<double>>({0, 0.2, 0.5, 0.8, 0.9}, {0, 0.2, 0.5, 0.8})) {
        SOTTO_TRY(auto row,
                  private_rec_row(context, {basis, padding, 10, epsilon}, fmt::format("p = {:g}", padding)));
        row.group = row.series = fmt::format("B = {}, ε_s = {:g}", basis, epsilon);
        row.x = padding;
        grid.rows.push_back(std::move(row));
      }
    }
  }
  grid.extra = [serving](const data::Dataset&) -> Result<GridExtra> {
    GridExtra extra;
    extra.plots.emplace_back("noise", noise_plot(serving));
    extra.note = "The first plot of the figure: 1 / log((exp ε_s − p)/(1 − p)), for one replaced click.";
    return extra;
  };
  return grid;
}

Result<Grid> privaterec_training_epsilon(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Figure 6: AUC by the ε of training";
  grid.about =
      "PrivateRec as printed, where no ε holds, and in sound mode, where ε is the budget of one user for "
      "the whole training; both served without noise. ∞ stands at 100 on the axis. The paper has AUC 61.35 "
      "at ε_t = 5 on its own NewsFeeds data.";
  grid.paper_data = "NewsFeeds";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.plots = {{"auc", "AUC by the ε of training", "auc", "ε_t, or ε of the whole training (∞ at 100)",
                 "AUC, %", 100, true}};
  for (const double epsilon : {1.0, 5.0, 10.0, 20.0, double{INFINITY}}) {
    SOTTO_TRY(auto row, private_rec_row(context, {5, 0.5, epsilon, INFINITY},
                                        fmt::format("as printed, ε_t = {}", epsilon_name(epsilon))));
    row.series = "PrivateRec as printed";
    row.x = axis_epsilon(epsilon);
    if (epsilon == 5) row.paper = {{"auc", 0.6135}};
    grid.rows.push_back(std::move(row));
    if (!std::isfinite(epsilon)) continue;
    SOTTO_TRY(auto baseline, dp_fedrec_row(context, epsilon, INFINITY));
    baseline.series = "DP-FedRec as printed";
    baseline.x = epsilon;
    grid.rows.push_back(std::move(baseline));
  }
  for (const Budget& budget : Budget::each_of(context, {1, 5, 10, 20}, "published"))
    grid.rows.push_back(
        {"sound, " + budget.name(),
         "privaterec",
         sound_settings(context, budget) + Settings{cohort_of(context, 0.1), "basis_vectors=5"},
         "",
         {},
         "PrivateRec, sound, " + budget.against,
         budget.epsilon});
  grid.rows.push_back({"FedRec, no noise",
                       "fedrec",
                       federated_settings(context) + Settings{"model=nrms"},
                       "",
                       {},
                       "FedRec, no noise",
                       axis_epsilon(INFINITY)});
  return grid;
}

Result<Grid> privaterec_basis(const GridContext& context) {
  Grid grid;
  grid.title = "PrivateRec, Figure 7: number of basis vectors";
  grid.about =
      "Training as printed at ε_t = 10 and without noise, served without noise. The paper finds B = 3 best, "
      "and B = 5 without noise as good as FedRec. Its figure has no printed values.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.stated = {"basis_vectors"};
  grid.plots = {{"auc", "AUC by number of basis vectors", "auc", "basis vectors B", "AUC, %", 100, true}};
  for (const double epsilon : {10.0, double{INFINITY}}) {
    for (const int basis : context.pick<std::vector<int>>({2, 3, 5, 10, 20, 50}, {2, 3, 5, 20})) {
      SOTTO_TRY(auto row,
                private_rec_row(context, {basis, 0.2, epsilon, INFINITY}, fmt::format("B = {}", basis)));
      row.group = row.series = fmt::format("ε_t = {}", epsilon_name(epsilon));
      row.x = basis;
      grid.rows.push_back(std::move(row));
    }
  }
  grid.rows.push_back({"FedRec", "fedrec", federated_settings(context) + Settings{"model=nrms"}, "no basis"});
  return grid;
}

namespace {

// By ε_s: the best ε_t with noise against training without.
std::string claim_tested(const std::vector<GridResult>& results) {
  std::string text =
      "The claim: a model trained with moderate noise answers private queries better than one trained "
      "without. ";
  std::vector<std::string> groups;
  for (const GridResult& result : results)
    if (groups.empty() || groups.back() != result.row.group) groups.push_back(result.row.group);
  for (const std::string& group : groups) {
    const GridResult *best = nullptr, *without = nullptr;
    for (const GridResult& result : results) {
      if (result.row.group != group || result.has_diverged()) continue;
      if (result.row.x == axis_epsilon(INFINITY))
        without = &result;
      else if (best == nullptr || result.mean("auc").mean > best->mean("auc").mean)
        best = &result;
    }
    if (best == nullptr || without == nullptr) continue;
    const MeanAndError noisy = best->mean("auc"), clean = without->mean("auc");
    const double gain = 100 * (noisy.mean - clean.mean), error = 100 * std::hypot(noisy.error, clean.error);
    text += fmt::format("At {}: {} gives {:+.2f} AUC points{} against training without noise. ", group,
                        best->row.label, gain,
                        std::isfinite(error) ? fmt::format(" ± {:.2f}", error) : " (one seed)");
  }
  return text + "The best of several ε_t is taken, which favours the claim a little.";
}

}  // namespace

Result<Grid> privaterec_noise_helps(const GridContext& context) {
  constexpr double none = INFINITY;
  Grid grid;
  grid.title = "PrivateRec: does noise in training help private serving?";
  grid.about =
      "Models trained at several ε_t (as printed, B = 5, p = 0.5) and asked at several ε_s. ε_t = ∞ stands "
      "at 100 on the axis.";
  grid.paper_data = "MIND-small";
  grid.shared = news_settings(context, 1500);
  grid.columns = news_columns();
  grid.stated = {"basis_vectors", "padding", "noise", "weight_clip"};
  grid.plots = {
      {"auc", "AUC by the noise in training", "auc", "ε_t of training (∞ at 100)", "AUC, %", 100, true}};
  grid.verdict = claim_tested;
  for (const double serving : {0.1, 1.0, 10.0, none}) {
    for (const double training : {1.0, 5.0, 10.0, 20.0, none}) {
      SOTTO_TRY(auto row, private_rec_row(context, {5, 0.5, training, serving},
                                          fmt::format("ε_t = {}", epsilon_name(training))));
      row.group = row.series = fmt::format("ε_s = {}", epsilon_name(serving));
      row.x = axis_epsilon(training);
      grid.rows.push_back(std::move(row));
    }
  }
  return grid;
}

}  // namespace sotto::eval
