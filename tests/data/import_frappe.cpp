#include <gmock/gmock.h>

#include <cmath>

#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string log_header =
    "user\titem\tcnt\tdaytime\tweekday\tisweekend\thomework\tcost\tweather\tcountry\tcity\n";
const std::string meta_header =
    "item\tpackage\tcategory\tdownloads\tdeveloper\ticon\tlanguage\tdescription\tname\tprice\trating\tshort "
    "desc\n";

class ImportFrappe : public ImportTest {
 protected:
  void write_files() {
    write("frappe.csv", log_header +
                            "u1\ta\t7\tmorning\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0\n"
                            "u1\tb\t1\tevening\tmonday\tworkday\thome\tfree\tunknown\tSpain\t0\n"
                            "u2\ta\t3\tnight\tmonday\tworkday\thome\tpaid\train\tNorway\t4\n");
    write("meta.csv",
          meta_header +
              "a\torg.kite\tTools\t10 - 50\tKite Co\thttp://x\ten\t\"Fly \"\"high\"\",\nland soft\"\tKite"
              "\tFree\t4.5\tshort\n"
              "b\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\tunknown\t"
              "unknown\tunknown\n");
  }
};

TEST_F(ImportFrappe, EveryLogRowIsAPositiveInteractionWithItsContext) {
  write_files();
  const Dataset dataset = import("frappe");
  const Interactions& rows = dataset.interactions();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(std::isnan(rows.ratings[0]));
  EXPECT_THAT(names_of(*rows.context.find_categorical("daytime"), 1), ElementsAre("evening"));
  EXPECT_THAT(names_of(*rows.context.find_categorical("homework"), 0), ElementsAre("unknown"));
  EXPECT_THAT(names_of(*rows.context.find_categorical("country"), 2), ElementsAre("Norway"));
  EXPECT_EQ(rows.context.categorical.size(), 8U);
  EXPECT_EQ(rows.context.find_numeric("cnt")->values[2], 3);
}

TEST_F(ImportFrappe, AppsHaveNameDescriptionCategoryAndFeatures) {
  write_files();
  const Dataset dataset = import("frappe");
  const Catalogue& items = dataset.catalogue();
  EXPECT_EQ(items.titles[0], "Kite");
  EXPECT_EQ(items.abstracts[0], "Fly \"high\",\nland soft");
  EXPECT_EQ(items.category_names[items.categories[0]], "Tools");
  EXPECT_THAT(names_of(*items.features.find_categorical("price"), 0), ElementsAre("Free"));
  EXPECT_EQ(items.features.find_numeric("rating")->values[0], 4.5F);
  EXPECT_EQ(items.titles[1], "");
  EXPECT_THAT(names_of(*items.features.find_categorical("language"), 1), IsEmpty());
  EXPECT_TRUE(has_note("1 items have neither title nor text"));
}

TEST_F(ImportFrappe, WorksWithoutAppDataUnlessTextIsAskedFor) {
  write_files();
  fs::remove(source() / "meta.csv");
  EXPECT_EQ(import("frappe").item_count(), 2U);
  EXPECT_TRUE(has_note("no meta.csv"));
  fs::remove_all(out());
  EXPECT_THAT(failure("frappe", {"view=text"}), HasSubstr("expected frappe.csv and meta.csv"));
}

TEST_F(ImportFrappe, AMissingColumnIsNamed) {
  write("frappe.csv", "user\titem\tcount\n");
  EXPECT_THAT(failure("frappe"), HasSubstr("there is no column 'cnt'"));
}

TEST_F(ImportFrappe, CountsMalformedRows) {
  write_files();
  write("frappe.csv", log_header +
                          "u1\ta\tmany\tmorning\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0\n"
                          "u1\ta\n"
                          "\ta\t1\tmorning\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0\n"
                          "u1\ta\t1\tmorning\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0\n");
  EXPECT_EQ(import("frappe", {"malformed_limit=0.9"}).interactions().size(), 1U);
  EXPECT_EQ(summary.malformed_rows, 3U);
}

}  // namespace
}  // namespace sotto::data
