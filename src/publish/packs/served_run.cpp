#include "publish/packs/served_run.h"

#include <algorithm>

#include "device/wire/pack_codec.h"
#include "model/news/private_rec_model.h"
#include "publish/article_encoder.h"
#include "publish/factor_encoder.h"
#include "publish/factor_ranking.h"
#include "publish/rows.h"
#include "publish/run_demand.h"
#include "publish/served_codebook.h"
#include "publish/two_tower_rows.h"
#include "publish/user_model_of.h"
#include "recipes/run_data.h"
#include "recipes/stored_run.h"

namespace sotto::publish {

namespace {

Result<device::PackTensor> rows_tensor(std::string name, const Rows& rows, std::uint32_t width) {
  return device::PackTensor::from_floats(std::move(name), {static_cast<std::uint32_t>(rows.size()), width},
                                         rows.values, device::NumberForm::f32);
}

Result<Demand> demand_for(const fs::path& run, const data::Dataset& dataset, const Rows& items,
                          const ServedRunSettings& settings) {
  ReaderSettings readers;
  readers.demand_epsilon = settings.demand_epsilon;
  if (settings.demand_epsilon > 0) return demand_of_run(run, dataset, items, readers, codebook_seed);
  return demand_of_items(items, readers, codebook_seed);
}

Result<Codebook> codebook_of(const fs::path& run, const recipes::TrainedNews& news,
                             model::NewsRecommender& towers, const data::Dataset& dataset,
                             const ServedRunSettings& settings, std::size_t basis) {
  torch::NoGradGuard no_grad;
  SOTTO_TRY(const Rows items, encode_catalogue(towers, dataset.item_count()));
  SOTTO_TRY(const Demand demand, demand_for(run, dataset, items, settings));
  return served_codebook(towers, items, demand,
                         {static_cast<std::size_t>(settings.prototypes), basis, news.max_history});
}

// Simulated readers, as their devices make them.
Rows readers_of(const device::UserModel& user_model, const Rows& items, const Demand& demand) {
  const auto histories = simulate_histories(demand, ReaderSettings{}, codebook_seed);
  Rows readers(histories.size(), items.width);
  std::vector<float> clicks;
  for (std::size_t reader = 0; reader < histories.size(); ++reader) {
    clicks.clear();
    for (const data::ItemId item : histories[reader])
      clicks.insert(clicks.end(), items[item].begin(), items[item].end());
    const std::vector<float> vector = user_model.encode(clicks);
    std::copy(vector.begin(), vector.end(), readers[reader].begin());
  }
  return readers;
}

Status finish(device::DevicePack& pack) {
  pack.categories = {"all"};  // the live items bring theirs
  SOTTO_TRY(pack.items, device::make_items({}, pack.dimension));
  SOTTO_TRY(pack.model, device::model_name(pack));
  return {};
}

Result<ServedRun> serve_factors(const fs::path& run, const data::Dataset& dataset,
                                const ServedRunSettings& settings, recipes::TrainedFactors factors) {
  ServedRun served;
  device::DevicePack& pack = served.pack;
  pack.dimension = static_cast<std::uint32_t>(factors.size);
  SOTTO_TRY(pack.user_model, factor_user_model(factors));
  Rows items(dataset.item_count(), factors.size);
  items.values = factors.items;
  SOTTO_TRY(const Demand demand, demand_for(run, dataset, items, settings));
  SOTTO_TRY(const auto user_model, device::make_user_model(pack));
  SOTTO_TRY(auto book, codebook_of_readers(items, readers_of(user_model, items, demand),
                                           static_cast<std::size_t>(settings.prototypes),
                                           static_cast<std::size_t>(settings.basis_vectors)));
  SOTTO_TRY(pack.prototypes, rows_tensor("prototypes", book.prototypes, pack.dimension));
  SOTTO_TRY(pack.basis, rows_tensor("basis", book.basis, pack.dimension));
  pack.average_user = std::move(book.average_user);
  pack.anonymous.resize(pack.dimension);  // a click that says nothing
  SOTTO_CHECK(finish(pack));
  served.encoder = std::make_shared<const FactorEncoder>(std::move(factors), dataset);
  return served;
}

Result<ServedRun> serve_news(const fs::path& run, const data::Dataset& dataset,
                             const ServedRunSettings& settings) {
  SOTTO_TRY(auto news, recipes::open_news_run(run, dataset));
  SOTTO_CHECK(user_model_kind(news.model_name));
  auto* mixtures = dynamic_cast<model::PrivateRecModel*>(news.model.get());
  model::NewsRecommender* towers = shared_towers(*news.model);
  if (towers == nullptr) return failed("{} is not made of two towers", news.model_name);

  ServedRun served;
  device::DevicePack& pack = served.pack;
  pack.dimension = static_cast<std::uint32_t>(towers->vector_size());
  SOTTO_TRY(pack.user_model, user_model_of(news, *towers));
  SOTTO_TRY(auto book,
            codebook_of(run, news, *towers, dataset, settings,
                        mixtures != nullptr ? 0 : static_cast<std::size_t>(settings.basis_vectors)));
  SOTTO_TRY(pack.prototypes, rows_tensor("prototypes", book.prototypes, pack.dimension));
  if (mixtures != nullptr) {
    SOTTO_TRY(pack.basis, tensor_of("basis", mixtures->basis()));
  } else {
    SOTTO_TRY(pack.basis, rows_tensor("basis", book.basis, pack.dimension));
  }
  pack.average_user = std::move(book.average_user);
  pack.anonymous.resize(pack.dimension);  // an item without words, where none was learned
  if (mixtures != nullptr) {
    const torch::Tensor learned = mixtures->anonymous_vector().to(torch::kCPU, torch::kFloat32).contiguous();
    std::copy_n(learned.data_ptr<float>(), pack.dimension, pack.anonymous.begin());
  }
  SOTTO_CHECK(finish(pack));
  SOTTO_TRY(served.encoder, ArticleEncoder::create(std::move(news)));
  return served;
}

}  // namespace

Result<std::shared_ptr<const serving::ItemEncoder>> open_item_encoder(const fs::path& run,
                                                                      const data::Dataset& dataset) {
  SOTTO_TRY(const auto seen, recipes::data_of_run(run, dataset));
  SOTTO_TRY(auto factors, recipes::open_factors_run(run, seen));
  if (factors) return std::make_shared<const FactorEncoder>(std::move(*factors), seen);
  SOTTO_TRY(auto news, recipes::open_news_run(run, seen));
  return ArticleEncoder::create(std::move(news));
}

Result<ServedRun> open_served_run(const fs::path& run, const data::Dataset& dataset,
                                  const ServedRunSettings& settings) {
  SOTTO_TRY(const auto seen, recipes::data_of_run(run, dataset));
  SOTTO_TRY(auto factors, recipes::open_factors_run(run, seen));
  if (factors) return serve_factors(run, seen, settings, std::move(*factors));
  return serve_news(run, seen, settings);
}

}  // namespace sotto::publish
