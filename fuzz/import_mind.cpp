// The MIND importer on hostile news, behaviour and entity vectors.
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr sotto::fuzz::ValidFile files[] = {
      {"news.tsv",
       "N1\tsport\tski\tSnow\tA lot.\turl\t[{\"Label\": \"Snow\", \"WikidataId\": \"Q1\"}]\t[]\n"
       "N2\tfood\tsoup\tLeek\t\turl\t\t[{\"WikidataId\": \"Q2\", \"Label\": \"leek\", \"X\": [1, {\"y\": "
       "null}]}]\n"},
      {"behaviors.tsv",
       "1\tU1\t11/11/2019 9:05:58 AM\tN1 N2\tN2-1 N1-0\n"
       "2\tU2\t11/12/2019 12:05:58 PM\t\tN3-0 N1-1\n"},
      {"entity_embedding.vec", "Q1\t0.5\t-1e-2\t\nQ2\t1\t2\t\n"},
  };
  sotto::data::ImportSettings settings;
  settings.validation_share = 0.5;
  sotto::fuzz::import_files("mind", files, settings, data, size);
  return 0;
}
