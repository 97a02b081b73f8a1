#include "publish/served_codebook.h"

#include "fl/personal_model.h"
#include "model/news/private_rec_model.h"
#include "publish/two_tower_rows.h"

namespace sotto::publish {

model::NewsRecommender* shared_towers(model::RankingModel& model) {
  if (const auto* mixtures = dynamic_cast<const model::PrivateRecModel*>(&model))
    return &mixtures->backbone();
  if (auto* personal = dynamic_cast<fl::PersonalModel*>(&model)) return &personal->shared();
  return dynamic_cast<model::NewsRecommender*>(&model);
}

Result<Codebook> served_codebook(model::NewsRecommender& towers, const Rows& items, const Demand& demand,
                                 const ServedCodebookSettings& settings) {
  const torch::NoGradGuard no_grad;
  const Rows vectors =
      simulated_reader_vectors(towers, items, demand, settings.max_history, ReaderSettings{}, codebook_seed);
  SOTTO_TRY(const auto space, RankingSpace::of_items(items));
  return make_codebook(space, vectors, settings.prototypes, settings.basis, codebook_seed);
}

}  // namespace sotto::publish
