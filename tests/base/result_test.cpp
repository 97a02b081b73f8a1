#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace sotto {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return bad_input("{} is odd", n);
  return n / 2;
}

Result<int> quarter(int n) {
  SOTTO_TRY(const int once, half(n));
  SOTTO_TRY(const int twice, half(once));
  return twice;
}

Status must_be_even(int n) {
  SOTTO_CHECK(half(n));
  return {};
}

Result<std::unique_ptr<int>> boxed(int n) {
  SOTTO_TRY(auto box, Result<std::unique_ptr<int>>(std::make_unique<int>(n)));
  return box;
}

TEST(Result, TryHandsOnTheValueOrReturnsTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_EQ(quarter(6).error().kind, ErrorKind::bad_input);
}

TEST(Result, CheckReturnsTheErrorOfAStatus) {
  EXPECT_TRUE(must_be_even(4));
  EXPECT_FALSE(must_be_even(5));
}

TEST(Result, TryMovesValuesThatCannotBeCopied) { EXPECT_EQ(**boxed(7), 7); }

TEST(Result, InPutsThePlaceInFront) {
  const Error error = Error{ErrorKind::failed, "disk full"}.in("news.tsv");
  EXPECT_EQ(error.message, "news.tsv: disk full");
  EXPECT_EQ(error.kind, ErrorKind::failed);
}

}  // namespace
}  // namespace sotto
