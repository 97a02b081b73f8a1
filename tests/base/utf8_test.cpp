#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace sotto
