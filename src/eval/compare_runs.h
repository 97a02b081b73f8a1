#pragma once
// Trained runs side by side: one row per recipe and settings, its seeds averaged, every row held against the
// first one by pairs, and the curves of training.
//
// Two runs of one data set see the same test impressions (or test users), so their difference is far surer
// than the two numbers: it is taken impression by impression, or seed by seed where both rows have the same
// two seeds or more. Impressions of one reader are not independent, which the error does not know. Who is a
// test user of interaction data follows from the seed: there only runs of equal seeds can be paired.

#include <map>
#include <string>
#include <vector>

#include "eval/reporting.h"
#include "fl/run_log.h"
#include "metrics/mean.h"

namespace sotto::eval {

struct CompareRequest {
  std::vector<fs::path> runs;
  fs::path data;      // empty: where the first run was trained
  bool pairs = true;  // false: the numbers that the runs stored, without testing anything again
};

struct ComparedRow {
  std::string name, recipe;
  std::vector<fs::path> runs;  // by seed, ascending
  std::vector<std::uint64_t> seeds;
  std::map<std::string, std::vector<double>> values;  // by seed
  std::string epsilon_server, epsilon_published;      // "none" where nothing holds
  bool simulation = false;                            // noise from the seed: neither holds for its files
  std::vector<fl::RoundRecord> log;                   // of the first seed
  // Against the first row, measure of the comparison; NaN for the first row and where nothing can be paired.
  metrics::MeanAndError difference{};
  std::string paired_by;  // "seeds", "impressions", "users" or nothing
  std::string unpaired;   // why nothing can be paired; empty for the first row
};

struct ComparedColumn {
  std::string measure, heading;
  double factor = 1;
  int decimals = 3;
};

struct Comparison {
  std::string data;
  std::vector<ComparedColumn> columns;  // the first is the measure of the comparison
  std::vector<ComparedRow> rows;        // in the order the runs were given
};

// Refuses unfinished runs, runs of different data sets, and impressions beside interactions.
Result<Comparison> compare_runs(const CompareRequest& request);

std::string to_text(const Comparison& comparison);  // at most 100 columns
std::string to_csv(const Comparison& comparison);
std::string to_html(const Comparison& comparison);

}  // namespace sotto::eval
