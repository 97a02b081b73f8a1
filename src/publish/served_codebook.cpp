#include "publish/served_codebook.h"

#include "fl/personal_model.h"
#include "model/news/noisy_user_model.h"
#include "model/news/private_rec_model.h"
#include "publish/two_tower_rows.h"

namespace sotto::publish {

model::NewsRecommender* shared_towers(model::RankingModel& model) {
  if (const auto* mixtures = dynamic_cast<const model::PrivateRecModel*>(&model))
    return &mixtures->backbone();
  if (const auto* noisy = dynamic_cast<const model::NoisyUserModel*>(&model)) return &noisy->backbone();
  if (auto* personal = dynamic_cast<fl::PersonalModel*>(&model)) return &personal->shared();
  return dynamic_cast<model::NewsRecommender*>(&model);
}

Result<Codebook> codebook_of_readers(const Rows& items, const Rows& readers, std::size_t prototypes,
                                     std::size_t basis) {
  SOTTO_TRY(const auto space, RankingSpace::of_items(items));
  return make_codebook(space, readers, prototypes, basis, codebook_seed);
}

Result<Codebook> served_codebook(model::NewsRecommender& towers, const Rows& items, const Demand& demand,
                                 const ServedCodebookSettings& settings) {
  const torch::NoGradGuard no_grad;
  SOTTO_TRY(const Rows vectors, simulated_reader_vectors(towers, items, demand, settings.max_history,
                                                         ReaderSettings{}, codebook_seed));
  return codebook_of_readers(items, vectors, settings.prototypes, settings.basis);
}

}  // namespace sotto::publish
