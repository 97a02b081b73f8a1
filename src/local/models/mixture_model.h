#pragma once
// PrivateRec's user side (model/news/private_rec_model.h) around another model: a user vector u is replaced
// by a mixture of B basis vectors, whose weights softmax(u·bᵀ/√D) are clipped to an L2 norm and normalised.
// As in sound training nothing is padded and no noise is inside the pass: the update carries it.

#include <memory>

#include "local/ranking_model.h"

namespace sotto::local {

// The basis stands before the parameters of `inner`, as torch lists them.
std::unique_ptr<RankingModel> make_mixture_model(std::unique_ptr<const RankingModel> inner,
                                                 Index basis_vectors, double weight_clip);

}  // namespace sotto::local
