#include "eval/experiments/serving/serving_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "eval/experiments/quick_clock.h"
#include "eval/reporting.h"
#include "privacy/accounting/datasheet.h"
#include "serving/run_privacy.h"

namespace sotto::eval::private_serving {

namespace {

constexpr std::uint64_t building_seed = 1;  // prototypes are made once
// What of it follows from seeds: the answers always do.
std::string_view simulated_part(const ToldBefore& before) {
  return before.is_simulated ? "training and answers" : "answers";
}

Rows chosen_rows(const Rows& rows, const std::vector<std::size_t>& chosen) {
  Rows result(chosen.size(), rows.width);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    std::copy(rows[chosen[i]].begin(), rows[chosen[i]].end(), result[i].begin());
  return result;
}

void add(std::vector<double>& sums, const std::vector<double>& values, double share) {
  if (sums.empty()) sums.assign(values.size(), 0);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += share * values[i];
}

using QueryValues = std::map<std::string, std::vector<double>>;

void add_impressions(QueryValues& values, const ImpressionQuality& shown, double share) {
  add(values["auc"], shown.auc, share);
  add(values["ndcg10"], shown.ndcg10, share);
  add(values["hits10"], shown.hits10, share);
}

void add_pool(QueryValues& values, const PoolAnswers& pool, double share) {
  add(values["pool_hits10"], pool.server.hits10, share);
  add(values["pool_found10"], pool.server.found10, share);
  add(values["pool_score10"], pool.server.score10, share);
  add(values["reranked_hits10"], pool.reranked.hits10, share);
  add(values["reranked_found10"], pool.reranked.found10, share);
  add(values["reranked_score10"], pool.reranked.score10, share);
}

}  // namespace

std::string simulation_note(const ToldBefore& before) {
  return fmt::format(
      "simulation: no ε holds for these files, whose {} are drawn from seeds; with secret noise it would be "
      "as in the table",
      simulated_part(before));
}

const std::vector<std::string>& measure_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const char* measure : {"auc", "ndcg10", "hits10", "pool_hits10", "pool_found10", "pool_score10",
                                "reranked_hits10", "reranked_found10", "reranked_score10"}) {
      all.emplace_back(measure);
      all.push_back(std::string(measure) + "_share");
    }
    return all;
  }();
  return names;
}

ServingPlan ServingPlan::quick() {
  ServingPlan plan;
  plan.scene.impressions = 1500;
  plan.scene.readers.readers = 3000;
  plan.pool_queries = 150;
  return plan;
}

void ServingPlan::bind(SettingsTable& table) {
  table.add("impressions", scene.impressions, {10, 100000000}, "Test impressions to look at")
      .add("pool_queries", pool_queries, {1, 100000000}, "Of these, how many also rank the whole pool")
      .add("answer", answer, {10, 1000000}, "Items a server returns for the device to rank again")
      .add("readers", scene.readers.readers, {100, 10000000}, "Simulated readers")
      .add("groups", scene.readers.groups, {2, 100000}, "Groups of items that interests are drawn from")
      .add("demand_epsilon", scene.readers.demand_epsilon, {0.0, 1000.0},
           "Budget of the one release of the demand per group; 0: none, items count alike");
}

std::vector<MechanismChoice> ServingPlan::choices(const std::vector<ComparedEntry>& compared,
                                                  bool quick) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> epsilons =
      quick ? std::vector<double>{0.1, 1, 5, 10, infinity}
            : std::vector<double>{0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, infinity};
  std::vector<MechanismChoice> choices = {{"average-user", 0, 0}, {"non-private", 0, infinity}};
  for (const ComparedEntry& entry : compared) {
    for (const std::size_t size : quick ? entry.quick : entry.full) {
      if (entry.is_encrypted) {
        choices.push_back({entry.name, size, 0});
        continue;
      }
      for (const double epsilon : epsilons) choices.push_back({entry.name, size, epsilon});
    }
  }
  return choices;
}

ServingTable::ServingTable(const data::Dataset& dataset, const ServingScene& scene, PublicKnowledge known,
                           const TableSettings& settings, std::vector<ComparedEntry> compared)
    : dataset_(dataset),
      scene_(scene),
      settings_(settings),
      compared_(std::move(compared)),
      known_(std::make_shared<const PublicKnowledge>(std::move(known))),
      readers_(known_->space.readers(scene.users)) {
  for (const std::uint32_t index : scene.impressions) reader_of_.push_back(dataset.impression(index).user);
  const std::size_t all = scene.impressions.size(), wanted = std::min(settings.pool_queries, all);
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t row = i * all / wanted;
    pool_rows_.push_back(row);
    pool_.push_back(scene.impressions[row]);
    pool_reader_.push_back(reader_of_[row]);
  }
}

