// The csv importer on hostile mappings and files.
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr sotto::fuzz::ValidFile files[] = {
      {"mapping.toml",
       "name = 'x'\ndelimiter = ','\nheader = true\nquoted = true\nencoding = 'utf-8'\n"
       "[items]\nfile = 'i.csv'\nid = 'id'\ntitle = 't'\ncategories = ['g']\nnumbers = ['w']\n"
       "[interactions]\nfile = 'r.csv'\nuser = 'u'\nitem = 'i'\nrating = 's'\ntime = 'w'\ntime_format = "
       "'iso'\n"
       "[impressions]\nfile = 's.csv'\nuser = 'u'\ntime = 't'\nshown = 's'\nclicked = 'c'\nhistory = 'h'\n"},
      {"i.csv", "id,t,g,w\na,\"A, \"\"b\"\"\nc\",x|y,1.5\nb,B,,\n"},
      {"r.csv", "u,i,s,w\n1,a,5,2020-01-01\n2,b,1,2020-01-02T10:00:00Z\n"},
      {"s.csv", "u,t,s,c,h\n1,5,a b,a,b\n2,100000,a b,,\n"},
  };
  sotto::data::ImportSettings settings;
  settings.validation_share = 0.5;
  sotto::fuzz::import_files("csv", files, settings, data, size);
  return 0;
}
