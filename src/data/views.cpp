#include "data/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "data/dataset_copy.h"
#include "data/describe.h"
#include "data/impression_view.h"
#include "data/splits.h"
#include "data/user_draws.h"

namespace sotto::data {

namespace {

Result<std::string_view> known_view(std::string_view view) {
  const auto* const found = std::find(view_names.begin(), view_names.end(), view);
  if (found != view_names.end()) return *found;
  const auto near = nearest(view, {view_names.begin(), view_names.end()});
  return bad_input("there is no view '{}'{}; known: {}", printable(view, 60),
                   near ? fmt::format(", did you mean '{}'?", *near) : "", fmt::join(view_names, ", "));
}

// Of an interactions view, which draws nothing.
Status refuse_ignored(ViewSettings given) {
  ViewSettings untouched;
  SettingsTable given_table, default_table;
  given.bind(given_table);
  untouched.bind(default_table);
  const auto rows = given_table.rows(), defaults = default_table.rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name != "seed" && rows[i].value != defaults[i].value)
      return bad_input(
          "'{}' = {} says how non-clicks are drawn: the interactions view draws none, leave it out",
          rows[i].name, rows[i].value);
  }
  return {};
}

bool has_text(const Catalogue& catalogue, ItemId item) {
  return !catalogue.titles[item].empty() || !catalogue.abstracts[item].empty();
}

std::uint64_t items_without_text(const Catalogue& catalogue) {
  std::uint64_t count = 0;
  for (ItemId item = 0; item < catalogue.size(); ++item) count += has_text(catalogue, item) ? 0 : 1;
  return count;
}

// What an item can have several of, as genres are; a shop or a price is no text.
std::vector<const CategoricalFeature*> tags_of(const Catalogue& catalogue) {
  const bool any_item = catalogue.public_count() == 0;
  std::vector<const CategoricalFeature*> tags;
  for (const CategoricalFeature& feature : catalogue.features.categorical) {
    bool several = false;
    for (ItemId item = 0; item < catalogue.size() && !several; ++item)
      several = (any_item || catalogue.is_public[item] != 0) && feature.codes[item].size() > 1;
    if (several) tags.push_back(&feature);
  }
  return tags;
}

struct Texts {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<char> bytes;
  std::shared_ptr<const void> source;
};

// The same data with tags as the text of items that have no abstract.
Dataset with_tags_as_text(const Dataset& source) {
  DatasetParts parts = source.parts();
  const std::vector<const CategoricalFeature*> tags = tags_of(source.catalogue());
  if (tags.empty()) return Dataset(std::move(parts));
  const auto texts = std::make_shared<Texts>();
  texts->source = parts.memory;
  std::vector<std::string_view> words, names;
  for (ItemId item = 0; item < source.item_count(); ++item) {
    const std::string_view abstract = source.catalogue().abstracts[item];
    words.clear();
    for (const CategoricalFeature* tag : tags)
      for (const std::uint32_t code : tag->codes[item]) words.push_back(tag->names[code]);
    const std::string text =
        abstract.empty() ? fmt::format("{}", fmt::join(words, ", ")) : std::string(abstract);
    texts->bytes.insert(texts->bytes.end(), text.begin(), text.end());
    texts->offsets.push_back(texts->bytes.size());
  }
  for (const CategoricalFeature* tag : tags) names.push_back(tag->name);
  parts.catalogue.abstracts = {texts->offsets, texts->bytes};
  parts.origin =
      fmt::format("{} as text of items without abstract, in: {}", fmt::join(names, ", "), parts.origin);
  parts.memory = texts;
  return Dataset(std::move(parts));
}

Result<DatasetBuilder> as_impressions(const Dataset& source, const ViewSettings& settings) {
  ImpressionViewOptions options;
  options.seed = static_cast<std::uint64_t>(settings.seed);
  options.negatives = static_cast<std::uint32_t>(settings.negatives);
  options.positive_above = settings.positive_above;
  const auto sampling = [](std::string_view name) {
    return name == "uniform" ? NegativeSampling::uniform : NegativeSampling::popularity;
  };
  options.sampling = sampling(settings.sampling);
  options.test_sampling = sampling(settings.test_sampling);
  return build_impression_view(source, options);
}

