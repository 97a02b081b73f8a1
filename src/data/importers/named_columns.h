#pragma once
// Columns of a file with a header, found by name.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/importers/delimited.h"

namespace sotto {

// The header's names in order. Keep it beside the reader whose first row it took. A value.
class Header {
 public:
  // Takes the first row of the file.
  static Result<Header> read(DelimitedReader& reader);

  // The position of a column; an error names the columns there are and the nearest one.
  Result<std::size_t> column(std::string_view name) const;
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::string file_;
};

}  // namespace sotto
