#pragma once
// The tables and figures of Efficient-FedRec (Yi et al. 2021).

#include "eval/experiments/grid/grid.h"

namespace sotto {

Result<Grid> efficient_table2(const GridContext& context);
Result<Grid> efficient_cost(const GridContext& context);
Result<Grid> efficient_bert_sizes(const GridContext& context);
Result<Grid> efficient_group_size(const GridContext& context);
Result<Grid> efficient_users(const GridContext& context);

}  // namespace sotto