// What one user clicked or had in a history, with the time of the first click; 0 where only a history tells.
std::vector<std::tuple<std::int64_t, std::uint64_t, ItemId>> clicks_of(const Dataset& source, UserId user,
                                                                       std::uint64_t seed) {
  std::vector<std::tuple<std::int64_t, std::uint64_t, ItemId>> clicks;
  std::unordered_set<ItemId> known;
  const auto add = [&](ItemId item, std::int64_t time) {
    if (known.insert(item).second)
      clicks.emplace_back(time, tie_of(seed, source.user_ids()[user], source.catalogue().ids[item]), item);
  };
  const auto [first, last] = source.impressions_of(user);
  for (std::size_t row = first; row < last; ++row) {
    const Impression impression = source.impression(row);
    for (const ItemId item : impression.history) add(item, 0);
    for (std::size_t place = 0; place < impression.shown.size(); ++place)
      if (impression.clicked[place] != 0) add(impression.shown[place], impression.time);
  }
  std::sort(clicks.begin(), clicks.end());
  return clicks;
}

Result<DatasetBuilder> as_interactions(const Dataset& source, const ViewSettings& settings) {
  DatasetBuilder target(
      source.name() + " as interactions",
      fmt::format("interactions from clicks and histories (seed {}) of: {}", settings.seed, source.origin()));
  SOTTO_CHECK(copy_items(source, target));
  SOTTO_CHECK(copy_users(source, target));
  Progress progress("view of interactions", source.user_count(), "users");
  for (UserId user = 0; user < source.user_count(); ++user) {
    progress.advance();
    if (interrupted()) return failed("interrupted: no view was written");
    for (const auto& [time, tie, item] : clicks_of(source, user, static_cast<std::uint64_t>(settings.seed)))
      target.add_interaction(user, item, std::numeric_limits<float>::quiet_NaN(), time);
  }
  if (target.counts().interactions == 0)
    return bad_input("{} yields no interaction: no impression has a click or a history", source.name());
  return target;
}

void note_private_part(const Dataset& dataset, std::vector<std::string>& notes) {
  const std::size_t items = dataset.item_count(), named = dataset.catalogue().public_count();
  if (named == 0) {
    notes.emplace_back(
        "there is no public list of items: private recipes refuse this data (docs/data-formats.md)");
  } else if (named < items) {
    notes.push_back(
        fmt::format("{} items occur in users' rows alone, in no public list: private recipes leave them out",
                    grouped(items - named)));
  }
  if (dataset.training_non_clicks() == NonClicks::all_users)
    notes.emplace_back(
        "non-clicks of training rows are drawn by what all users did: private recipes refuse this data");
  if (dataset.has_impressions() && dataset.split_origin() == SplitOrigin::all_users)
    notes.emplace_back(
        "which rows test was read off all of them: private recipes refuse this data, and train on it when "
        "test_from names a time (docs/data-formats.md)");
}

// Different items that say the same: a model cannot tell them apart, and a list shows one thing twice.
void note_equal_texts(const Dataset& dataset, std::vector<std::string>& notes) {
  const Catalogue& catalogue = dataset.catalogue();
  std::unordered_map<std::string, ItemId> first;
  std::uint64_t repeated = 0;
  std::string example;
  for (ItemId item = 0; item < catalogue.size(); ++item) {
    if (!has_text(catalogue, item)) continue;
    const auto [same, is_new] =
        first.try_emplace(fmt::format("{}\n{}", catalogue.titles[item], catalogue.abstracts[item]), item);
    if (is_new) continue;
    if (repeated++ == 0)
      example = fmt::format("'{}' says what '{}' says", printable(catalogue.ids[item], 60),
                            printable(catalogue.ids[same->second], 60));
  }
  if (repeated > 0)
    notes.push_back(fmt::format("{} items have title and text of an earlier one ({}): all are kept",
                                grouped(repeated), example));
}

void note_small_test(const Dataset& dataset, std::vector<std::string>& notes) {
  std::uint64_t testing = 0;
  for (std::size_t i = 0; i < dataset.impression_count(); ++i)
    testing += dataset.impression(i).split == Split::test ? 1 : 0;
  if (dataset.has_impressions() && testing < few_test_impressions)
    notes.push_back(fmt::format(
        "{} of {} impressions test{}: let more of them test (test_from or a column of splits of an "
        "impression "
        "log, more users of a click log; docs/data-formats.md)",
        testing == 0 ? "none" : "only " + grouped(testing), grouped(dataset.impression_count()),
        testing == 0 ? ""
                     : fmt::format(", by which an AUC has a standard error of about {:.0f} points",
                                   100 * auc_error_of(testing))));
}

}  // namespace

