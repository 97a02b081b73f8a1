#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "data/columns.h"

namespace sotto::data {
namespace {

TEST(StringTable, NumbersStringsInOrderOfFirstSight) {
  StringTable table;
  EXPECT_EQ(table.intern("b"), 0U);
  EXPECT_EQ(table.intern(""), 1U);
  EXPECT_EQ(table.intern("b"), 0U);
  EXPECT_EQ(table.intern("a"), 2U);
  EXPECT_EQ(table.size(), 3U);
  EXPECT_EQ(table[1], "");
  EXPECT_EQ(table[2], "a");
}

TEST(StringTable, KeepsBytesThatAreNotText) {
  StringTable table;
  const std::string_view with_zero("a\0b", 3);
  EXPECT_EQ(table.intern(with_zero), 0U);
  EXPECT_EQ(table.find("a"), std::nullopt);
  EXPECT_EQ(table[0], with_zero);
}

TEST(StringTable, FindsAllOfManyAfterGrowing) {
  StringTable table;
  for (std::uint32_t number = 0; number < 100'000; ++number) {
    ASSERT_EQ(table.intern("N" + std::to_string(number)), number);
  }
  for (std::uint32_t number = 0; number < 100'000; ++number) {
    ASSERT_EQ(table.find("N" + std::to_string(number)), number);
  }
  EXPECT_EQ(table.find("N100000"), std::nullopt);
}

RC_GTEST_PROP(StringTable, AgreesWithAnOrderedMap, (const std::vector<std::string>& texts)) {
  StringTable table;
  std::map<std::string, std::uint32_t> reference;
  for (const std::string& text : texts) {
    const auto number = reference.emplace(text, static_cast<std::uint32_t>(reference.size())).first->second;
    RC_ASSERT(table.intern(text) == number);
  }
  RC_ASSERT(table.size() == reference.size());
  for (const auto& [text, number] : reference) {
    RC_ASSERT(table.find(text) == number);
    RC_ASSERT(table[number] == text);
  }
}

}  // namespace
}  // namespace sotto::data
