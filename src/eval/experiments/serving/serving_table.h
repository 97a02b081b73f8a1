#pragma once
// Measures mechanisms on the same test queries, so that rows can be compared pair by pair.
//
// Refers to the data set and the scene, which must outlive it. measure() uses all threads; one call at a
// time.

#include "eval/experiments/serving/serving_quality.h"
#include "eval/experiments/serving/serving_row.h"

namespace sotto::private_serving {

struct TableSettings {
  std::size_t pool_queries = 1000;  // queries that also rank the whole pool
  std::size_t answer = 500;         // items a server returns
  std::int64_t seeds = 1;           // answers drawn per query, averaged
};

class ServingTable {
 public:
  static Result<ServingTable> create(const Dataset& dataset, const ServingScene& scene,
                                     const TableSettings& settings);
  Result<ServingRow> measure(const MechanismChoice& choice) const;
  std::size_t pool_queries() const { return pool_.size(); }

 private:
  // Per query; over several draws: the mean.
  using Values = std::map<std::string, std::vector<double>>;

  ServingTable(const Dataset& dataset, const ServingScene& scene, PublicKnowledge known,
               const TableSettings& settings);
  Result<Values> look(const ServingMechanism& mechanism, std::int64_t draws) const;

  const Dataset& dataset_;
  const ServingScene& scene_;
  TableSettings settings_;
  std::shared_ptr<const PublicKnowledge> known_;
  Rows readers_;                            // test readers in the ranking space
  std::vector<std::uint32_t> reader_of_;    // of every query
  std::vector<std::uint32_t> pool_;         // impressions of the pool queries
  std::vector<std::size_t> pool_rows_;      // their rows
  std::vector<std::uint32_t> pool_reader_;  // whose they are
  Values floor_, ceiling_;                  // average user, true vector
};

}  // namespace sotto::private_serving
