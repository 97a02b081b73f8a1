#pragma once
// The tables and figures of PrivateRec (Liu et al. 2022).

#include "eval/experiments/grid/grid.h"

namespace sotto {

Result<Grid> privaterec_table1(const GridContext& context);
Result<Grid> privaterec_table2(const GridContext& context);
Result<Grid> privaterec_serving_epsilon(const GridContext& context);
Result<Grid> privaterec_padding(const GridContext& context);
Result<Grid> privaterec_training_epsilon(const GridContext& context);
Result<Grid> privaterec_basis(const GridContext& context);
Result<Grid> privaterec_noise_helps(const GridContext& context);

}  // namespace sotto
