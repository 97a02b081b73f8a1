// The Adressa importer on hostile JSON lines.
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::string_view day =
      "{\"userId\": \"u1\", \"id\": \"a1\", \"title\": \"Sn\\u00f8\", \"time\": 1483225202, "
      "\"category1\": \"nyheter|by\", \"keywords\": \"a,b\", \"publishtime\": \"2016-12-31T22:14:26.000Z\", "
      "\"profile\": [{\"item\": \"x\", \"groups\": [{\"weight\": 0.5}]}]}\n"
      "{\"userId\": \"u2\", \"id\": \"a2\", \"time\": 1483225203}\n"
      "{\"userId\": \"u1\", \"url\": \"front\", \"time\": 1483225204}\n";
  static constexpr sotto::fuzz::ValidFile files[] = {{"20170101", day}, {"20170102", day}, {"20170103", day}};
  sotto::data::ImportSettings settings;
  settings.protocol = "efficient-fedrec";
  settings.negatives = 3;
  sotto::fuzz::import_files("adressa", files, settings, data, size);
  return 0;
}
