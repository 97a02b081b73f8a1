#include "eval/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "eval/both_families.h"
#include "eval/recommender_evaluator.h"
#include "eval/training_run.h"
#include "metrics/unit_of_metrics.h"

namespace sotto::eval {

using metrics::MeanAndError;
using nlohmann::json;

namespace {

// The best seen of a run, read off its files.
struct StoredResult {
  fs::path folder;
  std::string recipe, dataset, fingerprint, settings;
  fs::path data;
  std::uint64_t seed = 0;
  json result;
};

Result<json> read_json(const fs::path& path) {
  SOTTO_TRY(const auto text, read_file(path, 1 << 26));
  auto parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object()) return bad_input("{} is not what a run writes", path.string());
  return parsed;
}

Result<StoredResult> read_result(const fs::path& run) {
  SOTTO_TRY(const auto stored, recipes::load_run(run));
  if (!fs::exists(run / "result.json"))
    return bad_input("{} is not finished: go on with 'sotto train {} --data DIR --out {} --resume'",
                     run.string(), stored.entry->name, run.string());
  StoredResult read;
  read.folder = run;
  read.recipe = stored.entry->name;
  read.seed = stored.seed;
  json settings = stored.table.to_json();
  // A simulation is no repeat of a run with secret noise.
  if (stored.entry->differentially_private) settings["reproducible"] = stored.reproducible;
  read.settings = settings.dump();
  SOTTO_TRY(read.result, read_json(run / "result.json"));
  read.data = stored.data;
  read.dataset = stored.dataset;
  read.fingerprint = stored.fingerprint;
  return read;
}

bool ranks_impressions(const StoredResult& run) { return run.result.contains("auc"); }

// Impressions that its stored numbers are means of; 0: it ranks all items of users, who follow from the seed.
std::uint64_t tested_on(const StoredResult& run) { return run.result.value("impressions", std::uint64_t{0}); }

std::vector<ComparedColumn> columns_of(const StoredResult& run) {
  if (ranks_impressions(run))
    return {{"auc", "AUC %", 100, 2, true},
            {"mrr", "MRR %", 100, 2, true},
            {"ndcg5", "nDCG@5 %", 100, 2},
            {"ndcg10", "nDCG@10 %", 100, 2}};
  return {{"hits10", "Hits@10 %", 100, 2, true},
          {"hits20", "Hits@20 %", 100, 2, true},
          {"ndcg10", "nDCG@10 %", 100, 2},
          {"ndcg20", "nDCG@20 %", 100, 2}};
}

// Of the other family; their numbers are put into the results by test_both.
void add_other_columns(const StoredResult& run, std::vector<ComparedColumn>& columns) {
  columns[1].in_text = false;  // makes room
  if (ranks_impressions(run))
    columns.insert(columns.end(), {{"all_items.hits10", "Hits@10 % all", 100, 2, true},
                                   {"all_items.hits20", "Hits@20 % all", 100, 2},
                                   {"all_items.ndcg10", "nDCG@10 % all", 100, 2},
                                   {"all_items.ndcg20", "nDCG@20 % all", 100, 2}});
  else
    columns.insert(columns.end(), {{"impressions.auc", "AUC % shown", 100, 2, true},
                                   {"impressions.mrr", "MRR % shown", 100, 2},
                                   {"impressions.ndcg5", "nDCG@5 % shown", 100, 2},
                                   {"impressions.ndcg10", "nDCG@10 % shown", 100, 2}});
}

Status test_both(StoredResult& run, const data::Dataset& dataset) {
  if (interrupted()) return failed("stopped");
  const auto own = ranks_impressions(run) ? tested_on(run) : 0;
  SOTTO_TRY(const auto both, evaluate_both({.run = run.folder, .test_impressions = own}, dataset));
  const json families = to_json(both);
  const char* other = ranks_impressions(run) ? "all_items" : "impressions";
  for (const auto& [name, value] : families.at(other).items())
    run.result[fmt::format("{}.{}", other, name)] = value;
  return {};
}

std::string epsilon_text(const json& result, const char* key) {
  const auto found = result.find(key);
  return found == result.end() || !found->is_number() ? "none" : fmt::format("{:.4g}", found->get<double>());
}

// For people: an ε that does not hold is never named without a mark.
std::string marked(const ComparedRow& row, const std::string& epsilon) {
  return epsilon + (row.simulation && epsilon != "none" ? "*" : "");
}

constexpr const char* mark_meaning =
    "* simulation: no ε holds for these files; with secret noise it would be as in the table";

bool any_simulated(const Comparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparedRow& row) {
    return marked(row, row.epsilon_server) != row.epsilon_server ||
           marked(row, row.epsilon_published) != row.epsilon_published;
  });
}

