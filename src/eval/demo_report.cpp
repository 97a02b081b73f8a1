#include "eval/demo_report.h"

#include <cmath>

#include "data/describe.h"
#include "eval/report.h"

namespace sotto {

namespace {

ReportTable result_table(const DemoResult& result) {
  ReportTable table;
  table.columns = {{"system", Better::neither},  {"AUC", Better::neither},
                   {"MRR", Better::neither},     {"nDCG@5", Better::neither},
                   {"nDCG@10", Better::neither}, {"of best", Better::neither},
                   {"ε", Better::neither},       {"bytes per client", Better::neither},
                   {"seconds", Better::neither}};
  for (const auto& row : result.rows)
    table.rows.push_back(
        {TableCell::words(row.system), TableCell::number(100 * row.metrics.auc, 2),
         TableCell::number(100 * row.metrics.mrr, 2), TableCell::number(100 * row.metrics.ndcg5, 2),
         TableCell::number(100 * row.metrics.ndcg10, 2),
         TableCell::words(fmt::format("{:.0f} %", 100 * row.share)), TableCell::words(row.epsilon),
         TableCell::number(row.bytes_per_client, 0), TableCell::number(row.seconds, 1)});
  return table;
}

Plot curves(const std::vector<DemoTraining>& trained, const char* title, const char* y_label,
            const std::function<double(const RoundRecord&)>& value) {
  Plot plot;
  plot.title = title;
  plot.x_label = "seconds of training";
  plot.y_label = y_label;
  for (const auto& one : trained) {
    PlotSeries series;
    series.label = one.title;
    for (const auto& record : one.outcome.summary.rounds) {
      const double y = value(record);
      if (!std::isfinite(y)) continue;
      series.x.push_back(record.seconds);
      series.y.push_back(y);
    }
    if (series.x.empty()) continue;
    if (series.x.size() <= 30) series.style = SeriesStyle::line_and_points;
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace

std::string demo_report(const DemoResult& result, const std::vector<DemoTraining>& trained,
                        const NewsroomReport& world, const Dataset& dataset) {
  HtmlReport report("Sotto demo",
                    "News recommendation on a generated newsroom: central, federated and private");
  report.paragraph(
      "All systems train on the same readers. The central one collects every click. In the federated one "
      "each "
      "reader's clicks stay on the reader's device: a round asks some devices for a gradient, averages these "
      "and takes one step; it trains the same model as the central one. The private one, Sotto's own, makes "
      "item vectors from the words of the catalogue, the test day's news included, which are public when "
      "they "
      "are shown, and trains a small user model on the devices; the server sees noisy sums alone, and each "
      "device ranks by itself.");
  report.heading("Results").table(result_table(result));
  report.paragraph(
      "All on the test day. 'of best' is the share of the way from 'most popular first' to the best possible "
      "AUC, which "
      "knows every reader's true interests. ε is that of the whole training, per reader, against the server, "
      "at delta 1e-6. Bytes are those of "
      "one round, both directions together.");
  report.privacy_note(
      "The federated system keeps raw clicks on the devices but adds no noise: gradients themselves can "
      "reveal "
      "clicks, so no epsilon holds for it, nor for the central one. What holds for the private one:");
  for (const auto& one : trained)
    if (one.outcome.privacy) report.preformatted(to_text(*one.outcome.privacy));

  Plot auc = curves(trained, "Validation AUC", "AUC, percent", [](const RoundRecord& record) {
    return record.validation ? 100 * record.validation->auc : NAN;
  });
  auc.references = {{100 * world.oracle.best.auc, "best possible"},
                    {100 * world.oracle.popularity.auc, "most popular first"}};
  report.heading("Learning")
      .plot(auc,
            "AUC on held-out training-day impressions; the reference lines are those of the test day. The "
            "private "
            "system looks at none: choosing a round by what readers did would be one more release.");
  report.plot(
      curves(trained, "Training loss", "cross-entropy per click",
             [](const RoundRecord& record) { return record.loss; }),
      "Mean loss of each round or step, one click against four non-clicks; the private system sets a click "
      "against more of them, so its loss stands higher.");

  report.heading("The newsroom").preformatted(to_text(describe(dataset)));
  report.details("Settings of the runs", [&](ReportSection& section) {
    for (const auto& one : trained) {
      section.paragraph(one.title);
      section.facts({{"recipe", one.recipe},
                     {"parameters", std::to_string(one.outcome.parameters)},
                     {"rounds", std::to_string(one.outcome.summary.rounds.size())},
                     {"best round", std::to_string(one.outcome.summary.best_round)},
                     {"training users", std::to_string(one.outcome.training_users)},
                     {"training clicks", std::to_string(one.outcome.training_samples)}});
    }
  });
  return report.html();
}

}  // namespace sotto
