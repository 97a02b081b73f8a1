#pragma once
// What everybody downloads to ask blindly: the shape of the database, the centroids of its clusters, the ids
// of its items, which item stands in which slots, and the hint. The same for everybody, so fetching it tells
// nothing. A pack names it by the hash of its bytes: one that does not belong to the pack is noticed before
// anything is encrypted.
//
// Decoding trusts nothing. Plain values.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blind/parameters.h"

namespace sotto::blind {

// The ids of a guide's items, one behind the other in one text.
class ItemIds {
 public:
  void push_back(std::string_view id);  // printable, without line ends
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t item) const {
    const std::size_t begin = item == 0 ? 0 : ends_[item - 1] + std::size_t{1};
    return std::string_view(text_).substr(begin, ends_[item] - begin);
  }
  const std::string& text() const { return text_; }  // every id followed by a line end
  static Result<ItemIds> from(std::string_view text, std::size_t most);
  bool operator==(const ItemIds&) const = default;

 private:
  std::string text_;
  std::vector<std::uint32_t> ends_;
};

inline constexpr std::uint32_t no_item = 0xffffffff;

struct Guide {
  std::string model;
  Parameters parameters;
  std::vector<float> centroids;  // [C, d], rotated
  std::vector<float> steps;      // [C]
  ItemIds ids;
  std::vector<std::uint32_t> places;  // [C, M]: by slot the item, counted in `ids`, or no_item
  std::vector<std::uint32_t> hint;    // [M, 1024]: database · public matrix
  bool operator==(const Guide&) const = default;
};

inline constexpr std::size_t max_guide_bytes = std::size_t{1} << 30;
inline constexpr std::size_t max_id_bytes = 128;

// Sizes, finite numbers, printable ids, places that exist, and that decryption is right for its parameters.
Status check(const Guide& guide);
Result<std::string> encode_guide(const Guide& guide);
Result<Guide> decode_guide(std::string_view bytes);
// 64 hexadecimal digits.
Result<std::string> guide_version(std::string_view bytes);

// The bodies of a question and its answer.
struct BlindWords {
  std::string guide;  // version
  std::vector<std::uint32_t> words;
  bool operator==(const BlindWords&) const = default;
};
std::string encode_query(const BlindWords& query);
Result<BlindWords> decode_query(std::string_view bytes);
std::string encode_answer(const BlindWords& answer);
Result<BlindWords> decode_answer(std::string_view bytes);
// Of a body with so many words: more is refused before it is read.
std::size_t body_bytes(std::size_t words);

}  // namespace sotto::blind
