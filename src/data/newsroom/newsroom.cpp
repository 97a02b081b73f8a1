#include "data/newsroom/newsroom.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "data/importers/import_job.h"
#include "data/importers/mind_files.h"
#include "data/newsroom/oracle.h"
#include "data/newsroom/simulation.h"
#include "data/newsroom/world.h"

namespace sotto::data {

namespace newsroom {
namespace {

// The newsroom in MIND's published file format: news.tsv, behaviors.tsv, entity_embedding.vec.

constexpr std::size_t chunks_at_once = 16;  // formatted in parallel, then written in order
constexpr std::size_t write_size = 1 << 20;

void append_id(std::string& out, char letter, std::uint64_t index) {
  char digits[20];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), index + 1);
  out += letter;
  out.append(digits, error == std::errc() ? end : digits);
}

// Labels are made of letters, digits and spaces: nothing to escape.
void append_entities(std::string& out, const std::vector<Mention>& mentions, const World& world) {
  out += '[';
  for (std::size_t i = 0; i < mentions.size(); ++i) {
    const Entity& entity = world.entities[mentions[i].entity];
    fmt::format_to(std::back_inserter(out),
                   R"({}{{"Label": "{}", "Type": "{}", "WikidataId": "{}", "Confidence": 1.0, )"
                   R"("OccurrenceOffsets": [{}], "SurfaceForms": ["{}"]}})",
                   i == 0 ? "" : ", ", entity.label, entity.type, entity.id, mentions[i].offset,
                   entity.label);
  }
  out += ']';
}

void append_news(std::string& out, const World& world, std::size_t index) {
  const Item& item = world.items[index];
  const ItemText& text = world.texts[index];
  const Category& category = world.categories[item.category];
  append_id(out, 'N', index);
  fmt::format_to(std::back_inserter(out), "\t{}\t{}\t{}\t{}\thttps://newsroom.example/N{}.html\t",
                 category.name, category.subcategories[item.subcategory], text.title, text.abstract,
                 index + 1);
  append_entities(out, text.title_mentions, world);
  out += '\t';
  append_entities(out, text.abstract_mentions, world);
  out += '\n';
}

void append_behavior(std::string& out, const ReaderChunk& chunk, const RecordedImpression& impression,
                     std::uint64_t number) {
  fmt::format_to(std::back_inserter(out), "{}\t", number);
  append_id(out, 'U', impression.user);
  out += '\t';
  append_mind_time(out, impression.time);
  char separator = '\t';
  for (const std::uint32_t item : chunk.history_of(impression)) {
    out += separator;
    append_id(out, 'N', item);
    separator = ' ';
  }
  if (separator == '\t') out += '\t';  // an empty history is an empty column
  separator = '\t';
  const auto shown = chunk.shown_in(impression);
  const auto clicked = chunk.clicked_in(impression);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    out += separator;
    append_id(out, 'N', shown[i]);
    out += clicked[i] != 0 ? "-1" : "-0";
    separator = ' ';
  }
  out += '\n';
}

Status write_news(const World& world, Seconds published_before, const fs::path& path) {
  SOTTO_TRY(AtomicFile file, AtomicFile::create(path));
  std::string text;
  for (std::size_t i = 0; i < world.items.size() && world.items[i].published < published_before; ++i) {
    append_news(text, world, i);
    if (text.size() < write_size) continue;
    SOTTO_CHECK(file.write(text));
    text.clear();
  }
  SOTTO_CHECK(file.write(text));
  return file.commit();
}

Status write_entity_vectors(const World& world, const fs::path& path) {
  std::string text;
  for (std::size_t e = 0; e < world.entities.size(); ++e) {
    text += world.entities[e].id;
    for (std::size_t i = 0; i < entity_dimension; ++i)
      fmt::format_to(std::back_inserter(text), "\t{:.6f}", world.entity_vectors[e * entity_dimension + i]);
    text += '\n';
  }
  return write_file_atomically(path, text);
}

std::uint64_t count_impressions(const ReaderChunk& chunk, bool test) {
  return static_cast<std::uint64_t>(
      std::count_if(chunk.impressions.begin(), chunk.impressions.end(),
                    [&](const RecordedImpression& impression) { return impression.test == test; }));
}