// What tells a row from the others: the settings in which they differ, else the folder.
void name_rows(std::vector<ComparedRow>& rows, const std::vector<json>& settings) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].name = rows[i].recipe;
    for (const auto& [key, value] : settings[i].items()) {
      const bool differs = std::any_of(rows.begin(), rows.end(), [&](const ComparedRow& other) {
        const json& theirs = settings[static_cast<std::size_t>(&other - rows.data())];
        return other.recipe == rows[i].recipe && theirs.contains(key) && theirs.at(key) != value;
      });
      if (differs)
        rows[i].name +=
            fmt::format(" {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

Result<std::vector<ComparedRow>> group_by_settings(std::vector<StoredResult> runs,
                                                   std::span<const ComparedColumn> columns) {
  std::stable_sort(runs.begin(), runs.end(), [](const StoredResult& a, const StoredResult& b) {
    return a.seed < b.seed && a.recipe == b.recipe && a.settings == b.settings;
  });
  std::vector<ComparedRow> rows;
  std::vector<json> settings;
  for (const StoredResult& run : runs) {
    const json own = json::parse(run.settings);
    std::size_t place = 0;
    while (place < rows.size() && (rows[place].recipe != run.recipe || settings[place] != own)) ++place;
    if (place == rows.size()) {
      rows.emplace_back();
      settings.push_back(own);
      rows[place].recipe = run.recipe;
      rows[place].epsilon_server = epsilon_text(run.result, "epsilon");
      rows[place].epsilon_published = epsilon_text(run.result, "epsilon_published");
      const auto simulation = run.result.find("simulation");
      rows[place].simulation = simulation != run.result.end() && !simulation->is_null();
      rows[place].log = fl::read_run_log(run.folder / "log.jsonl");
    }
    ComparedRow& row = rows[place];
    if (std::find(row.seeds.begin(), row.seeds.end(), run.seed) != row.seeds.end())
      return bad_input(
          "{} is the run in {} once more: same recipe, settings and seed. Repeats, of which secret noise is "
          "drawn anew, have a --seed each",
          run.folder.string(),
          row.runs[static_cast<std::size_t>(std::find(row.seeds.begin(), row.seeds.end(), run.seed) -
                                            row.seeds.begin())]
              .string());
    row.runs.push_back(run.folder);
    row.seeds.push_back(run.seed);
    for (const ComparedColumn& column : columns) {
      if (!run.result.contains(column.measure))
        return bad_input("{} has no {}: trained by an older version? Train it again", run.folder.string(),
                         column.measure);
      row.values[column.measure].push_back(run.result.at(column.measure).get<double>());
    }
  }
  name_rows(rows, settings);
  return rows;
}

}  // namespace

Result<TestedAgain> test_again(const fs::path& run, const data::Dataset& dataset) {
  EachImpression impressions;
  SOTTO_TRY(const auto metrics,
            evaluate_run({.run = run,
                          .evaluate =
                              [&](model::RankingModel& model, const data::Dataset& data,
                                  std::span<const std::uint32_t> chosen, std::size_t max_history) {
                                return evaluate_each(model, data, chosen, max_history, &impressions);
                              }},
                         dataset));
  TestedAgain tested;
  if (const auto* held_out = std::get_if<metrics::HeldOutReport>(&metrics)) {
    tested.unit = "users";
    for (const auto& user : held_out->each) tested.each.push_back(user.hits[1]);
  } else {
    tested.unit = "impressions";
    for (const auto& one : impressions) tested.each.push_back(one ? one->auc : NAN);
  }
  return tested;
}

MeanAndError paired_difference(std::span<const double> first, std::span<const double> other) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(first.size(), other.size()); ++i)
    if (std::isfinite(first[i]) && std::isfinite(other[i])) differences.push_back(other[i] - first[i]);
  return metrics::mean_and_error(differences);
}

