#include "data/importers/importers.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <system_error>

#include "base/utf8.h"
#include "data/importers/import_job.h"

namespace sotto::data {

namespace {

constexpr std::array<std::string_view, 2> news_settings = {"test_from", "validation_share"};
constexpr std::array<std::string_view, 4> adressa_settings = {"protocol", "negatives", "test_from",
                                                              "validation_share"};
constexpr std::array<std::string_view, 3> csv_settings = {"mapping", "test_from", "validation_share"};
constexpr std::array<std::string_view, 4> common_settings = {"malformed_limit", "replace", "seed", "view"};

constexpr std::array<std::string_view, 1> list_settings = {"items"};

constexpr std::array<Importer, 7> importer_table = {{
    {"mind", "MIND news (small, large, demo): news.tsv, behaviors.tsv, entity_embedding.vec", &read_mind,
     news_settings},
    {"adressa", "Adressa news: the JSON-lines log, one file per day, or MIND-like TSV", &read_adressa,
     adressa_settings, true},
    {"movielens", "MovieLens 1M (ratings.dat) or 100K (u.data)", &read_movielens, {}},
    {"frappe", "Frappe app usage: frappe.csv and meta.csv", &read_frappe, {}},
    {"globo", "Globo.com news clicks: clicks*.csv", &read_globo, {}},
    {"lists", "Lists of items with their split, such as Gowalla: train.txt and test.txt", &read_lists,
     list_settings},
    {"csv", "Any CSV or TSV files, described by a mapping file", &read_csv, csv_settings},
}};

Result<const Importer*> importer_named(std::string_view kind) {
  std::vector<std::string> kinds;
  for (const Importer& importer : importer_table) {
    if (importer.kind == kind) return &importer;
    kinds.emplace_back(importer.kind);
  }
  const auto near = nearest(kind, kinds);
  return bad_input("there is no importer '{}'{}; known: {}", printable(kind, 60),
                   near ? fmt::format(", did you mean '{}'?", *near) : "", fmt::join(kinds, ", "));
}

// The settings that differ from the defaults, as "name=value"; refuses one that this importer would ignore.
Result<std::vector<std::string>> changed_settings(const Importer& importer, ImportSettings settings) {
  SettingsTable given, defaults;
  settings.bind(given);
  ImportSettings untouched;
  untouched.bind(defaults);
  const auto given_rows = given.rows(), default_rows = defaults.rows();
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < given_rows.size(); ++i) {
    const auto& row = given_rows[i];
    if (row.value == default_rows[i].value) continue;
    const auto knows = [&](std::span<const std::string_view> names) {
      return std::find(names.begin(), names.end(), row.name) != names.end();
    };
    if (row.name == "malformed_limit" || row.name == "replace") continue;  // nothing about the data
    const bool of_a_view =
        row.name == "view" || (!knows(importer.settings) && knows(impression_view_settings));
    if (of_a_view && settings.view == "none")
      return bad_input("'{}' says how a view is made: choose one with --view {}, or leave it out", row.name,
                       fmt::join(view_names, "|"));
    if (of_a_view) continue;  // the origin of the view says so
    if (!knows(common_settings) && !knows(importer.settings)) {
      return bad_input("'{}' is not a setting of the {} importer; it has: {}{}{}; with a view also: {}",
                       row.name, importer.kind, fmt::join(common_settings, ", "),
                       importer.settings.empty() ? "" : ", ", fmt::join(importer.settings, ", "),
                       fmt::join(impression_view_settings, ", "));
    }
    changed.push_back(fmt::format("{}={}", row.name, row.value));
  }
  return changed;
}

Status refuse_empty(const Importer& importer, const DatasetBuilder& builder, const fs::path& source) {
  const DatasetCounts counts = builder.counts();
  if (counts.items == 0 && counts.users == 0) return bad_input("{}: the files hold no rows", source.string());
  if (counts.interactions == 0 && counts.impressions == 0 && !importer.has_parts_without_behaviour)
    return bad_input(
        "{}: {} items and {} users were read, and not one row that says who clicked, rated or was shown "
        "what: nothing could be learned or tested. Is the log cut off behind its first line, or another "
        "file than the one meant?",
        source.string(), counts.items, counts.users);
  return {};
}

// Where no item says anything, nobody expected it.
void note_silent_items(const DatasetBuilder& builder, ImportJob& job) {
  const std::uint64_t silent = builder.items_without_text();
  if (silent < builder.counts().items) job.note_count(silent, "items have neither title nor text");
}

// A view is of a stored data set, so what was read passes through `scratch`, a folder that does not exist
// yet.
Result<DatasetBuilder> view_of(const DatasetBuilder& read, const fs::path& scratch,
                               const ImportSettings& settings) {
  std::error_code error;
  if (!fs::create_directory(scratch, error))
    return failed("cannot create {}: {}", scratch.string(), error.message());
  SOTTO_CHECK(read.write(scratch));
  SOTTO_TRY(const Dataset stored, Dataset::open(scratch));
  auto view = build_view(stored, settings.view, settings);
  fs::remove_all(scratch, error);
  if (error) return failed("cannot remove {}: {}", scratch.string(), error.message());
  return view;
}

Result<ImportSummary> run(const Importer& importer, const fs::path& source, const fs::path& out,
                          const ImportSettings& settings) {
  SOTTO_TRY(const std::vector<std::string> changed, changed_settings(importer, settings));
  SOTTO_CHECK(check_apart(source, out));
  // Before hours of reading: is there a place for the result?
  SOTTO_TRY(AtomicDirectory directory, AtomicDirectory::create(out, settings.replace));
  ImportJob job(settings, fmt::format("import {} {}{}{}", importer.kind, source.filename().string(),
                                      changed.empty() ? "" : " ", fmt::join(changed, " ")));
  SOTTO_TRY(DatasetBuilder builder, importer.read(source, job));
  SOTTO_CHECK(job.report.check());
  SOTTO_CHECK(refuse_empty(importer, builder, source));
  builder.forget_row_order(static_cast<std::uint64_t>(settings.seed));
  if (settings.view != "none") {
    SOTTO_TRY(builder, view_of(builder, directory.path() / "as-read", settings));
  }
  note_silent_items(builder, job);
  SOTTO_CHECK(builder.write(directory.path()));
  // Opening checks every offset and code: what is committed can be read.
  SOTTO_TRY(const Dataset written, Dataset::open(directory.path()));
  for (const std::string& note : notes_about(written)) job.note(note);
  SOTTO_CHECK(directory.commit());
  return ImportSummary{.name = written.name(),
                       .counts = written.counts(),
                       .rows = job.report.rows(),
                       .malformed_rows = job.report.malformed_rows(),
                       .malformed_examples = job.report.examples(),
                       .notes = std::move(job.notes)};
}

}  // namespace