Status write_behaviors(const std::vector<ReaderChunk>& chunks, bool test, const fs::path& path,
                       Progress& progress) {
  std::vector<std::uint64_t> first_number{1};
  for (const ReaderChunk& chunk : chunks)
    first_number.push_back(first_number.back() + count_impressions(chunk, test));
  SOTTO_TRY(AtomicFile file, AtomicFile::create(path));
  std::vector<std::string> texts(chunks_at_once);
  for (std::size_t first = 0; first < chunks.size(); first += chunks_at_once) {
    if (interrupted()) return failed("interrupted: nothing was written");
    const std::size_t count = std::min(chunks_at_once, chunks.size() - first);
    parallel_for(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        std::uint64_t number = first_number[first + i];
        texts[i].clear();
        for (const RecordedImpression& impression : chunks[first + i].impressions)
          if (impression.test == test) append_behavior(texts[i], chunks[first + i], impression, number++);
      }
    });
    for (std::size_t i = 0; i < count; ++i) SOTTO_CHECK(file.write(texts[i]));
    progress.advance(first_number[first + count] - first_number[first]);
  }
  return file.commit();
}

// Writes train/ (all days but the last) and dev/ (the last day) into an existing directory. train/news.tsv
// holds what was published before the test day, dev/news.tsv everything.
Status write_mind_files(const World& world, const std::vector<ReaderChunk>& chunks,
                        const fs::path& directory) {
  std::uint64_t impressions = 0;
  for (const ReaderChunk& chunk : chunks) impressions += chunk.impressions.size();
  Progress progress("writing", impressions, "impressions");
  for (const bool test : {false, true}) {
    const fs::path part = directory / (test ? "dev" : "train");
    std::error_code error;
    fs::create_directory(part, error);
    if (error) return failed("cannot create {}: {}", part.string(), error.message());
    const Seconds published_before =
        test ? std::numeric_limits<Seconds>::max() : world.calendar.test_day() * seconds_per_day;
    SOTTO_CHECK(write_news(world, published_before, part / "news.tsv"));
    SOTTO_CHECK(write_entity_vectors(world, part / "entity_embedding.vec"));
    SOTTO_CHECK(write_behaviors(chunks, test, part / "behaviors.tsv", progress));
  }
  return {};
}

}  // namespace
}  // namespace newsroom

namespace {

nlohmann::json settings_as_json(NewsroomSettings settings) {
  SettingsTable table;
  settings.bind(table);
  return table.to_json();
}

// The data set is what anyone gets who imports the files.
Result<DatasetCounts> import_files(const fs::path& directory, const std::string& origin) {
  const ImportSettings settings;
  ImportJob job(settings, origin);
  SOTTO_TRY(const DatasetBuilder builder, read_mind_layout(directory, "newsroom", true, job));
  SOTTO_CHECK(job.report.check());
  SOTTO_CHECK(builder.write(directory));
  return builder.counts();
}

}  // namespace

Result<NewsroomReport> generate_newsroom(const NewsroomSettings& settings, const fs::path& out,
                                         bool replace) {
  SOTTO_CHECK(settings.validate());
  SOTTO_TRY(AtomicDirectory directory, AtomicDirectory::create(out, replace));
  NewsroomReport report;
  const nlohmann::json how_made = settings_as_json(settings);
  {
    // In a block of its own: the import needs the memory.
    SOTTO_TRY(const newsroom::World world, newsroom::build_world(settings));
    SOTTO_TRY(const std::vector<newsroom::ReaderChunk> chunks, newsroom::simulate_readers(world, settings));
    report.oracle = newsroom::measure_oracle(world, chunks);
    report.shape = newsroom::measure_shape(world, chunks, static_cast<std::uint64_t>(settings.users));
    SOTTO_CHECK(newsroom::write_mind_files(world, chunks, directory.path()));
  }
  SOTTO_TRY(report.counts, import_files(directory.path(), "generate newsroom " + how_made.dump()));
  nlohmann::json json = to_json(report);
  json["settings"] = how_made;
  SOTTO_CHECK(write_file_atomically(directory.path() / oracle_file, json.dump(2) + "\n"));
  SOTTO_CHECK(directory.commit());
  return report;
}

}  // namespace sotto::data
