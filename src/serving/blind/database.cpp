#include "serving/blind/database.h"

#include <algorithm>

namespace sotto::serving {

namespace {

constexpr std::size_t groups_together = 64;  // 16 KB of the matrix: read once for all queries of a pass
constexpr std::int32_t offset = 8;           // packed entries are 1 to 15
constexpr std::uint8_t two_zeros = offset | offset << 4;

// Four signed digits of every word, as the kernels want them, and zeros for columns that are not there.
std::vector<std::int8_t> digits_of(std::span<const std::uint32_t> query, std::size_t groups) {
  std::vector<std::int8_t> digits(groups * group_digits);
  for (std::size_t column = 0; column < query.size(); ++column) {
    const std::size_t in_group = column % group_columns;
    std::int8_t* first =
        digits.data() + column / group_columns * group_digits + in_group / 4 * 16 + in_group % 4;
    std::uint32_t rest = query[column];
    for (std::size_t digit = 0; digit < 4; ++digit) {
      first[4 * digit] = static_cast<std::int8_t>(rest & 0xff);
      rest = (rest - static_cast<std::uint32_t>(first[4 * digit])) >> 8;
    }
  }
  return digits;
}

unsigned half_of(std::size_t column) { return column % group_columns < 4 ? 0 : 4; }

}  // namespace

BlindDatabase::BlindDatabase(const blind::Parameters& parameters)
    : parameters_(parameters),
      row_groups_((parameters.shape.rows + group_rows - 1) / group_rows),
      column_groups_((parameters.shape.columns() + group_columns - 1) / group_columns),
      packed_(row_groups_ * column_groups_ * group_bytes, two_zeros) {}

std::size_t BlindDatabase::place(std::size_t row, std::size_t column) const {
  const std::size_t group = row / group_rows * column_groups_ + column / group_columns;
  return group * group_bytes + 4 * (row % group_rows) + column % 4;
}

Result<BlindDatabase> BlindDatabase::create(const blind::Parameters& parameters,
                                            std::span<const std::int8_t> entries) {
  SOTTO_CHECK(check(parameters));
  const blind::Shape& shape = parameters.shape;
  if (entries.size() != shape.slots() * shape.dimension)
    return bad_input("{} numbers are not {} slots of {}", entries.size(), shape.slots(), shape.dimension);
  BlindDatabase made(parameters);
  for (std::size_t slot = 0; slot < shape.slots(); ++slot) {
    const auto item = entries.subspan(slot * shape.dimension, shape.dimension);
    const std::size_t first = slot / shape.rows * shape.dimension;
    std::uint64_t squares = 0;
    for (std::size_t i = 0; i < item.size(); ++i) {
      const std::int32_t number = item[i];  // NOLINT(bugprone-signed-char-misuse): a number, not a letter
      if (number < -blind::item_most || number > blind::item_most)
        return bad_input("slot {} has the entry {}: entries lie between -{} and {}", slot, number,
                         blind::item_most, blind::item_most);
      squares += static_cast<std::uint64_t>(number * number);
      const std::size_t column = first + i;
      const unsigned shift = half_of(column);
      std::uint8_t& pair = made.packed_[made.place(slot % shape.rows, column)];
      pair = static_cast<std::uint8_t>((pair & ~(15U << shift)) | static_cast<unsigned>(number + offset)
                                                                      << shift);
    }
    if (squares > std::uint64_t{parameters.item_norm} * parameters.item_norm)
      return bad_input("the item in slot {} has a squared norm of {}: decryption is proved up to {}", slot,
                       squares, std::uint64_t{parameters.item_norm} * parameters.item_norm);
  }
  return made;
}

std::int32_t BlindDatabase::entry(std::size_t row, std::size_t column) const {
  const unsigned shift = half_of(column);
  return static_cast<std::int32_t>(packed_[place(row, column)] >> shift & 15U) - offset;
}

void BlindDatabase::answer(std::span<const std::span<const std::uint32_t>> queries,
                           std::span<std::uint32_t> answers, ProductKernel kernel) const {
  std::vector<std::vector<std::int8_t>> digits;
  std::vector<std::vector<std::uint32_t>> sums;
  for (const auto query : queries) {
    digits.push_back(digits_of(query, column_groups_));
    // Packed entries are too large by 8, everywhere.
    std::uint32_t excess = 0;
    for (const std::uint32_t word : query) excess += word;
    sums.emplace_back(row_groups_ * group_rows, 0U - offset * excess);
  }
  const std::uint8_t* packed = packed_.data();
  for (std::size_t rows = 0; rows < row_groups_; ++rows) {
    for (std::size_t first = 0; first < column_groups_; first += groups_together) {
      const std::size_t groups = std::min(groups_together, column_groups_ - first);
      for (std::size_t q = 0; q < queries.size(); ++q) {
        multiply_groups(kernel, packed, groups, digits[q].data() + first * group_digits,
                        sums[q].data() + rows * group_rows);
      }
      packed += groups * group_bytes;
    }
  }
  const std::size_t rows = parameters_.shape.rows;
  for (std::size_t q = 0; q < queries.size(); ++q)
    std::copy_n(sums[q].begin(), rows, answers.begin() + static_cast<std::ptrdiff_t>(q * rows));
}

std::vector<std::uint32_t> BlindDatabase::plain_answer(std::span<const std::uint32_t> query) const {
  std::vector<std::uint32_t> answer(parameters_.shape.rows);
  for (std::size_t row = 0; row < answer.size(); ++row) {
    for (std::size_t column = 0; column < query.size(); ++column)
      answer[row] += static_cast<std::uint32_t>(entry(row, column)) * query[column];
  }
  return answer;
}

}  // namespace sotto::serving
