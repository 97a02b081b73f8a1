#pragma once
// The tables and figures of PrivRec and DP-PrivRec (Wang et al. 2021).

#include "eval/experiments/experiment.h"
#include "eval/experiments/grid/grid.h"

namespace sotto {

Result<Grid> privrec_movielens(const GridContext& context);
Result<Grid> privrec_frappe(const GridContext& context);
Result<Grid> privrec_sweeps(const GridContext& context);
Result<Grid> privrec_dp(const GridContext& context);
Result<Grid> privrec_gamma_clip(const GridContext& context);
Result<Grid> privrec_activity(const GridContext& context);
Result<Grid> privrec_no_proximal(const GridContext& context);
// Tables 3 and 4: arithmetic, no training.
Result<ExperimentResult> privrec_accountant(const ExperimentRequest& request);

}  // namespace sotto
