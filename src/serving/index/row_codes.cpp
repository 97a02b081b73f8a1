#include "serving/index/row_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "serving/index/segment.h"

namespace sotto::serving {

namespace {

constexpr double largest_code = 65535;

// Rounded up, so that no code exceeds the largest; never so small that a processor may take it for zero.
float step_of(float lowest, float highest) {
  const double exact = (static_cast<double>(highest) - static_cast<double>(lowest)) / largest_code;
  return std::max(std::nextafter(static_cast<float>(exact), HUGE_VALF), std::numeric_limits<float>::min());
}

}  // namespace

RowCodes::RowCodes(const Segment& segment)
    : dimension_(segment.dimension()),
      codes_(segment.blocks() * dimension_ * block_rows),
      lowest_(segment.blocks() * dimension_),
      steps_(segment.blocks() * dimension_) {
  for (std::size_t block = 0; block < segment.blocks(); ++block) {
    const std::size_t rows = std::min(block_rows, segment.rows() - block * block_rows);
    for (std::size_t d = 0; d < dimension_; ++d) {
      const std::size_t at = block * dimension_ + d;
      lowest_[at] = segment.block_bounds().lowest(block, d);
      steps_[at] = step_of(lowest_[at], segment.block_bounds().highest(block, d));
      const float* column = segment.block(block) + d * block_rows;
      for (std::size_t j = 0; j < rows; ++j) {
        const double above = static_cast<double>(column[j]) - static_cast<double>(lowest_[at]);
        codes_[at * block_rows + j] =
            static_cast<std::uint16_t>(std::lround(above / static_cast<double>(steps_[at])));
      }
    }
  }
}

float RowCodes::upper_scores(std::size_t block, std::span<const Term> terms,
                             std::span<float, block_rows> upper) const {
  constexpr std::size_t terms_at_once = 16;  // most queries have fewer; more are taken in turns
  const std::size_t at = block * dimension_;
  auto base = static_cast<float>(coarseness(block, terms));
  for (const Term& term : terms) base += term.coefficient * lowest_[at + term.dimension];
  std::fill(upper.begin(), upper.end(), base);
  float largest = base;
  for (std::size_t first = 0; first < terms.size(); first += terms_at_once) {
    const auto part = terms.subspan(first, std::min(terms_at_once, terms.size() - first));
    std::array<Term, terms_at_once> stepped;
    for (std::size_t t = 0; t < part.size(); ++t) {
      stepped[t] = {part[t].dimension, part[t].coefficient * steps_[at + part[t].dimension]};
    }
    largest = add_code_scores(stepped.data(), part.size(), codes_.data() + at * block_rows, upper.data());
  }
  return largest;
}

// How far codes may be from the values they stand for: half a step each, and a little.
double RowCodes::coarseness(std::size_t block, std::span<const Term> terms) const {
  double coarseness = 0;
  for (const Term& term : terms) {
    coarseness += 0.51 * std::abs(static_cast<double>(term.coefficient)) *
                  static_cast<double>(steps_[block * dimension_ + term.dimension]);
  }
  return coarseness;
}

}  // namespace sotto::serving
