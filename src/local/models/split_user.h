#pragma once
// The device's part of split training (fl/split_training.h, Efficient-FedRec): the user model of NRMS and
// PLM-NR over vectors that the server has computed. Gradients of the vectors are returned before those of the
// model: [M D + Q].

#include <memory>

#include "local/models/layers.h"

namespace sotto::local {

// sizes.in is the size of a vector, heads times head_size.
std::unique_ptr<RankingModel> make_split_user(const AttentionEncoder::Sizes& sizes);

}  // namespace sotto::local
