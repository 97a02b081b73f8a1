// The MovieLens importer, with its text view, on hostile 1M and 100K files.
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr sotto::fuzz::ValidFile files_1m[] = {
      {"movies.dat",
       "1::Kites (1994)::Drama|War\n2::Caf\xE9 (2000)::Musical\n3::Old (1920)::\n4::X::Drama\n"},
      {"users.dat", "1::F::18::10::48067\n2::M::56::0::1\n"},
      {"ratings.dat", "1::1::4::978300760\n1::2::5::978300770\n2::3::5::978300000\n2::1::2::1\n"},
  };
  static constexpr sotto::fuzz::ValidFile files_100k[] = {
      {"u.item",
       "1|Kites (1994)|01-Jan-1995||url|0|1|0|0|0|1|0|0|0|0|0|0|0|0|0|0|0|0|0\n"
       "2|Mis\xE9ria|||url|1|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0\n"},
      {"u.user", "1|24|M|technician|85711\n2|53|F|other|94043\n"},
      {"u.data", "2\t1\t5\t874965758\n1\t2\t4\t876893171\n"},
  };
  if (size == 0) return 0;
  sotto::data::ImportSettings settings;
  if ((data[0] & 1) != 0) settings.view = "text";
  settings.negatives = 2;
  const bool large = (data[0] & 2) != 0;
  sotto::fuzz::import_files("movielens", large ? std::span(files_1m) : std::span(files_100k), settings,
                            data + 1, size - 1);
  return 0;
}
