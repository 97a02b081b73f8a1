#include "data/importers/named_columns.h"

#include <algorithm>

#include "base/settings.h"
#include "data/importers/field_values.h"
#include "data/printable.h"

namespace sotto {

Result<Header> Header::read(DelimitedReader& reader) {
  SOTTO_TRY(const bool any, reader.next());
  if (!any)
    return bad_input("{}: the file is empty, expected a line with the names of the columns",
                     reader.path().string());
  Header header;
  header.file_ = reader.path().string();
  for (const std::string_view name : reader.fields()) header.names_.emplace_back(trimmed(name));
  return header;
}

Result<std::size_t> Header::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  const auto near = nearest(name, names_);
  return bad_input("{}: there is no column '{}'{}; the first line has: {}", file_, printable(name, 60),
                   near ? fmt::format(", did you mean '{}'?", printable(*near, 60)) : "",
                   printable(fmt::format("{}", fmt::join(names_, ", ")), 400));
}

}  // namespace sotto
