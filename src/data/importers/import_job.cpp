#include "data/importers/import_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "base/utf8.h"
#include "data/describe.h"

namespace sotto::data {

namespace {

constexpr std::size_t max_entries_read = 10'000;
constexpr std::size_t max_entries_shown = 12;

std::string describe(const fs::path& source) {
  std::error_code error;
  if (!fs::exists(source, error)) return "there is no such file or folder";
  if (!fs::is_directory(source, error)) return "it is a file";
  const std::vector<std::string> entries = folder_entries(source);
  if (entries.empty()) return "the folder is empty or cannot be read";
  std::string text = "found ";
  for (std::size_t i = 0; i < std::min(entries.size(), max_entries_shown); ++i) {
    text += (i == 0 ? "" : ", ") + printable(entries[i], 60);
  }
  if (entries.size() > max_entries_shown) {
    text += fmt::format(" and {} more", entries.size() - max_entries_shown);
  }
  return text;
}

}  // namespace

std::optional<fs::path> find_file(const fs::path& folder, std::string_view name) {
  auto found = find_possibly_compressed(folder / name);
  std::error_code error;
  if (!found || !fs::is_regular_file(*found, error)) return std::nullopt;
  return *found;
}

std::vector<std::string> folder_entries(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
    if (names.size() == max_entries_read) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view without_compression_suffix(std::string_view name) {
  for (const std::string_view suffix : {".xz", ".gz", ".zst"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

std::vector<fs::path> files_named(const fs::path& folder, bool (*wanted)(std::string_view name)) {
  std::vector<fs::path> files;
  std::string_view previous;
  const std::vector<std::string> entries = folder_entries(folder);  // a.csv sorts before a.csv.xz
  for (const std::string& entry : entries) {
    const std::string_view name = without_compression_suffix(entry);
    if (name == previous || !wanted(name)) continue;
    files.push_back(folder / entry);
    previous = name;
  }
  return files;
}

tl::unexpected<Error> unexpected_layout(const fs::path& source, std::string_view expected) {
  return bad_input("{}: expected {} (each plain or .xz, .gz, .zst); {}", source.string(), expected,
                   describe(source));
}

namespace {
constexpr std::size_t max_examples = 5;
}

void ImportReport::malformed(const fs::path& file, std::uint64_t line, std::string_view reason) {
  ++rows_;
  ++malformed_;
  if (examples_.size() < max_examples) {
    examples_.push_back(fmt::format("{}:{}: {}", printable(file.string(), 400), line, printable(reason)));
  }
}

Status ImportReport::check() const {
  if (static_cast<double>(malformed_) <= options_.malformed_limit * static_cast<double>(rows_)) return {};
  std::string message = fmt::format(
      "{} of {} rows are malformed, more than the limit of {:g} %. Check that the file is of the format "
      "named, or import what can be read with --malformed-limit {:g}. The first ones:",
      malformed_, rows_, options_.malformed_limit * 100,
      std::ceil(100 * static_cast<double>(malformed_) / static_cast<double>(rows_)) / 100);
  for (const std::string& example : examples_) message += "\n  " + example;
  return bad_input("{}", message);
}

void ImportJob::note_count(std::uint64_t count, std::string_view what) {
  if (count > 0) note(fmt::format("{} {}", grouped(count), what));
}

}  // namespace sotto::data
