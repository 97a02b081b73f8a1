#pragma once
// The news models of the literature, one file each; models() in model_registry.h is their table. All take
// ragged input (no padding to mask), and stay finite for empty histories and items without words.

#include <memory>

#include "model/news/news_recommender.h"
#include "model/news/news_shape.h"

namespace sotto::model {

std::shared_ptr<RankingModel> make_nrms(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_naml(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_lstur(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_npa(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_ebnr(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_dkn(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_dan(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_dfm(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_plm_nr(const ModelInputs& inputs);
std::shared_ptr<RankingModel> make_fm(const ModelInputs& inputs);

// The flagship's: ready item vectors, a user model of some two hundred numbers. inputs.words is the table of
// a WordSpace.
std::shared_ptr<RankingModel> make_catalogue_model(const ModelInputs& inputs);

}  // namespace sotto::model
