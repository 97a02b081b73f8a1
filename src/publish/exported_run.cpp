#include "publish/exported_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "formats/numpy_files.h"
#include "publish/factor_ranking.h"
#include "publish/model_card.h"
#include "publish/news_encoder_onnx.h"
#include "publish/served_codebook.h"
#include "publish/two_tower_rows.h"
#include "publish/user_encoder_onnx.h"
#include "publish/user_model_of.h"
#include "recipes/run_data.h"
#include "text/vocabulary.h"

namespace sotto::publish {

namespace {

using formats::NamedArray;

constexpr const char* vectors_name = "item_vectors";

// What of a run is exported, whatever the format.
struct RunArrays {
  std::vector<NamedArray> parameters;
  std::optional<NamedArray> items;  // [I, D]
  std::uint32_t dimension = 0;
  Result<device::PackUserModel> user_model = bad_input("the run has no user model");

  std::vector<NamedArray> all() const {
    std::vector<NamedArray> arrays = parameters;
    if (items) arrays.push_back(*items);
    return arrays;
  }
};

NamedArray array_of(const std::string& name, const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  NamedArray made{name, {}, {}};
  for (const std::int64_t extent : values.sizes()) made.shape.push_back(static_cast<std::uint64_t>(extent));
  made.values.assign(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
  return made;
}

RunArrays arrays_of(const recipes::TrainedFactors& factors) {
  RunArrays made;
  const std::uint64_t size = factors.size;
  made.dimension = static_cast<std::uint32_t>(size);
  made.parameters = {{"mix", {size, size}, factors.mix},
                     {"constant", {size}, factors.constant},
                     {"unseen_item", {size}, factors.unseen_item}};
  made.items = NamedArray{vectors_name, {factors.items.size() / size, size}, factors.items};
  made.user_model = factor_user_model(factors);
  return made;
}

std::vector<NamedArray> parameters_of(const torch::nn::Module& model) {
  std::vector<NamedArray> made;
  for (const auto& parameter : model.named_parameters())
    made.push_back(array_of(parameter.key(), parameter.value()));
  return made;
}

Result<RunArrays> arrays_of(const recipes::TrainedNews& news, std::size_t items) {
  RunArrays made;
  made.parameters = parameters_of(*news.model);
  model::NewsRecommender* towers = shared_towers(*news.model);
  if (towers == nullptr) return made;
  SOTTO_TRY(Rows rows, encode_catalogue(*towers, items));
  made.dimension = static_cast<std::uint32_t>(rows.width);
  made.items = NamedArray{vectors_name, {rows.size(), rows.width}, std::move(rows.values)};
  made.user_model = user_model_of(news, *towers);
  return made;
}

ExportMetadata metadata_of(const recipes::StoredRun& stored) {
  return {{"producer", "sotto"},
          {"recipe", std::string(stored.entry->name)},
          {"guarantee", std::string(stored.entry->guarantee)},
          {"dataset", stored.dataset},
          {"fingerprint", stored.fingerprint}};
}

// The news encoder's graph, and what the numbers that it reads stand for; nothing where the news side is no
// graph.
Result<std::vector<NamedFile>> news_encoder_files(const recipes::TrainedNews& news, const fs::path& run,
                                                  const recipes::StoredRun& stored) {
  const auto* towers = shared_towers(*news.model);
  if (towers == nullptr) return std::vector<NamedFile>();
  const nlohmann::json settings = stored.table.to_json();
  model::WordLimits read;
  read.title = settings.value("max_words", read.title);
  read.abstract = settings.value("max_abstract_words", read.abstract);
  SOTTO_TRY(auto graph, news_encoder_onnx(news, parameters_of(*towers), read, metadata_of(stored)));
  if (!graph) return std::vector<NamedFile>();
  SOTTO_TRY(const auto vocabulary, text::Vocabulary::load(run / "vocabulary.sotto"));
  nlohmann::json words = nlohmann::json::array();
  for (std::size_t id = 0; id < vocabulary.size(); ++id)
    words.push_back(vocabulary.word(static_cast<text::WordId>(id)));
  const nlohmann::json numbered = {{"words", std::move(words)},
                                   {"categories", news.category_names},
                                   {"subcategories", news.subcategory_names}};
  return std::vector<NamedFile>{
      {"news_encoder.onnx", std::move(*graph)},
      {"news_inputs.json", numbered.dump(0, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"}};
}

Result<std::vector<NamedFile>> files_of(const RunArrays& arrays, const recipes::StoredRun& stored,
                                        std::string_view format) {
  const auto metadata = metadata_of(stored);
  if (format != "onnx") {
    SOTTO_TRY(NamedFile file, tensor_file(arrays.all(), format, metadata));
    return std::vector<NamedFile>{std::move(file)};
  }
  if (!arrays.user_model) return tl::unexpected(Error(arrays.user_model.error()));
  auto described = metadata;
  described.emplace_back("user_model", arrays.user_model->kind);
  described.emplace_back("max_history", std::to_string(arrays.user_model->max_history));
  SOTTO_TRY(std::string graph, user_encoder_onnx(*arrays.user_model, arrays.dimension, described));
  return std::vector<NamedFile>{{"user_encoder.onnx", std::move(graph)},
                                {"item_vectors.npy", formats::npy_bytes(*arrays.items)}};
}

std::vector<std::string> ids_of(const data::Dataset& dataset) {
  std::vector<std::string> ids;
  for (std::size_t item = 0; item < dataset.item_count(); ++item)
    ids.emplace_back(dataset.catalogue().ids[item]);
  return ids;
}

}  // namespace

Result<ExportedFiles> export_run(const fs::path& run, const data::Dataset& dataset, std::string_view format,
                                 const fs::path& out) {
  if (std::find(export_formats.begin(), export_formats.end(), format) == export_formats.end())
    return bad_input("there is no format '{}': one of {}", format, fmt::join(export_formats, ", "));
  if (fs::exists(out)) return bad_input("{} exists: choose another folder to create", out.string());
  SOTTO_TRY(const auto stored, recipes::load_run(run));
  SOTTO_CHECK(recipes::check_data_of_run(stored, run, dataset, {}));
  SOTTO_TRY(const auto seen, recipes::data_of_run(*stored.recipe, dataset));
  SOTTO_TRY(auto factors, recipes::open_factors_run(run, dataset));
  RunArrays arrays;
  std::vector<NamedFile> news_files;
  if (factors) {
    arrays = arrays_of(*factors);
  } else {
    SOTTO_TRY(const auto news, recipes::open_news_run(run, dataset));
    SOTTO_TRY(arrays, arrays_of(news, seen.item_count()));
    if (format == "onnx") {
      SOTTO_TRY(news_files, news_encoder_files(news, run, stored));
    }
  }
  SOTTO_TRY(auto files, files_of(arrays, stored, format));
  std::move(news_files.begin(), news_files.end(), std::back_inserter(files));
  if (arrays.items) files.push_back(item_ids_file(ids_of(seen)));
  if (fs::exists(run / "privacy.json")) {
    SOTTO_TRY(std::string sheet, read_file(run / "privacy.json", 1 << 20));
    files.push_back({"privacy.json", std::move(sheet)});
  }
  ExportedFiles exported;
  for (const NamedFile& file : files) exported.files.push_back(file.name);
  SOTTO_TRY(std::string card, model_card(run, stored, exported.files));
  files.push_back({"MODEL_CARD.md", std::move(card)});
  exported.files.emplace_back("MODEL_CARD.md");
  for (const NamedArray& array : arrays.parameters) exported.parameters += array.values.size();
  exported.items = arrays.items ? arrays.items->shape.front() : 0;

  if (interrupted()) return failed("stopped: nothing was exported");
  SOTTO_CHECK(write_folder(out, files));
  return exported;
}

}  // namespace sotto::publish
