// The Globo importer on hostile click and article files.
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr sotto::fuzz::ValidFile files[] = {
      {"clicks.csv",
       "user_id,session_id,session_start,session_size,click_article_id,click_timestamp,click_environment,"
       "click_deviceGroup,click_os,click_country,click_region,click_referrer_type\n"
       "5,900,900000,2,30,1506826828999,4,3,20,1,20,2\n"
       "6,901,900000,2,31,1506826858020,4,3,20,1,20,2\n"},
      {"articles_metadata.csv",
       "article_id,category_id,created_at_ts,publisher_id,words_count\n30,7,1513144419000,0,168\n"},
  };
  sotto::fuzz::import_files("globo", files, {}, data, size);
  return 0;
}