Result<ServingTable> ServingTable::create(const data::Dataset& dataset, const ServingScene& scene,
                                          const TableSettings& settings,
                                          std::vector<ComparedEntry> compared) {
  SOTTO_TRY(auto known, PublicKnowledge::of(scene));
  ServingTable table(dataset, scene, std::move(known), settings, std::move(compared));
  SOTTO_TRY(const auto average, table.make({"average-user"}));
  SOTTO_TRY(const auto exact, table.make({"non-private"}));
  SOTTO_TRY(table.floor_, table.look(*average, 1));
  SOTTO_TRY(table.ceiling_, table.look(*exact, 1));
  return table;
}

Result<std::unique_ptr<ComparedMechanism>> ServingTable::make(const MechanismChoice& choice) const {
  SOTTO_TRY(const auto* entry, find_compared(compared_, choice.mechanism));
  return entry->make(choice, *known_, building_seed);
}

Result<ServingTable::Values> ServingTable::look(const ComparedMechanism& mechanism,
                                                std::int64_t draws) const {
  Values values;
  const double share = 1.0 / static_cast<double>(draws);
  const Rows truth = chosen_rows(readers_, pool_rows_);
  SOTTO_TRY(const auto lists, mechanism.returned(scene_.users));
  for (std::int64_t draw = 1; draw <= draws && lists.empty(); ++draw) {
    SOTTO_TRY(const Rows served,
              mechanism.serve(scene_.users, readers_, building_seed + static_cast<std::uint64_t>(draw)));
    const auto shown = impression_quality(dataset_, scene_.impressions, known_->space.items(), served);
    add_impressions(values, shown, share);
    const auto pool = pool_quality(dataset_, pool_, known_->space.items(), chosen_rows(served, pool_rows_),
                                   truth, settings_.answer);
    add_pool(values, pool, share);
  }
  if (lists.empty()) return values;
  const auto shown = impression_quality(dataset_, scene_.impressions, lists);
  add_impressions(values, shown, 1);
  std::vector<ReturnedItems> of_pool;
  for (const std::size_t row : pool_rows_) of_pool.push_back(lists[row]);
  add_pool(values, pool_quality(dataset_, pool_, known_->space.items(), of_pool, truth, settings_.answer), 1);
  return values;
}

Result<ToldBefore> ToldBefore::of(const fs::path& run, double demand_epsilon) {
  ToldBefore told;
  told.demand_epsilon = demand_epsilon;
  SOTTO_TRY(const serving::DemandCharges charged, serving::demand_charges(run));
  told.demand_charged = charged.epsilon;
  const fs::path page = run / "privacy.json";
  if (!fs::exists(page)) return told;
  SOTTO_TRY(const std::string text, read_file(page, 1 << 20));
  const auto sheet = privacy::datasheet_from_json(text);
  if (!sheet)
    return bad_input("{} does not say what the training cost ({}): train the run anew", page.string(),
                     sheet.error().message);
  told.is_simulated = sheet->reproducible;
  if (sheet->unit != privacy::Unit::user || sheet->adjacency != privacy::Adjacency::replace_one) return told;
  told.training_epsilon = sheet->epsilon_server;
  if (told.training_epsilon) told.training_delta = sheet->delta;
  return told;
}

