#pragma once
// The experiments, one file for each paper and one for serving; registry.cpp is their table.

#include "eval/experiments/experiment.h"
#include "eval/experiments/grid/grid.h"

namespace sotto::eval {

// The table and the figures of FedNewsRec (Qi et al. 2020).
Result<Grid> fednewsrec_table2(const GridContext& context);
Result<Grid> fednewsrec_users(const GridContext& context);
Result<Grid> fednewsrec_lambda_delta(const GridContext& context);
Result<Grid> fednewsrec_convergence(const GridContext& context);
Result<Grid> fednewsrec_ablation(const GridContext& context);

// The tables and figures of Efficient-FedRec (Yi et al. 2021).
Result<Grid> efficient_table2(const GridContext& context);
Result<Grid> efficient_cost(const GridContext& context);
Result<Grid> efficient_bert_sizes(const GridContext& context);
Result<Grid> efficient_group_size(const GridContext& context);
Result<Grid> efficient_users(const GridContext& context);

// The tables and figures of PrivateRec (Liu et al. 2022).
Result<Grid> privaterec_table1(const GridContext& context);
Result<Grid> privaterec_table2(const GridContext& context);
Result<Grid> privaterec_serving_epsilon(const GridContext& context);
Result<Grid> privaterec_padding(const GridContext& context);
Result<Grid> privaterec_training_epsilon(const GridContext& context);
Result<Grid> privaterec_basis(const GridContext& context);
Result<Grid> privaterec_noise_helps(const GridContext& context);

// The tables and figures of PrivRec and DP-PrivRec (Wang et al. 2021).
Result<Grid> privrec_movielens(const GridContext& context);
Result<Grid> privrec_frappe(const GridContext& context);
Result<Grid> privrec_sweeps(const GridContext& context);
Result<Grid> privrec_dp(const GridContext& context);
Result<Grid> privrec_gamma_clip(const GridContext& context);
Result<Grid> privrec_activity(const GridContext& context);
Result<Grid> privrec_no_proximal(const GridContext& context);
// Tables 3 and 4: arithmetic, no training.
Result<ExperimentResult> privrec_accountant(const ExperimentRequest& request);

// What privacy costs as the population grows.
Result<Grid> population(const GridContext& context);

// How much recommendation quality private serving keeps, for every mechanism and ε
// (serving/serving_epsilon.cpp).
Result<ExperimentResult> run_serving_epsilon(const ExperimentRequest& request);

}  // namespace sotto::eval
