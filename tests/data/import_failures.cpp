// What every importer shares: the table of kinds, settings, and all or nothing on disk.

#include <gmock/gmock.h>
#ifdef SOTTO_HAVE_ZLIB
#include <zlib.h>
#endif

#include <set>

#include "base/interrupt.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ImportFailures : public ImportTest {
 protected:
  void write_movielens(int ratings = 3) {
    write("movies.dat", "1::Kites (1994)::Drama\n");
    write("users.dat", "1::F::18::10::48067\n");
    std::string rows;
    for (int i = 0; i < ratings; ++i)
      rows += fmt::format("1::1::{}::{}\n", 1 + i % 5, 978300760 + i * 7919 % 100'003);
    write("ratings.dat", rows);
  }
  std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(ImportFailures, AnUnknownKindNamesTheNearestAndAllOthers) {
  EXPECT_THAT(failure("movielense"),
              AllOf(HasSubstr("did you mean 'movielens'?"), HasSubstr("mind, adressa")));
  EXPECT_THAT(failure("parquet"), ::testing::Not(HasSubstr("did you mean")));
}

TEST_F(ImportFailures, ASettingOfAnotherKindIsRefused) {
  write_movielens();
  EXPECT_THAT(failure("movielens", {"protocol=efficient-fedrec"}),
              AllOf(HasSubstr("'protocol' is not a setting of the movielens importer"),
                    HasSubstr("malformed_limit, replace, seed, view; with a view also: negatives")));
  EXPECT_THAT(failure("globo", {"test_from=none"}), HasSubstr("it has: malformed_limit, replace"));
}

TEST_F(ImportFailures, AMissingSourceIsSaidToBeMissing) {
  fs::remove(source());
  for (const Importer& importer : importers()) {
    EXPECT_THAT(failure(importer.kind), HasSubstr("there is no such file or folder")) << importer.kind;
  }
}

TEST_F(ImportFailures, ASourceThatIsAFileWhereAFolderIsNeededIsSaidToBeOne) {
  fs::remove(source());
  std::ofstream(source()) << "x";
  for (const std::string_view kind : {"mind", "adressa", "movielens", "frappe", "csv"}) {
    EXPECT_THAT(failure(kind), HasSubstr("it is a file")) << kind;
  }
}

TEST_F(ImportFailures, FilesWithoutRowsAreRefused) {
  for (const char* file : {"movies.dat", "users.dat", "ratings.dat"}) write(file, "");
  EXPECT_THAT(failure("movielens"), HasSubstr("the files hold no rows"));
}

// A log that was cut off behind its heading once became a data set that no recipe takes.
TEST_F(ImportFailures, ItemsWithoutAnybodysBehaviourAreRefusedWithTheirNumber) {
  write_movielens();
  write("ratings.dat", "");
  EXPECT_THAT(failure("movielens"), AllOf(HasSubstr("1 items and 1 users were read"), HasSubstr("cut off")));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(ImportFailures, TooManyMalformedRowsAreCountedWithTheFlagThatLetsThemPass) {
  write_movielens(20);
  write("ratings.dat", content_of(source() / "ratings.dat") + "1::1\n1::1\n");
  EXPECT_THAT(failure("movielens"), AllOf(HasSubstr("2 of 24 rows"), HasSubstr("--malformed-limit 0.09")));
  EXPECT_TRUE(try_import("movielens", {"malformed_limit=0.09"}));
}

TEST_F(ImportFailures, AnExistingOutputIsKeptUnlessItMayBeReplaced) {
  write_movielens();
  fs::create_directories(out());
  std::ofstream(out() / "precious.txt") << "keep me";
  const auto refused = try_import("movielens");
  ASSERT_FALSE(refused);
  EXPECT_EQ(content_of(out() / "precious.txt"), "keep me");

  write("users.dat", "broken\n");
  ASSERT_FALSE(try_import("movielens", {"replace=true"}));
  EXPECT_EQ(content_of(out() / "precious.txt"), "keep me")
      << "a failed import must not touch what it would replace";

  write_movielens();
  ASSERT_TRUE(try_import("movielens", {"replace=true"}));
  EXPECT_FALSE(fs::exists(out() / "precious.txt"));
  EXPECT_TRUE(Dataset::open(out()));
}

TEST_F(ImportFailures, AnInterruptedImportLeavesNothingBehind) {
  write_movielens(20'000);
  set_interrupted(true);
  const std::string message = failure("movielens");
  set_interrupted(false);
  EXPECT_THAT(message, HasSubstr("interrupted"));
}

TEST_F(ImportFailures, LinesOfAbsurdLengthAreRefused) {
  write_movielens();
  std::string line;
  line.resize(20'000'000, 'x');
  write("ratings.dat", line);
  EXPECT_THAT(failure("movielens"), HasSubstr("longer than"));
}

#ifdef SOTTO_HAVE_ZLIB
class ImportCompressed : public ImportFailures {
 protected:
  void compress(const std::string& name) {
    const std::string content = content_of(source() / name);
    fs::remove(source() / name);
    gzFile file = gzopen((source() / (name + ".gz")).c_str(), "wb");
    ASSERT_EQ(gzwrite(file, content.data(), static_cast<unsigned>(content.size())),
              static_cast<int>(content.size()));
    ASSERT_EQ(gzclose(file), Z_OK);
  }
};

TEST_F(ImportCompressed, CompressedFilesAreReadInPlaceOfPlainOnes) {
  write_movielens(5000);
  for (const char* file : {"movies.dat", "users.dat", "ratings.dat"}) compress(file);
  EXPECT_EQ(import("movielens").interactions().size(), 5000U);
}

TEST_F(ImportCompressed, ATruncatedFileFailsAndLeavesNothingBehind) {
  write_movielens(5000);
  compress("ratings.dat");
  const fs::path file = source() / "ratings.dat.gz";
  const auto size = fs::file_size(file);
  for (const std::uintmax_t kept : {size - 1, size / 2, std::uintmax_t{5}}) {
    fs::resize_file(file, kept);
    EXPECT_THAT(failure("movielens"), HasSubstr("ratings.dat.gz")) << kept;
  }
}

TEST_F(ImportCompressed, ADamagedFileFailsAndLeavesNothingBehind) {
  write_movielens(5000);
  compress("ratings.dat");
  const fs::path file = source() / "ratings.dat.gz";
  std::string bytes = content_of(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x5A);
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_NE(failure("movielens"), "the import succeeded");
}
#endif

TEST(ImportTable, KindsAreUniqueAndTheirSettingsExist) {
  ImportSettings settings;
  SettingsTable table;
  settings.bind(table);
  std::set<std::string> names;
  for (const auto& row : table.rows()) names.insert(row.name);
  std::set<std::string_view> kinds;
  for (const Importer& importer : importers()) {
    EXPECT_TRUE(kinds.insert(importer.kind).second) << importer.kind;
    EXPECT_FALSE(importer.help.empty());
    for (const std::string_view setting : importer.settings)
      EXPECT_TRUE(names.contains(std::string(setting)));
  }
  EXPECT_EQ(kinds.size(), 7U);
}

}  // namespace
}  // namespace sotto::data
