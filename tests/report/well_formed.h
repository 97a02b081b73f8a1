#pragma once
// A tiny checker: every tag is closed, in order, and no raw "<" or "&" stands in text or attributes.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::report {

// The first problem found, or "".
inline std::string markup_problem(std::string_view markup, const std::vector<std::string>& void_tags = {}) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < markup.size(); ++i) {
    if (markup[i] == '&') {
      const std::size_t end = markup.find(';', i);
      if (end == std::string_view::npos || end - i > 7)
        return "bare & at " + std::string(markup.substr(i, 20));
      continue;
    }
    if (markup[i] != '<') continue;
    const std::size_t end = markup.find('>', i);
    if (end == std::string_view::npos) return "unclosed <";
    const std::string_view tag = markup.substr(i + 1, end - i - 1);
    if (tag.find('<') != std::string_view::npos) return "< inside a tag: " + std::string(tag);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "odd quotes: " + std::string(tag);
    i = end;
    if (tag.empty() || tag.front() == '!' || tag.back() == '/') continue;
    const std::string name(tag.substr(0, tag.find_first_of(" \n")));
    if (name.front() != '/') {
      if (std::find(void_tags.begin(), void_tags.end(), name) == void_tags.end()) open.push_back(name);
    } else if (open.empty() || open.back() != name.substr(1)) {
      return "unexpected <" + name + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

inline std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace sotto::report
