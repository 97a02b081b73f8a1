#pragma once
// TensorBoard's event files: one record per step, each a message with scalars, framed with its length and
// checksums.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto::formats {

struct ScalarStep {
  std::uint64_t step = 0;
  double wall_seconds = 0;  // since 1970
  std::vector<std::pair<std::string, double>> values;
};

// A whole file: the version record first.
std::string tensorboard_file(const std::vector<ScalarStep>& steps);

// CRC-32C (Castagnoli), masked as these files do.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace sotto::formats
