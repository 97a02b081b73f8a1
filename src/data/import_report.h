#pragma once
// Counts malformed rows during an import: the first five are shown with file and line, and the import fails
// when their share exceeds a threshold.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto {

struct ImportOptions {
  double malformed_limit = 0.01;  // share of rows
};

class ImportReport {
 public:
  explicit ImportReport(const ImportOptions& options) : options_(options) {}
  void good() { ++rows_; }
  void malformed(const fs::path& file, std::uint64_t line, std::string_view reason);
  std::uint64_t rows() const { return rows_; }
  std::uint64_t malformed_rows() const { return malformed_; }
  const std::vector<std::string>& examples() const { return examples_; }
  // Error above the threshold; to be called after each file and before anything is written.
  Status check() const;

 private:
  ImportOptions options_;
  std::uint64_t rows_ = 0, malformed_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace sotto
