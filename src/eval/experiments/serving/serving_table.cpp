#include "eval/experiments/serving/serving_table.h"

#include <algorithm>
#include <limits>

namespace sotto::private_serving {

namespace {

constexpr std::uint64_t building_seed = 1;  // prototypes are made once

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

}  // namespace

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
      for (const double epsilon : epsilons) choices.push_back({entry.name, size, epsilon});
    }
  }
  return choices;
}

ServingTable::ServingTable(const Dataset& dataset, const ServingScene& scene, PublicKnowledge known,
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

Result<ServingTable> ServingTable::create(const Dataset& dataset, const ServingScene& scene,
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
  for (std::int64_t draw = 1; draw <= draws; ++draw) {
    SOTTO_TRY(const Rows served,
              mechanism.serve(scene_.users, readers_, building_seed + static_cast<std::uint64_t>(draw)));
    const auto shown = impression_quality(dataset_, scene_.impressions, known_->space.items(), served);
    add(values["auc"], shown.auc, share);
    add(values["ndcg10"], shown.ndcg10, share);
    add(values["hits10"], shown.hits10, share);
    const auto pool = pool_quality(dataset_, pool_, known_->space.items(), chosen_rows(served, pool_rows_),
                                   truth, settings_.answer);
    add(values["pool_hits10"], pool.server.hits10, share);
    add(values["pool_found10"], pool.server.found10, share);
    add(values["pool_score10"], pool.server.score10, share);
    add(values["reranked_hits10"], pool.reranked.hits10, share);
    add(values["reranked_found10"], pool.reranked.found10, share);
    add(values["reranked_score10"], pool.reranked.score10, share);
  }
  return values;
}

Result<ServingRow> ServingTable::measure(const MechanismChoice& choice) const {
  SOTTO_TRY(const auto* entry, find_compared(compared_, choice.mechanism));
  SOTTO_TRY(const auto mechanism, make(choice));
  SOTTO_TRY(const Values values, look(*mechanism, entry->is_noisy ? settings_.seeds : 1));
  ServingRow row{choice, mechanism->privacy(), {}};
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

}  // namespace sotto::private_serving
