#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

#include "base/distributions.h"

namespace sotto {
namespace {

TEST(Utf8, AcceptsTheEndsOfEveryLength) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string_view("\0\x7F", 2)));
  EXPECT_TRUE(is_utf8("\xC2\x80\xDF\xBF"));
  EXPECT_TRUE(is_utf8("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"));
  EXPECT_TRUE(is_utf8("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
}

TEST(Utf8, RefusesWhatNoEncoderWrites) {
  for (const char* text :
       {"\x80", "\xFF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",  // overlong
        "\xED\xA0\x80", "\xED\xBF\xBF",                                              // surrogates
        "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80",                                  // too large
        "\xC2", "\xE2\x82", "\xF0\x90\x80", "\xC2x", "\xE2\x82x", "caf\xE9"}) {      // cut off
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

std::u32string decode_all(std::string_view text) {
  std::u32string out;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t before = position;
    out.push_back(decode_utf8(text, position));
    EXPECT_GT(position, before);
    EXPECT_LE(position, text.size());
  }
  return out;
}

TEST(Utf8, EveryScalarValueSurvivesARoundTrip) {
  std::string bytes;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    bytes.clear();
    append_utf8(c, bytes);
    std::size_t position = 0;
    ASSERT_EQ(decode_utf8(bytes, position), c);
    ASSERT_EQ(position, bytes.size());
  }
}

TEST(Utf8, BrokenSequencesBecomeReplacementCharacters) {
  EXPECT_EQ(decode_all("\x80"), U"\uFFFD");            // continuation alone
  EXPECT_EQ(decode_all("\xC0\xAF"), U"\uFFFD\uFFFD");  // overlong
  EXPECT_EQ(decode_all("\xE2\x82"), U"\uFFFD");        // cut at the end
  EXPECT_EQ(decode_all("\xE2\x82"
                       "a"),
            U"\uFFFDa");                                                   // cut in the middle
  EXPECT_EQ(decode_all("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");            // surrogate
  EXPECT_EQ(decode_all("\xF4\x90\x80\x80"), U"\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
  EXPECT_EQ(decode_all("caf\xE9 x"), U"caf\uFFFD x");                      // Latin-1
}

TEST(Utf8, ValidityAgreesWithDecodingOnRandomBytes) {
  SeededRandom random(1, Purpose::test);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    const std::size_t length = uniform_below(random, 6);
    for (std::size_t i = 0; i < length; ++i) bytes.push_back(static_cast<char>(uniform_below(random, 256)));
    std::string encoded;
    for (const char32_t c : decode_all(bytes)) append_utf8(c, encoded);
    EXPECT_TRUE(is_utf8(encoded));
    EXPECT_EQ(is_utf8(bytes), encoded == bytes);
  }
}

TEST(Utf8, ImpossibleValuesAreWrittenAsReplacement) {
  std::string out;
  append_utf8(0xD800, out);
  append_utf8(0x110000, out);
  EXPECT_EQ(out, "\uFFFD\uFFFD");
}

}  // namespace
}  // namespace sotto
