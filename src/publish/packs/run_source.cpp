#include "publish/packs/run_source.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "device/wire/pack_codec.h"

namespace sotto::publish {

namespace {

constexpr std::size_t articles_at_once = 1024;

// When each item was shown first; 0: never, or nobody noted the time.
std::vector<std::int64_t> first_shown(const Dataset& dataset) {
  std::vector<std::int64_t> times(dataset.item_count());
  for (std::size_t i = 0; i < dataset.impression_count(); ++i) {
    const Impression impression = dataset.impression(i);
    if (impression.time <= 0) continue;
    for (const ItemId item : impression.shown)
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

Result<Dataset> RunSource::open_data() const {
  if (!data_.empty()) return Dataset::open(data_);
  SOTTO_TRY(const std::string text, read_file(run_ / "run.json", 1 << 20));
  const auto description = nlohmann::json::parse(text, nullptr, false);
  if (!description.is_object() || !description.contains("data") || !description["data"].is_string())
    return bad_input("{} does not say which data it was trained on: name it with --data DIR", run_.string());
  auto dataset = Dataset::open(description["data"].get<std::string>());
  if (!dataset)
    return tl::unexpected(
        std::move(dataset).error().in("the data of the run (name another place with --data DIR)"));
  return dataset;
}

Result<RunSource> RunSource::open(const fs::path& run, const fs::path& data, const fs::path& pack_file,
                                  const ServedRunSettings& settings) {
  RunSource source(run, data, pack_file, settings);
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
  SOTTO_TRY(const Dataset dataset, open_data());
  SOTTO_TRY(auto served, open_served_run(run_, dataset, settings_));
  if (served.pack.model == version_) return false;
  SOTTO_TRY(const std::string bytes, encode_pack(served.pack));
  SOTTO_CHECK(write_file_atomically(pack_file_, bytes));
  version_ = served.pack.model;
  encoder_ = std::move(served.encoder);
  return true;
}

Result<std::shared_ptr<const serving::ItemEncoder>> RunSource::encoder_for(const DevicePack& pack) const {
  if (pack.model != version_)
    return bad_input("{} holds model {}, which this run did not make", pack_file_.string(), pack.model);
  return encoder_;
}

Status RunSource::fill(serving::LivePool& pool, std::int64_t now) const {
  if (pool.catalogue().size() > 0) return {};
  SOTTO_TRY(const Dataset dataset, open_data());
  const Catalogue& catalogue = dataset.catalogue();
  const auto times = first_shown(dataset);
  std::vector<serving::CatalogueItem> articles;
  for (std::size_t i = 0; i < catalogue.size(); ++i) {
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
    if (articles.size() == articles_at_once || i + 1 == catalogue.size()) {
      SOTTO_CHECK(pool.put(std::move(articles)));
      articles.clear();
    }
  }
  return {};
}

}  // namespace sotto::publish
