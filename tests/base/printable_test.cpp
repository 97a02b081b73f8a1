#include <gtest/gtest.h>

#include "base/utf8.h"

namespace sotto {
namespace {

TEST(Printable, KeepsOrdinaryText) { EXPECT_EQ(printable("Blåbær, 5 %"), "Blåbær, 5 %"); }

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("a\tb\x1b[31m\x7f\xc2\x9b"), "a\\x09b\\x1b[31m\\x7f\\xc2\\x9b");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 4), "abcd...");
  EXPECT_EQ(printable("abcåå", 4), "abc...");
  EXPECT_EQ(printable("abcå", 5), "abcå");
}

TEST(Printable, SurvivesBytesThatAreNotUtf8) { EXPECT_EQ(printable("\x80\x80\x80\x80", 2), "..."); }

}  // namespace
}  // namespace sotto
