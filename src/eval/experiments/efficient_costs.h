#pragma once
// What Efficient-FedRec costs beside training: BERT for a client that holds it, by size; the union of a
// group's items, and the secure sum.

#include <functional>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "eval/experiments/grid/grid.h"
#include "model/bert/bert_config.h"

namespace sotto::eval {

using Clock = std::function<double()>;  // seconds since some moment
double wall_seconds();

// Numbers that BertModel learns.
std::int64_t bert_parameters(const model::BertConfig& config);
// Those of all of PLM-NR at the papers' size: BERT, pooling 200 and projection to 400 above it, user model.
std::int64_t plm_nr_parameters(const model::BertConfig& config);

// The user model of NRMS at the papers' size: self-attention of 20 heads of 20 over 400 numbers, pooling 200.
std::int64_t user_model_parameters();

// Seconds of one pass forward and back over `titles` titles of `pieces` word pieces, random weights, on this
// machine. Large sizes take as much memory as their weights, their gradients and the activations.
double bert_pass_seconds(const model::BertConfig& config, std::int64_t titles, std::int64_t pieces);

// Seconds of one pass forward and back through the user model of NRMS at the papers' size: all that a device
// of Efficient-FedRec computes for a click, the vectors of items being given.
double user_model_pass_seconds(std::int64_t clicks);
// Seconds of the mean of so many clients' vectors of `numbers` floats, timed on a part and scaled.
double mean_seconds(std::int64_t clients, std::int64_t numbers);

// What one round asks of one client, alone on this machine, and of the server, by system: FedRec computes the
// whole model's gradient on the device, Efficient-FedRec the user model's, with vectors that the server
// infers and whose gradients it carries back. Narrow models when quick.
Result<GridExtra> own_work(const data::Dataset& dataset, std::int64_t group, bool quick,
                           const Clock& now = wall_seconds);

// The items that a user's training touches: clicks before and in training impressions, and the items shown
// there that were not clicked, as far as samples of `negatives` per click would draw them. By user.
std::vector<std::vector<std::uint32_t>> training_items(const data::Dataset& dataset, std::size_t negatives,
                                                       std::uint64_t seed);

// By group size: size of the union, share of it that one user alone holds, and seconds of a secure sum of
// `numbers` 16-bit numbers (left out where the build has no secure aggregation).
Result<GridExtra> group_costs(const data::Dataset& dataset, const std::vector<std::int64_t>& group_sizes,
                              std::size_t numbers);

}  // namespace sotto::eval
