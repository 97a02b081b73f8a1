#ifdef SOTTO_HAVE_NET

#include "cli/run_source.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "base/utf8.h"
#include "data/dataset.h"
#include "data/fingerprint.h"
#include "device/wire/pack_codec.h"

namespace sotto::cli {

namespace {

constexpr std::size_t articles_at_once = 1024;

// When each item was shown first; 0: never, or nobody noted the time.
std::vector<std::int64_t> first_shown(const data::Dataset& dataset) {
  std::vector<std::int64_t> times(dataset.item_count());
  for (std::size_t i = 0; i < dataset.impression_count(); ++i) {
    const data::Impression impression = dataset.impression(i);
    if (impression.time <= 0) continue;
    for (const data::ItemId item : impression.shown)
      times[item] = times[item] == 0 ? impression.time : std::min(times[item], impression.time);
  }
  return times;
}

// As much of a text as an item may have, up to the end of a character.
std::string cut(std::string_view text, std::size_t most) {
  text = text.substr(0, most);
  while (!text.empty() && !is_utf8(text)) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

Result<ServedData> RunSource::trained_on() const {
  SOTTO_TRY(const std::string text, read_file(run_ / "run.json", 1 << 20));
  const auto description = nlohmann::json::parse(text, nullptr, false);
  const auto said = [&](const char* key) {
    const bool there = description.is_object() && description.contains(key) && description[key].is_string();
    return there ? description[key].get<std::string>() : std::string();
  };
  ServedData data{said("dataset"), said("fingerprint"), data_.empty() ? fs::path(said("data")) : data_};
  if (data.fingerprint.empty())
    return bad_input("{} does not say what the run was trained on: was it changed by hand?",
                     (run_ / "run.json").string());
  if (data.folder.empty())
    return bad_input("{} does not say where the data it was trained on lies: name it with --data DIR",
                     run_.string());
  return data;
}

// What decides about the content of the pack file.
std::string RunSource::description() const {
  serving::ServedRunSettings settings = settings_;
  SettingsTable table;
  settings.bind(table);
  const nlohmann::json made_of = {{"run", fs::absolute(run_).string()},
                                  {"data", data_.string()},
                                  {"trained", trained_.time_since_epoch().count()},
                                  {"settings", table.to_json()}};
  return made_of.dump(2) + "\n";
}

Result<RunSource> RunSource::open(const fs::path& run, const fs::path& data, const fs::path& pack_file,
                                  const serving::ServedRunSettings& settings, Accept accept) {
  RunSource source(run, data, pack_file, settings, std::move(accept));
  SOTTO_TRY(const bool made, source.refresh());
  if (!made) return bad_input("{} has no trained parameters yet: train it first", run.string());
  return source;
}

Result<bool> RunSource::refresh() {
  std::error_code missing;
  const auto time = fs::last_write_time(run_ / "best.sotto", missing);
  if (missing) {
    if (trained_ == fs::file_time_type{} && !fs::exists(run_ / "run.json"))
      return bad_input("{} holds no run (there is no run.json)", run_.string());
    return false;  // about to be replaced, or not trained yet
  }
  if (time == trained_) return false;
  trained_ = time;  // a run that cannot be served is not tried again until it changes
  SOTTO_TRY(const ServedData data, trained_on());
  SOTTO_CHECK(accept_(data));
  const auto encoder = std::make_shared<EncoderProcess>(run_, data.folder, trained_);
  const fs::path about = pack_file_.string() + ".json";
  if (version_.empty()) {
    if (auto stored = stored_version(about)) {
      version_ = std::move(*stored);
      encoder_ = encoder;
      return true;
    }
  }
  // Beside the one that is served: the trainer may refuse the run.
  const fs::path made = pack_file_.string() + ".made";
  SOTTO_TRY(std::string version, encoder->make_pack(made, settings_));
  std::error_code problem;
  fs::remove(about, problem);
  if (!problem) fs::rename(made, pack_file_, problem);
  if (problem) return failed("cannot write {}: {}", pack_file_.string(), problem.message());
  const bool other = version != version_;
  if (other) {
    version_ = std::move(version);
    encoder_ = encoder;
  } else {
    encoder_->expect(trained_);  // the same parameters, written again
  }
  SOTTO_CHECK(write_file_atomically(about, description()));
  return other;
}

// Of the pack that a server before this one made of the same run, data and settings.
std::optional<std::string> RunSource::stored_version(const fs::path& about) const {
  const auto made_of = read_file(about, 1 << 20);
  if (!made_of || *made_of != description()) return {};
  const auto bytes = read_file(pack_file_);
  if (!bytes) return {};
  auto pack = device::decode_pack(*bytes);
  if (!pack) return {};
  return std::move(pack->model);
}

Result<std::shared_ptr<const serving::ItemEncoder>> RunSource::encoder_for(
    const device::DevicePack& pack) const {
  if (pack.model != version_)
    return bad_input("{} holds model {}, which this run did not make", pack_file_.string(), pack.model);
  return encoder_;
}

Status RunSource::fill(serving::LivePool& pool, std::int64_t now) const {
  SOTTO_TRY(const ServedData data, trained_on());
  SOTTO_TRY(const data::Dataset dataset, data::Dataset::open(data.folder));
  if (data::fingerprint(dataset) != data.fingerprint)
    return bad_input("{} holds other data than {} was trained on (fingerprint {}): name that with --data DIR",
                     data.folder.string(), run_.string(), data.fingerprint);
  const data::Catalogue& catalogue = dataset.catalogue();
  const auto times = first_shown(dataset);
  std::vector<serving::CatalogueItem> articles;
  Progress progress("filling the catalogue", catalogue.size(), "items");
  for (std::size_t i = 0; i < catalogue.size(); ++i) {
    progress.advance();
    if (catalogue.is_public[i] == 0) continue;  // known from users' rows alone
    serving::CatalogueItem article;
    article.id = catalogue.ids[i];
    article.title = cut(catalogue.titles[i], serving::most_title_bytes);
    if (i < catalogue.abstracts.size())
      article.abstract = cut(catalogue.abstracts[i], serving::most_abstract_bytes);
    if (i < catalogue.categories.size())
      article.category = cut(catalogue.category_names[catalogue.categories[i]], serving::most_name_bytes);
    if (i < catalogue.subcategories.size())
      article.subcategory =
          cut(catalogue.subcategory_names[catalogue.subcategories[i]], serving::most_name_bytes);
    article.published = times[i] > 0 ? times[i] : now;
    articles.push_back(std::move(article));
    if (articles.size() == articles_at_once) {
      SOTTO_CHECK(pool.put(std::move(articles)));
      articles.clear();
    }
  }
  if (!articles.empty()) SOTTO_CHECK(pool.put(std::move(articles)));
  return {};
}

}  // namespace sotto::cli

#endif
