// docs/guides/add-an-importer.md, followed: its blocks stand here line for line.

#include <gmock/gmock.h>

#include "data/importers/delimited.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

// Loans of a library: loans.csv with the columns reader, book, stars and returned.
Result<DatasetBuilder> read_library(const fs::path& source, ImportJob& job) {
  const auto file = find_file(source, "loans.csv");
  if (!file) return unexpected_layout(source, "a folder with loans.csv");
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(*file, {",", true}, job.report));
  SOTTO_TRY(const Header header, Header::read(row));
  SOTTO_TRY(const std::size_t reader, header.column("reader"));
  SOTTO_TRY(const std::size_t book, header.column("book"));
  SOTTO_TRY(const std::size_t stars, header.column("stars"));
  SOTTO_TRY(const std::size_t returned, header.column("returned"));

  DatasetBuilder builder("library", job.origin);
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return builder;
    if (!row.has_columns(header.size())) continue;
    const auto rating = parse_number(row.field(stars));
    const auto time = parse_time(row.field(returned), TimeFormat::iso);
    if (!rating || !time) {
      row.malformed("stars is not a number, or returned not a day such as 2024-02-29");
      continue;
    }
    builder.add_interaction(builder.user(row.field(reader)), builder.item(row.field(book)), *rating, *time);
    row.good();
  }
}

constexpr Importer library = {"library", "Loans of a library: loans.csv", &read_library, {}};

class AddAnImporterGuide : public ImportTest {};

TEST_F(AddAnImporterGuide, ItsImporterReadsGoodRowsAndCountsTheOthers) {
  write("loans.csv",
        "reader,book,stars,returned\n"
        "ann,\"Emma, vol. 1\",5,2024-02-29\n"
        "bob,Ulysses,two,2024-03-01\n"
        "bob,Ulysses,2,2024-03-01\n");
  ImportSettings settings;
  settings.malformed_limit = 0.5;
  const auto imported = import_dataset(library, source(), out(), settings);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->malformed_rows, 1U);
  const Dataset dataset = Dataset::open(out()).value();
  EXPECT_EQ(dataset.counts().interactions, 2U);
  EXPECT_EQ(dataset.interactions().times[0], 1709164800);
}

TEST_F(AddAnImporterGuide, ItsImporterSaysWhatItExpected) {
  write("lent.csv", "reader,book\n");
  const auto refused = import_dataset(library, source(), out(), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("a folder with loans.csv"));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(AddAnImporterGuide, ItsImporterRefusesSettingsItWouldIgnore) {
  write("loans.csv", "reader,book,stars,returned\nann,Emma,5,2024-02-29\n");
  ImportSettings settings;
  settings.negatives = 3;
  EXPECT_FALSE(import_dataset(library, source(), out(), settings));
}

}  // namespace
}  // namespace sotto::data
