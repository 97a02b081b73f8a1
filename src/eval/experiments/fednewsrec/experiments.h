#pragma once
// The table and the figures of FedNewsRec (Qi et al. 2020).

#include "eval/experiments/grid/grid.h"

namespace sotto {

Result<Grid> fednewsrec_table2(const GridContext& context);
Result<Grid> fednewsrec_users(const GridContext& context);
Result<Grid> fednewsrec_lambda_delta(const GridContext& context);
Result<Grid> fednewsrec_convergence(const GridContext& context);
Result<Grid> fednewsrec_ablation(const GridContext& context);

}  // namespace sotto
