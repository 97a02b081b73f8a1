#pragma once
// What BERT costs a client that holds it, by size.

#include "base/result.h"
#include "model/bert/bert_config.h"

namespace sotto {

// Numbers that BertModel learns.
std::int64_t bert_parameters(const BertConfig& config);

// The user model of NRMS at the papers' size: self-attention of 20 heads of 20 over 400 numbers, pooling 200.
std::int64_t user_model_parameters();

// Seconds of one pass forward and back over `titles` titles of `pieces` word pieces, random weights, on this
// machine. Large sizes take as much memory as their weights, their gradients and the activations.
double bert_pass_seconds(const BertConfig& config, std::int64_t titles, std::int64_t pieces);

}  // namespace sotto
