#pragma once
// Rows of the serving table as JSON (one by one, and read back), CSV, text, figure and HTML report.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/settings.h"
#include "eval/experiments/serving/compared_mechanism.h"
#include "eval/experiments/serving/serving_quality.h"
#include "eval/reporting.h"

namespace sotto::eval::private_serving {

// The serving table: measures mechanisms on the same test queries, so that rows can be compared pair by pair.

// Which mechanisms, sizes and ε the table holds, and how many readers it looks at.
struct ServingPlan {
  SceneSettings scene;
  std::int64_t pool_queries = 1000;
  std::int64_t answer = 500;

  static ServingPlan full() { return {}; }
  static ServingPlan quick();
  void bind(SettingsTable& table);
  // The average user and the true vector first, then every mechanism by ε.
  std::vector<MechanismChoice> choices(const std::vector<ComparedEntry>& compared, bool quick) const;
};

// What the readers had told before anybody asked: by the training of the item vectors and of the user model,
// and by releases of demand.
struct ToldBefore {
  std::optional<double> training_epsilon;  // against the server, one reader replaced; nothing: no ε holds
  double training_delta = 0;
  bool is_simulated = false;  // the training's noise follows from a seed
  double demand_charged = 0;  // by what the run was served and trained with, whatever is measured now
  double demand_epsilon = 0;  // of the experiment's own release, for mechanisms that read it

  // From the page about a run (privacy.json) and its charges for demand; a run without a page was trained
  // without differential privacy, and one that bounds less than a whole reader bounds nothing here.
  // Unreadable ones are errors.
  static Result<ToldBefore> of(const fs::path& run, double demand_epsilon);
};

// What of the files follows from seeds, in a sentence: no ε holds for them.
std::string simulation_note(const ToldBefore& before);

struct ServingRow {
  MechanismChoice choice;
  AnswerPrivacy privacy;  // of the answer alone
  // Of all that the system has told about a reader: training, demand and the answer; nothing: no ε holds.
  std::optional<double> true_epsilon;
  double true_delta = 0;
  std::map<std::string, Estimate> measures;  // by the names of measure_names()
};

// auc, ndcg10, hits10: over impressions. pool_...: over the whole pool, in the server's order; reranked_...:
// ranked again on the device. ..._share: of the personalisation gain.
const std::vector<std::string>& measure_names();

struct TableSettings {
  std::size_t pool_queries = 1000;  // queries that also rank the whole pool
  std::size_t answer = 500;         // items a server returns
  std::int64_t seeds = 1;           // answers drawn per query, averaged
  ToldBefore told_before;
};

// Refers to the data set and the scene, which must outlive it. measure() uses all threads; one call at a
// time.
class ServingTable {
 public:
  static Result<ServingTable> create(const data::Dataset& dataset, const ServingScene& scene,
                                     const TableSettings& settings,
                                     std::vector<ComparedEntry> compared = compared_mechanisms());
  Result<ServingRow> measure(const MechanismChoice& choice) const;
  std::size_t pool_queries() const { return pool_.size(); }

 private:
  // Per query; over several draws: the mean.
  using Values = std::map<std::string, std::vector<double>>;

  ServingTable(const data::Dataset& dataset, const ServingScene& scene, PublicKnowledge known,
               const TableSettings& settings, std::vector<ComparedEntry> compared);
  Result<std::unique_ptr<ComparedMechanism>> make(const MechanismChoice& choice) const;
  Result<Values> look(const ComparedMechanism& mechanism, std::int64_t draws) const;

  const data::Dataset& dataset_;
  const ServingScene& scene_;
  TableSettings settings_;
  std::vector<ComparedEntry> compared_;
  std::shared_ptr<const PublicKnowledge> known_;
  Rows readers_;                            // test readers in the ranking space
  std::vector<std::uint32_t> reader_of_;    // of every query
  std::vector<std::uint32_t> pool_;         // impressions of the pool queries
  std::vector<std::size_t> pool_rows_;      // their rows
  std::vector<std::uint32_t> pool_reader_;  // whose they are
  Values floor_, ceiling_;                  // average user, true vector
};

nlohmann::json to_json(const ServingRow& row);
// "10", "0.5", "∞"
std::string epsilon_text(double epsilon);

// The name of a row among finished ones, and a row read back; an error when it was not written by to_json().
std::string key_of(const MechanismChoice& choice);
Result<ServingRow> row_of(const nlohmann::json& line);

struct ServingFacts {
  std::string data, run;
  std::size_t items = 0, queries = 0, pool_queries = 0, readers = 0, answer = 0;
  std::int64_t seeds = 1;
  ToldBefore told_before;
  bool quick = false;
  std::size_t rounds = 0, rounds_planned = 0;  // of a model trained for this
  std::size_t rows_left_out = 0;               // it was stopped, or its two minutes were over
};

std::string to_csv(const std::vector<ServingRow>& rows, const ServingFacts& facts);

// Share of the gain kept (a measure ending in _share) against the answer's ε; of every mechanism the best
// size.
Plot share_plot(const std::vector<ServingRow>& rows, const std::string& measure, const std::string& title);

std::string to_text(const std::vector<ServingRow>& rows, const ServingFacts& facts);
std::string serving_report(const std::vector<ServingRow>& rows, const ServingFacts& facts);

}  // namespace sotto::eval::private_serving
