// Damaged and forged files. A forger can compute checksums, so forged tables carry correct ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/binary_file.h"
#include "plain_files.h"
#include "test_paths.h"

namespace sotto {
namespace {

namespace format = binary_format;
using ::testing::HasSubstr;

std::span<std::byte> bytes_of(std::string& file) { return std::as_writable_bytes(std::span(file)); }

class DamagedBinaryFile : public ::testing::Test {
 protected:
  DamagedBinaryFile() {
    auto writer = BinaryFileWriter::create(path_, "sample", 1).value();
    EXPECT_TRUE(writer.add("numbers", std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_TRUE(writer.add_text("story", std::string(70, 's')));
    EXPECT_TRUE(writer.commit());
    whole_ = get(path_);
  }

  Result<BinaryFileReader> open(std::string_view content) {
    put(path_, content);
    return BinaryFileReader::open(path_, "sample", 1);
  }

  // The file after `change(header, entry of numbers, entry of story)`, with the checksum made right again.
  using Change = std::function<void(std::span<std::byte>, std::span<std::byte>, std::span<std::byte>)>;
  std::string forge(const Change& change) const {
    std::string file = whole_;
    const auto all = bytes_of(file);
    const auto header = all.first(format::header_bytes);
    const auto table = all.subspan(format::load<std::uint64_t>(all, format::table_offset_at));
    change(header, table.first(format::entry_bytes), table.subspan(format::entry_bytes));
    format::store(header, format::checksum_at, format::checksum(header, table));
    return file;
  }

  void expect_refused(const std::string& file, const std::string& reason) {
    const auto reader = open(file);
    ASSERT_FALSE(reader) << reason;
    EXPECT_EQ(reader.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(reader.error().message, HasSubstr(reason));
    EXPECT_THAT(reader.error().message, HasSubstr(path_.string()));
  }

  const TempFolder folder_;
  const fs::path path_ = folder_ / "file";
  std::string whole_;
};

TEST_F(DamagedBinaryFile, EveryFlippedBitIsNoticed) {
  ASSERT_TRUE(open(whole_));
  for (std::size_t at = 0; at < whole_.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole_;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const auto reader = open(damaged);
      ASSERT_FALSE(reader) << "byte " << at << " bit " << bit;
      ASSERT_EQ(reader.error().kind, ErrorKind::bad_input);
    }
  }
}

TEST_F(DamagedBinaryFile, EveryTruncationIsNoticed) {
  for (std::size_t length = 0; length < whole_.size(); ++length) {
    ASSERT_FALSE(open(whole_.substr(0, length))) << length;
  }
}

TEST_F(DamagedBinaryFile, AppendedBytesAreNoticed) {
  expect_refused(whole_ + '\0', "bytes follow its table");
  expect_refused(whole_ + whole_, "bytes follow its table");
}

TEST_F(DamagedBinaryFile, AHarmlessForgeryOpens) {
  EXPECT_TRUE(open(forge([](auto, auto, auto) {})));
}

TEST_F(DamagedBinaryFile, AnotherContainerVersionIsNamed) {
  expect_refused(forge([](auto header, auto, auto) {
                   format::store(header, format::container_version_at, std::uint32_t{9});
                 }),
                 "container version 9");
}

TEST_F(DamagedBinaryFile, ATableOutsideTheFileIsRefused) {
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{1} << 20,
                                     ~std::uint64_t{0}, ~std::uint64_t{0} - 159}) {
    std::string file = whole_;
    format::store(bytes_of(file), format::table_offset_at, offset);
    EXPECT_FALSE(open(file)) << offset;
  }
}

TEST_F(DamagedBinaryFile, AHugeSectionCountIsRefusedBeforeAnythingIsAllocated) {
  for (const std::uint32_t count : {0u, 1u, 3u, 0xFFFFFFFFu}) {
    std::string file = whole_;
    format::store(bytes_of(file), format::section_count_at, count);
    EXPECT_FALSE(open(file)) << count;
  }
}

TEST_F(DamagedBinaryFile, OverlappingSectionsAreRefused) {
  expect_refused(forge([](auto, auto first, auto second) {
                   format::store(second, format::offset_at,
                                 format::load<std::uint64_t>(first, format::offset_at));
                 }),
                 "'story' overlaps another");
  expect_refused(
      forge([](auto, auto first, auto) { format::store(first, format::offset_at, std::uint64_t{0}); }),
      "'numbers' overlaps another");
}

TEST_F(DamagedBinaryFile, SectionsOutsideTheFileAreRefused) {
  for (const std::uint64_t bytes : {std::uint64_t{1} << 16, std::uint64_t{1} << 40, ~std::uint64_t{0} - 3}) {
    expect_refused(forge([&](auto, auto first, auto) { format::store(first, format::bytes_at, bytes); }),
                   "'numbers' reaches out of the file");
  }
  for (const std::uint64_t offset : {std::uint64_t{1} << 40, ~std::uint64_t{63}}) {
    expect_refused(forge([&](auto, auto, auto second) { format::store(second, format::offset_at, offset); }),
                   "'story' reaches out of the file");
  }
}

TEST_F(DamagedBinaryFile, MisalignedSectionsAreRefused) {
  expect_refused(forge([](auto, auto, auto second) {
                   format::store(second, format::offset_at,
                                 format::load<std::uint64_t>(second, format::offset_at) + 1);
                 }),
                 "'story' is misplaced");
}

TEST_F(DamagedBinaryFile, PartialElementsAreRefused) {
  for (const std::uint32_t size : {0u, 5u, 24u}) {
    expect_refused(
        forge([&](auto, auto first, auto) { format::store(first, format::element_size_at, size); }),
        "'numbers' does not hold whole elements");
  }
}

TEST_F(DamagedBinaryFile, DuplicateAndMalformedNamesAreRefused) {
  expect_refused(forge([](auto, auto first, auto second) {
                   std::copy_n(first.begin(), format::name_bytes, second.begin());
                 }),
                 "'numbers' is there twice");
  expect_refused(forge([](auto, auto first, auto) { first[0] = std::byte{0}; }),
                 "section 0 has no valid name");
  expect_refused(forge([](auto, auto first, auto) { first[0] = std::byte{0x1B}; }),
                 "section 0 has no valid name");
  expect_refused(forge([](auto, auto first, auto) { first[20] = std::byte{'x'}; }),
                 "section 0 has no valid name");
}

TEST_F(DamagedBinaryFile, AWrongSectionChecksumNamesTheSection) {
  expect_refused(forge([](auto, auto, auto second) { second[format::section_checksum_at] ^= std::byte{1}; }),
                 "checksum of section 'story'");
}

}  // namespace
}  // namespace sotto
