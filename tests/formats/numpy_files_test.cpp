#include "formats/numpy_files.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sotto::formats {
namespace {

TEST(NumpyFiles, ChecksumIsThatOfZip) { EXPECT_EQ(zip_checksum("123456789"), 0xCBF43926U); }

TEST(NumpyFiles, ArrayHasAnAlignedHeaderAndItsNumbers) {
  const std::string bytes = npy_bytes({"a", {2, 3}, {1, 2, 3, 4, 5, 6}});
  ASSERT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  std::uint16_t header = 0;
  std::memcpy(&header, bytes.data() + 8, sizeof header);
  EXPECT_EQ((10 + header) % 64, 0);
  EXPECT_NE(bytes.find("'shape': (2, 3)"), std::string::npos);
  EXPECT_EQ(bytes[9 + header], '\n');
  float last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 6.0F);
  EXPECT_EQ(bytes.size(), 10 + header + 6 * sizeof(float));
}

TEST(NumpyFiles, OneExtentKeepsItsComma) {
  EXPECT_NE(npy_bytes({"a", {3}, {1, 2, 3}}).find("'shape': (3, )"), std::string::npos);
  EXPECT_NE(npy_bytes({"a", {}, {1}}).find("'shape': ()"), std::string::npos);
}

TEST(NumpyFiles, ArchiveIsTheSameForTheSameArrays) {
  const NamedArray arrays[] = {{"a", {1}, {1}}, {"b.c", {2}, {2, 3}}};
  const auto once = npz_bytes(arrays), again = npz_bytes(arrays);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(*once, *again);
  EXPECT_EQ(once->substr(0, 4), "PK\x03\x04");
  EXPECT_NE(once->find("b.c.npy"), std::string::npos);
}

TEST(NumpyFiles, RefusesNamesThatLeaveTheArchiveOrComeTwice) {
  for (const char* name : {"", "/etc/passwd", "../a", "a\\b"}) {
    const NamedArray array[] = {{name, {1}, {1}}};
    const auto made = npz_bytes(array);
    ASSERT_FALSE(made) << name;
    EXPECT_NE(made.error().message.find("cannot stand in an archive"), std::string::npos);
  }
  const NamedArray twice[] = {{"a", {1}, {1}}, {"a", {1}, {2}}};
  ASSERT_FALSE(npz_bytes(twice));
}

}  // namespace
}  // namespace sotto::formats
