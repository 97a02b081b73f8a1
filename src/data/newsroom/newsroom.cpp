#include "data/newsroom/newsroom.h"

#include <nlohmann/json.hpp>
#include <string>

#include "data/importers/import_job.h"
#include "data/importers/mind_layout.h"
#include "data/newsroom/mind_writer.h"
#include "data/newsroom/oracle.h"
#include "data/newsroom/simulation.h"
#include "data/newsroom/world.h"

namespace sotto {
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

}  // namespace sotto
