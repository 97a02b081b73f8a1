// docs/data-formats.md says what the importers do.

#include <gmock/gmock.h>

#include <fstream>

#include "data/importers/csv_mapping.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::HasSubstr;

std::string page() {
  std::ifstream in(fs::path(SOTTO_SOURCE_DIR) / "docs" / "data-formats.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ImportDocs, TheTableOfSettingsIsTheRealOne) {
  ImportSettings settings;
  SettingsTable table;
  settings.bind(table);
  EXPECT_THAT(page(), HasSubstr(table.to_markdown()));
}

TEST(ImportDocs, EveryKindIsNamedWithItsSettings) {
  const std::string text = page();
  for (const Importer& importer : importers()) {
    const std::size_t start = text.find(fmt::format("`{}`", importer.kind), text.find("## Settings"));
    ASSERT_NE(start, std::string::npos) << importer.kind;
    const std::string row = text.substr(start, text.find('\n', start) - start);
    for (const std::string_view setting : importer.settings) {
      EXPECT_THAT(row, HasSubstr(fmt::format("`{}`", setting))) << importer.kind;
    }
  }
}

TEST(ImportDocs, TheExampleMappingIsAccepted) {
  const std::string text = page();
  const std::size_t start = text.find("```toml\n") + 8;
  const auto mapping = parse_csv_mapping(text.substr(start, text.find("```", start) - start), "the page");
  ASSERT_TRUE(mapping) << mapping.error().message;
  EXPECT_EQ(mapping->name, "bakery");
  EXPECT_EQ(mapping->interactions->time_format, TimeFormat::iso);
  EXPECT_EQ(mapping->impressions->list_separator, ' ');
}

}  // namespace
}  // namespace sotto::data
