#pragma once
// Text for people in at most 100 columns: results and help alike.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace sotto::cli {

inline constexpr std::size_t text_columns = 100;

// Broken between words where a line would exceed so many columns; a longer word stays whole. Line ends that
// are there stay.
std::string folded(std::string_view text, std::size_t columns);

// `head`, then the text in the columns behind it: its further lines stand below its first.
std::string with_text_beside(const std::string& head, std::string_view text);

// Lines of a name and its text, which begins in column `head`: each text stays in its columns.
std::string folded_rows(std::string_view lines, std::size_t head);

class FoldedHelp final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace sotto::cli
