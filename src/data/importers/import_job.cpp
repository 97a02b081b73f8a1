#include "data/importers/import_job.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "data/describe.h"

namespace sotto {

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
      "named, or "
      "raise the limit. The first ones:",
      malformed_, rows_, options_.malformed_limit * 100);
  for (const std::string& example : examples_) message += "\n  " + example;
  return bad_input("{}", message);
}

void ImportJob::note_count(std::uint64_t count, std::string_view what) {
  if (count > 0) note(fmt::format("{} {}", grouped(count), what));
}

}  // namespace sotto