void ViewSettings::bind(SettingsTable& t) {
  t.add("seed", seed, {0, std::numeric_limits<std::int64_t>::max()},
        "Seed of sampled negatives (adressa, views) and of the order of a user's rows of equal time");
  t.add("negatives", negatives, {1, 1000}, "Sampled items per clicked one (adressa log, views)");
  t.add("positive_above", positive_above, {-1e9, 1e9},
        "Views of interactions: a rating above this is a click; rows without a rating always are");
  t.add_choice("sampling", sampling, {"uniform", "popularity"},
               "How training rows of a view sample the items not clicked; private recipes refuse popularity");
  t.add_choice("test_sampling", test_sampling, {"uniform", "popularity"},
               "The same for test rows, from which nothing is learned");
}

namespace {

tl::unexpected<Error> nobody_did_anything(const Dataset& source, std::string_view view) {
  return bad_input(
      "{} is a catalogue without clicks, of which no view {} can be made: import it with the file of what "
      "people did",
      source.name(), view);
}

}  // namespace

Result<DatasetBuilder> build_view(const Dataset& source, std::string_view view,
                                  const ViewSettings& settings) {
  SOTTO_TRY(const std::string_view wanted, known_view(view));
  if (wanted == "interactions") {
    SOTTO_CHECK(refuse_ignored(settings));
    if (source.has_interactions())
      return bad_input(
          "{} has interactions already, which recipes train on as they are: leave out --view interactions",
          source.name());
    if (!source.has_impressions()) return nobody_did_anything(source, wanted);
    return as_interactions(source, settings);
  }
  if (source.has_impressions())
    return bad_input("{} has impressions already{}, which recipes train on as they are: leave out --view {}",
                     source.name(), source.has_interactions() ? " beside its interactions" : "", wanted);
  if (!source.has_interactions()) return nobody_did_anything(source, wanted);
  if (wanted == "impressions") return as_impressions(source, settings);
  const Dataset with_text = with_tags_as_text(source);
  const Catalogue& catalogue = with_text.catalogue();
  if (items_without_text(catalogue) == catalogue.size())
    return bad_input(
        "the items of {} have no text: name columns with a title or a text where items are described "
        "([items] of a "
        "csv mapping), or use the view 'impressions', which needs none",
        source.name());
  return as_impressions(with_text, settings);
}

Status check_apart(const fs::path& source, const fs::path& out) {
  std::error_code unknown;
  const fs::path to = fs::weakly_canonical(fs::absolute(out), unknown);
  fs::path from = fs::weakly_canonical(fs::absolute(source), unknown);
  for (; !unknown && from.has_relative_path(); from = from.parent_path())
    if (from == to)
      return bad_input("--out {} holds {}, which is read: name another folder", out.string(),
                       source.string());
  return {};
}

Result<ViewSummary> write_view(const fs::path& source, std::string_view view, const ViewSettings& settings,
                               const fs::path& out, bool replace) {
  SOTTO_CHECK(check_apart(source, out));
  SOTTO_TRY(const Dataset read, Dataset::open(source));
  SOTTO_TRY(AtomicDirectory directory, AtomicDirectory::create(out, replace));
  SOTTO_TRY(const DatasetBuilder builder, build_view(read, view, settings));
  SOTTO_CHECK(builder.write(directory.path()));
  SOTTO_TRY(const Dataset written, Dataset::open(directory.path()));
  ViewSummary summary{written.name(), written.counts(), notes_about(written)};
  const std::uint64_t silent = items_without_text(written.catalogue());
  if (view == "text" && silent > 0)
    summary.notes.push_back(
        fmt::format("{} of {} items have neither title nor text: models read them as blank", grouped(silent),
                    grouped(written.item_count())));
  SOTTO_CHECK(directory.commit());
  return summary;
}

std::vector<std::string> notes_about(const Dataset& dataset) {
  std::vector<std::string> notes;
  note_private_part(dataset, notes);
  note_equal_texts(dataset, notes);
  note_small_test(dataset, notes);
  return notes;
}

}  // namespace sotto::data
