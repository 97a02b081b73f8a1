#include "eval/experiments/finished_rows.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test_paths.h"

namespace sotto::eval {
namespace {

using nlohmann::json;

TEST(FinishedRows, AreThereAgainUnderTheSameFingerprint) {
  const TempFolder folder;
  {
    auto rows = FinishedRows::open(folder / "rows.jsonl", {{"data", "a"}}).value();
    EXPECT_FALSE(rows.find("first"));
    ASSERT_TRUE(rows.add("first", {{"auc", 0.5}}));
    ASSERT_TRUE(rows.add("second", {{"auc", 0.75}}));
    EXPECT_EQ(rows.find("first").value().at("auc"), 0.5);
  }
  const auto rows = FinishedRows::open(folder / "rows.jsonl", {{"data", "a"}}).value();
  EXPECT_EQ(rows.find("second").value(), (json{{"auc", 0.75}}));
  EXPECT_FALSE(rows.find("third"));
}

TEST(FinishedRows, OfOtherDataAreThrownAway) {
  const TempFolder folder;
  ASSERT_TRUE(FinishedRows::open(folder / "rows.jsonl", {{"data", "a"}}).value().add("first", {{"auc", 1}}));
  auto rows = FinishedRows::open(folder / "rows.jsonl", {{"data", "b"}}).value();
  EXPECT_FALSE(rows.find("first"));
  ASSERT_TRUE(rows.add("second", {{"auc", 1}}));
  EXPECT_FALSE(FinishedRows::open(folder / "rows.jsonl", {{"data", "a"}}).value().find("first"));
}

TEST(FinishedRows, EndBeforeADamagedLine) {
  const TempFolder folder;
  const fs::path path = folder / "rows.jsonl";
  {
    auto rows = FinishedRows::open(path, "same").value();
    ASSERT_TRUE(rows.add("first", {{"auc", 1}}));
    ASSERT_TRUE(rows.add("second", {{"auc", 2}}));
  }
  const std::string text = read_file(path).value();
  for (const std::string& damage :
       {text.substr(0, text.size() - 5), text + "[1]\n", text + "{\"key\": 3, \"row\": {}}\n",
        text + "{\"key\": \"x\", \"row\": 7}\n", text + std::string("\0\xff\n", 3)}) {
    ASSERT_TRUE(write_file_atomically(path, damage));
    auto rows = FinishedRows::open(path, "same");
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_TRUE(rows->find("first"));
    EXPECT_EQ(rows->find("second").has_value(), damage.size() > text.size());
    EXPECT_FALSE(rows->find("x"));
  }
}

}  // namespace
}  // namespace sotto::eval
