#include "publish/packs/served_run.h"

#include <algorithm>

#include "device/wire/pack_codec.h"
#include "model/news/model_registry.h"
#include "model/news/private_rec_model.h"
#include "publish/article_encoder.h"
#include "publish/factor_encoder.h"
#include "publish/factor_ranking.h"
#include "publish/rows.h"
#include "publish/run_demand.h"
#include "publish/served_codebook.h"
#include "publish/two_tower_rows.h"
#include "recipes/run_data.h"
#include "recipes/stored_run.h"

namespace sotto::publish {

namespace {

// The device's name for the user side of a model.
Result<std::string> user_model_kind(const std::string& model) {
  if (model == "nrms" || model == "plm-nr") return std::string("nrms");
  if (model == "naml" || model == "fednewsrec" || model == "catalogue") return model;
  SOTTO_TRY(const auto* entry, model::find_model(model));
  const char* why = entry->user_ids()
                        ? "it keeps a vector of every reader's own, which a server must not ask for"
                    : !entry->two_towers ? "it reads a reader anew for every item, so items have no vectors"
                                         : "devices do not know its user side";
  return bad_input(
      "a run of {} cannot be served: {}. With the same recipe and budget train --set model=nrms, plm-nr, "
      "naml or "
      "fednewsrec; 'sotto' trains catalogue",
      model, why);
}

Result<device::PackTensor> tensor_of(std::string name, const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  std::vector<std::uint32_t> shape;
  for (const std::int64_t size : values.sizes()) shape.push_back(static_cast<std::uint32_t>(size));
  return device::PackTensor::from_floats(std::move(name), std::move(shape),
                                         {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                                         device::NumberForm::f32);
}

Result<device::PackTensor> tensor_of(std::string name, const Rows& rows, std::uint32_t width) {
  return device::PackTensor::from_floats(std::move(name), {static_cast<std::uint32_t>(rows.size()), width},
                                         rows.values, device::NumberForm::f32);
}

Result<device::PackUserModel> user_model_of(const recipes::TrainedNews& news,
                                            const model::NewsRecommender& towers) {
  device::PackUserModel made;
  SOTTO_TRY(made.kind, user_model_kind(news.model_name));
  const bool attends = made.kind == "nrms" || made.kind == "fednewsrec";
  if (attends) made.heads = static_cast<std::uint32_t>(news.shape.heads);
  if (made.kind == "fednewsrec") made.recent_clicks = static_cast<std::uint32_t>(news.shape.recent_clicks);
  made.max_history = static_cast<std::uint32_t>(news.max_history);
  bool users = false;  // the user side is registered last
  for (const auto& parameter : towers.named_parameters()) {
    users = users || parameter.key() == towers.first_user_parameter();
    if (!users) continue;
    SOTTO_TRY(auto weights, tensor_of(parameter.key(), parameter.value()));
    made.weights.push_back(std::move(weights));
  }
  return made;
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
  const Rows items = encode_catalogue(towers, dataset.item_count());
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
  SOTTO_TRY(pack.prototypes, tensor_of("prototypes", book.prototypes, pack.dimension));
  SOTTO_TRY(pack.basis, tensor_of("basis", book.basis, pack.dimension));
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
  SOTTO_TRY(pack.prototypes, tensor_of("prototypes", book.prototypes, pack.dimension));
  if (mixtures != nullptr) {
    SOTTO_TRY(pack.basis, tensor_of("basis", mixtures->basis()));
  } else {
    SOTTO_TRY(pack.basis, tensor_of("basis", book.basis, pack.dimension));
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
