// The Frappe importer on hostile, quoted, tab-separated files.
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr sotto::fuzz::ValidFile files[] = {
      {"frappe.csv",
       "user\titem\tcnt\tdaytime\tweekday\tisweekend\thomework\tcost\tweather\tcountry\tcity\n"
       "1\ta\t7\tmorning\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0\n"
       "1\tb\t1\tevening\tmonday\tworkday\thome\tfree\tunknown\tSpain\t0\n"},
      {"meta.csv",
       "item\tpackage\tcategory\tdownloads\tdeveloper\ticon\tlanguage\tdescription\tname\tprice\trating\tshor"
       "t desc\n"
       "a\tp\tTools\t10 - 50\tCo\ti\ten\t\"Fly \"\"high\"\"\nlow\"\tKite\tFree\t4.5\ts\n"
       "b\tp\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\n"},
  };
  sotto::fuzz::import_files("frappe", files, {}, data, size);
  return 0;
}