Result<ServingRow> ServingTable::measure(const MechanismChoice& choice) const {
  SOTTO_TRY(const auto* entry, find_compared(compared_, choice.mechanism));
  SOTTO_TRY(const auto mechanism, make(choice));
  SOTTO_TRY(const Values values, look(*mechanism, entry->is_noisy ? settings_.seeds : 1));
  const ToldBefore& before = settings_.told_before;
  ServingRow row{choice, mechanism->privacy(), std::nullopt, 0, {}};
  row.true_delta = before.training_delta + row.privacy.delta;
  if (before.training_epsilon && row.privacy.epsilon)
    row.true_epsilon = *before.training_epsilon + before.demand_charged +
                       (entry->reads_demand ? before.demand_epsilon : 0) + *row.privacy.epsilon;
  for (const auto& [measure, of_queries] : values) {
    const bool reranked = measure.rfind("reranked_", 0) == 0, pool = measure.rfind("pool_", 0) == 0;
    const auto& readers = reranked || pool ? pool_reader_ : reader_of_;
    // Re-ranking is judged between the same marks as the server alone: a list that nobody ranked again from
    // the average user, and the true order of the whole pool.
    const std::string mark = reranked ? "pool_" + measure.substr(sizeof("reranked_") - 1) : measure;
    row.measures[measure] = mean_by_reader(of_queries, readers);
    row.measures[measure + "_share"] = share_of_gain(of_queries, floor_.at(mark), ceiling_.at(mark), readers);
  }
  return row;
}

using nlohmann::json;

namespace {

// JSON knows no infinity: null stands for it.
json finite_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double infinite_if_null(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}
double nan_if_null(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

// Throws json::exception on anything unexpected.
ServingRow read_row(const json& line) {
  ServingRow row;
  row.choice = {line.at("mechanism").get<std::string>(), line.at("size").get<std::size_t>(),
                infinite_if_null(line.at("epsilon_asked"))};
  row.privacy.claimed = infinite_if_null(line.at("epsilon_claimed"));
  const auto number_or_none = [](const json& value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<double>());
  };
  row.privacy.epsilon = number_or_none(line.at("epsilon_answer"));
  row.privacy.delta = line.at("delta_answer").get<double>();
  row.true_epsilon = number_or_none(line.at("epsilon"));
  row.true_delta = line.at("delta").get<double>();
  for (const std::string& measure : measure_names())
    row.measures[measure] = {nan_if_null(line.at(measure)), nan_if_null(line.at(measure + "_error"))};
  return row;
}

TableCell share_cell(const Estimate& estimate) {
  if (!std::isfinite(estimate.value)) return TableCell::words("–");
  return {fmt::format("{:.1f} ± {:.1f}", 100 * estimate.value, 100 * estimate.error), 100 * estimate.value};
}

std::string shown_epsilon(const std::optional<double>& epsilon) {
  return epsilon ? fmt::format("{:.4g}", *epsilon) : std::string("none");
}

// The account of what came before the answers, in words.
std::string in_words(const ToldBefore& before) {
  const std::string training =
      before.training_epsilon
          ? fmt::format("ε = {:.4g}, δ = {:g}", *before.training_epsilon, before.training_delta)
          : std::string("no ε, so none holds for any row");
  const std::string charged =
      before.demand_charged > 0
          ? fmt::format("; demand that was released for this run before: ε = {:g}", before.demand_charged)
          : "";
  return fmt::format("training of item vectors and user model: {}{}; release of demand: ε = {:g}", training,
                     charged, before.demand_epsilon);
}

ReportTable table_of(const std::vector<ServingRow>& rows) {
  ReportTable table;
  for (const char* heading : {"mechanism", "size", "ε asked", "ε claimed", "ε of the answer", "true ε", "δ"})
    table.columns.push_back({heading});
  for (const char* heading : {"AUC, %", "nDCG@10, %", "Hits@10, %", "AUC gain kept, %", "pool Hits@10, %",
                              "pool gain kept, %", "true ten found, %", "re-ranked: Hits@10, %",
                              "re-ranked: gain kept, %", "re-ranked: true ten found, %"})
    table.columns.push_back({heading});
  for (const ServingRow& row : rows) {
    const auto value = [&](const char* measure) { return 100 * row.measures.at(measure).value; };
    table.rows.push_back(
        {TableCell::words(description_of(row.choice.mechanism)),
         row.choice.size == 0 ? TableCell::words("")
                              : TableCell::number(static_cast<double>(row.choice.size), 0),
         TableCell::words(epsilon_text(row.choice.epsilon)),
         TableCell::words(epsilon_text(row.privacy.claimed)),
         TableCell::words(shown_epsilon(row.privacy.epsilon)),
         TableCell::words(shown_epsilon(row.true_epsilon)),
         TableCell::words(row.true_delta > 0 ? fmt::format("{:g}", row.true_delta) : "0"),
         TableCell::number(value("auc"), 2), TableCell::number(value("ndcg10"), 2),
         TableCell::number(value("hits10"), 2), share_cell(row.measures.at("auc_share")),
         TableCell::number(value("pool_hits10"), 3), share_cell(row.measures.at("pool_score10_share")),
         TableCell::number(value("pool_found10"), 1), TableCell::number(value("reranked_hits10"), 3),
         share_cell(row.measures.at("reranked_score10_share")),
         TableCell::number(value("reranked_found10"), 1)});
  }
  table.caption =
      "± one standard error, readers as units. Pool: the whole catalogue, read items left out; gain there is "
      "the mean true score of the ten items shown.";
  return table;
}

}  // namespace

