#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

#include "data/importers/delimited.h"
#include "data/importers/field_values.h"
#include "test_paths.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Row = std::vector<std::string>;

struct Outcome {
  std::vector<Row> rows;
  std::uint64_t malformed = 0;
  std::vector<std::string> examples;
};

Outcome read_all(std::string_view content, RowFormat format) {
  const TempFolder folder;
  const fs::path file = folder / "rows.txt";
  std::ofstream(file, std::ios::binary) << content;
  ImportReport report(ImportOptions{});
  auto reader = DelimitedReader::open(file, std::move(format), report);
  if (!reader) throw std::runtime_error(reader.error().message);
  Outcome outcome;
  while (true) {
    const auto more = reader->next();
    if (!more) throw std::runtime_error(more.error().message);
    if (!*more) break;
    outcome.rows.emplace_back(reader->fields().begin(), reader->fields().end());
    reader->good();
  }
  outcome.malformed = report.malformed_rows();
  outcome.examples = report.examples();
  return outcome;
}

const RowFormat comma = {",", true, Encoding::utf8};

TEST(Delimited, SplitsAtDelimitersOfSeveralCharacters) {
  const Outcome outcome = read_all("1::two words::x|y\n2::::z\n", {"::"});
  EXPECT_THAT(outcome.rows, ElementsAre(Row{"1", "two words", "x|y"}, Row{"2", "", "z"}));
}

TEST(Delimited, KeepsQuotesWhereTheFormatHasNone) {
  EXPECT_THAT(read_all("a\t\"b\n", {}).rows, ElementsAre(Row{"a", "\"b"}));
}

TEST(Delimited, ReadsQuotedFieldsWithDelimitersQuotesAndLineBreaks) {
  const Outcome outcome = read_all("\"a, b\",\"say \"\"hi\"\"\",c\r\n\"one\n\ntwo\",,\"\"\n", comma);
  EXPECT_THAT(outcome.rows, ElementsAre(Row{"a, b", "say \"hi\"", "c"}, Row{"one\n\ntwo", "", ""}));
  EXPECT_EQ(outcome.malformed, 0);
}

TEST(Delimited, AcceptsAQuoteInsideAnUnquotedField) {
  EXPECT_THAT(read_all("5\" screen,\"x\"\n", comma).rows, ElementsAre(Row{"5\" screen", "x"}));
}

TEST(Delimited, CountsTextAfterAClosingQuoteAsMalformedAndGoesOn) {
  const Outcome outcome = read_all("\"a\"b,c\nd,e\n", comma);
  EXPECT_THAT(outcome.rows, ElementsAre(Row{"d", "e"}));
  EXPECT_EQ(outcome.malformed, 1);
  EXPECT_THAT(outcome.examples.at(0), HasSubstr("rows.txt:1: "));
}

TEST(Delimited, CountsEveryLineThatAnUnclosedQuoteSwallows) {
  const Outcome outcome = read_all("a,b\n\"c,d\ne,f\ng,h\n", comma);
  EXPECT_THAT(outcome.rows, ElementsAre(Row{"a", "b"}));
  EXPECT_EQ(outcome.malformed, 3);
  EXPECT_THAT(outcome.examples.at(0), HasSubstr("rows.txt:2: a quoted field is never closed"));
  EXPECT_THAT(outcome.examples.at(2), HasSubstr("rows.txt:4: lost inside"));
}

TEST(Delimited, CountsInvalidUtf8AsMalformedInPlainAndQuotedRows) {
  const Outcome outcome = read_all("ok,\xC3\xA6\nbad,\xE6\n\"bad\n\xFF\",x\nok,ok\n", comma);
  EXPECT_THAT(outcome.rows, ElementsAre(Row{"ok", "\xC3\xA6"}, Row{"ok", "ok"}));
  EXPECT_EQ(outcome.malformed, 3);  // one row of one line, one of two
}

TEST(Delimited, TurnsLatin1IntoUtf8) {
  const Outcome outcome = read_all("Mis\xE9rables, Les::\xFF\n", {"::", false, Encoding::latin1});
  EXPECT_THAT(outcome.rows, ElementsAre(Row{"Mis\xC3\xA9rables, Les", "\xC3\xBF"}));
}

TEST(Delimited, PassesOverBlankLinesAndTheByteOrderMark) {
  EXPECT_THAT(read_all("\xEF\xBB\xBFid,x\n\n\r\n1,2\n\n", comma).rows,
              ElementsAre(Row{"id", "x"}, Row{"1", "2"}));
}

TEST(Delimited, RefusesRowsWithAbsurdlyManyFields) {
  const std::string commas(200'000, ',');
  EXPECT_EQ(read_all(commas + "\na\n", comma).malformed, 1);
  EXPECT_EQ(read_all("\"x\"" + commas + "\na\n", comma).malformed, 1);
}

std::string quoted(const Row& row) {
  std::string text;
  for (const std::string& field : row) {
    if (!text.empty()) text += ',';
    text += '"';
    for (const char character : field)
      text += character == '"' ? std::string("\"\"") : std::string(1, character);
    text += '"';
  }
  return text;
}

RC_GTEST_PROP(DelimitedProperty, WhatIsQuotedComesBack, ()) {
  const auto character = rc::gen::elementOf(std::string("ab ,\"\n|"));
  const auto field = rc::gen::container<std::string>(character);
  const auto rows = *rc::gen::container<std::vector<Row>>(rc::gen::nonEmpty(rc::gen::container<Row>(field)));
  std::string text;
  for (const Row& row : rows) text += quoted(row) + "\r\n";
  const Outcome outcome = read_all(text, comma);
  RC_ASSERT(outcome.rows == rows);
  RC_ASSERT(outcome.malformed == 0U);
}

RC_GTEST_PROP(DelimitedProperty, TheFastPathForLinesWithoutQuotesAgreesWithTheSlowOne, ()) {
  const auto line = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc, |:")));
  const auto delimiter = *rc::gen::element<std::string>(",", "::", "|");
  QuotedRecord slow;
  RC_ASSERT(slow.feed(line, delimiter) == QuotedRecord::State::complete);
  std::vector<std::string_view> fields;
  slow.fields(fields);
  const auto fast = read_all(line + "\n", {delimiter, true}).rows;
  if (line.empty()) {
    RC_ASSERT(fast.empty());
  } else {
    RC_ASSERT(fast == std::vector<Row>{Row(fields.begin(), fields.end())});
  }
}

}  // namespace
}  // namespace sotto::data
