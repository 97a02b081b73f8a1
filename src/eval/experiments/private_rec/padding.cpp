#include "eval/experiments/private_rec/experiments.h"
#include "eval/experiments/private_rec/private_rows.h"

namespace sotto {

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
  grid.extra = [serving](const Dataset&) -> Result<GridExtra> {
    GridExtra extra;
    extra.plots.emplace_back("noise", noise_plot(serving));
    extra.note = "The first plot of the figure: 1 / log((exp ε_s − p)/(1 − p)), for one replaced click.";
    return extra;
  };
  return grid;
}

}  // namespace sotto
