// The importer of lists on hostile training and test files.
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr sotto::fuzz::ValidFile files[] = {
      {"train.txt", "0 0 1 2\n1 2 3\n2\n"},
      {"test.txt", "0 3\n1 0 4 \n"},
  };
  sotto::fuzz::import_files("lists", files, {}, data, size);
  return 0;
}
