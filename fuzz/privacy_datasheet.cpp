// A run's privacy.json as it may have been changed by hand, read for serving, audit and report. What is
// accepted says the same when it is written and read again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "privacy/accounting/datasheet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto sheet = sotto::privacy::datasheet_from_json(text);
  if (!sheet) return 0;
  const std::string written = sotto::privacy::to_json(*sheet);
  const auto again = sotto::privacy::datasheet_from_json(written);
  if (!again || sotto::privacy::to_json(*again) != written) std::abort();
  return 0;
}
