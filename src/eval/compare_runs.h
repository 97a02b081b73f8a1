#pragma once
// Trained runs side by side: one row per recipe and settings, its seeds averaged, every row held against the
// first one by pairs, and the curves of training.
//
// Two runs of one data set see the same test impressions (or test users), so their difference is far surer
// than the two numbers: it is taken impression by impression, or seed by seed where both rows have the same
// two seeds or more. Impressions of one reader are not independent, which the error does not know. Who is a
// test user of interaction data follows from the seed: there only runs of equal seeds can be paired.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "eval/reporting.h"
#include "fl/run_log.h"
#include "metrics/mean.h"

namespace sotto::eval {

struct CompareRequest {
  std::vector<fs::path> runs;
  fs::path data;      // empty: where the first run was trained
  bool pairs = true;  // false: the numbers that the runs stored, without testing anything again
  bool both = false;  // numbers of the other family too (both_families.h), for which all are tested again
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
  bool in_text = false;  // the others are in the page and the CSV
};

struct Comparison {
  std::string data;
  std::vector<ComparedColumn> columns;  // the first is the measure of the comparison
  std::vector<ComparedRow> rows;        // in the order the runs were given
};

// Refuses unfinished runs, runs of different data sets, and impressions beside interactions.
Result<Comparison> compare_runs(const CompareRequest& request);

// The measure of a comparison on every test impression, or test user, of a run that is tested again.
struct TestedAgain {
  std::vector<double> each;  // NaN where there is no order to judge
  std::string unit;          // "impressions" or "users"
};
Result<TestedAgain> test_again(const fs::path& run, const data::Dataset& dataset);
// Of values that belong together, other − first.
metrics::MeanAndError paired_difference(std::span<const double> first, std::span<const double> other);

std::string to_text(const Comparison& comparison);  // a table of at most 100 columns, then sentences
std::string to_csv(const Comparison& comparison);
std::string to_html(const Comparison& comparison);

}  // namespace sotto::eval
