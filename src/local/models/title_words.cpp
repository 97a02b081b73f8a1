#include "local/models/title_words.h"

#include <algorithm>

namespace sotto::local {

TitleWords::TitleWords(Parts& parts, const std::string& prefix, Index word_size, Index vocabulary)
    : first_(parts.size()), word_size_(word_size), vocabulary_(vocabulary) {
  if (vocabulary > 0) parts.push_back({prefix + "words", vocabulary, word_size});
}

Result<std::size_t> TitleWords::count_items(const RoundInputs& inputs) const {
  const auto& [words, offsets] = inputs.titles;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != words.size() ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    return bad_input("the titles of the items are not cut into items: fetch them again");
  if (vocabulary_ == 0 && inputs.words.cols() != word_size_)
    return bad_input("words are vectors of {} numbers and the model reads {}: fetch the words of its version",
                     inputs.words.cols(), word_size_);
  const auto known = static_cast<std::size_t>(vocabulary_ > 0 ? vocabulary_ : inputs.words.rows());
  if (const auto largest = std::max_element(words.begin(), words.end());
      largest != words.end() && *largest >= known)
    return bad_input("a title names word {} of {}: fetch titles and words of one version", *largest, known);
  const std::size_t items = offsets.size() - 1;
  for (std::size_t item = 0; item < items; ++item)
    if (offsets[item + 1] - offsets[item] > most_words)
      return bad_input("the title of item {} has {} words, at most {} are read: fetch shorter titles", item,
                       offsets[item + 1] - offsets[item], most_words);
  return items;
}

TitleWords::Read TitleWords::of(const Pass& pass, const RoundInputs& inputs,
                                std::span<const ItemRow> items) const {
  RowNumbers rows;
  Offsets offsets = {0};
  for (const ItemRow item : items) {
    const auto& [words, starts] = inputs.titles;
    for (std::uint64_t place = starts[item]; place < starts[item + 1]; ++place)
      rows.push_back(static_cast<Index>(words[place]));
    offsets.push_back(static_cast<Index>(rows.size()));
  }
  if (vocabulary_ > 0) return {gather_rows(pass.parameters[first_], std::move(rows)), std::move(offsets)};
  Rows read(static_cast<Index>(rows.size()), word_size_);
  for (std::size_t w = 0; w < rows.size(); ++w) read.row(static_cast<Index>(w)) = inputs.words.row(rows[w]);
  return {pass.tape.constant(std::move(read)), std::move(offsets)};
}

}  // namespace sotto::local
