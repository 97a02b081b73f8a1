#include "eval/experiments/serving/serving_table.h"

#include <algorithm>

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

ServingTable::ServingTable(const Dataset& dataset, const ServingScene& scene, PublicKnowledge known,
                           const TableSettings& settings)
    : dataset_(dataset),
      scene_(scene),
      settings_(settings),
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
                                          const TableSettings& settings) {
  SOTTO_TRY(auto known, PublicKnowledge::of(scene));
  ServingTable table(dataset, scene, std::move(known), settings);
  SOTTO_TRY(const auto average, make_mechanism({Family::average_user}, *table.known_, building_seed));
  SOTTO_TRY(const auto exact, make_mechanism({Family::exact}, *table.known_, building_seed));
  SOTTO_TRY(table.floor_, table.look(*average, 1));
  SOTTO_TRY(table.ceiling_, table.look(*exact, 1));
  return table;
}

Result<ServingTable::Values> ServingTable::look(const ServingMechanism& mechanism, std::int64_t draws) const {
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
  SOTTO_TRY(const auto mechanism, make_mechanism(choice, *known_, building_seed));
  const bool random = choice.family != Family::average_user && choice.family != Family::exact;
  SOTTO_TRY(const Values values, look(*mechanism, random ? settings_.seeds : 1));
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
