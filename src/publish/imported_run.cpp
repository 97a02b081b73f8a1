#include "publish/imported_run.h"

#include <array>
#include <cstring>

#include "fl/run_log.h"
#include "model/flat_parameters.h"
#include "serving/run_privacy.h"
#include "text/safetensors.h"

namespace sotto::publish {

namespace {

constexpr const char* derived_vectors = "item_vectors";
// What makes a folder the run that it is, and what is said of exactly these parameters.
constexpr std::array description_files = {"settings.toml", "run.json", "vocabulary.sotto", "words.sotto",
                                          "codes.txt"};
constexpr std::array statement_files = {"privacy.toml", "privacy.txt", "privacy.json",
                                        serving::demand_charges_file, "result.json"};

Status check_names(const text::SafetensorsFile& file,
                   const torch::OrderedDict<std::string, torch::Tensor>& known, const fs::path& path) {
  for (const auto& [name, view] : file.tensors())
    if (name != derived_vectors && known.find(name) == nullptr)
      return bad_input("{} holds '{}', which the run's model has not", path.string(), name);
  for (const auto& parameter : known)
    if (file.find(parameter.key()) == nullptr)
      return bad_input("{} lacks '{}' of the run's model", path.string(), parameter.key());
  return {};
}

Status take(const text::TensorView& view, const std::string& name, torch::Tensor values,
            const fs::path& path) {
  const std::vector<std::uint64_t> shape(values.sizes().begin(), values.sizes().end());
  if (view.type != text::TensorType::f32 || view.shape != shape)
    return bad_input("{}: '{}' is {} of {}, and the run's model has {} of F32", path.string(), name,
                     text::shape_text(view.shape), text::name_of(view.type), text::shape_text(shape));
  torch::Tensor taken = torch::empty(values.sizes());
  std::memcpy(taken.data_ptr<float>(), view.bytes.data(), view.bytes.size());
  if (!torch::isfinite(taken).all().item<bool>())
    return bad_input("{}: '{}' holds something that is no number", path.string(), name);
  values.copy_(taken);
  return {};
}

template <class Names>
Status copy_files(const fs::path& from, const fs::path& to, const Names& names) {
  for (const char* name : names) {
    if (!fs::exists(from / name)) continue;
    SOTTO_TRY(const std::string bytes, read_file(from / name, std::uint64_t{1} << 32));
    SOTTO_CHECK(write_file_atomically(to / name, bytes));
  }
  return {};
}

}  // namespace

Result<ImportedRun> import_run(const fs::path& run, const data::Dataset& dataset, const fs::path& file,
                               const fs::path& out) {
  if (fs::exists(out)) return bad_input("{} exists: choose another folder to create", out.string());
  SOTTO_TRY(const auto stored, recipes::load_run(run));
  SOTTO_CHECK(recipes::check_data_of_run(stored, run, dataset, {}));
  SOTTO_TRY(const auto tensors, text::SafetensorsFile::open(file));
  SOTTO_TRY(const auto news, recipes::open_news_run(run, dataset));
  model::FlatParameters parameters(*news.model);
  SOTTO_TRY(auto checkpoint, fl::load_checkpoint(run / "best.sotto", parameters.layout()));
  const auto known = news.model->named_parameters();
  SOTTO_CHECK(check_names(tensors, known, file));
  const torch::Tensor before = parameters.values().clone();
  for (const auto& parameter : known)
    SOTTO_CHECK(take(*tensors.find(parameter.key()), parameter.key(), parameter.value(), file));

  ImportedRun imported{static_cast<std::uint64_t>(parameters.size()),
                       torch::equal(before, parameters.values())};
  checkpoint.parameters = parameters.values();
  checkpoint.optimiser.clear();
  checkpoint.unwritten.clear();
  SOTTO_TRY(auto folder, AtomicDirectory::create(out));
  SOTTO_CHECK(copy_files(run, folder.path(), description_files));
  if (imported.unchanged) SOTTO_CHECK(copy_files(run, folder.path(), statement_files));
  SOTTO_CHECK(fl::save_checkpoint(folder.path() / "best.sotto", checkpoint));
  SOTTO_CHECK(folder.commit());
  return imported;
}

}  // namespace sotto::publish
