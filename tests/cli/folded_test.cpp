#include "cli/folded.h"

#include <gtest/gtest.h>

namespace sotto::cli {
namespace {

TEST(Folded, BreaksBetweenWordsAndKeepsLineEnds) {
  EXPECT_EQ(folded("one two three", 7), "one two\nthree");
  EXPECT_EQ(folded("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(folded("a\n\nb c", 3), "a\n\nb c");
  EXPECT_EQ(folded("unbreakable a", 3), "unbreakable\na");
  EXPECT_EQ(folded("ε ε ε", 3), "ε ε\nε") << "columns are letters, not bytes";
  EXPECT_EQ(folded("", 3), "");
  EXPECT_EQ(folded("end\n", 3), "end\n");
}

TEST(Folded, TextStandsInTheColumnsBehindItsHead) {
  const std::string word(30, 'x');
  const std::string text = with_text_beside(std::string(30, 'h'), word + " " + word + " " + word);
  EXPECT_EQ(text, std::string(30, 'h') + word + " " + word + "\n" + std::string(30, ' ') + word);
}

TEST(Folded, RowsKeepTheirColumns) {
  const std::string word(50, 'x'), rows = "name  " + word + " " + word + "\nshort\nb     c\n";
  EXPECT_EQ(folded_rows(rows, 6), "name  " + word + "\n      " + word + "\nshort\nb     c\n");
}

TEST(Folded, HelpFits100Columns) {
  CLI::App app{"A command", "command"};
  app.formatter(std::make_shared<FoldedHelp>());
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word ";
  app.add_option("--flag", words);
  app.add_subcommand("sub", words);
  std::istringstream lines(app.help());
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), text_columns) << line;
  EXPECT_GT(count, 10U);
}

}  // namespace
}  // namespace sotto::cli
