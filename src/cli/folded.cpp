#include "cli/folded.h"

#include <algorithm>
#include <sstream>

namespace sotto::cli {

namespace {

// Columns, as far as code points tell.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char letter) { return (letter & '\xC0') != '\x80'; }));
}

}  // namespace

std::string folded(std::string_view text, std::size_t columns) {
  std::string result;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(" \n", 1);
    const std::string_view word = text.substr(0, end);  // with what stands before it
    if (word.front() == '\n') {
      used = 0;
    } else if (word.front() == ' ' && used > 0 && used + width_of(word) > columns) {
      result += '\n';
      result += word.substr(1);
      used = width_of(word) - 1;
      text.remove_prefix(word.size());
      continue;
    }
    result += word;
    used += width_of(word) - (word.front() == '\n' ? 1 : 0);
    text.remove_prefix(word.size());
  }
  return result;
}

std::string with_text_beside(const std::string& head, std::string_view text) {
  constexpr std::size_t least = 40;  // a narrower column is no text
  const std::size_t indent = width_of(head);
  std::string result = head;
  for (const char letter : folded(text, std::max(least, text_columns - std::min(indent, text_columns)))) {
    result += letter;
    if (letter == '\n') result += std::string(indent, ' ');
  }
  return result;
}

std::string folded_rows(std::string_view lines, std::size_t head) {
  std::string result;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    result += line.size() > head ? with_text_beside(std::string(line.substr(0, head)), line.substr(head))
                                 : std::string(line);
    if (line.size() < lines.size()) result += '\n';
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return result;
}

std::string FoldedHelp::make_option_desc(const CLI::Option* option) const {
  return folded(Formatter::make_option_desc(option), text_columns - get_column_width());
}

std::string FoldedHelp::make_subcommand(const CLI::App* command) const {
  std::ostringstream out;
  CLI::detail::format_help(out, command->get_display_name(true),
                           folded(command->get_description(), text_columns - get_column_width()),
                           get_column_width());
  return out.str();
}

}  // namespace sotto::cli