std::string epsilon_text(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:g}", epsilon) : "∞";
}

json to_json(const ServingRow& row) {
  json line = {{"event", "row"},
               {"mechanism", row.choice.mechanism},
               {"size", row.choice.size},
               {"epsilon_asked", finite_or_null(row.choice.epsilon)},
               {"epsilon_claimed", finite_or_null(row.privacy.claimed)},
               {"epsilon_answer", row.privacy.epsilon ? json(*row.privacy.epsilon) : json(nullptr)},
               {"delta_answer", row.privacy.delta},
               {"epsilon", row.true_epsilon ? json(*row.true_epsilon) : json(nullptr)},
               {"delta", row.true_delta},
               {"unit", "one reader: training, demand and one answer"}};
  for (const auto& [measure, estimate] : row.measures) {
    line[measure] = finite_or_null(estimate.value);
    line[measure + "_error"] = finite_or_null(estimate.error);
  }
  return line;
}

std::string key_of(const MechanismChoice& choice) {
  return fmt::format("{} {} {}", choice.mechanism, choice.size, choice.epsilon);
}

Result<ServingRow> row_of(const json& line) {
  try {
    return read_row(line);
  } catch (const json::exception&) {
    return bad_input("a finished row is not of this experiment: use another --out");
  }
}

std::string to_csv(const std::vector<ServingRow>& rows, const ServingFacts& facts) {
  std::string csv =
      "mechanism,size,epsilon_asked,epsilon_claimed,epsilon_answer,epsilon_true,delta,unit,quick,simulation";
  for (const std::string& measure : measure_names()) csv += fmt::format(",{0},{0}_error", measure);
  csv += '\n';
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::isnan(value) ? "" : std::string("inf");
  };
  const auto or_none = [&](const std::optional<double>& epsilon) {
    return epsilon ? number(*epsilon) : std::string("none");
  };
  for (const ServingRow& row : rows) {
    csv += fmt::format("{},{},{},{},{},{},{:g},one reader,{},{}", row.choice.mechanism, row.choice.size,
                       number(row.choice.epsilon), number(row.privacy.claimed), or_none(row.privacy.epsilon),
                       or_none(row.true_epsilon), row.true_delta, facts.quick ? "quick" : "full",
                       simulated_part(facts.told_before));
    for (const std::string& measure : measure_names()) {
      const Estimate estimate = row.measures.at(measure);
      csv += fmt::format(",{},{}", number(estimate.value), number(estimate.error));
    }
    csv += '\n';
  }
  return csv;
}

namespace {

// What the clock, or Ctrl-C, has left out; a sentence each.
std::vector<std::string> time_notes(const ServingFacts& facts) {
  std::vector<std::string> notes;
  if (facts.quick) notes.push_back(fmt::format("Quick: {}", quick_clock_note));
  if (facts.rounds < facts.rounds_planned)
    notes.push_back(fmt::format("The training was stopped by the clock after {} of {} rounds", facts.rounds,
                                facts.rounds_planned));
  if (facts.rows_left_out > 0)
    notes.push_back(
        fmt::format("INCOMPLETE: {} rows were not reached; the same command goes on", facts.rows_left_out));
  return notes;
}

}  // namespace