namespace {

// The mean over a row's seeds, test unit by test unit.
Result<TestedAgain> test_row(const ComparedRow& row, const data::Dataset& dataset) {
  TestedAgain mean;
  for (const fs::path& run : row.runs) {
    if (interrupted()) return failed("stopped");
    SOTTO_TRY(const TestedAgain one, test_again(run, dataset));
    mean.unit = one.unit;
    if (mean.each.empty()) mean.each.assign(one.each.size(), 0);
    if (mean.each.size() != one.each.size())
      return failed("{} was tested on {} {}, the runs before it on {}", run.string(), one.each.size(),
                    one.unit, mean.each.size());
    for (std::size_t i = 0; i < one.each.size(); ++i)
      mean.each[i] += one.each[i] / static_cast<double>(row.runs.size());
  }
  return mean;
}

Status pair_rows(Comparison& comparison, const data::Dataset& dataset) {
  const std::string& measure = comparison.columns.front().measure;
  const bool by_users = measure != "auc";
  ComparedRow& first = comparison.rows.front();
  std::optional<TestedAgain> reference;
  for (std::size_t i = 1; i < comparison.rows.size(); ++i) {
    ComparedRow& row = comparison.rows[i];
    if (row.seeds.size() >= 2 && row.seeds == first.seeds) {
      row.difference = paired_difference(first.values[measure], row.values[measure]);
      row.paired_by = "seeds";
      continue;
    }
    if (by_users && row.seeds != first.seeds) {
      row.unpaired = fmt::format(
          "other test users, who follow from the seed: seeds {} here, {} in the first row; train both with "
          "the same",
          fmt::join(row.seeds, ", "), fmt::join(first.seeds, ", "));
      continue;
    }
    if (!reference) {
      SOTTO_TRY(reference, test_row(first, dataset));
    }
    SOTTO_TRY(const TestedAgain tested, test_row(row, dataset));
    if (tested.unit != reference->unit || tested.each.size() != reference->each.size()) {
      row.unpaired = fmt::format("tested on {} {}, the first row on {} {}", tested.each.size(), tested.unit,
                                 reference->each.size(), reference->unit);
      continue;
    }
    row.difference = paired_difference(reference->each, tested.each);
    row.paired_by = tested.unit;
  }
  return {};
}

std::string with_error(const ComparedColumn& column, const MeanAndError& value) {
  std::string text = fmt::format("{:.{}f}", column.factor * value.mean, column.decimals);
  if (std::isfinite(value.error))
    text += fmt::format(" ± {:.{}f}", column.factor * value.error, column.decimals);
  return text;
}

std::string difference_text(const Comparison& comparison, const ComparedRow& row) {
  if (row.paired_by.empty()) return "";
  const ComparedColumn& column = comparison.columns.front();
  return fmt::format("{}{}", row.difference.mean >= 0 ? "+" : "", with_error(column, row.difference));
}

ReportTable table_of(const Comparison& comparison) {
  ReportTable table;
  table.columns.push_back({"run", Better::neither});
  table.columns.push_back({"seeds", Better::neither});
  for (const ComparedColumn& column : comparison.columns)
    table.columns.push_back({column.heading, Better::higher});
  table.columns.push_back(
      {fmt::format("{} against the first", comparison.columns.front().heading), Better::neither});
  table.columns.push_back({"paired by", Better::neither});
  table.columns.push_back({"ε, server", Better::neither});
  table.columns.push_back({"ε, published", Better::neither});
  for (const ComparedRow& row : comparison.rows) {
    std::vector<TableCell> cells = {TableCell::words(row.name),
                                    TableCell::number(static_cast<double>(row.seeds.size()), 0)};
    for (const ComparedColumn& column : comparison.columns) {
      const MeanAndError mean = metrics::mean_and_error(row.values.at(column.measure));
      cells.push_back({with_error(column, mean), column.factor * mean.mean});
    }
    for (const std::string& text :
         {difference_text(comparison, row), row.unpaired.empty() ? row.paired_by : "no: " + row.unpaired,
          marked(row, row.epsilon_server), marked(row, row.epsilon_published)})
      cells.push_back(TableCell::words(text));
    table.rows.push_back(std::move(cells));
  }
  table.caption =
      "Mean ± standard error over seeds; differences are of pairs, with the standard error of their mean.";
  if (any_simulated(comparison)) table.caption += fmt::format(" {}.", mark_meaning);
  return table;
}

Plot curves_of(const Comparison& comparison) {
  Plot plot;
  plot.title = "Validation while training";
  plot.x_label = "round";
  plot.y_label = "validation AUC %";
  for (const ComparedRow& row : comparison.rows) {
    PlotSeries series{row.name, SeriesStyle::line, {}, {}, {}};
    for (const fl::RoundRecord& record : row.log) {
      if (!record.validation) continue;
      series.x.push_back(record.round);
      series.y.push_back(100 * record.validation->auc);
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot losses_of(const Comparison& comparison) {
  Plot plot;
  plot.title = "Loss while training";
  plot.x_label = "round";
  plot.y_label = "training loss";
  for (const ComparedRow& row : comparison.rows) {
    PlotSeries series{row.name, SeriesStyle::line, {}, {}, {}};
    for (const fl::RoundRecord& record : row.log) {
      series.x.push_back(record.round);
      series.y.push_back(record.loss);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::string number_of(const ComparedRow& row, const Comparison& comparison) {
  return fmt::format("[{}]", &row - comparison.rows.data() + 1);
}

// What does not fit is cut, where rows with the same beginning would look alike: its number stands for it.
std::string name_within(std::size_t columns, const ComparedRow& row, const Comparison& comparison) {
  if (row.name.size() <= columns) return row.name;
  const std::string number = number_of(row, comparison);
  std::size_t bytes = columns - number.size() - 2;
  while (bytes > 0 && (static_cast<unsigned char>(row.name[bytes]) & 0xC0) == 0x80)
    --bytes;  // inside a letter
  return fmt::format("{} {}…", number, row.name.substr(0, bytes));
}

}  // namespace

Result<Comparison> compare_runs(const CompareRequest& request) {
  if (request.runs.size() < 2) return bad_input("name two runs or more to compare");
  std::vector<StoredResult> runs;
  for (const fs::path& run : request.runs) {
    SOTTO_TRY(auto read, read_result(run));
    runs.push_back(std::move(read));
  }
  for (const StoredResult& run : runs) {
    if (run.fingerprint != runs.front().fingerprint)
      return bad_input(
          "{} was trained on {} (fingerprint {}), {} on {} (fingerprint {}): only runs of one data set can "
          "be compared",
          run.folder.string(), run.dataset, run.fingerprint, runs.front().folder.string(),
          runs.front().dataset, runs.front().fingerprint);
    if (ranks_impressions(run) != ranks_impressions(runs.front()))
      return bad_input(
          "{} ranks {}, {} {}: these have no number in common ('sotto eval RUN --both' shows both kinds of "
          "one model)",
          run.folder.string(), ranks_impressions(run) ? "impressions" : "all items of users",
          runs.front().folder.string(),
          ranks_impressions(runs.front()) ? "impressions" : "all items of users");
    if (tested_on(run) != tested_on(runs.front()))
      return bad_input(
          "{} was tested on {} impressions, {} on {}: test both alike ('sotto train RECIPE --data DIR --out "
          "RUN "
          "--resume' tests a finished run again)",
          run.folder.string(), tested_on(run), runs.front().folder.string(), tested_on(runs.front()));
  }
  Comparison comparison;
  comparison.data = runs.front().dataset;
  comparison.columns = columns_of(runs.front());
  const fs::path data = request.data.empty() ? runs.front().data : request.data;
  const fs::path first_run = runs.front().folder;
  std::optional<data::Dataset> dataset;
  if (request.pairs || request.both) {
    auto opened = data::Dataset::open(data);
    if (!opened)
      return tl::unexpected(std::move(opened).error().in(
          "differences need the data: name it with --data DIR, or say --stored"));
    dataset.emplace(std::move(*opened));
    SOTTO_CHECK(recipes::check_data_of_run(first_run, *dataset, data));
  }
  if (request.both) {
    add_other_columns(runs.front(), comparison.columns);
    for (StoredResult& run : runs) SOTTO_CHECK(test_both(run, *dataset));
  }
  SOTTO_TRY(comparison.rows, group_by_settings(std::move(runs), comparison.columns));
  for (ComparedRow& row : comparison.rows) row.difference = {NAN, NAN};
  if (!request.pairs) {
    for (std::size_t i = 1; i < comparison.rows.size(); ++i)
      comparison.rows[i].unpaired = "nothing was tested again";
    return comparison;
  }
  SOTTO_CHECK(pair_rows(comparison, *dataset));
  return comparison;
}

std::string to_text(const Comparison& comparison) {
  std::size_t width = 12;
  for (const ComparedRow& row : comparison.rows)
    width = std::max(width, std::min<std::size_t>(row.name.size() + 2, 34));
  std::string text =
      fmt::format("{}: {}\n{}", comparison.data, "mean ± standard error over seeds", std::string(width, ' '));
  for (const ComparedColumn& column : comparison.columns)
    if (column.in_text) text += padded(column.heading, 14);
  text += padded("against the first", 29) + "ε, server\n";
  for (const ComparedRow& row : comparison.rows) {
    text += padded(name_within(width - 2, row, comparison), width);
    for (const ComparedColumn& column : comparison.columns) {
      if (column.in_text)
        text += padded(with_error(column, metrics::mean_and_error(row.values.at(column.measure))), 14);
    }
    const std::string difference = difference_text(comparison, row);
    text += padded(difference.empty() ? "" : fmt::format("{} ({})", difference, row.paired_by), 29) +
            marked(row, row.epsilon_server) + "\n";
  }
  for (const ComparedRow& row : comparison.rows)
    if (row.name.size() > width - 2) text += fmt::format("{} {}\n", number_of(row, comparison), row.name);
  if (any_simulated(comparison)) text += fmt::format("{}\n", mark_meaning);
  for (const ComparedRow& row : comparison.rows)
    if (!row.unpaired.empty())
      text += fmt::format("{} is not held against the first: {}\n", row.name, row.unpaired);
  return text;
}

std::string to_csv(const Comparison& comparison) {
  std::string csv = "run,recipe,seeds";
  for (const ComparedColumn& column : comparison.columns)
    csv += fmt::format(",{0},{0}_error", column.measure);
  csv +=
      ",difference,difference_error,paired_by,epsilon,epsilon_published,simulation,unpaired,unit_of_"
      "metrics\n";
  const auto number = [](double value) { return std::isfinite(value) ? fmt::format("{:.7g}", value) : ""; };
  for (const ComparedRow& row : comparison.rows) {
    csv += fmt::format("\"{}\",{},{}", row.name, row.recipe, row.seeds.size());
    for (const ComparedColumn& column : comparison.columns) {
      const MeanAndError mean = metrics::mean_and_error(row.values.at(column.measure));
      csv += fmt::format(",{},{}", number(mean.mean), number(mean.error));
    }
    csv += fmt::format(",{},{},{},{},{},{},\"{}\",\"{}\"\n", number(row.difference.mean),
                       number(row.difference.error), row.paired_by, row.epsilon_server, row.epsilon_published,
                       row.simulation, row.unpaired, metrics::unit_of_metrics);
  }
  return csv;
}

std::string to_html(const Comparison& comparison) {
  HtmlReport report("Runs compared", comparison.data);
  report.table(table_of(comparison));
  if (const Plot curves = curves_of(comparison); !curves.series.empty()) report.plot(curves);
  report.plot(losses_of(comparison));
  report.details("Where they are", [&](ReportSection& section) {
    std::vector<std::pair<std::string, std::string>> facts;
    for (const ComparedRow& row : comparison.rows)
      for (std::size_t i = 0; i < row.runs.size(); ++i)
        facts.emplace_back(fmt::format("{}, seed {}", row.name, row.seeds[i]), row.runs[i].string());
    section.facts(facts);
  });
  return report.html();
}

}  // namespace sotto::eval