void ImportSettings::bind(SettingsTable& t) {
  t.add("malformed_limit", malformed_limit, {0.0, 1.0},
        "Share of malformed rows above which an import fails");
  t.add("replace", replace, "Replace an existing output folder");
  t.add("test_from", test_from,
        "Files without a test part (mind, adressa TSV, csv): rows from this time on test; none, last-day or "
        "a time");
  t.add("validation_share", validation_share, {0.0, 0.9},
        "Last share of the training impressions that validates");
  t.add_choice("protocol", protocol, {"fednewsrec", "efficient-fedrec"},
               "Whose use of the days of the Adressa log");
  t.add("items", items, {0, 100'000'000},
        "Lists: items there are, numbered from 0, whether or not anybody's row names them; 0: up to the "
        "largest number");
  t.add("mapping", mapping, "Mapping file of a csv import; empty: SRC/mapping.toml");
  std::vector<std::string> views = {"none"};
  views.insert(views.end(), view_names.begin(), view_names.end());
  t.add_choice(
      "view", view, std::move(views),
      "Behaviour in another form: interactions of impressions, impressions of interactions, or these "
      "with item text; none: as it was recorded");
  ViewSettings::bind(t);
}

std::span<const Importer> importers() { return importer_table; }

Result<ImportSummary> import_dataset(std::string_view kind, const fs::path& source, const fs::path& out,
                                     const ImportSettings& settings) {
  SOTTO_TRY(const Importer* const importer, importer_named(kind));
  return import_dataset(*importer, source, out, settings);
}

Result<ImportSummary> import_dataset(const Importer& importer, const fs::path& source, const fs::path& out,
                                     const ImportSettings& settings) {
  try {
    return run(importer, source, out, settings);
  } catch (const std::bad_alloc&) {
    return failed("{}: out of memory", source.string());
  } catch (const std::exception& error) {
    return failed("{}: {}", source.string(), error.what());
  }
}

}  // namespace sotto::data