std::string to_text(const std::vector<ServingRow>& rows, const ServingFacts& facts) {
  std::string text = facts.quick ? "QUICK RUN: for a look, not for a claim\n" : "";
  for (const std::string& note : time_notes(facts)) text += note + "\n";
  text += fmt::format("{:<33}{:>6}{:>6}{:>10}{:>8}{:>7}{:>10}{:>10}{:>10}\n", "mechanism", "size", "ε",
                      "of answer", "true ε", "AUC %", "kept %", "pool %", "again %");
  const auto share = [](const Estimate& estimate) {
    return std::isfinite(estimate.value)
               ? fmt::format("{:.0f} ± {:.0f}", 100 * estimate.value, 100 * estimate.error)
               : std::string("–");
  };
  for (const ServingRow& row : rows) {
    text += fmt::format(
        "{:<33}{:>6}{:>6}{:>10}{:>8}{:>7.2f}{:>10}{:>10}{:>10}\n", description_of(row.choice.mechanism),
        row.choice.size == 0 ? "" : std::to_string(row.choice.size), epsilon_text(row.choice.epsilon),
        shown_epsilon(row.privacy.epsilon), shown_epsilon(row.true_epsilon),
        100 * row.measures.at("auc").value, share(row.measures.at("auc_share")),
        share(row.measures.at("pool_score10_share")), share(row.measures.at("reranked_score10_share")));
  }
  return text +
         "kept: of the gain that the true vector brings, by the server alone; pool: over all items; again: "
         "re-ranked on the device\n" +
         simulation_note(facts.told_before) + "\n";
}

Plot share_plot(const std::vector<ServingRow>& rows, const std::string& measure, const std::string& title) {
  std::vector<std::pair<std::string, std::map<double, Estimate>>> best;  // in the order of the rows
  for (const ServingRow& row : rows) {
    // The answer's own ε is the axis: a paper's row stands where its answer really is.
    if (!row.privacy.epsilon || *row.privacy.epsilon <= 0) continue;
    auto found = std::find_if(best.begin(), best.end(),
                              [&](const auto& series) { return series.first == row.choice.mechanism; });
    if (found == best.end()) found = best.insert(best.end(), {row.choice.mechanism, {}});
    auto& points = found->second;
    const Estimate estimate = row.measures.at(measure);
    const auto [point, fresh] = points.try_emplace(*row.privacy.epsilon, estimate);
    if (!fresh && estimate.value > point->second.value) point->second = estimate;
  }
  Plot plot;
  plot.title = title;
  plot.x_label = "ε of one answer, whole history (training and demand not included)";
  plot.y_label = "share of the gain kept, %";
  plot.log_x = true;
  plot.width = 760;
  plot.height = 420;
  plot.references = {{0, "public average user"}, {100, "true vector"}};
  for (const auto& [mechanism, points] : best) {
    PlotSeries series;
    series.label = description_of(mechanism);
    series.style = SeriesStyle::line_and_points;
    for (const auto& [epsilon, estimate] : points) {
      series.x.push_back(epsilon);
      series.y.push_back(100 * estimate.value);
      series.error.push_back(100 * estimate.error);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::string serving_report(const std::vector<ServingRow>& rows, const ServingFacts& facts) {
  HtmlReport report(fmt::format("Private serving: quality against ε{}", facts.quick ? " (quick run)" : ""),
                    facts.quick ? "QUICK RUN: few readers, few settings; for a look, not for a claim" : "");
  report.facts({{"data", facts.data},
                {"run", facts.run},
                {"items in the pool", std::to_string(facts.items)},
                {"test queries", std::to_string(facts.queries)},
                {"of these over the whole pool", std::to_string(facts.pool_queries)},
                {"simulated readers", std::to_string(facts.readers)},
                {"items per answer", std::to_string(facts.answer)},
                {"draws per query", std::to_string(facts.seeds)}});
  for (const std::string& note : time_notes(facts)) report.paragraph(note + ".");
  report.privacy_note(simulation_note(facts.told_before));
  report.privacy_note(
      fmt::format("The true ε holds for one reader, replaced by any other, and sums what the whole system "
                  "told: {}; and one "
                  "answer, for the whole history. Repeated answers compose. Prototypes, directions, weights "
                  "and the average "
                  "user come from the items and from simulated readers, who follow the demand per group of "
                  "items; the true "
                  "vector and VDP do without them.",
                  in_words(facts.told_before)));
  report.paragraph(
      "Gain kept = (x − average user) / (true vector − average user). The true vector is what a non-private "
      "server would have, and also what a device has that ranks the whole pool by itself and sends nothing.");
  report.plot(share_plot(rows, "auc_share", "Gain kept by the server alone, AUC over impressions"),
              "The best size of every mechanism.");
  report.plot(share_plot(rows, "reranked_score10_share",
                         fmt::format("Gain kept when the device ranks {} items again", facts.answer)),
              "The mean true score of the first ten of the pool.");
  report.table(table_of(rows));
  return report.html();
}

}  // namespace sotto::eval::private_serving
