#include <optional>

#include "data/importers/import_job.h"
#include "data/importers/importers.h"
#include "data/importers/mind_files.h"

namespace sotto::data {

namespace {

constexpr std::string_view mind_files =
    "news.tsv and behaviors.tsv in the folder itself, or in sub-folders train and dev (also MINDsmall_train "
    "and "
    "the like)";

struct PartFolders {
  std::optional<fs::path> train, dev, test;
};

PartFolders part_folders(const fs::path& source) {
  PartFolders parts;
  for (const std::string& name : folder_entries(source)) {
    const fs::path folder = source / name;
    const auto is_part = [&](std::string_view part) {
      return (name == part || name.ends_with(fmt::format("_{}", part))) && find_file(folder, "news.tsv");
    };
    if (!parts.train && is_part("train")) parts.train = folder;
    if (!parts.dev && (is_part("dev") || is_part("valid"))) parts.dev = folder;
    if (!parts.test && is_part("test")) parts.test = folder;
  }
  return parts;
}

// All news of a folder comes before all behaviour, so that items are numbered in catalogue order.
Status read_news_of(const fs::path& folder, MindFiles& files) {
  SOTTO_CHECK(files.read_news(folder / "news.tsv"));
  if (const auto more = find_file(folder, "news_more.tsv")) SOTTO_CHECK(files.read_news(*more));
  if (const auto vectors = find_file(folder, "entity_embedding.vec")) {
    SOTTO_CHECK(files.read_entity_vectors(*vectors));
  }
  return {};
}

Result<TimeSplit> training_split(const fs::path& behaviors, const TestStart& test_start,
                                 const ImportSettings& settings) {
  if (test_start.kind == TestStart::Kind::never && settings.validation_share == 0) {
    return TimeSplit::all(Split::train);
  }
  SOTTO_TRY(std::vector<RowMoment> moments, behavior_moments(behaviors));
  return TimeSplit::by_time(std::move(moments), test_start, settings.validation_share);
}

Status read_parts(const PartFolders& parts, MindFiles& files, ImportJob& job) {
  for (const auto& part : {parts.train, parts.dev, parts.test}) {
    if (part) SOTTO_CHECK(read_news_of(*part, files));
  }
  // The published dev part tests, unless a test part with labels does: then it validates.
  bool test_labelled = false;
  if (parts.test && find_file(*parts.test, "behaviors.tsv")) {
    SOTTO_TRY(test_labelled, behaviors_are_labelled(*parts.test / "behaviors.tsv"));
  }
  if (parts.train) {
    const fs::path behaviors = *parts.train / "behaviors.tsv";
    SOTTO_TRY(const TimeSplit split, training_split(behaviors, {}, job.settings));
    SOTTO_CHECK(files.read_behaviors(behaviors, split));
  }
  if (parts.dev) {
    const Split split = test_labelled ? Split::validation : Split::test;
    SOTTO_CHECK(files.read_behaviors(*parts.dev / "behaviors.tsv", TimeSplit::all(split)));
  }
  if (parts.test && find_file(*parts.test, "behaviors.tsv")) {
    SOTTO_CHECK(files.read_behaviors(*parts.test / "behaviors.tsv", TimeSplit::all(Split::test)));
  }
  return {};
}

}  // namespace

bool has_mind_layout(const fs::path& source) {
  const PartFolders parts = part_folders(source);
  return find_file(source, "news.tsv") || parts.train || parts.dev;
}

Result<DatasetBuilder> read_mind_layout(const fs::path& source, std::string name, bool behaviors_required,
                                        ImportJob& job) {
  DatasetBuilder builder(std::move(name), job.origin);
  MindFiles files(builder, job);
  if (find_file(source, "news.tsv")) {
    const auto behaviors = find_file(source, "behaviors.tsv");
    if (!behaviors && behaviors_required) return unexpected_layout(source, mind_files);
    SOTTO_TRY(const TestStart test_start, parse_test_start(job.settings.test_from));
    SOTTO_CHECK(read_news_of(source, files));
    if (behaviors) {
      SOTTO_TRY(const TimeSplit split, training_split(*behaviors, test_start, job.settings));
      SOTTO_CHECK(files.read_behaviors(*behaviors, split));
    } else {
      job.note("there is no behaviors.tsv: the data set is a catalogue without users");
    }
  } else {
    const PartFolders parts = part_folders(source);
    if (!parts.train && !parts.dev) return unexpected_layout(source, mind_files);
    SOTTO_CHECK(read_parts(parts, files, job));
  }
  files.write_notes();
  return builder;
}

Result<DatasetBuilder> read_mind(const fs::path& source, ImportJob& job) {
  return read_mind_layout(source, "MIND", true, job);
}

}  // namespace sotto::data
