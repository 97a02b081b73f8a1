#include "data/importers/import_job.h"

namespace sotto {

std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

void ImportJob::note_count(std::uint64_t count, std::string_view what) {
  if (count > 0) note(fmt::format("{} {}", grouped(count), what));
}

}  // namespace sotto
