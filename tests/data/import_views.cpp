// Views are a property of any data set: of every importer each of them, at import or later, or a reason why
// not.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/views.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class ImportViews : public ImportTest, public ::testing::WithParamInterface<std::string_view> {
 protected:
  // Three users who each took two of five items at least.
  void write_source() {
    static const std::map<std::string_view, void (ImportViews::*)()> writers = {
        {"mind", &ImportViews::write_mind},
        {"adressa", &ImportViews::write_adressa},
        {"movielens", &ImportViews::write_movielens},
        {"frappe", &ImportViews::write_frappe},
        {"globo", &ImportViews::write_globo},
        {"lists", &ImportViews::write_lists},
        {"csv", &ImportViews::write_csv}};
    const auto found = writers.find(GetParam());
    ASSERT_NE(found, writers.end()) << "write a source of " << GetParam() << " here, for its views";
    (this->*found->second)();
  }
  std::string bytes_of(const fs::path& folder) {
    std::ifstream in(folder / "dataset.sotto", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  void write_mind() {
    std::string news;
    for (int item = 1; item <= 5; ++item)
      news += fmt::format("N{0}\tnews\tworld\tBridge {0} opens\tLate.\thttp://x/{0}\t[]\t[]\n", item);
    write("news.tsv", news);
    write("behaviors.tsv",
          "1\tU1\t11/11/2019 9:05:58 AM\tN3\tN2-1 N1-0\n2\tU2\t11/12/2019 2:14:46 PM\t\tN3-0 N5-1\n"
          "3\tU3\t11/13/2019 2:14:46 PM\tN1\tN4-1 N2-0\n");
  }
  // MIND-like files, as the log is often handed on.
  void write_adressa() { write_mind(); }
  void write_movielens() {
    std::string movies;
    for (int item = 1; item <= 5; ++item) movies += fmt::format("{0}::Kites {0} (1994)::Drama\n", item);
    write("movies.dat", movies);
    write("users.dat", "1::F::18::10::48067\n2::M::56::0::02310\n3::M::25::1::02310\n");
    write("ratings.dat",
          "1::1::5::978300700\n1::2::4::978300760\n2::3::5::978300000\n2::4::5::978300001\n"
          "3::5::5::978300000\n3::1::5::978300009\n");
  }
  void write_frappe() {
    std::string meta =
        "item\tpackage\tcategory\tdownloads\tdeveloper\ticon\tlanguage\tdescription\tname\tprice\trating\t"
        "short desc\n";
    for (const char item : {'a', 'b', 'c', 'd', 'e'})
      meta += fmt::format(
          "{0}\torg.{0}\tTools\t10 - 50\tCo\thttp://x\ten\tFly high\tKite {0}\tFree\t4.5\tshort\n", item);
    write("meta.csv", meta);
    const auto row = [](char user, char item) {
      return fmt::format("{}\t{}\t1\tmorning\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0\n", user, item);
    };
    write("frappe.csv",
          "user\titem\tcnt\tdaytime\tweekday\tisweekend\thomework\tcost\tweather\tcountry\tcity\n" +
              row('u', 'a') + row('u', 'b') + row('v', 'c') + row('v', 'd') + row('w', 'e') + row('w', 'a'));
  }
  void write_globo() {
    std::string items = "article_id,category_id,created_at_ts,publisher_id,words_count\n",
                clicks =
                    "user_id,session_id,session_start,session_size,click_article_id,click_timestamp,click_"
                    "environment,"
                    "click_deviceGroup,click_os,click_country,click_region,click_referrer_type\n";
    for (int item = 30; item < 35; ++item) items += fmt::format("{},7,1513144419000,0,168\n", item);
    for (int click = 0; click < 6; ++click)
      clicks += fmt::format("{},90{},90000,2,{},150682682{}999,4,3,20,1,20,2\n", click / 2, click / 2,
                            30 + click % 5, click);
    write("articles_metadata.csv", items);
    write("clicks.csv", clicks);
  }
  void write_lists() {
    write("train.txt", "0 2 0\n1 1 3\n2 4 0\n");
    write("test.txt", "0 1\n1 0\n2 3\n");
  }
  void write_csv() {
    write("titles.csv", "sku,name\na,Aa\nb,Bb\nc,Cc\nd,Dd\ne,Ee\n");
    write("clicks.csv", "reader,item,at\nu,a,1000\nu,b,1001\nv,c,1002\nv,d,1003\nw,e,1004\nw,a,1005\n");
    write("mapping.toml",
          "[interactions]\nfile = \"clicks.csv\"\nuser = \"reader\"\nitem = \"item\"\ntime = \"at\"\n"
          "[items]\nfile = \"titles.csv\"\nid = \"sku\"\ntitle = \"name\"\n");
  }
};

TEST_P(ImportViews, AreMadeAtImportAndLaterAlikeOrRefusedWithAReason) {
  static const std::set<std::string_view> impressions = {"mind", "adressa"}, no_text = {"globo", "lists"};
  const std::string_view kind = GetParam();
  write_source();
  const auto is_made = [&](std::string_view view) {
    if (impressions.contains(kind)) return view == "interactions";
    return view == "impressions" || (view == "text" && !no_text.contains(kind));
  };
  const auto reason =
      AnyOf(HasSubstr("leave out --view"), HasSubstr("has impressions already"), HasSubstr("have no text"));
  for (const std::string_view view : view_names)
    if (!is_made(view)) {
      EXPECT_THAT(failure(kind, {fmt::format("view={}", view)}), reason) << view;
    }
  for (const std::string_view view : view_names) {
    if (is_made(view)) {
      const Dataset made = import(kind, {fmt::format("view={}", view), "replace=true"});
      EXPECT_EQ(made.has_interactions(), view == "interactions");
      EXPECT_EQ(made.has_impressions(), view != "interactions");
      EXPECT_EQ(made.user_count(), 3U);
    }
    const std::string at_import = is_made(view) ? bytes_of(out()) : "";
    import(kind, {"replace=true"});
    const fs::path later = source() / std::string(view);
    const auto made = write_view(out(), view, {}, later, false);
    EXPECT_EQ(made.has_value(), is_made(view)) << view;
    if (!made) {
      EXPECT_THAT(made.error().message, reason) << view;
      EXPECT_FALSE(fs::exists(later));
      continue;
    }
    EXPECT_EQ(bytes_of(later), at_import) << view;
  }
}

std::vector<std::string_view> all_kinds() {
  std::vector<std::string_view> kinds;
  for (const Importer& importer : importers()) kinds.push_back(importer.kind);
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Importers, ImportViews, ::testing::ValuesIn(all_kinds()),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace sotto::data
