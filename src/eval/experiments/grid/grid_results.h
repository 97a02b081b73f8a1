#pragma once
// From finished runs to numbers: measures by name, the rankings without a model, and what to call them.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "eval/experiments/grid/grid.h"

namespace sotto {

// Adds one seed's numbers to a row: every number of the object under its path, such as "auc",
// "by_activity.0.hits10" or "beside.popularity.hits10".
void add_measures(GridResult& result, const nlohmann::json& run);

// What needs no training, for the table: label and measures.
struct TrivialRow {
  std::string group, label;
  std::map<std::string, double> values;
};

// Impressions: popularity, random order and, where the data set knows it, the best possible. Interactions:
// what stands beside the rows of every group, averaged over seeds.
std::vector<TrivialRow> trivial_rows(const Dataset& dataset, const fs::path& data,
                                     const std::vector<GridResult>& results);

// The ε columns of a row: what the paper claims, what holds against the server and of what is published.
// "none" where nothing holds, empty where nothing is claimed.
struct EpsilonTexts {
  std::string claimed, server, published;
};
EpsilonTexts epsilon_texts(const GridResult& result);

}  // namespace sotto
